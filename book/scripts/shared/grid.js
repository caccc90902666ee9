// Places on a grid, [row, column], and the keys that lead from one to the next.

/** @typedef {[number, number]} Pair */

/** @type {(number: number, low: number, high: number) => number} */
export const clamp = (number, low, high) => Math.min(Math.max(number, low), high);

/** Returns the numbers from 0 on. @param {number} count */
export const upTo = (count) => [...Array(count).keys()];

/** Returns the place with a number, counted row by row. @type {(number: number, columns: number) => Pair} */
export const placeAt = (number, columns) => [Math.floor(number / columns), number % columns];

/** @type {(place: Pair) => string} */
export const inWords = ([row, column]) => `row ${row}, column ${column}`;

/** What an arrow key adds to a place. @type {Record<string, Pair>} */
export const ARROWS = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] };

/** Returns whether a place is on a grid. @type {(place: Pair, size: Pair) => boolean} */
export const isInside = (place, size) => place.every((index, axis) => index >= 0 && index < size[axis]);

/**
 * Returns the path of a line around cells of a square grid.
 * @type {(cells: number[], side: number, place: [number, number, number, number]) => string}
 */
export function edgeAround(cells, side, [left, top, wide]) {
  const inside = new Set(cells);
  const size = wide / side;
  return cells
    .map((cell) => {
      const [row, column] = placeAt(cell, side);
      const [x, y] = [left + column * size, top + row * size];
      return (
        (inside.has(cell - side) ? "" : `M${x} ${y}h${size}`) +
        (inside.has(cell + side) ? "" : `M${x} ${y + size}h${size}`) +
        (column > 0 && inside.has(cell - 1) ? "" : `M${x} ${y}v${size}`) +
        (column < side - 1 && inside.has(cell + 1) ? "" : `M${x + size} ${y}v${size}`)
      );
    })
    .join("");
}
