// What patches cost: vit_steps/cost.py in JavaScript, for the paper's models.
(() => {
  "use strict";
  const lab = (globalThis.vitLab ??= {});

  // arXiv 2010.11929, table 1; tiny and small as in arXiv 2012.12877, table 1.
  const MODELS = {
    "ViT-Ti": { width: 192, depth: 12, heads: 3 },
    "ViT-S": { width: 384, depth: 12, heads: 6 },
    "ViT-B": { width: 768, depth: 12, heads: 12 },
    "ViT-L": { width: 1024, depth: 24, heads: 16 },
    "ViT-H": { width: 1280, depth: 32, heads: 16 },
  };

  function tokenCount(imageSize, patchSize) {
    if (imageSize % patchSize !== 0) {
      throw new Error(`imageSize: got ${imageSize}, expected a multiple of the patch size ${patchSize}`);
    }
    return (imageSize / patchSize) ** 2;
  }

  /** One head's matrix of N × N numbers in float32. */
  function matrixBytes(tokens) {
    return 4 * tokens ** 2;
  }

  /** Multiply-accumulates of the whole model for one image, and the part that is quadratic in the tokens. */
  function modelCost(name, imageSize, patchSize, { channels = 3, classes = 1000, mlpRatio = 4 } = {}) {
    const { width: D, depth } = MODELS[name];
    const N = tokenCount(imageSize, patchSize);
    const T = N + 1;
    const attention = depth * 2 * T ** 2 * D;
    const embedding = N * channels * patchSize ** 2 * D;
    const linear = depth * T * D * (4 * D + 2 * mlpRatio * D);
    return { tokens: N, attention, total: embedding + attention + linear + D * classes };
  }

  Object.assign(lab, { MODELS, tokenCount, matrixBytes, modelCost });
})();
