import { test } from "node:test";
import assert from "node:assert/strict";
import { arriving } from "../../../book/scripts/lab/parts/arriving.js";

test("the last wish counts, in whatever order things come", async () => {
  const waiting = {};
  const taken = [];
  const wish = arriving("a", {
    fetch: (name) => new Promise((come) => (waiting[name] = come)),
    set: (name) => taken.push(name),
    failed: (error) => assert.fail(error),
  });
  const [b, c] = ["b", "c"].map((name) => wish.change(name));
  assert.equal(wish.wanted, "c");
  waiting.c();
  waiting.b();
  assert.deepEqual(await Promise.all([b, c]), [false, true]);
  assert.deepEqual(taken, ["c"]);
});

test("what was stays, if a thing does not come", async () => {
  const said = [];
  const wish = arriving("a", {
    fetch: async () => {
      throw new Error("gone");
    },
    set: () => assert.fail("set"),
    failed: ({ message }) => said.push(message),
  });
  assert.equal(await wish.change("b"), false);
  assert.equal(wish.wanted, "a");
  assert.deepEqual(said, ["gone"]);
});
