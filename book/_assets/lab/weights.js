// Turns the weights and pictures that book/lab_data.py writes back into numbers.
(() => {
  "use strict";
  const lab = (globalThis.vitLab ??= {});
  const received = new Map();

  /** Receives the content of a data script, which calls it. */
  function receive(name, content) {
    received.set(name, content);
  }

  function has(name) {
    return received.has(name);
  }

  function content(name) {
    return received.get(name);
  }

  /** Returns a received content as it came, and forgets it. */
  function taken(name) {
    const content = received.get(name);
    received.delete(name);
    return content;
  }

  /** Returns a received model for forward(), decoded once. */
  function model(name) {
    const content = received.get(name);
    if (!content) throw new Error(`model: got "${name}", expected one of ${[...received.keys()].join(", ")}`);
    if (!content.parameters) {
      const numbers = decode(content.numbers, content.dtype);
      content.parameters = {};
      let start = 0;
      for (const [tensor, shape] of content.tensors) {
        const count = shape.reduce((a, b) => a * b, 1);
        content.parameters[tensor] = numbers.subarray(start, start + count);
        start += count;
      }
      if (start !== numbers.length) {
        throw new Error(`numbers: got ${numbers.length}, expected ${start}, as many as the tensors hold`);
      }
      delete content.numbers;
    }
    return content;
  }

  /** Returns {labels, digits: [64 numbers from 0 to 1], grounds: {name: pixels}}, decoded once. */
  function pictures() {
    const content = received.get("pictures");
    if (typeof content.digits === "string") {
      const digits = bytes(content.digits);
      content.digits = content.labels.map((_, i) =>
        Float64Array.from(digits.subarray(64 * i, 64 * i + 64), (value) => value / 16));
      const grounds = bytes(content.grounds);
      const [rows, columns] = content.textureSize;
      content.grounds = Object.fromEntries(content.textures.map((name, i) => [
        name,
        Float64Array.from(grounds.subarray(i * rows * columns, (i + 1) * rows * columns), (value) => value / 255),
      ]));
    }
    return content;
  }

  function bytes(base64) {
    const text = atob(base64);
    const out = new Uint8Array(text.length);
    for (let i = 0; i < out.length; i++) out[i] = text.charCodeAt(i);
    return out;
  }

  const WIDTHS = { float16: 2, float32: 4 }; // bytes for a number

  /** Decodes base64 of little-endian float16 or float32 to a Float64Array, JavaScript's own precision. */
  function decode(base64, dtype) {
    const width = WIDTHS[dtype];
    if (!width) throw new Error(`dtype: got "${dtype}", expected float16 or float32`);
    const raw = bytes(base64);
    const view = new DataView(raw.buffer);
    const numbers = new Float64Array(raw.length / width);
    for (let i = 0; i < numbers.length; i++) {
      numbers[i] = width === 2 ? fromHalf(view.getUint16(2 * i, true)) : view.getFloat32(4 * i, true);
    }
    return numbers;
  }

  const POWERS = Float64Array.from({ length: 0x20 }, (_, exponent) => 2 ** (exponent - 15));

  /** Decodes IEEE 754 half precision: 1 bit of sign, 5 of exponent, 10 of fraction. */
  function fromHalf(bits) {
    const sign = bits & 0x8000 ? -1 : 1;
    const exponent = (bits >> 10) & 0x1f;
    const fraction = bits & 0x3ff;
    if (exponent === 0x1f) return fraction ? NaN : sign * Infinity;
    if (exponent === 0) return sign * fraction * 2 ** -24;
    return sign * (1 + fraction / 1024) * POWERS[exponent];
  }

  Object.assign(lab, { receive, has, content, taken, model, pictures, decode, fromHalf });
})();
