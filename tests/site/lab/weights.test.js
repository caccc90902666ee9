import { test } from "node:test";
import assert from "node:assert/strict";
import "../../../book/_assets/lab/trained.js";
import "../../../book/_assets/lab/pictures.js";
import { decode, fromHalf, modelOf } from "../../../book/scripts/lab/parts/weights.js";

test("half precision: zero, subnormal, normal, largest, infinite, not a number", () => {
  assert.equal(fromHalf(0x0000), 0);
  assert.equal(fromHalf(0x0001), 2 ** -24);
  assert.equal(fromHalf(0x03ff), (1023 / 1024) * 2 ** -14);
  assert.equal(fromHalf(0x3c00), 1);
  assert.equal(fromHalf(0xc100), -2.5);
  assert.equal(fromHalf(0x7bff), 65504);
  assert.equal(fromHalf(0xfc00), -Infinity);
  assert.ok(Number.isNaN(fromHalf(0x7e00)));
});

test("base64 holds little-endian numbers", () => {
  const base64 = (array) => Buffer.from(array.buffer).toString("base64");
  assert.deepEqual([...decode(base64(Uint16Array.of(0x3c00, 0xc100)), "float16")], [1, -2.5]);
  assert.deepEqual([...decode(base64(Float32Array.of(0.5, -3)), "float32")], [0.5, -3]);
  assert.throws(() => decode("", "int8"), /dtype: got "int8", expected float16 or float32/);
});

test("tensors are cut from the numbers in order, and none may be left", () => {
  const numbers = Buffer.from(Float32Array.of(1, 2, 3, 4, 5).buffer).toString("base64");
  globalThis.vitData.two = { dtype: "float32", tensors: [["a", [2, 2]], ["b", [1]]], numbers };
  const { parameters } = modelOf("two");
  assert.deepEqual([...parameters.a], [1, 2, 3, 4]);
  assert.deepEqual([...parameters.b], [5]);
  globalThis.vitData.short = { dtype: "float32", tensors: [["a", [2]]], numbers };
  assert.throws(() => modelOf("short"), /numbers: got 5, expected 2/);
  assert.throws(() => modelOf("third"), /model: got "third"/);
});
