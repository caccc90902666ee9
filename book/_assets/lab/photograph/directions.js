// What is read from patch tokens: their three main directions as colours, and which patches are alike.
(() => {
  "use strict";
  const lab = (globalThis.vitLab ??= {});
  const DIRECTIONS = 3;
  const DARKEST = 0.02; // the shares of patches that are darkest and brightest in a direction
  const STEPS = 60; // of the power iteration, more than it needs

  /**
   * Finds the three main directions of patch tokens, of one picture or common to several.
   * tokensList: [(1 + N) × D, ...], whose class tokens are left out.
   * Returns {mean (D), basis (3 × D), scale: [[darkest, brightest], ...]}.
   */
  function directions(tokensList, D = 384) {
    const all = tokensList.map((tokens) => tokens.subarray(D));
    const count = all.reduce((sum, patches) => sum + patches.length / D, 0);
    const mean = new Float32Array(D);
    for (const patches of all) for (let i = 0; i < patches.length; i++) mean[i % D] += patches[i] / count;
    const basis = mainDirections(covariance(all, mean, D), D);
    const found = { mean, basis, scale: [] };
    const along = all.map((patches) => project(patches, found, D));
    for (let k = 0; k < DIRECTIONS; k++) {
      const values = along.flatMap((one) => Array.from({ length: one.length / DIRECTIONS }, (_, patch) => one[patch * DIRECTIONS + k]));
      values.sort((a, b) => a - b);
      found.scale.push([quantile(values, DARKEST), quantile(values, 1 - DARKEST)]);
    }
    return found;
  }

  /** Returns the colours of a picture's patches, N × 3: each direction is one of red, green and blue. */
  function paint(tokens, found) {
    const D = found.mean.length;
    const along = project(tokens.subarray(D), found, D);
    return Uint8ClampedArray.from(along, (value, i) => {
      const [darkest, brightest] = found.scale[i % DIRECTIONS];
      return (255 * (value - darkest)) / (brightest - darkest);
    });
  }

  /** Returns the cosine of a patch of one picture with each patch of another, or of the same. */
  function similarities(tokensA, patch, tokensB, D = 384) {
    const asking = tokensA.subarray((patch + 1) * D, (patch + 2) * D);
    const length = Math.sqrt(asking.reduce((sum, value) => sum + value * value, 0));
    return Float32Array.from({ length: tokensB.length / D - 1 }, (_, other) => {
      let product = 0;
      let square = 0;
      for (let i = 0, at = (other + 1) * D; i < D; i++, at++) {
        product += asking[i] * tokensB[at];
        square += tokensB[at] ** 2;
      }
      return product / (length * Math.sqrt(square));
    });
  }

  function project(patches, { mean, basis }, D) {
    const out = new Float32Array((patches.length / D) * DIRECTIONS);
    for (let patch = 0; patch * D < patches.length; patch++)
      for (let k = 0; k < DIRECTIONS; k++) {
        let sum = 0;
        for (let i = 0; i < D; i++) sum += (patches[patch * D + i] - mean[i]) * basis[k * D + i];
        out[patch * DIRECTIONS + k] = sum;
      }
    return out;
  }

  function covariance(all, mean, D) {
    const out = new Float32Array(D * D);
    const from = new Float32Array(D);
    for (const patches of all)
      for (let start = 0; start < patches.length; start += D) {
        for (let i = 0; i < D; i++) from[i] = patches[start + i] - mean[i];
        for (let i = 0; i < D; i++) for (let j = i; j < D; j++) out[i * D + j] += from[i] * from[j];
      }
    for (let i = 0; i < D; i++) for (let j = 0; j < i; j++) out[i * D + j] = out[j * D + i];
    return out;
  }

  /** Returns the eigenvectors of the largest eigenvalues, by power iteration; each points where its sum is positive. */
  function mainDirections(matrix, D) {
    const basis = new Float32Array(DIRECTIONS * D);
    const found = [];
    for (let k = 0; k < DIRECTIONS; k++) {
      let vector = Float64Array.from({ length: D }, (_, i) => Math.sin((i + 1) * (k + 1)));
      for (let step = 0; step < STEPS; step++) {
        const next = new Float64Array(D);
        for (let i = 0; i < D; i++) for (let j = 0; j < D; j++) next[i] += matrix[i * D + j] * vector[j];
        for (const other of found) {
          const share = next.reduce((sum, value, i) => sum + value * other[i], 0);
          for (let i = 0; i < D; i++) next[i] -= share * other[i];
        }
        const length = Math.hypot(...next) || 1;
        vector = next.map((value) => value / length);
      }
      const sign = Math.sign(vector.reduce((a, b) => a + b)) || 1;
      found.push(vector);
      basis.set(vector.map((value) => sign * value), k * D);
    }
    return basis;
  }

  /** Returns a quantile of sorted values, between its two neighbours as PyTorch does. */
  function quantile(sorted, share) {
    const place = share * (sorted.length - 1);
    const below = Math.floor(place);
    const above = Math.min(below + 1, sorted.length - 1);
    return sorted[below] + (place - below) * (sorted[above] - sorted[below]);
  }

  Object.assign(lab, { directions, paint, similarities });
})();
