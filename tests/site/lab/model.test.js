import { test } from "node:test";
import assert from "node:assert/strict";
import "../../../book/_assets/lab/trained.js";
import "../../../book/_assets/lab/pictures.js";
import { forward, roomFor } from "../../../book/scripts/lab/parts/model.js";
import { modelOf } from "../../../book/scripts/lab/parts/weights.js";

const near = (actual, expected, tolerance = 1e-6) => {
  assert.equal(actual.length, expected.length);
  [...actual].forEach((value, i) => assert.ok(Math.abs(value - expected[i]) <= tolerance, `${i}: ${value}, expected ${expected[i]}`));
};

/** Two patches of one pixel, two numbers a token, one block with two heads; whatever is not said is zero. */
function small({ without = [], ...parameters }) {
  const D = 2;
  const zeros = (count) => new Float32Array(count);
  const model = {
    channels: 1, classes: 2, depth: 1, heads: 2, width: D, epsilon: 1e-6, imageSize: [1, 2], gridSize: [1, 2],
    patchSize: [1, 1], mean: [0], std: [1], permutation: [1, 0],
    parameters: {
      cls_token: zeros(D), pos_embed: zeros(3 * D), "patch_embed.proj.weight": zeros(D), "patch_embed.proj.bias": zeros(D),
      "blocks.0.norm1.weight": zeros(D).fill(1), "blocks.0.norm1.bias": zeros(D),
      "blocks.0.attn.qkv.weight": zeros(3 * D * D), "blocks.0.attn.qkv.bias": zeros(3 * D),
      "blocks.0.attn.proj.weight": zeros(D * D), "blocks.0.attn.proj.bias": zeros(D),
      "blocks.0.norm2.weight": zeros(D).fill(1), "blocks.0.norm2.bias": zeros(D),
      "blocks.0.mlp.fc1.weight": zeros(D * D), "blocks.0.mlp.fc1.bias": zeros(D),
      "blocks.0.mlp.fc2.weight": zeros(D * D), "blocks.0.mlp.fc2.bias": zeros(D),
      "norm.weight": zeros(D).fill(1), "norm.bias": zeros(D), "head.weight": zeros(2 * D), "head.bias": zeros(2),
      ...parameters,
    },
  };
  for (const name of without) delete model.parameters[name];
  return model;
}

function steps(model, image, options = {}) {
  const seen = {};
  forward(model, image, { ...options, watch: (name, shape, values) => { seen[name] = [shape, [...values]]; } });
  return seen;
}

test("tokens: class token first, positions added, or another's positions", () => {
  const model = small({
    cls_token: Float32Array.of(7, 8),
    "patch_embed.proj.weight": Float32Array.of(1, 10),
    pos_embed: Float32Array.of(0.5, 0, 1, 0, 2, 0),
  });
  assert.deepEqual(steps(model, [3, 4]).embed, [[3, 2], [7.5, 8, 4, 30, 6, 40]]);
  assert.deepEqual(steps(model, [3, 4], { shuffled: true }).embed, [[3, 2], [7.5, 8, 5, 30, 5, 40]]);
});

test("all scores zero: every token attends to all alike; a head that is off passes nothing on", () => {
  const model = small({
    cls_token: Float32Array.of(1, -1),
    "patch_embed.proj.weight": Float32Array.of(1, -1),
    // values alone, and they are the normed token: rows 4 and 5 of (q, k, v) are v
    "blocks.0.attn.qkv.weight": Float32Array.of(0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 1),
    "blocks.0.attn.proj.weight": Float32Array.of(1, 0, 0, 1),
  });
  const all = steps(model, [2, -2]);
  near(all["blocks.0.attn.weights"][1], Array(18).fill(1 / 3));
  // normed: (1, -1), (1, -1), (-1, 1): the mean is (1/3, -1/3)
  near(all["blocks.0.attn.proj"][1], [1, -1, 1, -1, 1, -1].map((sign) => sign / 3));
  const one = steps(model, [2, -2], { off: new Set(["0.1"]) });
  near(one["blocks.0.attn.proj"][1], [1 / 3, 0, 1 / 3, 0, 1 / 3, 0]);
});

test("a room is used again, and nothing of the image before is left in it", () => {
  const { trained, image } = { trained: modelOf("trained"), image: Float64Array.from({ length: 1024 }, (_, i) => (i % 7) / 7) };
  const room = roomFor(trained);
  forward(trained, image.map((value) => 1 - value), { room, off: new Set(["1.2"]) });
  assert.equal(forward(trained, image, { room }), room);
  const fresh = forward(trained, image);
  assert.deepEqual(room.logits, fresh.logits);
  assert.deepEqual(room.weights, fresh.weights);
});

test("the head on every patch: where patches are averaged, the mean of their votes is the answer", () => {
  const model = small({
    without: ["cls_token"], pos_embed: new Float32Array(4), "patch_embed.proj.weight": Float32Array.of(1, -2),
    "head.weight": Float32Array.of(1, 2, 3, 4), "head.bias": Float32Array.of(0.5, -0.5),
  });
  const { votes, logits, T } = forward(model, [3, -1]);
  assert.equal(T, 2);
  near(logits, [0, 1].map((k) => (votes[k] + votes[2 + k]) / 2));
  assert.notEqual(votes[0], votes[2]);
});

test("an image of another size is refused", () => {
  assert.throws(() => forward(small({}), [1, 2, 3]), /image: got 3 numbers, expected 1·1·2/);
});
