// Attention maps from the weights: vit_steps/attention_maps/ in JavaScript.

/** @import { Box, Numbers, Sizes } from "./types.d.ts" */

/**
 * Returns one token's row (T) of one head in a block's weights (h, T, T).
 * @template {Numbers} Table
 * @param {Table} table
 * @param {number} head
 * @param {number} token
 * @param {number} T
 * @returns {Table}
 */
export function tokenRow(table, head, token, T) {
  const start = (head * T + token) * T;
  return /** @type {Table} */ (table.subarray(start, start + T));
}

/**
 * Returns the shares of the patches without the class token's, scaled to sum to 1: (T) -> (N).
 * @type {(shares: Numbers) => Numbers}
 */
export function toPatches(shares) {
  let sum = 0;
  for (let i = 1; i < shares.length; i++) sum += shares[i];
  const patches = shares.slice(1);
  if (sum > 0) for (let i = 0; i < patches.length; i++) patches[i] /= sum;
  return patches;
}

/**
 * Returns the mean over the heads that are on, or zeros if none is: (h, T, T) -> (T, T).
 * @type {(table: Numbers, heads: number[], T: number, out?: Numbers) => Numbers}
 */
export function averageHeads(table, heads, T, out = new Float64Array(T * T)) {
  out.fill(0);
  for (const head of heads)
    for (let i = 0; i < T * T; i++) out[i] += table[head * T * T + i] / heads.length;
  return out;
}

/**
 * Returns one token's row of attention rollout (Abnar and Zuidema 2020): of the product of all blocks'
 * (I + mean over heads) / 2.
 * @type {(means: Numbers[], token: number, T: number, residual?: number) => Numbers}
 */
export function rollout(means, token, T, residual = 0.5) {
  let passed = new Float64Array(T);
  passed[token] = 1;
  for (let block = means.length - 1; block >= 0; block--) {
    const on = new Float64Array(T);
    for (let i = 0; i < T; i++) {
      const share = (1 - residual) * passed[i];
      for (let j = 0; j < T; j++) on[j] += share * means[block][i * T + j];
      on[i] += residual * passed[i];
    }
    passed = on;
  }
  return passed;
}

/**
 * Returns the share of (N) inside a box of pixels; a patch that the box cuts counts by its area inside.
 * @type {(patches: Numbers, box: Box, sizes: Pick<Sizes, "gridSize" | "patchSize">) => number}
 */
export function massInside(patches, box, { gridSize: [rows, columns], patchSize: [P, Q] }) {
  /** @type {(start: number, end: number, index: number, length: number) => number} */
  const overlap = (start, end, index, length) =>
    Math.max(0, Math.min(end, (index + 1) * length) - Math.max(start, index * length)) / length;
  let mass = 0;
  for (let r = 0; r < rows; r++)
    for (let c = 0; c < columns; c++) {
      mass += patches[r * columns + c] * overlap(box.top, box.bottom, r, P) * overlap(box.left, box.right, c, Q);
    }
  return mass;
}
