// The effect of a change on tokens, matches and saliency, in numbers and in words.

import { clamp, placeAt, upTo } from "../../shared/grid.js";

/** @import { Look, Match, Numbers } from "../parts/types.d.ts" */

const NEAR = 0.12; // of the picture's side: patches so near a patch do not count as its matches
const MARKED = 0.5; // saliency from which a patch counts as marked

/** Writes a cosine. @param {number} cosine */
export const near = (cosine) => cosine.toFixed(2);

/**
 * Returns the patch at a place of the picture; y and x are shares of its height and width.
 * @type {(y: number, x: number, grid: number) => number}
 */
export function patchAt(y, x, grid) {
  /** @type {(share: number) => number} */
  const index = (share) => clamp(Math.floor(share * grid), 0, grid - 1);
  return index(y) * grid + index(x);
}

/** @type {(patch: number, other: number, grid: number) => boolean} */
function isNear(patch, other, grid) {
  const reach = Math.max(1, Math.round(NEAR * grid));
  const there = placeAt(other, grid);
  return placeAt(patch, grid).every((index, axis) => Math.abs(index - there[axis]) <= reach);
}

/**
 * Returns {patch, cosine} of the most similar patch; near (patch and its neighbours) does not count, or null.
 * @type {(similarities: Float32Array, grid: number, near?: number | null) => Match}
 */
export function bestMatch(similarities, grid, near = null) {
  let best = -1;
  similarities.forEach((cosine, patch) => {
    if (near !== null && isNear(near, patch, grid)) return;
    if (best < 0 || cosine > similarities[best]) best = patch;
  });
  return { patch: best, cosine: similarities[best] };
}

/**
 * Returns the mean cosine between a patch's token in two runs, (1 + N, D) each, over some patches or all.
 * @type {(one: Numbers, other: Numbers, dim: number, patches?: number[]) => number}
 */
export function meanCosine(one, other, dim, patches = upTo(one.length / dim - 1)) {
  let sum = 0;
  for (const patch of patches) {
    let [product, a, b] = [0, 0, 0];
    for (let i = (1 + patch) * dim; i < (2 + patch) * dim; i++) {
      product += one[i] * other[i];
      a += one[i] * one[i];
      b += other[i] * other[i];
    }
    sum += product / Math.sqrt(a * b);
  }
  return sum / patches.length;
}

/** Returns {median, most} of numbers. @type {(values: Numbers) => { median: number, most: number }} */
export function middleAndMost(values) {
  const sorted = Float32Array.from(values).sort();
  return { median: sorted[sorted.length >> 1], most: sorted[sorted.length - 1] };
}

/**
 * Returns the mean saliency of each patch; a run has several numbers for a patch, row by row.
 * @type {(look: Pick<Look, "saliency">, grid: number) => Float32Array}
 */
export function saliencyOf({ saliency }, grid) {
  const side = Math.sqrt(saliency.length);
  const part = side / grid;
  const out = new Float32Array(grid * grid);
  saliency.forEach((value, i) => {
    out[Math.floor(Math.floor(i / side) / part) * grid + Math.floor((i % side) / part)] += value / part ** 2;
  });
  return out;
}

/**
 * Returns the share of patches that are marked, and how many of those marked before are still marked.
 * @type {(saliency: Numbers | number[], before?: Numbers | number[] | null) => { share: number, kept: number | null }}
 */
export function markedShares(saliency, before = null) {
  let [now, kept, was] = [0, 0, 0];
  saliency.forEach((value, patch) => {
    if (value > MARKED) now++;
    if (before && before[patch] > MARKED) {
      was++;
      if (value > MARKED) kept++;
    }
  });
  return { share: now / saliency.length, kept: was ? kept / was : null };
}

/**
 * Turns what belongs to the patches of a picture upside down: rows of `dim` numbers, after `first` other rows.
 * @type {(values: Numbers, dim?: number, first?: number) => Numbers}
 */
export function turned(values, dim = 1, first = 0) {
  const out = values.slice();
  const rows = values.length / dim - first;
  for (let row = 0; row < rows; row++) {
    const from = (first + rows - 1 - row) * dim;
    out.set(values.subarray(from, from + dim), (first + row) * dim);
  }
  return out;
}

/** Returns values as light from 0 to 1, with low as dark. @type {(values: Numbers, low?: number) => Float32Array} */
export function lightOf(values, low = 0) {
  let most = -Infinity;
  for (const value of values) most = Math.max(most, value);
  const range = most - low || 1;
  return Float32Array.from(values, (value) => Math.max(0, (value - low) / range));
}

/**
 * Returns similarities as light: dark up to their median, so that what is unusually similar shows.
 * @type {(similarities: Numbers) => Float32Array}
 */
export const lightOfMatches = (similarities) => lightOf(similarities, middleAndMost(similarities).median);
