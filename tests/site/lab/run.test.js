import { test } from "node:test";
import assert from "node:assert/strict";
import "../../../book/_assets/lab/trained.js";
import "../../../book/_assets/lab/pictures.js";
import { firstState } from "../../../book/scripts/lab/parts/address.js";
import { headsOn, runs } from "../../../book/scripts/lab/parts/run.js";
import { createSource } from "../../../book/scripts/lab/parts/source.js";

const start = (change = {}) => {
  const source = createSource();
  const run = runs(source);
  const go = (more = {}) => {
    source.set(more.scene ?? {});
    const state = { ...firstState(), ...source.state, ...change, ...more.switches };
    run.compute(state);
    return state;
  };
  return { run, go };
};

test("a run knows its state, whatever is looked at", () => {
  const { run, go } = start();
  assert.equal(run.isOf(firstState()), false);
  const state = go();
  assert.ok(run.isOf(state) && run.isOf({ ...state, head: "1.0", asks: 7 }));
  assert.equal(run.isOf({ ...state, shuffled: true }), false);
});

test("the first run is compared with nothing; a switch with the run before; a drag with what it began from", () => {
  const { run, go } = start();
  go();
  assert.equal(run.before, null);
  assert.equal(run.change, "");
  const first = run.answer;
  go({ switches: { shuffled: true } });
  assert.equal(run.before, first);
  assert.match(run.change, /^Positions shuffled: /);
  assert.equal(run.dragged, false);
  go();
  const still = run.answer;
  for (const left of [0, 2, 4]) {
    go({ scene: { top: 0, left } });
    assert.equal(run.before, still);
    assert.ok(run.dragged);
  }
  run.rest({ compared: false });
  go();
  assert.equal(run.before, null);
});

test("a map sums to one; of heads that are off the mean is nothing", () => {
  const { run, go } = start();
  go({ switches: { off: ["0.0", "0.1", "0.2", "0.3"] } });
  const sum = (name) => run.mapOf(name, 5).reduce((a, b) => a + b, 0);
  for (const name of ["0.1", "2.3", "3.mean", "rollout"]) assert.ok(Math.abs(sum(name) - 1) < 1e-6, name);
  assert.equal(sum("0.mean"), 0);
  assert.deepEqual(headsOn(["0.1", "2.0"], 0, 4), [0, 2, 3]);
});
