import { test } from "node:test";
import assert from "node:assert/strict";
import { digitFromStrokes } from "../../../book/scripts/lab/parts/strokes.js";

const rowsOf = (digit) => Array.from({ length: 8 }, (_, row) => [...digit.subarray(8 * row, 8 * row + 8)]);

test("nothing drawn is no digit", () => {
  assert.equal(digitFromStrokes([]), null);
});

test("a stroke becomes as high as the bitmap, in its middle, and no thicker than others", () => {
  const digit = digitFromStrokes([[[0.2, 0.3], [0.8, 0.3]]]);
  for (const row of rowsOf(digit).slice(1, 7)) assert.deepEqual(row, [0, 0, 0, 0.5, 0.5, 0, 0, 0]);
});

test("however large it is drawn and wherever, and with however many points, it is the same digit", () => {
  const seven = [[0.1, 0.2], [0.1, 0.8], [0.9, 0.4]];
  const smaller = seven.map((point) => point.map((share) => 0.05 + share / 2));
  assert.deepEqual(digitFromStrokes([smaller]), digitFromStrokes([seven]));
  assert.deepEqual(digitFromStrokes([seven.slice(0, 2), seven.slice(1)]), digitFromStrokes([seven]));
});

test("a dot stays a dot", () => {
  const digit = digitFromStrokes([[[0.1, 0.9]]]);
  assert.ok(digit.reduce((a, b) => a + b, 0) <= 1);
  assert.ok(rowsOf(digit)[3][3] > 0 && rowsOf(digit)[0].every((ink) => ink === 0));
});
