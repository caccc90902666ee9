import { test } from "node:test";
import assert from "node:assert/strict";
import "../../../book/_assets/lab/trained.js";
import "../../../book/_assets/lab/pictures.js";
import { areApart, isClear } from "../../../book/scripts/lab/parts/scene.js";
import { START, createSource } from "../../../book/scripts/lab/parts/source.js";

const imageOf = (state) => {
  const source = createSource();
  source.set(state);
  return [...source.image()];
};

test("the same state gives the same image, whatever was seen before", () => {
  const source = createSource();
  const first = [...source.image()];
  for (const change of [{ top: 0, left: 16 }, { scraps: 8 }, { ground: "brick", piece: 4 }, { digit: 7, example: 2 }]) source.set(change);
  assert.notDeepEqual([...source.image()], first);
  source.set(START);
  assert.deepEqual([...source.image()], first);
});

test("scraps keep clear of the digit and of each other, wherever the digit is", () => {
  const source = createSource();
  for (let top = 0; top <= 16; top += 2)
    for (let left = 0; left <= 16; left += 2) {
      source.set({ top, left, scraps: 3 });
      const { scraps } = source.scene;
      assert.ok(scraps.every((scrap) => isClear(scrap, top, left)), `${top}, ${left}`);
      for (const [a, b] of [[0, 1], [0, 2], [1, 2]]) assert.ok(areApart(scraps[a], scraps[b]), `${top}, ${left}`);
    }
});

test("one scrap less leaves the others where they are", () => {
  const source = createSource();
  const { scraps } = source.scene;
  source.set({ scraps: 2 });
  assert.deepEqual(source.scene.scraps, scraps.slice(0, 2));
});

test("a digit pressed again is another example, and a place is snapped and kept inside", () => {
  const source = createSource();
  source.choose(4);
  source.choose(4);
  assert.equal(source.state.example, 1);
  source.choose(3);
  assert.equal(source.state.example, 0);
  source.move(-9, 5.2);
  assert.deepEqual([source.state.top, source.state.left], [0, 6]);
});

test("pieces of a ground differ, and black has none", () => {
  assert.notDeepEqual(imageOf({ piece: 0 }), imageOf({ piece: 1 }));
  assert.deepEqual(imageOf({ ground: "none", piece: 0 }), imageOf({ ground: "none", piece: 1 }));
});

test("a drawn digit has no label, so that no answer is called wrong", () => {
  const source = createSource();
  assert.equal(source.label, 5);
  source.set({ drawn: new Float64Array(64) });
  assert.equal(source.label, null);
});
