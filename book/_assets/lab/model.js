// The Vision Transformer of the book, for one image: vit_steps/vision_transformer.py in JavaScript.
// Matrices are flat arrays, row by row. Letters as in the book: N patches, T tokens, D width, h heads, d head width.
(() => {
  "use strict";
  const lab = (globalThis.vitLab ??= {});

  /**
   * Runs the model on an image with pixels from 0 to 1, (C, H, W), before normalisation.
   *
   * options.shuffled: give the patches each other's positions.
   * options.off: a Set of "block.head" whose heads pass nothing on.
   * options.watch(name, shape, values): called with every step's result.
   *
   * Returns logits (K) and weights, one (h, T, T) a block.
   */
  function forward(model, image, { shuffled = false, off = new Set(), watch = () => {} } = {}) {
    const { channels, classes, depth, heads: h, width: D, epsilon, parameters } = model;
    const [height, width] = model.imageSize;
    const [rows, columns] = model.gridSize;
    const [P, Q] = model.patchSize;
    const N = rows * columns;
    const T = N + 1;
    const d = D / h;
    if (image.length !== channels * height * width) {
      throw new Error(`image: got ${image.length} numbers, expected ${channels}·${height}·${width}`);
    }
    const layer = (name, x, count, inputs) =>
      linear(x, count, inputs, parameters[`${name}.weight`], parameters[`${name}.bias`]);
    const norm = (name, x) =>
      layerNorm(x, T, D, parameters[`${name}.weight`], parameters[`${name}.bias`], epsilon);

    watch("image", [channels, height, width], image);
    const patches = patchify(normalize(image, model), channels, height, width, P, Q);
    watch("patches", [N, channels * P * Q], patches);
    const embedded = layer("patch_embed.proj", patches, N, channels * P * Q);
    watch("patch_embed", [N, D], embedded);

    let x = new Float64Array(T * D);
    x.set(parameters.cls_token);
    x.set(embedded, D);
    watch("cls_token", [T, D], x);
    const places = positions(model, shuffled);
    watch("pos_embed", [T, D], places);
    x = add(x, places);
    watch("embed", [T, D], x);

    const weights = [];
    for (let block = 0; block < depth; block++) {
      const name = `blocks.${block}`;
      let normed = norm(`${name}.norm1`, x);
      watch(`${name}.norm1`, [T, D], normed);
      const qkv = layer(`${name}.attn.qkv`, normed, T, D); // (T, 3·h·d)
      const [q, k, v] = [0, 1, 2].map((part) => splitHeads(qkv, part, T, h, d)); // (h, T, d) each
      watch(`${name}.attn.q`, [h, T, d], q);
      watch(`${name}.attn.k`, [h, T, d], k);
      watch(`${name}.attn.v`, [h, T, d], v);
      const scores = dotProducts(q, k, h, T, d);
      watch(`${name}.attn.scores`, [h, T, T], scores);
      const table = softmaxRows(scores, h * T, T);
      watch(`${name}.attn.weights`, [h, T, T], table);
      weights.push(table);
      const mixed = mix(table, v, h, T, d, (head) => off.has(`${block}.${head}`)); // (T, D)
      watch(`${name}.attn.mixed`, [T, D], mixed);
      const attended = layer(`${name}.attn.proj`, mixed, T, D);
      watch(`${name}.attn.proj`, [T, D], attended);
      x = add(x, attended);
      watch(`${name}.residual1`, [T, D], x);

      normed = norm(`${name}.norm2`, x);
      watch(`${name}.norm2`, [T, D], normed);
      const hidden = layer(`${name}.mlp.fc1`, normed, T, D).map(gelu);
      watch(`${name}.mlp.fc1`, [T, hidden.length / T], hidden);
      const thought = layer(`${name}.mlp.fc2`, hidden, T, hidden.length / T);
      watch(`${name}.mlp.fc2`, [T, D], thought);
      x = add(x, thought);
      watch(name, [T, D], x);
    }

    const tokens = norm("norm", x);
    watch("norm", [T, D], tokens);
    const classToken = tokens.slice(0, D);
    watch("class_token", [D], classToken);
    const logits = layer("head", classToken, 1, D);
    watch("head", [classes], logits);
    watch("probabilities", [classes], softmaxRows(logits, 1, classes));
    return { logits, weights };
  }

  /** Mean 0 and spread 1, channel by channel, with the training set's numbers. */
  function normalize(image, { channels, mean, std }) {
    const area = image.length / channels;
    return Float64Array.from(image, (value, i) => {
      const channel = Math.floor(i / area);
      return (value - mean[channel]) / std[channel];
    });
  }

  /** (C, H, W) -> (N, C·P·Q), patches row by row, each flattened channel, row, column. */
  function patchify(image, channels, height, width, P, Q) {
    const out = new Float64Array(image.length);
    let i = 0;
    for (let top = 0; top < height; top += P)
      for (let left = 0; left < width; left += Q)
        for (let c = 0; c < channels; c++)
          for (let row = top; row < top + P; row++)
            for (let column = left; column < left + Q; column++)
              out[i++] = image[(c * height + row) * width + column];
    return out;
  }

  /** The class token's position, then each patch's: its own, or another's. */
  function positions({ parameters, permutation, width: D }, shuffled) {
    const own = Float64Array.from(parameters.pos_embed);
    if (!shuffled) return own;
    const out = own.slice();
    permutation.forEach((other, patch) => {
      out.set(own.subarray((1 + other) * D, (2 + other) * D), (1 + patch) * D);
    });
    return out;
  }

  /** x weightᵀ + bias: (rows, inputs) -> (rows, outputs). Four sums at a time, which is three times as fast. */
  function linear(x, rows, inputs, weight, bias) {
    const outputs = weight.length / inputs;
    const out = new Float64Array(rows * outputs);
    for (let row = 0; row < rows; row++) {
      const start = row * inputs;
      let output = 0;
      for (; output + 4 <= outputs; output += 4) {
        const w = output * inputs;
        let s0 = 0, s1 = 0, s2 = 0, s3 = 0;
        for (let i = 0; i < inputs; i++) {
          const value = x[start + i];
          s0 += value * weight[w + i];
          s1 += value * weight[w + inputs + i];
          s2 += value * weight[w + 2 * inputs + i];
          s3 += value * weight[w + 3 * inputs + i];
        }
        const place = row * outputs + output;
        out[place] = s0;
        out[place + 1] = s1;
        out[place + 2] = s2;
        out[place + 3] = s3;
      }
      for (; output < outputs; output++) {
        for (let i = 0; i < inputs; i++) {
          out[row * outputs + output] += x[start + i] * weight[output * inputs + i];
        }
      }
      if (bias) for (let i = 0; i < outputs; i++) out[row * outputs + i] += bias[i];
    }
    return out;
  }

  function layerNorm(x, rows, D, weight, bias, epsilon) {
    const out = new Float64Array(x.length);
    for (let start = 0; start < rows * D; start += D) {
      let mean = 0;
      for (let i = 0; i < D; i++) mean += x[start + i] / D;
      let variance = 0;
      for (let i = 0; i < D; i++) variance += (x[start + i] - mean) ** 2 / D;
      const scale = 1 / Math.sqrt(variance + epsilon);
      for (let i = 0; i < D; i++) {
        out[start + i] = (x[start + i] - mean) * scale * weight[i] + bias[i];
      }
    }
    return out;
  }

  /** (T, 3·h·d) -> (h, T, d): queries (part 0), keys (1) or values (2). */
  function splitHeads(qkv, part, T, h, d) {
    const out = new Float64Array(h * T * d);
    for (let head = 0; head < h; head++)
      for (let token = 0; token < T; token++) {
        const start = ((token * 3 + part) * h + head) * d;
        out.set(qkv.subarray(start, start + d), (head * T + token) * d);
      }
    return out;
  }

  /** q kᵀ / √d: (h, T, d) twice -> (h, T, T). */
  function dotProducts(q, k, h, T, d) {
    const out = new Float64Array(h * T * T);
    const scale = 1 / Math.sqrt(d);
    let place = 0;
    for (let head = 0; head < h; head++)
      for (let query = 0; query < T; query++)
        for (let key = 0; key < T; key++) {
          let sum = 0;
          const a = (head * T + query) * d;
          const b = (head * T + key) * d;
          for (let i = 0; i < d; i++) sum += q[a + i] * k[b + i];
          out[place++] = sum * scale;
        }
    return out;
  }

  function softmaxRows(x, rows, columns) {
    const out = new Float64Array(x.length);
    for (let start = 0; start < rows * columns; start += columns) {
      let largest = -Infinity;
      for (let i = 0; i < columns; i++) largest = Math.max(largest, x[start + i]);
      let sum = 0;
      for (let i = 0; i < columns; i++) sum += out[start + i] = Math.exp(x[start + i] - largest);
      for (let i = 0; i < columns; i++) out[start + i] /= sum;
    }
    return out;
  }

  /** Values weighted and heads side by side: (h, T, T), (h, T, d) -> (T, h·d). A silent head gives zeros. */
  function mix(table, v, h, T, d, silent) {
    const out = new Float64Array(T * h * d);
    for (let head = 0; head < h; head++) {
      if (silent(head)) continue;
      for (let query = 0; query < T; query++) {
        const place = (query * h + head) * d;
        for (let key = 0; key < T; key++) {
          const weight = table[(head * T + query) * T + key];
          const value = (head * T + key) * d;
          for (let i = 0; i < d; i++) out[place + i] += weight * v[value + i];
        }
      }
    }
    return out;
  }

  function add(a, b) {
    return a.map((value, i) => value + b[i]);
  }

  /** x Φ(x), exactly as the paper's code: no tanh in its place. */
  function gelu(x) {
    return (x / 2) * (1 + erf(x / Math.SQRT2));
  }

  /** erf x = 2/√π · exp(-x²) · Σ 2ⁿ x²ⁿ⁺¹ / (1·3···(2n+1)): every term has the sign of x, nothing cancels. */
  function erf(x) {
    if (Math.abs(x) > 6) return Math.sign(x);
    let term = x;
    let sum = x;
    for (let n = 1; Math.abs(term) > 1e-13 * Math.abs(sum); n++) {
      term *= (2 * x * x) / (2 * n + 1);
      sum += term;
    }
    return (2 / Math.sqrt(Math.PI)) * Math.exp(-x * x) * sum;
  }

  Object.assign(lab, { forward, softmaxRows, erf });
})();
