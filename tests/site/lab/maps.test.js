import { test } from "node:test";
import assert from "node:assert/strict";
import "../../../book/_assets/lab/trained.js";
import "../../../book/_assets/lab/pictures.js";
import { averageHeads, massInside, rollout, toPatches, tokenRow } from "../../../book/scripts/lab/parts/maps.js";

const GRID = { gridSize: [2, 2], patchSize: [4, 4] };

test("shares of the patches sum to 1 without the class token's own", () => {
  assert.deepEqual([...toPatches(Float64Array.of(0.5, 0.125, 0.375))], [0.25, 0.75]);
  assert.deepEqual([...toPatches(Float64Array.of(1, 0, 0))], [0, 0]);
});

test("a row of a head is cut from the block's table", () => {
  const table = Float64Array.from({ length: 2 * 3 * 3 }, (_, i) => i);
  assert.deepEqual([...tokenRow(table, 1, 2, 3)], [15, 16, 17]);
  assert.deepEqual([...averageHeads(table, [0, 1], 3)].slice(0, 2), [4.5, 5.5]);
  assert.deepEqual([...averageHeads(table, [1], 3)].slice(0, 2), [9, 10]); // a head that is off does not count
  assert.ok(averageHeads(table, [], 3).every((value) => value === 0));
});

test("rollout: half stays, half goes, and the later block stands on the left", () => {
  const toFirst = Float64Array.of(1, 0, 1, 0);
  const swap = Float64Array.of(0, 1, 1, 0);
  const rows = (means, residual) => [0, 1].map((token) => [...rollout(means, token, 2, residual)]);
  assert.deepEqual(rows([toFirst]), [[1, 0], [0.5, 0.5]]);
  assert.deepEqual(rows([toFirst, swap]), [[0.75, 0.25], [0.75, 0.25]]);
  assert.deepEqual(rows([swap], 0), [[0, 1], [1, 0]]);
});

test("mass inside counts a cut patch by its area", () => {
  const shares = Float64Array.of(0.4, 0.3, 0.2, 0.1);
  const inside = (top, left, bottom, right) => massInside(shares, { top, left, bottom, right }, GRID);
  assert.ok(Math.abs(inside(0, 0, 8, 8) - 1) < 1e-12);
  assert.equal(inside(0, 0, 4, 4), 0.4);
  assert.ok(Math.abs(inside(0, 2, 4, 6) - 0.35) < 1e-12);
  assert.ok(Math.abs(inside(2, 2, 6, 6) - 0.25) < 1e-12);
});
