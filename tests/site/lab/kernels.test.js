import { test } from "node:test";
import assert from "node:assert/strict";
import { dotProducts, erf, gelu, sideBySide, softmaxRows } from "../../../book/scripts/lab/parts/kernels.js";
import { simd } from "../../../book/scripts/lab/parts/simd.js";

const near = (actual, expected, tolerance) => {
  assert.equal(actual.length, expected.length);
  [...actual].forEach((value, i) => assert.ok(Math.abs(value - expected[i]) <= tolerance, `${i}: ${value}, expected ${expected[i]}`));
};

/** Returns arrays twice, filled alike: once for WebAssembly and once for JavaScript. */
function twice(lengths, fill) {
  const rooms = [true, false].map((withSimd) => sideBySide(lengths, { withSimd }));
  for (const room of rooms) fill(room);
  return rooms;
}
const waves = (array, high, step) => array.forEach((_, i) => { array[i] = high * Math.sin(i * step + 1); });

test("this engine has WebAssembly's vectors, so that what follows compares two things", () => {
  assert.ok(WebAssembly.validate(Buffer.from(simd, "base64")));
});

test("arrays lie side by side, named and nested as their lengths", () => {
  for (const withSimd of [true, false]) {
    const { a, b } = sideBySide({ a: 3, b: [{ c: 2 }, { c: 1 }] }, { withSimd });
    assert.deepEqual([a, b[0].c, b[1].c].map(({ length, byteOffset }) => [length, byteOffset]), [[3, 0], [2, 12], [1, 20]]);
    assert.equal(a.buffer, b[1].c.buffer);
  }
});

test("dot products of either kind: each row with each row, from where they begin, and nothing beside them", () => {
  for (const [rows, columns, length] of [[2, 4, 4], [1, 3, 5], [3, 5, 1], [65, 10, 64], [4, 17, 65], [5, 9, 7]]) {
    const stride = columns + 2;
    const lengths = { a: 1 + rows * length, b: 2 + columns * length, out: 3 + rows * stride };
    const rooms = twice(lengths, ({ a, b, out }) => {
      waves(a, 1, 1.7);
      waves(b, 1, 2.3);
      out.fill(9);
    });
    for (const { a, b, out } of rooms) dotProducts(a, 1, rows, b, 2, columns, length, out, 3, stride);
    const [{ a, b, out }] = rooms;
    const expected = Float64Array.from(out, (_, i) => {
      const [row, column] = [Math.floor((i - 3) / stride), (i - 3) % stride];
      if (i < 3 || column >= columns) return 9;
      return Array.from({ length }, (_, j) => a[1 + row * length + j] * b[2 + column * length + j]).reduce((x, y) => x + y);
    });
    for (const room of rooms) near(room.out, expected, 1e-5);
  }
});

test("softmax of either kind: large numbers do not overflow, and every row sums to 1", () => {
  const x = [1000, 1000, -1000, 0, Math.log(3), -Infinity];
  const expected = [0.5, 0.5, 0, 0.25, 0.75, 0];
  near(softmaxRows(Float64Array.from(x), 2, 3), expected, 1e-12);
  for (const { from, to } of twice({ from: 6, to: 6 }, ({ from }) => from.set(x))) near(softmaxRows(from, 2, 3, to), expected, 1e-7);
  for (const columns of [1, 3, 4, 65, 66, 67]) {
    const [one, other] = twice({ from: 3 * columns, to: 3 * columns }, ({ from }) => waves(from, 40, 2.3));
    for (const { from, to } of [one, other]) softmaxRows(from, 3, columns, to);
    near(one.to, other.to, 1e-7);
    for (let row = 0; row < 3; row++) near([one.to.subarray(row * columns, (row + 1) * columns).reduce((a, b) => a + b)], [1], 1e-6);
  }
});

test("GELU of either kind, against PyTorch's", () => {
  // torch.nn.functional.gelu of these, in float64
  const x = [-8, -3, -1, -0.1, 0, 0.5, 1, 4];
  const expected = [-4.97e-15, -0.0040496940, -0.1586552539, -0.0460172163, 0, 0.3457312306, 0.8413447461, 3.9998733150];
  for (const { numbers } of twice({ numbers: 8 }, ({ numbers }) => numbers.set(x))) {
    gelu(numbers);
    near(numbers, expected, 1e-6);
  }
});

test("the error function, against a table of it", () => {
  // Abramowitz and Stegun 1964, table 7.1
  near([0, 0.5, 1, 2, 3, -0.5, -7].map(erf), [0, 0.5204998778, 0.8427007929, 0.9953222650, 0.9999779095, -0.5204998778, -1], 1.5e-7);
});
