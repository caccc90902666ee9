import { test } from "node:test";
import assert from "node:assert/strict";
import { directions, paintDirections, similaritiesTo } from "../../../book/scripts/lab/photograph/directions.js";
import { PhotographRun, bandsOf, firstDifference, patchesOf } from "../../../book/scripts/lab/photograph/run.js";


const settings = (changes = {}) => ({ pixels: Float32Array.of(0, 1), headsOff: [], blocksOff: [], shuffled: null, hidden: [], ...changes });
const first = (was, is) => firstDifference(settings(was), settings(is), 12);

test("only what follows the first difference is computed again", () => {
  assert.equal(first({}, {}), 12);
  assert.equal(first({}, { pixels: Float32Array.of(0, 1) }), 12); // another array with the same pixels
  assert.equal(first({}, { pixels: Float32Array.of(0, 0.5) }), -1);
  assert.equal(first({}, { shuffled: [1, 0] }), -1);
  assert.equal(first({ hidden: [1, 2] }, { hidden: [2, 1, 1] }), 12);
  assert.equal(first({ hidden: [1] }, { hidden: [2] }), -1);
  assert.equal(first({ headsOff: [[3, 1], [5, 0]] }, { headsOff: [[5, 0], [3, 1]] }), 12);
  assert.equal(first({ headsOff: [[3, 1], [5, 0]] }, { headsOff: [[3, 1], [5, 2]] }), 5);
  assert.equal(first({ blocksOff: [4] }, { headsOff: [[4, 1]], blocksOff: [] }), 4);
  assert.equal(first({ blocksOff: [4] }, { headsOff: [[4, 1]], blocksOff: [4] }), 12); // its heads add nothing either
});

test("patches are normalised, by channel, row and column, and hidden ones have the mean colour", () => {
  const shape = { size: 4, grid: 2, patch: 2, mean: [0.5, 0, 0], std: [0.5, 1, 1] };
  const pixels = Float32Array.from({ length: 48 }, (_, i) => i);
  const patches = patchesOf({ pixels, hidden: [2] }, shape);
  assert.deepEqual([...patches.subarray(12, 24)], [3, 5, 11, 13, 18, 19, 22, 23, 34, 35, 38, 39]); // upper right
  assert.ok(patches.subarray(24, 36).every((value) => value === 0));
});

test("a band of the saliency needs a row more on each side, within the picture", () => {
  assert.deepEqual(bandsOf({ band: 0, bandEnd: 32 }, 32), [[0, 32], [0, 64], [0, 128], [0, 256]]);
  assert.deepEqual(bandsOf({ band: 10, bandEnd: 21 }, 32), [[9, 22], [19, 43], [39, 85], [80, 168]]);
});

test("the directions are those in which patches differ most, and colours spread over them", () => {
  const D = 8;
  const tokens = new Float32Array(101 * D).fill(1); // the class token is left out
  for (let patch = 1; patch <= 100; patch++)
    for (let k = 0; k < 3; k++) tokens[patch * D + 2 * k] = 5 + (9 - 3 * k) * Math.sin(patch * (k + 1) + k);
  const found = directions([tokens], D);
  for (let k = 0; k < 3; k++) {
    const row = found.basis.subarray(k * D, (k + 1) * D);
    assert.ok(row[2 * k] > 0.95, `direction ${k}: ${row}`);
  }
  const colours = paintDirections(tokens, found);
  assert.equal(colours.length, 300);
  for (let k = 0; k < 3; k++) {
    const values = [...colours].filter((_, i) => i % 3 === k);
    assert.deepEqual([Math.min(...values), Math.max(...values)], [0, 255]);
  }
  const twice = directions([tokens, tokens], D);
  twice.basis.forEach((value, i) => assert.ok(Math.abs(value - found.basis[i]) < 1e-4));
});

test("a patch is most like itself, and its opposite least", () => {
  const tokens = Float32Array.of(9, 9, 1, 2, -1, -2, 2, -1);
  const [self, opposite, across] = similaritiesTo(tokens, 0, tokens, 2);
  assert.ok(Math.abs(self - 1) < 1e-6 && Math.abs(opposite + 1) < 1e-6 && Math.abs(across) < 1e-6);
});

test("a pointer's map: softmax of the scores, and nothing from a block that is off", () => {
  const model = { grid: 1, dim: 2, heads: 1, blocks: 2, saliencySide: 8 };
  const run = new PhotographRun(model, settings(), null, -1);
  run.put(0, { first: 0 }, { tokens: new Float32Array(4), queries: Float32Array.of(1, 0, 0, 0), keys: Float32Array.of(Math.log(3), 0, 0, 7) });
  run.put(1, { first: 0 }, { tokens: new Float32Array(4) });
  const near = (found, expected) => expected.forEach((value, i) => assert.ok(Math.abs(found[i] - value) < 1e-6));
  near(run.attention(0, 0, 0), [0.75, 0.25]);
  near(run.attention(0, 0, 1), [0.5, 0.5]);
  near(run.attention(1, 0, 0), [0, 0]);
  near(run.again(settings()).attention(0, 0, 0), [0.75, 0.25]); // the same run under other settings
});
