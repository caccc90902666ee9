import { test } from "node:test";
import assert from "node:assert/strict";
import { compose, makeScrap, seededRandom } from "../../../book/scripts/lab/parts/scene.js";

const full = new Float64Array(64).fill(1);
const empty = { digit: new Float64Array(64), top: 0, left: 0, ground: null, scraps: [] };

test("ink covers the ground, which shows darkened where there is none", () => {
  const ground = { pixels: new Float64Array(40 * 40).fill(0.5), rows: 40, columns: 40, top: 3, left: 5 };
  const image = compose({ ...empty, digit: full, top: 8, left: 10, ground });
  assert.equal(image[0], 0.2);
  assert.equal(image[(8 + 8) * 32 + 10 + 8], 1);
});

test("the ground is cut where it is said to be", () => {
  const pixels = Float64Array.from({ length: 40 * 50 }, (_, i) => i);
  const image = compose({ ...empty, ground: { pixels, rows: 40, columns: 50, top: 2, left: 3 } });
  assert.ok(Math.abs(image[33] - 0.4 * (3 * 50 + 4)) < 1e-9);
});

test("scraps keep clear of the digit, everywhere", () => {
  const random = seededRandom(5);
  for (let top = 0; top <= 16; top += 2)
    for (let left = 0; left <= 16; left += 2) {
      const scrap = makeScrap([full], top, left, random);
      const apartInRows = scrap.top + 6 + 2 <= top || scrap.top >= top + 16 + 2;
      const apartInColumns = scrap.left + 6 + 2 <= left || scrap.left >= left + 16 + 2;
      assert.ok(apartInRows || apartInColumns);
      assert.ok(scrap.top >= 0 && scrap.top <= 26 && scrap.left >= 0 && scrap.left <= 26);
      assert.ok(Math.max(...scrap.pixels) <= 1 && Math.min(...scrap.pixels) >= 0.75 - 1e-12);
    }
});

test("scraps keep clear of each other while there is room", () => {
  const random = seededRandom(6);
  let scraps;
  for (let round = 0; round < 20; round++) {
    scraps = [];
    for (let i = 0; i < 3; i++) scraps.push(makeScrap([full], 4, 12, random, scraps));
    for (const [a, b] of [[0, 1], [0, 2], [1, 2]]) {
      const [rows, columns] = ["top", "left"].map((side) => Math.abs(scraps[a][side] - scraps[b][side]));
      assert.ok(Math.max(rows, columns) >= 6 + 2);
    }
  }
  while (scraps.length < 30) scraps.push(makeScrap([full], 4, 12, random, scraps)); // and then overlap
});

test("the same seed gives the same numbers, evenly", () => {
  const [a, b] = [seededRandom(3), seededRandom(3)];
  const numbers = Array.from({ length: 10000 }, a);
  assert.deepEqual(numbers.slice(0, 5), Array.from({ length: 5 }, b));
  const mean = numbers.reduce((x, y) => x + y, 0) / numbers.length;
  assert.ok(Math.abs(mean - 0.5) < 0.02 && Math.min(...numbers) >= 0 && Math.max(...numbers) < 1);
});
