// Paints numbers as pixels. A canvas has the resolution of the screen; sizes are CSS pixels.

import { el } from "../../shared/elements.js";
import { scale, sequential, TONES } from "../../shared/scale.js";
import { write } from "./dom.js";

/** @import { Colours, Pen, Sizes } from "./types.d.ts" */

// matplotlib's RdBu at equal steps, whose white is zero
const BLUE_RED = "053061 2166ac 4393c3 92c5de d1e5f0 f7f7f7 fddbc7 f4a582 d6604d b2182b 67001f".split(" ");
export const diverging = scale(BLUE_RED);
export const grey = { tones: scale(["000000", "ffffff"]), low: 0, high: 1 };

/**
 * Returns functions that draw on a canvas.
 * @type {(canvas: HTMLCanvasElement, settings?: CanvasRenderingContext2DSettings) => Pen}
 */
export function penOf(canvas, settings) {
  const pen = canvas.getContext("2d", settings);
  if (!pen) throw new Error("this browser cannot draw on a canvas");
  return pen;
}

/**
 * Sizes a canvas for the screen and returns a context that counts in CSS pixels.
 * @type {(canvas: HTMLCanvasElement, width: number, height: number, ratio?: number) => Pen}
 */
export function context(canvas, width, height, ratio = globalThis.devicePixelRatio || 1) {
  if (canvas.width !== Math.round(width * ratio) || canvas.height !== Math.round(height * ratio)) {
    canvas.width = Math.round(width * ratio);
    canvas.height = Math.round(height * ratio);
  }
  const c = penOf(canvas);
  c.setTransform(canvas.width / width, 0, 0, canvas.height / height, 0, 0);
  c.imageSmoothingEnabled = false;
  return c;
}

/** @type {Map<string, HTMLCanvasElement>} */
const sheets = new Map(); // one for each size, painted again and again

/**
 * Returns a canvas with one pixel for each of rows × columns numbers; the next call with that size reuses it.
 * @type {(values: ArrayLike<number>, rows: number, columns: number, colours: Colours) => HTMLCanvasElement}
 */
export function pixels(values, rows, columns, colours) {
  const size = `${rows} × ${columns}`;
  const canvas = sheets.get(size) ?? document.createElement("canvas");
  sheets.set(size, canvas);
  paintPixels(canvas, values, rows, columns, colours);
  return canvas;
}

/** @type {WeakMap<HTMLCanvasElement, { pen: Pen, image: ImageData }>} */
const contents = new WeakMap(); // canvas -> its context and its image data

/** @type {(canvas: HTMLCanvasElement, rows: number, columns: number) => { pen: Pen, image: ImageData }} */
function prepared(canvas, rows, columns) {
  [canvas.width, canvas.height] = [columns, rows];
  const pen = penOf(canvas);
  const content = { pen, image: pen.createImageData(columns, rows) };
  contents.set(canvas, content);
  return content;
}

/**
 * Paints rows × columns numbers on a canvas, one pixel each.
 * @type {(
 *   canvas: HTMLCanvasElement, values: ArrayLike<number>, rows: number, columns: number,
 *   colours: Colours,
 * ) => void}
 */
export function paintPixels(canvas, values, rows, columns, { tones, low, high }) {
  const { pen, image } = contents.get(canvas) ?? prepared(canvas, rows, columns);
  const { data } = image;
  const step = high > low ? (TONES - 1) / (high - low) : 0;
  for (let i = 0; i < rows * columns; i++) {
    const tone = 3 * Math.min(Math.max(Math.round((values[i] - low) * step), 0), TONES - 1);
    data[4 * i] = tones[tone];
    data[4 * i + 1] = tones[tone + 1];
    data[4 * i + 2] = tones[tone + 2];
    data[4 * i + 3] = 255;
  }
  pen.putImageData(image, 0, 0);
}

/**
 * Returns colours for numbers of both signs (white is 0), or from 0 up: {tones, low, high}.
 * @type {(values: ArrayLike<number>) => Colours}
 */
export function colouring(values) {
  let low = Infinity;
  let high = -Infinity;
  for (let i = 0; i < values.length; i++) {
    if (values[i] < low) low = values[i];
    if (values[i] > high) high = values[i];
  }
  return low >= 0 ? { tones: sequential, low: 0, high } : bothSigns(Math.max(-low, high));
}

/** @type {(most: number) => Colours} */
export const bothSigns = (most) => ({ tones: diverging, low: -most, high: most });

/** Makes a colour scale with a text at each end: {element, show(low, high)}. @param {Uint8Array} tones */
export function colourBar(tones) {
  const ends = [0, 1].map(() => el("span"));
  const steps = Array.from({ length: 11 }, (_, i) => Math.round((i / 10) * (TONES - 1)))
    .map((tone) => `rgb(${tones.subarray(3 * tone, 3 * tone + 3).join(" ")})`);
  const ramp = el("span", { class: "vl-ramp", style: `background: linear-gradient(to right, ${steps.join(", ")})` });
  return {
    element: el("p", { class: "vl-scale" }, ends[0], ramp, ends[1]),
    /** @type {(low: string, high: string) => void} */
    show(low, high) {
      write(ends[0], low);
      write(ends[1], high);
    },
  };
}

// the same colours as in the chapters' figures
export const ASKING = "#ffe800";
export const TRUE_BOX = "#e69f00";

/**
 * Draws a frame on a black one, so that it shows on any picture; the default colour marks the query's patch.
 * @type {(c: Pen, x: number, y: number, width: number, height: number, colour?: string) => void}
 */
export function strokeFrame(c, x, y, width, height, colour = ASKING) {
  [c.strokeStyle, c.lineWidth] = ["#000", 4];
  c.strokeRect(x, y, width, height);
  [c.strokeStyle, c.lineWidth] = [colour, 2];
  c.strokeRect(x, y, width, height);
}

/** @type {(c: Pen, side: number, count: number, style?: string) => void} */
export function gridLines(c, side, count, style = "rgba(255, 255, 255, 0.55)") {
  c.strokeStyle = style;
  c.lineWidth = 1;
  c.beginPath();
  for (let i = 1; i < count; i++) {
    const at = Math.round((i * side) / count) + 0.5;
    c.moveTo(at, 0);
    c.lineTo(at, side);
    c.moveTo(0, at);
    c.lineTo(side, at);
  }
  c.stroke();
}
