// Composes an image like those of the training: a digit on a texture among scraps of others. This is
// vit_steps/data/cluttered_digits.py in JavaScript, without its turning and stretching.

import { clamp } from "../../shared/grid.js";

/** @import { Ground, Scene, Scrap } from "./types.d.ts" */
/** @typedef {Pick<Scrap, "top" | "left">} Place */

// The sizes have the names that they have there, and a test compares them. All but the last two are pixels.
export const IMAGE = 32;
export const DIGIT = 16;
const SCRAP = 6;
export const STEP = 2; // in the training, digits were at multiples of it
const GAP = 2;
const INK = 0.75;
const BACKGROUND = 0.4;

/**
 * Puts a scene together: (32·32) pixels from 0 to 1.
 *
 * scene.digit: 64 numbers from 0 to 1, row by row.
 * scene.top, scene.left: the corner of its 16 × 16 box.
 * scene.ground: {pixels, rows, columns, top, left}, or null for black.
 * scene.scraps: a list of {pixels (36), top, left}.
 * @type {(scene: Scene) => Float64Array}
 */
export function compose(scene) {
  const layer = new Float64Array(IMAGE * IMAGE);
  paste(layer, enlarge(scene.digit, 0), DIGIT, scene.top, scene.left);
  for (const scrap of scene.scraps) paste(layer, scrap.pixels, SCRAP, scrap.top, scrap.left);
  return layer.map((ink, i) => ink + (1 - ink) * groundAt(scene.ground, i));
}

/** @type {(ground: Ground | null, i: number) => number} */
function groundAt(ground, i) {
  if (!ground) return 0;
  const row = ground.top + Math.floor(i / IMAGE);
  const column = ground.left + (i % IMAGE);
  return BACKGROUND * ground.pixels[row * ground.columns + column];
}

/**
 * Pastes pixels into a layer; where both have ink, the brighter one stays.
 * @type {(layer: Float64Array, pixels: Float64Array, size: number, top: number, left: number) => void}
 */
function paste(layer, pixels, size, top, left) {
  for (let row = 0; row < size; row++)
    for (let column = 0; column < size; column++) {
      const place = (top + row) * IMAGE + left + column;
      layer[place] = Math.max(layer[place], pixels[row * size + column]);
    }
}

/**
 * Enlarges 8 × 8 to 16 × 16, bilinear. Beyond the edge is `outside`, or the edge's own value if that is null.
 * @type {(digit: Float64Array, outside?: number | null) => Float64Array}
 */
export function enlarge(digit, outside = null) {
  /** @type {(row: number, column: number) => number} */
  const at = (row, column) => {
    if (outside === null) {
      row = clamp(row, 0, 7);
      column = clamp(column, 0, 7);
    }
    return outside !== null && (row < 0 || row > 7 || column < 0 || column > 7) ? outside : digit[row * 8 + column];
  };
  const out = new Float64Array(DIGIT * DIGIT);
  for (let row = 0; row < DIGIT; row++)
    for (let column = 0; column < DIGIT; column++) {
      const y = (row + 0.5) / 2 - 0.5;
      const x = (column + 0.5) / 2 - 0.5;
      const [r, c] = [Math.floor(y), Math.floor(x)];
      const [dy, dx] = [y - r, x - c];
      out[row * DIGIT + column] =
        (1 - dy) * ((1 - dx) * at(r, c) + dx * at(r, c + 1)) + dy * ((1 - dx) * at(r + 1, c) + dx * at(r + 1, c + 1));
    }
  return out;
}

/**
 * Cuts a scrap out of a random digit and puts it outside the digit's box and, if there is room, away from others.
 * @type {(digits: Float64Array[], top: number, left: number, random: () => number, others?: Scrap[]) => Scrap}
 */
export function makeScrap(digits, top, left, random, others = []) {
  /** @type {(count: number) => number} */
  const pick = (count) => Math.floor(random() * count);
  const ink = INK + (1 - INK) * random();
  let pixels;
  do { // until the scrap has enough ink to be seen
    const whole = enlarge(digits[pick(digits.length)]);
    const [y, x] = [pick(DIGIT - SCRAP + 1), pick(DIGIT - SCRAP + 1)];
    pixels = Float64Array.from({ length: SCRAP * SCRAP }, (_, i) =>
      ink * whole[(y + Math.floor(i / SCRAP)) * DIGIT + x + (i % SCRAP)]);
  } while (pixels.reduce((a, b) => a + b, 0) < 0.25 * SCRAP * SCRAP);
  const scrap = { pixels, top: 0, left: 0 };
  placeScrap(scrap, top, left, random, others);
  return scrap;
}

/**
 * Moves a scrap to a free place outside the box and, as long as there is room, away from other scraps.
 * @type {(scrap: Scrap, top: number, left: number, random: () => number, others?: Scrap[]) => void}
 */
export function placeScrap(scrap, top, left, random, others = []) {
  const free = [];
  for (let row = 0; row <= IMAGE - SCRAP; row++)
    for (let column = 0; column <= IMAGE - SCRAP; column++) {
      if (isClear({ top: row, left: column }, top, left)) free.push([row, column]);
    }
  const alone = free.filter(([row, column]) => others.every((other) => areApart({ top: row, left: column }, other)));
  const places = alone.length ? alone : free;
  [scrap.top, scrap.left] = places[Math.floor(random() * places.length)];
}

/** @type {(scrap: Place, other: Place) => boolean} */
export function areApart(scrap, other) {
  return Math.max(Math.abs(scrap.top - other.top), Math.abs(scrap.left - other.left)) >= SCRAP + GAP;
}

/**
 * Returns whether a scrap keeps its distance from the digit's box.
 * @type {(scrap: Place, top: number, left: number) => boolean}
 */
export function isClear(scrap, top, left) {
  /** @type {(a: number, corner: number) => boolean} */
  const apart = (a, corner) => Math.abs(a - (corner + (DIGIT - SCRAP) / 2)) >= (DIGIT + SCRAP) / 2 + GAP;
  return apart(scrap.top, top) || apart(scrap.left, left);
}

/**
 * Returns a generator of random numbers from 0 to 1 (mulberry32); a seed always gives the same numbers.
 * @type {(seed: number) => () => number}
 */
export function seededRandom(seed) {
  return () => {
    seed = (seed + 0x6d2b79f5) | 0;
    let t = Math.imul(seed ^ (seed >>> 15), 1 | seed);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
}
