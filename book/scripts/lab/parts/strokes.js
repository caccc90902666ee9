// Turns a drawing into a digit in the way of the data set: on a bitmap of 32 × 32, the inked pixels of each block of
// 4 × 4 are counted.

import { clamp } from "../../shared/grid.js";

/** @import { Point, Stroke } from "./types.d.ts" */

const SIDE = 32;
const PEN = 4.5; // width in pixels, whatever the size of the drawing
const LEAST = 1 / 4; // of the pad; a smaller drawing is a dot, and not enlarged to a digit

/**
 * strokes: lists of points [row, column], in shares of the pad. They are scaled to the bitmap with their
 * proportions kept, and drawn there with a pen of its own. Returns 64 numbers from 0 to 1, or null if nothing is drawn.
 * @type {(strokes: Stroke[]) => Float64Array | null}
 */
export function digitFromStrokes(strokes) {
  const points = strokes.flat();
  if (points.length === 0) return null;
  const ends = [0, 1].map((axis) => points.map((point) => point[axis]))
    .map((all) => [Math.min(...all), Math.max(...all)]);
  const size = Math.max(LEAST, ...ends.map(([low, high]) => high - low));
  /** @type {(point: Point) => Point} */
  const scaled = (point) => point.map((at, axis) =>
    SIDE / 2 + ((at - (ends[axis][0] + ends[axis][1]) / 2) / size) * (SIDE - PEN));
  const inked = new Uint8Array(SIDE * SIDE);
  for (const stroke of strokes) {
    const line = stroke.map(scaled);
    line.forEach((point, i) => ink(inked, line[Math.max(i - 1, 0)], point));
  }
  const digit = new Float64Array(64);
  inked.forEach((isInked, i) => {
    digit[Math.floor(i / SIDE / 4) * 8 + Math.floor((i % SIDE) / 4)] += isInked / 16;
  });
  return digit;
}

/**
 * Inks the pixels whose centres are within half a pen's width of a line.
 * @type {(inked: Uint8Array, start: Point, end: Point) => void}
 */
function ink(inked, [y0, x0], [y1, x1]) {
  const reach = PEN / 2;
  /** @type {(a: number, b: number) => number} */
  const from = (a, b) => Math.max(0, Math.floor(Math.min(a, b) - reach));
  /** @type {(a: number, b: number) => number} */
  const to = (a, b) => Math.min(SIDE, Math.ceil(Math.max(a, b) + reach));
  const length = (y1 - y0) ** 2 + (x1 - x0) ** 2;
  for (let row = from(y0, y1); row < to(y0, y1); row++)
    for (let column = from(x0, x1); column < to(x0, x1); column++) {
      const [y, x] = [row + 0.5 - y0, column + 0.5 - x0];
      const along = length === 0 ? 0 : clamp((y * (y1 - y0) + x * (x1 - x0)) / length, 0, 1);
      if (Math.hypot(y - along * (y1 - y0), x - along * (x1 - x0)) <= reach) inked[row * SIDE + column] = 1;
    }
}
