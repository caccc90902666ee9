// Turns the weights and pictures that book/lab_data.py writes back into numbers.

import { bytesOf } from "../../shared/numbers.js";

/** @import { Model, Pictures, Written } from "./types.d.ts" */

/** The contents of the data scripts, by name. */
const received = (globalThis.vitData ??= {});

/** @type {Map<string, Model>} */
const models = new Map(); // decoded

/** Returns a content as it came, and forgets it. @type {(name: string) => unknown} */
export function takeContent(name) {
  const content = received[name];
  delete received[name];
  return content;
}

/** Returns a received model for forward(), decoded once. @type {(name: string) => Model} */
export function modelOf(name) {
  const known = models.get(name);
  if (known) return known;
  const content = /** @type {Written | undefined} */ (received[name]);
  if (!content) throw new Error(`model: got "${name}", expected one of ${Object.keys(received).join(", ")}`);
  const { numbers: text, dtype, ...sizes } = content;
  const numbers = decode(text, dtype);
  /** @type {Model["parameters"]} */
  const parameters = {};
  let start = 0;
  for (const [tensor, shape] of content.tensors) {
    const count = shape.reduce((a, b) => a * b, 1);
    parameters[tensor] = numbers.subarray(start, start + count);
    start += count;
  }
  if (start !== numbers.length) {
    throw new Error(`numbers: got ${numbers.length}, expected ${start}, as many as the tensors hold`);
  }
  const model = { ...sizes, parameters };
  models.set(name, model);
  return model;
}

/** @type {Pictures | null} */
let pictures = null;

/** Returns {labels, digits: [64 numbers from 0 to 1], grounds: {name: pixels}}, decoded once. @type {() => Pictures} */
export function picturesContent() {
  if (pictures) return pictures;
  const content = received.pictures;
  if (!content) throw new Error("pictures: got none");
  const { labels, textures, textureSize } = content;
  const digits = bytesOf(content.digits);
  const grounds = bytesOf(content.grounds);
  const area = textureSize[0] * textureSize[1];
  pictures = {
    labels, textureSize,
    digits: labels.map((_, i) => Float64Array.from(digits.subarray(64 * i, 64 * i + 64), (value) => value / 16)),
    grounds: Object.fromEntries(textures.map((name, i) => [
      name, Float64Array.from(grounds.subarray(i * area, (i + 1) * area), (value) => value / 255),
    ])),
  };
  return pictures;
}

/** @type {Record<string, number>} */
const WIDTHS = { float16: 2, float32: 4 }; // bytes for a number

/**
 * Decodes base64 of little-endian float16 or float32 to a Float64Array, JavaScript's own precision.
 * @type {(base64: string, dtype: string) => Float64Array}
 */
export function decode(base64, dtype) {
  const width = WIDTHS[dtype];
  if (!width) throw new Error(`dtype: got "${dtype}", expected float16 or float32`);
  const raw = bytesOf(base64);
  const view = new DataView(raw.buffer);
  const numbers = new Float64Array(raw.length / width);
  for (let i = 0; i < numbers.length; i++) {
    numbers[i] = width === 2 ? fromHalf(view.getUint16(2 * i, true)) : view.getFloat32(4 * i, true);
  }
  return numbers;
}

const POWERS = Float64Array.from({ length: 0x20 }, (_, exponent) => 2 ** (exponent - 15));

/** Decodes IEEE 754 half precision: 1 bit of sign, 5 of exponent, 10 of fraction. @type {(bits: number) => number} */
export function fromHalf(bits) {
  const sign = bits & 0x8000 ? -1 : 1;
  const exponent = (bits >> 10) & 0x1f;
  const fraction = bits & 0x3ff;
  if (exponent === 0x1f) return fraction ? NaN : sign * Infinity;
  if (exponent === 0) return sign * fraction * 2 ** -24;
  return sign * (1 + fraction / 1024) * POWERS[exponent];
}
