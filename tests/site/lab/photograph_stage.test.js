const { test } = require("node:test");
const assert = require("node:assert/strict");
const path = require("node:path");
const lab = require("./load.js");

const folder = path.join(__dirname, "..", "..", "..", "book", "_assets", "lab", "photograph_stage");
for (const name of ["facts", "state"]) require(path.join(folder, `${name}.js`));
const model = { grid: 8, blocks: 12, heads: 6 };

test("every state of the photograph stage comes back from its link", () => {
  const form = lab.photographForm(model);
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
  const form = lab.photographForm(model);
  assert.equal(form.format({ ...form.first(), photo: "own", off: ["3"] }), "stage=photograph&off=3");
});

test("switches become the model's options", () => {
  const options = lab.lookOptions({ off: ["10", "3.1"], shuffled: true, hidden: [4] }, model);
  assert.deepEqual(options.headsOff, [[3, 1]]);
  assert.deepEqual(options.blocksOff, [10]);
  assert.deepEqual([...options.shuffled].sort((a, b) => a - b), Array.from({ length: 64 }, (_, i) => i));
  assert.notDeepEqual(options.shuffled, Array.from({ length: 64 }, (_, i) => i));
  assert.equal(lab.lookOptions({ off: [], shuffled: false, hidden: [] }, model).shuffled, null);
});

test("changes are put into words", () => {
  const nothing = { off: [], shuffled: false, hidden: [], turned: false };
  assert.equal(lab.changesInWords(nothing), "");
  assert.ok(lab.isUntouched(nothing));
  assert.equal(lab.changesInWords({ ...nothing, off: ["3", "5", "7.1"], hidden: [1] }), "blocks 3, 5 off, block 7, head 1 off, one patch hidden");
});

test("what is turned upside down is turned patch by patch, and the class token stays", () => {
  assert.deepEqual([...lab.turned(Float32Array.of(1, 2, 3, 4))], [4, 3, 2, 1]);
  assert.deepEqual([...lab.turned(Float32Array.of(9, 9, 1, 2, 3, 4), 2, 1)], [9, 9, 3, 4, 1, 2]);
});

test("the best match lies away from the patch, and anywhere in another picture", () => {
  const similarities = new Float32Array(64).fill(0.1);
  similarities[9] = 1; // itself
  similarities[10] = 0.9; // beside it
  similarities[60] = 0.5;
  assert.deepEqual(lab.bestMatch(similarities, 8, 9), { patch: 60, cosine: 0.5 });
  assert.equal(lab.bestMatch(similarities, 8).patch, 9);
});

test("numbers of a change", () => {
  const one = Float32Array.of(7, 7, 1, 0, 0, 2);
  assert.equal(lab.meanCosine(one, one, 2), 1);
  assert.equal(lab.meanCosine(one, Float32Array.of(1, 1, 5, 0, 3, 0), 2), 0.5);
  assert.deepEqual(lab.marked([0.6, 0.9, 0.2, 0.1], [0.9, 0.2, 0.7, 0.1]), { share: 0.5, kept: 0.5 });
  assert.equal(lab.marked([0.1], [0.1]).kept, null);
  assert.deepEqual([...lab.saliencyOf({ saliency: Float32Array.of(1, 1, 0, 0, 1, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0) }, 2)], [1, 0, 0, 0.25]);
  assert.equal(lab.patchAt(0.99, 0, 8), 56);
});
