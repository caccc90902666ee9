const { test } = require("node:test");
const assert = require("node:assert/strict");
const lab = require("./load.js");

test("224 pixels: as pixels, and as patches of 16", () => {
  assert.equal(lab.tokenCount(224, 1), 50176);
  assert.equal(lab.tokenCount(224, 16), 196);
  assert.equal(lab.matrixBytes(50176) / 2 ** 20, 9604);
  assert.equal((lab.matrixBytes(196) / 2 ** 20).toFixed(2), "0.15");
});

test("patches that do not fill the image are refused", () => {
  assert.throws(() => lab.tokenCount(224, 32 + 1), /imageSize: got 224, expected a multiple of the patch size 33/);
});
