// The Vision Transformer of the book, for one image: vit_steps/vision_transformer.py in JavaScript.
// Matrices are flat arrays, row by row. Letters as in the book: N patches, T tokens, D width, h heads, d head width.
(() => {
  "use strict";
  const lab = (globalThis.vitLab ??= {});

  /** Room for what a forward pass computes, to be used for the next one as well: nothing is allocated then. */
  function roomFor({ channels, classes: K, depth, heads: h, width: D, imageSize: [height, width], gridSize: [rows, columns], parameters }) {
    const N = rows * columns;
    const T = N + (parameters.cls_token ? 1 : 0);
    const room = (...lengths) => new Float64Array(lengths.reduce((a, b) => a * b));
    const block = () => ({
      norm1: room(T, D), qkv: room(T, 3, D), q: room(T, D), k: room(T, D), v: room(T, D), scores: room(h, T, T),
      weights: room(h, T, T), mixed: room(T, D), attended: room(T, D), residual1: room(T, D), norm2: room(T, D),
      thought: room(T, D), output: room(T, D), logits: room(K),
    });
    const blocks = Array.from({ length: depth }, (_, index) => ({
      ...block(), hidden: room(T, parameters[`blocks.${index}.mlp.fc1.bias`].length),
    }));
    return {
      T, normal: room(channels, height, width), patches: room(channels, height, width), embedded: room(N, D), tokens: room(T, D),
      places: room(T, D), embed: room(T, D), blocks, norm: room(T, D), pooled: room(D), logits: blocks.at(-1).logits,
      weights: blocks.map(({ weights }) => weights), columns: room(D / h, T), votes: room(T, K), probabilities: room(K),
    };
  }

  /**
   * Runs the model on an image with pixels from 0 to 1, (C, H, W), before normalisation.
   *
   * options.shuffled: give the patches each other's positions.
   * options.off: a Set of "block.head" whose heads pass nothing on.
   * options.room: as roomFor(model) makes it; what was in it is gone.
   * options.watch(name, shape, values): called with every step's result.
   *
   * Returns the room. In it: logits (K); weights, one (h, T, T) a block; blocks, of which each has the logits
   * that the final norm and the head give after it; and, where the patches are averaged, each one's votes (N, K).
   */
  function forward(...given) {
    const passing = inParts(...given);
    for (;;) {
      const { done, value } = passing.next();
      if (done) return value;
    }
  }

  /** The same, with a pause before each block: a page that is just opening must not stand still. */
  function* inParts(model, image, { shuffled = false, off = new Set(), room = roomFor(model), watch = () => {} } = {}) {
    const { channels, classes, depth, heads: h, width: D, epsilon, parameters } = model;
    const [height, width] = model.imageSize;
    const [rows, columns] = model.gridSize;
    const [P, Q] = model.patchSize;
    const N = rows * columns;
    const { T } = room;
    const d = D / h;
    if (image.length !== channels * height * width) {
      throw new Error(`image: got ${image.length} numbers, expected ${channels}·${height}·${width}`);
    }
    const layer = (name, x, count, inputs, out) =>
      linear(x, count, inputs, parameters[`${name}.weight`], parameters[`${name}.bias`], out);
    const norm = (name, x, out) =>
      layerNorm(x, T, D, parameters[`${name}.weight`], parameters[`${name}.bias`], epsilon, out);

    /** What the head reads: the class token, or the mean of the patches. */
    function pool(tokens) {
      if (parameters.cls_token) return tokens.subarray(0, D);
      room.pooled.fill(0);
      for (let i = 0; i < T * D; i++) room.pooled[i % D] += tokens[i] / T;
      return room.pooled;
    }

    watch("image", [channels, height, width], image);
    patchify(normalize(image, model, room.normal), channels, height, width, P, Q, room.patches);
    watch("patches", [N, channels * P * Q], room.patches);
    layer("patch_embed.proj", room.patches, N, channels * P * Q, room.embedded);
    watch("patch_embed", [N, D], room.embedded);
    if (parameters.cls_token) room.tokens.set(parameters.cls_token);
    room.tokens.set(room.embedded, (T - N) * D);
    watch("cls_token", [T, D], room.tokens);
    positions(model, shuffled, T - N, room.places);
    watch("pos_embed", [T, D], room.places);
    let x = add(room.tokens, room.places, room.embed);
    watch("embed", [T, D], x);

    for (let index = 0; index < depth; index++) {
      yield;
      const name = `blocks.${index}`;
      const block = room.blocks[index];
      norm(`${name}.norm1`, x, block.norm1);
      watch(`${name}.norm1`, [T, D], block.norm1);
      layer(`${name}.attn.qkv`, block.norm1, T, D, block.qkv); // (T, 3·h·d)
      for (const [part, one] of ["q", "k", "v"].entries()) {
        splitHeads(block.qkv, part, T, h, d, block[one]);
        watch(`${name}.attn.${one}`, [h, T, d], block[one]);
      }
      score(block.q, block.k, h, T, d, block.scores);
      watch(`${name}.attn.scores`, [h, T, T], block.scores);
      softmaxRows(block.scores, h * T, T, block.weights);
      watch(`${name}.attn.weights`, [h, T, T], block.weights);
      mix(block.weights, block.v, h, T, d, room.columns, block.mixed); // (T, D)
      for (let head = 0; head < h; head++) if (off.has(`${index}.${head}`)) silence(block.mixed, head, T, D, d);
      watch(`${name}.attn.mixed`, [T, D], block.mixed);
      layer(`${name}.attn.proj`, block.mixed, T, D, block.attended);
      watch(`${name}.attn.proj`, [T, D], block.attended);
      add(x, block.attended, block.residual1);
      watch(`${name}.residual1`, [T, D], block.residual1);

      norm(`${name}.norm2`, block.residual1, block.norm2);
      watch(`${name}.norm2`, [T, D], block.norm2);
      const M = block.hidden.length / T;
      gelu(layer(`${name}.mlp.fc1`, block.norm2, T, D, block.hidden));
      watch(`${name}.mlp.fc1`, [T, M], block.hidden);
      layer(`${name}.mlp.fc2`, block.hidden, T, M, block.thought);
      watch(`${name}.mlp.fc2`, [T, D], block.thought);
      x = add(block.residual1, block.thought, block.output);
      watch(name, [T, D], x);
      layer("head", pool(norm("norm", x, room.norm)), 1, D, block.logits);
    }

    watch("norm", [T, D], room.norm);
    watch("class_token", [D], pool(room.norm));
    watch("head", [classes], room.logits);
    watch("probabilities", [classes], softmaxRows(room.logits, 1, classes, room.probabilities));
    if (!parameters.cls_token) layer("head", room.norm, T, D, room.votes);
    return room;
  }

  /** Mean 0 and spread 1, channel by channel, with the training set's numbers. */
  function normalize(image, { channels, mean, std }, out) {
    const area = image.length / channels;
    for (let i = 0; i < image.length; i++) {
      const channel = Math.floor(i / area);
      out[i] = (image[i] - mean[channel]) / std[channel];
    }
    return out;
  }

  /** (C, H, W) -> (N, C·P·Q), patches row by row, each flattened channel, row, column. */
  function patchify(image, channels, height, width, P, Q, out) {
    let i = 0;
    for (let top = 0; top < height; top += P)
      for (let left = 0; left < width; left += Q)
        for (let c = 0; c < channels; c++)
          for (let row = top; row < top + P; row++)
            for (let column = left; column < left + Q; column++)
              out[i++] = image[(c * height + row) * width + column];
  }

  /** Each patch's position after the first tokens' own: its own, or another's. */
  function positions({ parameters: { pos_embed: own }, permutation, width: D }, shuffled, first, out) {
    out.set(own);
    if (!shuffled) return;
    permutation.forEach((other, patch) => {
      for (let i = 0; i < D; i++) out[(first + patch) * D + i] = own[(first + other) * D + i];
    });
  }

  /** x weightᵀ + bias: (rows, inputs) -> (rows, outputs). */
  function linear(x, rows, inputs, weight, bias, out) {
    const outputs = weight.length / inputs;
    dotProducts(x, 0, rows, weight, 0, outputs, inputs, out, 0, outputs);
    if (bias) for (let i = 0; i < rows * outputs; i++) out[i] += bias[i % outputs];
    return out;
  }

  /**
   * Each of some rows of a with each of some rows of b, all of them `length` long: a bᵀ. They begin at `inA`
   * and `inB`; a row of the result is `stride` after the one before. Two rows and four columns at a time are
   * several times as fast; where they do not come out even, the last are computed twice.
   */
  function dotProducts(a, inA, rows, b, inB, columns, length, out, inOut, stride) {
    for (let column = 0; column < columns; column += 4) {
      const c1 = Math.min(column + 1, columns - 1), c2 = Math.min(column + 2, columns - 1), c3 = Math.min(column + 3, columns - 1);
      const b0 = inB + column * length, b1 = inB + c1 * length, b2 = inB + c2 * length, b3 = inB + c3 * length;
      for (let row = 0; row < rows; row += 2) {
        const next = Math.min(row + 1, rows - 1);
        const one = inA + row * length, two = inA + next * length;
        let p0 = 0, p1 = 0, p2 = 0, p3 = 0, q0 = 0, q1 = 0, q2 = 0, q3 = 0;
        for (let i = 0; i < length; i++) {
          const p = a[one + i], q = a[two + i];
          const v0 = b[b0 + i], v1 = b[b1 + i], v2 = b[b2 + i], v3 = b[b3 + i];
          p0 += p * v0; p1 += p * v1; p2 += p * v2; p3 += p * v3;
          q0 += q * v0; q1 += q * v1; q2 += q * v2; q3 += q * v3;
        }
        const first = inOut + row * stride, second = inOut + next * stride;
        out[first + column] = p0; out[first + c1] = p1; out[first + c2] = p2; out[first + c3] = p3;
        out[second + column] = q0; out[second + c1] = q1; out[second + c2] = q2; out[second + c3] = q3;
      }
    }
  }

  function layerNorm(x, rows, D, weight, bias, epsilon, out) {
    for (let start = 0; start < rows * D; start += D) {
      let mean = 0;
      for (let i = 0; i < D; i++) mean += x[start + i];
      mean /= D;
      let variance = 0;
      for (let i = 0; i < D; i++) {
        const from = x[start + i] - mean;
        variance += from * from;
      }
      const scale = 1 / Math.sqrt(variance / D + epsilon);
      for (let i = 0; i < D; i++) out[start + i] = (x[start + i] - mean) * scale * weight[i] + bias[i];
    }
    return out;
  }

  /** (T, 3·h·d) -> (h, T, d): queries (part 0), keys (1) or values (2). */
  function splitHeads(qkv, part, T, h, d, out) {
    let place = 0;
    for (let head = 0; head < h; head++)
      for (let token = 0; token < T; token++) {
        const start = ((token * 3 + part) * h + head) * d;
        for (let i = 0; i < d; i++) out[place++] = qkv[start + i];
      }
  }

  /** q kᵀ / √d: (h, T, d) twice -> (h, T, T). */
  function score(q, k, h, T, d, out) {
    for (let head = 0; head < h; head++) {
      dotProducts(q, head * T * d, T, k, head * T * d, T, d, out, head * T * T, T);
    }
    const scale = 1 / Math.sqrt(d);
    for (let i = 0; i < out.length; i++) out[i] *= scale;
  }

  function softmaxRows(x, rows, columns, out = new Float64Array(x.length)) {
    for (let start = 0; start < rows * columns; start += columns) {
      let largest = -Infinity;
      for (let i = 0; i < columns; i++) if (x[start + i] > largest) largest = x[start + i];
      let sum = 0;
      for (let i = 0; i < columns; i++) sum += out[start + i] = Math.exp(x[start + i] - largest);
      for (let i = 0; i < columns; i++) out[start + i] /= sum;
    }
    return out;
  }

  /** Values weighted and heads side by side: (h, T, T), (h, T, d) -> (T, h·d). */
  function mix(table, v, h, T, d, columns, out) {
    for (let head = 0; head < h; head++) {
      for (let token = 0; token < T; token++)
        for (let i = 0; i < d; i++) columns[i * T + token] = v[(head * T + token) * d + i]; // a row of them is read at once
      dotProducts(table, head * T * T, T, columns, 0, d, T, out, head * d, h * d);
    }
  }

  /** A head that is off brings zeros. */
  function silence(mixed, head, T, D, d) {
    for (let token = 0; token < T; token++) mixed.fill(0, token * D + head * d, token * D + (head + 1) * d);
  }

  function add(a, b, out) {
    for (let i = 0; i < out.length; i++) out[i] = a[i] + b[i];
    return out;
  }

  /** x Φ(x) in place, exactly as the paper's code: no tanh in its place. */
  function gelu(x) {
    for (let i = 0; i < x.length; i++) x[i] = (x[i] / 2) * (1 + erf(x[i] * Math.SQRT1_2));
  }

  // The error function at equal steps, and its slope there; in between a cubic, to within 1e-10.
  const FINE = 128;
  const FAR = 6; // it is ±1 from here on
  const heights = Float64Array.from({ length: FAR * FINE + 1 }, (_, i) => erfSeries(i / FINE));
  const slopes = heights.map((_, i) => (2 / Math.sqrt(Math.PI)) * Math.exp(-((i / FINE) ** 2)));

  function erf(x) {
    const size = Math.abs(x);
    if (!(size < FAR)) return Math.sign(x);
    const i = Math.round(size * FINE);
    const at = i / FINE;
    const by = size - at;
    const value = heights[i] + slopes[i] * by * (1 - at * by + ((2 * at * at - 1) * by * by) / 3);
    return x < 0 ? -value : value;
  }

  /** erf x = 2/√π · exp(-x²) · Σ 2ⁿ x²ⁿ⁺¹ / (1·3···(2n+1)): every term has the sign of x, nothing cancels. */
  function erfSeries(x) {
    let term = x;
    let sum = x;
    for (let n = 1; term > 1e-16 * sum; n++) {
      term *= (2 * x * x) / (2 * n + 1);
      sum += term;
    }
    return (2 / Math.sqrt(Math.PI)) * Math.exp(-x * x) * sum;
  }

  Object.assign(lab, { roomFor, forward, inParts, softmaxRows, erf });
})();
