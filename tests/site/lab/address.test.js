import { test } from "node:test";
import assert from "node:assert/strict";
import "../../../book/_assets/lab/trained.js";
import "../../../book/_assets/lab/pictures.js";
import { firstState, formatAddress, parseAddress } from "../../../book/scripts/lab/parts/address.js";

test("the lab as it opens needs no words", () => {
  assert.equal(formatAddress(firstState()), "");
  assert.deepEqual(parseAddress(""), { state: firstState(), faults: [] });
});

test("every state comes back from its link", () => {
  const drawn = Float64Array.from({ length: 64 }, (_, i) => (i % 17) / 16);
  for (const change of [
    { digit: 0 }, { digit: 7, example: 2 }, { drawn }, { top: 0, left: 16 }, { ground: "none" }, { piece: 12 }, { scraps: 0 },
    { shuffled: true }, { weights: "untrained" }, { off: ["2.1", "3.0"] }, { head: "2.1" }, { head: "1.mean" }, { head: "rollout" },
    { asks: 1 }, { asks: 64 }, { votes: true }, { digit: 2, top: 4, left: 6, shuffled: true, off: ["0.0"], head: "3.3", asks: 18 },
  ]) {
    const state = { ...firstState(), ...change };
    assert.deepEqual(parseAddress(`#${formatAddress(state)}`), { state, faults: [] });
  }
});

test("it reads as a link that a teacher could write", () => {
  const { state } = parseAddress("#digit=5&shuffle=1&head=2.1");
  assert.deepEqual([state.digit, state.shuffled, state.head], [5, true, "2.1"]);
  assert.equal(formatAddress({ ...firstState(), digit: 6, shuffled: true, head: "2.1", asks: 18 }), "digit=6&shuffle=1&head=2.1&asks=2.1");
});

test("what the lab does not have is ignored, with a sentence each", () => {
  const bad = "digit=12&shuffle=yes&head=4.1&off=1.1,9.9&at=3.4&asks=8.0&ground=sand&scraps=-1&drawn=xyz&colour=red&example=1";
  const { state, faults } = parseAddress(`#${bad}`);
  assert.deepEqual(state, { ...firstState(), example: 1 });
  assert.equal(faults.length, 10);
  assert.equal(faults[0], "The link asks for digit “12”, which the lab does not have.");
  assert.equal(faults[9], "The link sets “colour”, which the lab does not have.");
  assert.deepEqual(parseAddress("#toString=1").faults.length, 1);
});

test("a heading's hash is not a state", () => {
  assert.equal(parseAddress("#how-it-is-made"), null);
});
