// The Vision Transformer of the book, for one image: vit_steps/vision_transformer.py in JavaScript.
// Matrices are flat arrays, row by row. Letters as in the book: N patches, T tokens, D width, h heads, d head width.

import { dotProducts, gelu, sideBySide, softmaxRows } from "./kernels.js";

/** @import { Model, Numbers, Options, Room, Sizes } from "./types.d.ts" */

const QKV = /** @type {const} */ (["q", "k", "v"]);

/**
 * Allocates arrays for a model's parameters and for the results of a forward pass, which can be used again.
 * @param {Model} model
 */
export function roomFor({
  channels,
  classes: K,
  depth,
  heads: h,
  width: D,
  imageSize: [height, width],
  gridSize: [rows, columns],
  parameters,
}) {
  const N = rows * columns;
  const T = N + (parameters.cls_token ? 1 : 0);
  const pixels = channels * height * width;
  const room = sideBySide({
    parameters: Object.fromEntries(Object.entries(parameters).map(([name, { length }]) => [name, length])),
    normal: pixels,
    patches: pixels,
    embedded: N * D,
    tokens: T * D,
    places: T * D,
    embed: T * D,
    blocks: Array.from({ length: depth }, (_, index) => ({
      norm1: T * D,
      qkv: T * 3 * D,
      q: T * D,
      k: T * D,
      v: T * D,
      scores: h * T * T,
      weights: h * T * T,
      mixed: T * D,
      attended: T * D,
      residual1: T * D,
      norm2: T * D,
      hidden: T * parameters[`blocks.${index}.mlp.fc1.bias`].length,
      thought: T * D,
      output: T * D,
      logits: K,
    })),
    norm: T * D,
    pooled: D,
    columns: (D / h) * T,
    votes: T * K,
    probabilities: K,
  });
  for (const [name, values] of Object.entries(parameters)) room.parameters[name].set(values);
  return { ...room, T, logits: room.blocks[depth - 1].logits, weights: room.blocks.map(({ weights }) => weights) };
}

/**
 * Runs the model on an image with pixels from 0 to 1, (C, H, W), before normalisation.
 *
 * options.shuffled: gives the patches each other's positions.
 * options.off: a Set of "block.head"; the output of these heads is replaced by zeros.
 * options.room: the result of roomFor(model); its old content is overwritten.
 * options.watch(name, shape, values): called with every step's result.
 *
 * Returns the room. It holds logits (K); weights, one (h, T, T) for each block; blocks, each with the logits that
 * the final norm and the head give after it; and, in a model that averages its patches, their votes (N, K).
 * @type {(model: Model, image: Numbers, options?: Options) => Room}
 */
export function forward(model, image, options) {
  const passing = inParts(model, image, options);
  for (;;) {
    const { done, value } = passing.next();
    if (done) return value;
  }
}

/**
 * The generator behind forward(); it yields before each block, so that an opening page can respond in between.
 * @type {(model: Model, image: Numbers, options?: Options) => Generator<undefined, Room>}
 */
