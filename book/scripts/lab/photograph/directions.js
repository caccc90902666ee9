// Pictures of patch tokens: their three main directions as colours, and which patches are alike.

import { dotProducts, sideBySide } from "../parts/kernels.js";

/** @import { Directions, Numbers } from "../parts/types.d.ts" */

/** @typedef {Directions & { basis: Float32Array }} FoundDirections */

const DIRECTIONS = 3;
const DARKEST = 0.02; // the shares of patches that are darkest and brightest in a direction
const MOST_STEPS = 500;
const STILL = 1e-6; // directions that turn by less in a step have been found

/**
 * Finds the three main directions of patch tokens, of one picture or common to several.
 * tokensList: [(1 + N) × D, ...], whose class tokens are left out.
 * Returns {mean (D), basis (3 × D), scale: [[darkest, brightest], ...]}.
 * @type {(tokensList: Float32Array[], D?: number) => FoundDirections}
 */
export function directions(tokensList, D = 384) {
  const all = tokensList.map((tokens) => tokens.subarray(D));
  const count = all.reduce((sum, patches) => sum + patches.length / D, 0);
  const mean = new Float32Array(D);
  for (const patches of all) for (let i = 0; i < patches.length; i++) mean[i % D] += patches[i] / count;
  const basis = mainDirections(all, count, mean, D);
  /** @type {FoundDirections} */
  const found = { mean, basis, scale: [] };
  const along = all.map((patches) => project(patches, found, D));
  for (let k = 0; k < DIRECTIONS; k++) {
    const values = along.flatMap((one) =>
      Array.from({ length: one.length / DIRECTIONS }, (_, patch) => one[patch * DIRECTIONS + k]),
    );
    values.sort((a, b) => a - b);
    found.scale.push([quantile(values, DARKEST), quantile(values, 1 - DARKEST)]);
  }
  return found;
}

/**
 * Returns the colours of a picture's patches, N × 3: each direction is one of red, green and blue.
 * @type {(tokens: Numbers, found: Directions) => Uint8ClampedArray}
 */
export function paintDirections(tokens, found) {
  const D = found.mean.length;
  const along = project(tokens.subarray(D), found, D);
  return Uint8ClampedArray.from(along, (value, i) => {
    const [darkest, brightest] = found.scale[i % DIRECTIONS];
    return (255 * (value - darkest)) / (brightest - darkest);
  });
}

/**
 * Returns the cosine of a patch of one picture with each patch of another, or of the same.
 * @type {(tokensA: Numbers, patch: number, tokensB: Numbers, D?: number) => Float32Array}
 */
export function similaritiesTo(tokensA, patch, tokensB, D = 384) {
  const asking = tokensA.subarray((patch + 1) * D, (patch + 2) * D);
  let squares = 0;
  for (const value of asking) squares += value * value;
  return Float32Array.from({ length: tokensB.length / D - 1 }, (_, other) => {
    let product = 0;
    let square = 0;
    for (let i = 0, at = (other + 1) * D; i < D; i++, at++) {
      product += asking[i] * tokensB[at];
      square += tokensB[at] ** 2;
    }
    return product / Math.sqrt(squares * square);
  });
}

/** @type {(patches: Numbers, found: Directions, D: number) => Float32Array} */
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

/**
 * Returns the eigenvectors of the largest eigenvalues of the patches' covariance. All three are multiplied by it and
 * put at right angles again, until they stay. Each points to where the sum of its numbers is positive.
 * @type {(all: Numbers[], count: number, mean: Numbers, D: number) => Float32Array}
 */
function mainDirections(all, count, mean, D) {
  const room = sideBySide({ turned: D * count, covariance: D * D, basis: DIRECTIONS * D, next: DIRECTIONS * D });
  const { turned, covariance, basis, next } = room;
  let patch = 0;
  for (const patches of all)
    for (let start = 0; start < patches.length; start += D, patch++)
      for (let i = 0; i < D; i++) turned[i * count + patch] = patches[start + i] - mean[i];
  dotProducts(turned, 0, D, turned, 0, D, count, covariance, 0, D);
  basis.forEach((_, i) => { basis[i] = Math.sin(i + 1); }); // any start will do
  atRightAngles(basis, D);
  for (let step = 0, turn = 1; step < MOST_STEPS && turn > STILL; step++) {
    dotProducts(basis, 0, DIRECTIONS, covariance, 0, D, D, next, 0, D);
    atRightAngles(next, D);
    turn = basis.reduce((most, value, i) => Math.max(most, Math.abs(value - next[i])), 0);
    basis.set(next);
  }
  const signs = [0, 1, 2].map((k) => (basis.subarray(k * D, (k + 1) * D).reduce((a, b) => a + b) < 0 ? -1 : 1));
  return Float32Array.from(basis, (value, i) => signs[Math.floor(i / D)] * value);
}

/**
 * Takes from each row what points along the rows before it, and makes it 1 long.
 * @type {(rows: Float32Array, D: number) => void}
 */
function atRightAngles(rows, D) {
  for (let start = 0; start < rows.length; start += D) {
    const row = rows.subarray(start, start + D);
    for (let before = 0; before < start; before += D) {
      const other = rows.subarray(before, before + D);
      const share = row.reduce((sum, value, i) => sum + value * other[i], 0);
      for (let i = 0; i < D; i++) row[i] -= share * other[i];
    }
    const length = Math.sqrt(row.reduce((sum, value) => sum + value * value, 0)) || 1;
    for (let i = 0; i < D; i++) row[i] /= length;
  }
}

/**
 * Returns a quantile of sorted values, between its two neighbours as PyTorch does.
 * @type {(sorted: number[], share: number) => number}
 */
function quantile(sorted, share) {
  const place = share * (sorted.length - 1);
  const below = Math.floor(place);
  const above = Math.min(below + 1, sorted.length - 1);
  return sorted[below] + (place - below) * (sorted[above] - sorted[below]);
}
