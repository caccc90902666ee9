// What takes the time of a forward pass: by the WebAssembly of kernels.wat where a browser has it, else by JavaScript.
(() => {
  "use strict";
  const lab = (globalThis.vitLab ??= {});
  const PAGE = 65_536; // bytes: memory is given in such
  const kernels = new WeakMap(); // of each memory

  /** What simd.js holds, or null in a browser without WebAssembly or its vectors. */
  const module = (() => {
    const bytes = Uint8Array.from(atob(lab.simd), (character) => character.charCodeAt(0));
    return globalThis.WebAssembly?.validate(bytes) ? new WebAssembly.Module(bytes) : null;
  })();

  /** Float32Arrays of the lengths given, named and nested as those are, in one memory that the kernels read. */
  function sideBySide(lengths, { withSimd = module !== null } = {}) {
    const total = (some) => (typeof some === "number" ? some : Object.values(some).reduce((sum, one) => sum + total(one), 0));
    const bytes = Float32Array.BYTES_PER_ELEMENT * total(lengths);
    const memory = withSimd ? new WebAssembly.Memory({ initial: Math.ceil(bytes / PAGE) }) : { buffer: new ArrayBuffer(bytes) };
    if (withSimd) kernels.set(memory.buffer, new WebAssembly.Instance(module, { lab: { memory } }).exports);
    let start = 0;
    function place(some) {
      if (Array.isArray(some)) return some.map(place);
      if (typeof some === "object") return Object.fromEntries(Object.entries(some).map(([name, one]) => [name, place(one)]));
      const array = new Float32Array(memory.buffer, start, some);
      start += array.byteLength;
      return array;
    }
    return place(lengths);
  }

  /**
   * Each of some rows of a with each of some rows of b, all of them `length` long: a bᵀ. They begin at `inA`
   * and `inB`; a row of the result is `stride` after the one before. The arrays are of one sideBySide.
   */
  function dotProducts(a, inA, rows, b, inB, columns, length, out, inOut, stride) {
    const kernel = kernels.get(out.buffer);
    if (kernel && columns >= 4) {
      kernel.dotProducts(a.byteOffset + 4 * inA, rows, b.byteOffset + 4 * inB, columns, 4 * length, out.byteOffset + 4 * inOut, 4 * stride);
      return;
    }
    for (let row = 0; row < rows; row++)
      for (let column = 0; column < columns; column++) {
        let sum = 0;
        for (let i = 0; i < length; i++) sum += a[inA + row * length + i] * b[inB + column * length + i];
        out[inOut + row * stride + column] = sum;
      }
  }

  /** Each row to shares that sum to 1. */
  function softmaxRows(x, rows, columns, out = new Float64Array(x.length)) {
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

  /** x Φ(x) in place, as the paper's code: no tanh in its place. */
  function gelu(x) {
    const kernel = kernels.get(x.buffer);
    if (kernel && x.length % 4 === 0) kernel.gelu(x.byteOffset, x.byteLength);
    else for (let i = 0; i < x.length; i++) x[i] = (x[i] / 2) * (1 + erf(x[i] * Math.SQRT1_2));
  }

  /** To within 1.5e-7: Abramowitz and Stegun 1964, 7.1.26. */
  function erf(x) {
    const t = 1 / (1 + 0.3275911 * Math.abs(x));
    const polynomial = ((((1.061405429 * t - 1.453152027) * t + 1.421413741) * t - 0.284496736) * t + 0.254829592) * t;
    return Math.sign(x) * (1 - polynomial * Math.exp(-x * x));
  }

  Object.assign(lab, { sideBySide, dotProducts, softmaxRows, gelu, erf });
})();