export function* inParts(
  model,
  image,
  { shuffled = false, off = new Set(), room = roomFor(model), watch = () => {} } = {},
) {
  const { channels, classes, depth, heads: h, width: D, epsilon } = model;
  const [height, width] = model.imageSize;
  const [rows, columns] = model.gridSize;
  const [P, Q] = model.patchSize;
  const N = rows * columns;
  const { T, parameters } = room;
  const d = D / h;
  if (image.length !== channels * height * width) {
    throw new Error(`image: got ${image.length} numbers, expected ${channels}·${height}·${width}`);
  }
  /** @type {(name: string, x: Numbers, count: number, inputs: number, out: Float32Array) => Float32Array} */
  const layer = (name, x, count, inputs, out) =>
    linear(x, count, inputs, parameters[`${name}.weight`], parameters[`${name}.bias`], out);
  /** @type {(name: string, x: Numbers, out: Float32Array) => Float32Array} */
  const norm = (name, x, out) =>
    layerNorm(x, T, D, parameters[`${name}.weight`], parameters[`${name}.bias`], epsilon, out);

  /**
   * Returns the input of the head: the class token, or the mean of the patches.
   * @type {(tokens: Float32Array) => Float32Array}
   */
  function pool(tokens) {
    if (parameters.cls_token) return tokens.subarray(0, D);
    room.pooled.fill(0);
    for (let token = 0; token < T; token++) for (let i = 0; i < D; i++) room.pooled[i] += tokens[token * D + i] / T;
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
    for (const [part, one] of QKV.entries()) {
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

/**
 * Normalises each channel with the mean and spread of the training set.
 * @type {(image: Numbers, sizes: Sizes, out: Float32Array) => Float32Array}
 */
function normalize(image, { channels, mean, std }, out) {
  const area = image.length / channels;
  for (let i = 0; i < image.length; i++) {
    const channel = Math.floor(i / area);
    out[i] = (image[i] - mean[channel]) / std[channel];
  }
  return out;
}

/**
 * Cuts an image into patches, row by row, each flattened by channel, row, column: (C, H, W) -> (N, C·P·Q).
 * @type {(
 *   image: Numbers, channels: number, height: number, width: number, P: number, Q: number,
 *   out: Float32Array,
 * ) => void}
 */
function patchify(image, channels, height, width, P, Q, out) {
  let i = 0;
  for (let top = 0; top < height; top += P)
    for (let left = 0; left < width; left += Q)
      for (let c = 0; c < channels; c++)
        for (let row = top; row < top + P; row++)
          for (let column = left; column < left + Q; column++)
            out[i++] = image[(c * height + row) * width + column];
}

/**
 * Copies the positions; if shuffled, each patch gets another patch's, and the first tokens keep their own.
 * @type {(model: Model, shuffled: boolean, first: number, out: Float32Array) => void}
 */
function positions({ parameters: { pos_embed: own }, permutation, width: D }, shuffled, first, out) {
  out.set(own);
  if (!shuffled) return;
  permutation.forEach((other, patch) => {
    for (let i = 0; i < D; i++) out[(first + patch) * D + i] = own[(first + other) * D + i];
  });
}

/**
 * Computes x weightᵀ + bias: (rows, inputs) -> (rows, outputs).
 * @type {(x: Numbers, rows: number, inputs: number, weight: Numbers, bias: Numbers, out: Float32Array) => Float32Array}
 */
function linear(x, rows, inputs, weight, bias, out) {
  const outputs = weight.length / inputs;
  dotProducts(x, 0, rows, weight, 0, outputs, inputs, out, 0, outputs);
  for (let start = 0; start < rows * outputs; start += outputs)
    for (let i = 0; i < outputs; i++) out[start + i] += bias[i];
  return out;
}

/**
 * @type {(
 *   x: Numbers, rows: number, D: number, weight: Numbers, bias: Numbers, epsilon: number,
 *   out: Float32Array,
 * ) => Float32Array}
 */
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

/**
 * Copies the heads' queries (part 0), keys (1) or values (2): (T, 3·h·d) -> (h, T, d).
 * @type {(qkv: Numbers, part: number, T: number, h: number, d: number, out: Float32Array) => void}
 */
function splitHeads(qkv, part, T, h, d, out) {
  let place = 0;
  for (let head = 0; head < h; head++)
    for (let token = 0; token < T; token++) {
      const start = ((token * 3 + part) * h + head) * d;
      for (let i = 0; i < d; i++) out[place++] = qkv[start + i];
    }
}

/**
 * Computes q kᵀ / √d: (h, T, d), (h, T, d) -> (h, T, T).
 * @type {(q: Float32Array, k: Float32Array, h: number, T: number, d: number, out: Float32Array) => void}
 */
function score(q, k, h, T, d, out) {
  for (let head = 0; head < h; head++) {
    dotProducts(q, head * T * d, T, k, head * T * d, T, d, out, head * T * T, T);
  }
  const scale = 1 / Math.sqrt(d);
  for (let i = 0; i < out.length; i++) out[i] *= scale;
}

/**
 * Weights the values and puts the heads side by side: (h, T, T), (h, T, d) -> (T, h·d).
 * @type {(
 *   table: Float32Array, v: Float32Array, h: number, T: number, d: number, columns: Float32Array,
 *   out: Float32Array,
 * ) => void}
 */
function mix(table, v, h, T, d, columns, out) {
  for (let head = 0; head < h; head++) {
    for (let token = 0; token < T; token++)
      for (let i = 0; i < d; i++) columns[i * T + token] = v[(head * T + token) * d + i]; // rows for the kernel
    dotProducts(table, head * T * T, T, columns, 0, d, T, out, head * d, h * d);
  }
}

/**
 * Sets the output of a head that is off to zeros.
 * @type {(mixed: Float32Array, head: number, T: number, D: number, d: number) => void}
 */
function silence(mixed, head, T, D, d) {
  for (let token = 0; token < T; token++) mixed.fill(0, token * D + head * d, token * D + (head + 1) * d);
}

/** @type {(a: Numbers, b: Numbers, out: Float32Array) => Float32Array} */
function add(a, b, out) {
  for (let i = 0; i < out.length; i++) out[i] = a[i] + b[i];
  return out;
}
