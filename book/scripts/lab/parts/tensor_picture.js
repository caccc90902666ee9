// Draws a step's tensor in its own form: as an image, patches, rows of tokens, heads, or a row of numbers.

import { el } from "../../shared/elements.js";
import { colouring, context, grey, pixels } from "./paint.js";
import { modelOf } from "./weights.js";

/** @import { Numbers, Tensor } from "./types.d.ts" */

const MIDDLE = 8; // pixels of the image, by as many, that are shown with their numbers

/**
 * Draws a step's tensor, and returns a sentence that explains the colours.
 * @type {(canvas: HTMLCanvasElement, step: string, tensor: Tensor) => string}
 */
export function tensorPicture(canvas, step, { dimensions, values }) {
  const width = 320;
  if (step === "image") return numbersInTheMiddle(canvas, width, dimensions[2], values);
  const colours = colouring(values);
  const { low, high } = colours;
  const scale = low < 0
    ? `Blue is negative, white 0, red positive; the strongest colours are ±${high.toPrecision(2)}.`
    : `Dark is 0, yellow ${high.toPrecision(2)}.`;
  if (step === "patches") {
    const c = context(canvas, width, width);
    c.clearRect(0, 0, width, width);
    const { gridSize: [, columns], patchSize: [p, q] } = modelOf("trained");
    const [count, numbers] = dimensions;
    const pitch = width / columns;
    for (let n = 0; n < count; n++) {
      const patch = pixels(values.subarray(numbers * n, numbers * (n + 1)), p, q, colours);
      c.drawImage(patch, (n % columns) * pitch + 3, Math.floor(n / columns) * pitch + 3, pitch - 6, pitch - 6);
    }
    size(canvas, width, width);
    return `Each patch's ${numbers} numbers, in their place. ${scale}`;
  }
  if (dimensions.length === 1) {
    const [count] = dimensions;
    const few = count <= 10;
    const height = few ? 72 : 32;
    const c = context(canvas, width, height);
    c.drawImage(pixels(values, 1, count, colours), 0, 0, width, 32);
    if (few) {
      c.clearRect(0, 32, width, 40);
      const { color, fontFamily: family } = getComputedStyle(canvas);
      c.fillStyle = color;
      c.font = `13px ${family}`;
      c.textAlign = "center";
      for (let k = 0; k < count; k++) c.fillText(String(k), ((k + 0.5) * width) / count, 49);
      c.font = `12px ${family}`;
      for (let k = 0; k < count; k++) c.fillText(values[k].toFixed(2), ((k + 0.5) * width) / count, 66);
    }
    size(canvas, width, height);
    const most = few ? ` The largest is that of class ${values.indexOf(Math.max(...values))}.` : "";
    return `${count} numbers, side by side. ${scale}${most}`;
  }
  if (dimensions.length === 2) {
    const [rows, columns] = dimensions;
    const height = Math.round((width * rows) / columns);
    const c = context(canvas, width, height);
    c.drawImage(pixels(values, rows, columns, colours), 0, 0, width, height);
    size(canvas, width, height);
    const [down, across] = modelOf("trained").gridSize;
    return `${rows} rows, one ${rows === down * across ? "patch" : "token"} each, of ${columns} numbers. ${scale}`;
  }
  const [h, rows, columns] = dimensions;
  const gap = 8;
  const square = rows === columns;
  const across = square ? 2 : h;
  const side = (width - gap * (across - 1)) / across;
  const tall = square ? side : side * 3;
  const down = Math.ceil(h / across);
  const height = down * tall + gap * (down - 1);
  const c = context(canvas, width, height);
  c.clearRect(0, 0, width, height);
  for (let head = 0; head < h; head++) {
    const tile = pixels(values.subarray(head * rows * columns, (head + 1) * rows * columns), rows, columns, colours);
    c.drawImage(tile, (head % across) * (side + gap), Math.floor(head / across) * (tall + gap), side, tall);
  }
  size(canvas, width, height);
  const order = square ? "heads 0 and 1 above, 2 and 3 below" : "head 0 on the left";
  return `${h} heads, each ${rows} × ${columns}, ${order}. ${scale}`;
}

/**
 * Draws the pixels in the middle of the image, each with its number: the whole image is on the board.
 * @type {(canvas: HTMLCanvasElement, width: number, side: number, values: Numbers) => string}
 */
function numbersInTheMiddle(canvas, width, side, values) {
  const first = (side - MIDDLE) / 2;
  const pitch = width / MIDDLE;
  const shown = Float64Array.from({ length: MIDDLE * MIDDLE }, (_, i) =>
    values[(first + Math.floor(i / MIDDLE)) * side + first + (i % MIDDLE)]);
  const sheet = el("canvas"); // a canvas that is not in the page yet has no fonts if it comes from a template
  const c = context(sheet, width, width);
  c.drawImage(pixels(shown, MIDDLE, MIDDLE, grey), 0, 0, width, width);
  c.font = `14px ${getComputedStyle(document.body).fontFamily}`;
  c.textAlign = "center";
  c.textBaseline = "middle";
  shown.forEach((value, i) => {
    c.fillStyle = value < 0.5 ? "#fff" : "#000";
    c.fillText(value.toFixed(2), ((i % MIDDLE) + 0.5) * pitch, (Math.floor(i / MIDDLE) + 0.5) * pitch);
  });
  context(canvas, width, width).drawImage(sheet, 0, 0, width, width);
  size(canvas, width, width);
  const last = first + MIDDLE - 1;
  return `The numbers of rows and columns ${first} to ${last}, in the middle. Black is 0, white is 1.`;
}

/** @type {(canvas: HTMLCanvasElement, width: number, height: number) => void} */
function size(canvas, width, height) {
  canvas.style.aspectRatio = `${width} / ${height}`;
}
