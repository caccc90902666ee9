import { test } from "node:test";
import assert from "node:assert/strict";
import "../../../book/_assets/lab/trained.js";
import "../../../book/_assets/lab/pictures.js";
import { firstState } from "../../../book/scripts/lab/parts/address.js";
import { accuracyOf, answerOf, changeInWords } from "../../../book/scripts/lab/parts/answer.js";
import { takenInWords, whatChanged } from "../../../book/scripts/lab/parts/changes.js";
import { modelOf } from "../../../book/scripts/lab/parts/weights.js";

const words = (change, from = {}) => whatChanged({ ...firstState(), ...from }, { ...firstState(), ...from, ...change })?.words;

test("each switch has its words", () => {
  assert.equal(words({ shuffled: true }), "Positions shuffled");
  assert.equal(words({ shuffled: false }, { shuffled: true }), "Positions put right");
  assert.equal(words({ weights: "untrained" }), "With untrained weights");
  assert.equal(words({ off: ["2.1"] }), "Block 2, head 1 off");
  assert.equal(words({ off: ["2.1"] }, { off: ["1.0", "2.1"] }), "Block 1, head 0 on again");
  assert.equal(words({ off: [] }, { off: ["1.0", "2.1"] }), "All heads on again");
  assert.equal(words({ ground: "none" }), "On black");
  assert.equal(words({ ground: "brick" }), "On brick");
  assert.equal(words({ piece: 3 }), "On another piece");
  assert.equal(words({ scraps: 1 }), "With one distractor");
  assert.equal(words({ scraps: 0 }), "With no distractors");
  assert.equal(words({ shuffled: true, scraps: 0 }), "All changes together");
});

test("another digit is not compared; a drag goes on, a switch does not", () => {
  assert.equal(words({ digit: 6 }), undefined);
  assert.equal(words({}), undefined);
  const [ink, more, blank] = [[0, 1], [1, 1], [0, 0]].map((levels) => Float64Array.from(levels));
  assert.equal(words({ drawn: ink }), undefined);
  assert.equal(words({ drawn: blank }, { drawn: ink }), undefined);
  assert.equal(words({ drawn: more }, { drawn: ink }), "Drawn");
  const first = firstState();
  assert.equal(whatChanged(first, { ...first, top: 0 }).goesOn, true);
  assert.equal(whatChanged(first, { ...first, shuffled: true }).goesOn, false);
});

test("one sentence says what became of the answer", () => {
  const answer = (...logits) => answerOf(Float64Array.from(logits));
  const sure = answer(0, 0, 3);
  assert.equal(changeInWords("Moved", sure, answer(3, 0, 0)), "Moved: 2 with 91\u00a0% becomes 0 with 91\u00a0%.");
  assert.equal(changeInWords("Moved", sure, answer(0, 0, 3)), "Moved: it stays 2 with 91\u00a0%.");
  assert.equal(changeInWords("Moved", sure, answer(0, 0, 1)), "Moved: it stays 2, but with 58\u00a0% instead of 91\u00a0%.");
  assert.equal(changeInWords("Moved", sure, answer(0, 0, 0)), "Moved: 2 with 91\u00a0% becomes all ten alike.");
  const none = answer(0, 0, 0);
  assert.equal(changeInWords("Moved", none, none), "Moved: nothing changes, all ten stay alike.");
});

test("what is taken away is named under a picture", () => {
  const taken = (change) => takenInWords({ ...firstState(), ...change });
  assert.equal(taken({}), "");
  assert.equal(taken({ weights: "untrained", shuffled: true }), "untrained weights, positions shuffled");
  assert.equal(taken({ off: ["1.1", "3.0"] }), "off: block 1, head 1; block 3, head 0");
  assert.equal(taken({ off: ["0.0", "0.1", "0.2", "0.3", "1.0"] }), "5 heads off");
});

test("an accuracy is given where it was measured, and nowhere else", () => {
  const { measured } = modelOf("trained");
  const of = (switches) => accuracyOf({ weights: "trained", shuffled: false, off: new Set(), ...switches }, measured);
  assert.equal(of({}), measured.trained);
  assert.equal(of({ shuffled: true }), measured.shuffled);
  assert.equal(of({ weights: "untrained" }), measured.untrained);
  assert.equal(of({ off: new Set(["2.3"]) }), measured.headOff[2][3]);
  for (const both of [{ off: new Set(["2.3", "0.0"]) }, { shuffled: true, off: new Set(["2.3"]) }, { weights: "untrained", shuffled: true }]) {
    assert.equal(of(both), null);
  }
});
