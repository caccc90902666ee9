// The slow parts of a forward pass, in the WebAssembly of kernels.wat if the browser can run it, else in JavaScript.

import { simd } from "./simd.js";

/** @import { Arrays, Numbers } from "./types.d.ts" */

/** @typedef {Record<"dotProducts" | "softmaxRows" | "gelu", (...addresses: number[]) => void>} Kernels */

const PAGE = 65_536; // bytes in a unit of memory
/** @type {WeakMap<ArrayBufferLike, Kernels>} */
const kernels = new WeakMap(); // memory -> the kernels that work on it

/** The compiled simd.js, or null in a browser without WebAssembly or its vector instructions. */
const module = (() => {
  const bytes = Uint8Array.from(atob(simd), (character) => character.charCodeAt(0));
  return globalThis.WebAssembly?.validate(bytes) ? new WebAssembly.Module(bytes) : null;
})();

/**
 * Makes Float32Arrays of the given lengths, with the same names and nesting, in one memory that the kernels read.
 * @template Lengths
 * @param {Lengths} lengths
 * @param {{ withSimd?: boolean }} [options]
 * @returns {Arrays<Lengths>}
 */
export function sideBySide(lengths, { withSimd = module !== null } = {}) {
  /** @type {(some: unknown) => number} */
  const total = (some) =>
    typeof some === "number" ? some : Object.values(some ?? {}).reduce((sum, one) => sum + total(one), 0);
  const bytes = Float32Array.BYTES_PER_ELEMENT * total(lengths);
  let buffer = new ArrayBuffer(withSimd ? 0 : bytes);
  if (withSimd && module) {
    const memory = new WebAssembly.Memory({ initial: Math.ceil(bytes / PAGE) });
    buffer = memory.buffer;
    const { exports } = new WebAssembly.Instance(module, { lab: { memory } });
    kernels.set(buffer, /** @type {Kernels} */ (/** @type {unknown} */ (exports)));
  }
  let start = 0;
  /** @type {(some: unknown) => unknown} */
  function place(some) {
    if (Array.isArray(some)) return some.map(place);
    if (typeof some === "object" && some)
      return Object.fromEntries(Object.entries(some).map(([name, one]) => [name, place(one)]));
    const array = new Float32Array(buffer, start, Number(some));
    start += array.byteLength;
    return array;
  }
  return /** @type {Arrays<Lengths>} */ (place(lengths));
}

/**
 * Computes a bᵀ: the dot product of each row of a with each row of b. Rows have `length` numbers and begin at `inA`
 * and `inB`; rows of the result are `stride` apart. All arrays come from one call of sideBySide.
 * @type {(
 *   a: Numbers, inA: number, rows: number, b: Numbers, inB: number, columns: number, length: number,
 *   out: Numbers, inOut: number, stride: number,
 * ) => void}
 */
export function dotProducts(a, inA, rows, b, inB, columns, length, out, inOut, stride) {
  const kernel = kernels.get(out.buffer);
  if (kernel && columns >= 4) {
    kernel.dotProducts(
      a.byteOffset + 4 * inA,
      rows,
      b.byteOffset + 4 * inB,
      columns,
      4 * length,
      out.byteOffset + 4 * inOut,
      4 * stride,
    );
    return;
  }
  for (let row = 0; row < rows; row++)
    for (let column = 0; column < columns; column++) {
      let sum = 0;
      for (let i = 0; i < length; i++) sum += a[inA + row * length + i] * b[inB + column * length + i];
      out[inOut + row * stride + column] = sum;
    }
}

/**
 * Applies softmax to each row.
 * @template {Numbers} [Out=Float64Array]
 * @param {Numbers} x
 * @param {number} rows
 * @param {number} columns
 * @param {Out} [out]
 * @returns {Out}
 */
export function softmaxRows(x, rows, columns, out = /** @type {Out} */ (new Float64Array(x.length))) {
  const kernel = kernels.get(out.buffer);
  if (kernel) {
    kernel.softmaxRows(x.byteOffset, rows, 4 * columns, out.byteOffset);
    return out;
  }
  for (let start = 0; start < rows * columns; start += columns) {
    let largest = -Infinity;
    for (let i = 0; i < columns; i++) if (x[start + i] > largest) largest = x[start + i];
    let sum = 0;
    for (let i = 0; i < columns; i++) sum += out[start + i] = Math.exp(x[start + i] - largest);
    for (let i = 0; i < columns; i++) out[start + i] /= sum;
  }
  return out;
}

/**
 * Replaces x by x Φ(x), exactly, as in the paper's code, and not by the approximation with tanh.
 * @type {(x: Numbers) => void}
 */
export function gelu(x) {
  const kernel = kernels.get(x.buffer);
  if (kernel && x.length % 4 === 0) kernel.gelu(x.byteOffset, x.byteLength);
  else for (let i = 0; i < x.length; i++) x[i] = (x[i] / 2) * (1 + erf(x[i] * Math.SQRT1_2));
}

/** Returns erf(x) to within 1.5e-7: Abramowitz and Stegun 1964, 7.1.26. @type {(x: number) => number} */
export function erf(x) {
  const t = 1 / (1 + 0.3275911 * Math.abs(x));
  const polynomial = ((((1.061405429 * t - 1.453152027) * t + 1.421413741) * t - 0.284496736) * t + 0.254829592) * t;
  return Math.sign(x) * (1 - polynomial * Math.exp(-x * x));
}
