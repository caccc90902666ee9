import { test } from "node:test";
import assert from "node:assert/strict";
import { bestMatch, markedShares, meanCosine, patchAt, saliencyOf, turned } from "../../../book/scripts/lab/photograph_stage/facts.js";
import { changesInWords, isUntouched, lookOptions, photographForm } from "../../../book/scripts/lab/photograph_stage/state.js";

const model = { grid: 8, blocks: 12, heads: 6 };

test("every state of the photograph stage comes back from its link", () => {
  const form = photographForm(model);
  assert.equal(form.format(form.first()), "stage=photograph");
  for (const change of [
    { photo: "rocket" }, { turned: true }, { asks: 0 }, { asks: 64 }, { head: "11.5", view: "head" }, { view: "norms" }, { common: true },
    { other: "coffee" }, { off: ["3", "7.1"] }, { shuffled: true }, { hidden: [0, 1, 2, 9, 63] },
  ]) {
    const state = { ...form.first(), ...change };
    assert.deepEqual(form.parse(`#${form.format(state)}`), { state, faults: [] });
  }
  const { state, faults } = form.parse("#stage=photograph&off=12,3.6&hidden=5-3&asks=8.0&photo=own&view=x");
  assert.deepEqual(state, form.first());
  assert.equal(faults.length, 5);
});

test("one's own picture is in no link", () => {
  const form = photographForm(model);
  assert.equal(form.format({ ...form.first(), photo: "own", off: ["3"] }), "stage=photograph&off=3");
});

test("switches become the model's options", () => {
  const options = lookOptions({ off: ["10", "3.1"], shuffled: true, hidden: [4] }, model);
  assert.deepEqual(options.headsOff, [[3, 1]]);
  assert.deepEqual(options.blocksOff, [10]);
  assert.deepEqual([...options.shuffled].sort((a, b) => a - b), Array.from({ length: 64 }, (_, i) => i));
  assert.notDeepEqual(options.shuffled, Array.from({ length: 64 }, (_, i) => i));
  assert.equal(lookOptions({ off: [], shuffled: false, hidden: [] }, model).shuffled, null);
});

test("changes are put into words", () => {
  const nothing = { off: [], shuffled: false, hidden: [], turned: false };
  assert.equal(changesInWords(nothing), "");
  assert.ok(isUntouched(nothing));
  assert.equal(changesInWords({ ...nothing, off: ["3", "5", "7.1"], hidden: [1] }), "blocks 3, 5 off, block 7, head 1 off, one patch hidden");
});

test("what is turned upside down is turned patch by patch, and the class token stays", () => {
  assert.deepEqual([...turned(Float32Array.of(1, 2, 3, 4))], [4, 3, 2, 1]);
  assert.deepEqual([...turned(Float32Array.of(9, 9, 1, 2, 3, 4), 2, 1)], [9, 9, 3, 4, 1, 2]);
});

test("the best match lies away from the patch, and anywhere in another picture", () => {
  const similarities = new Float32Array(64).fill(0.1);
  similarities[9] = 1; // itself
  similarities[10] = 0.9; // beside it
  similarities[60] = 0.5;
  assert.deepEqual(bestMatch(similarities, 8, 9), { patch: 60, cosine: 0.5 });
  assert.equal(bestMatch(similarities, 8).patch, 9);
});

test("numbers of a change", () => {
  const one = Float32Array.of(7, 7, 1, 0, 0, 2);
  assert.equal(meanCosine(one, one, 2), 1);
  assert.equal(meanCosine(one, Float32Array.of(1, 1, 5, 0, 3, 0), 2), 0.5);
  assert.deepEqual(markedShares([0.6, 0.9, 0.2, 0.1], [0.9, 0.2, 0.7, 0.1]), { share: 0.5, kept: 0.5 });
  assert.equal(markedShares([0.1], [0.1]).kept, null);
  assert.deepEqual([...saliencyOf({ saliency: Float32Array.of(1, 1, 0, 0, 1, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0) }, 2)], [1, 0, 0, 0.25]);
  assert.equal(patchAt(0.99, 0, 8), 56);
});
