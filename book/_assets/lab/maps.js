// What attention maps are read from the weights: vit_steps/attention_maps.py in JavaScript.
(() => {
  "use strict";
  const lab = (globalThis.vitLab ??= {});

  /** One token's row of one head's (T, T) in a block's (h, T, T). */
  function row(table, head, token, T) {
    const start = (head * T + token) * T;
    return table.subarray(start, start + T);
  }

  /** The shares of the patches alone, summing to 1: (T) -> (N). */
  function toPatches(tokenRow) {
    const patches = tokenRow.slice(1);
    const sum = patches.reduce((a, b) => a + b, 0);
    return sum > 0 ? patches.map((value) => value / sum) : patches;
  }

  /** The mean over heads: (h, T, T) -> (T, T). */
  function averageHeads(table, h, T) {
    const out = new Float64Array(T * T);
    for (let head = 0; head < h; head++)
      for (let i = 0; i < T * T; i++) out[i] += table[head * T * T + i] / h;
    return out;
  }

  /** Attention rollout (Abnar and Zuidema 2020): the product of (I + mean over heads) / 2 of all blocks. */
  function rollout(weights, h, T, residual = 0.5) {
    let passed = identity(T);
    for (const table of weights) {
      const mixed = averageHeads(table, h, T).map((value, i) =>
        (1 - residual) * value + (i % (T + 1) === 0 ? residual : 0));
      passed = product(mixed, passed, T);
    }
    return passed;
  }

  function identity(T) {
    return Float64Array.from({ length: T * T }, (_, i) => (i % (T + 1) === 0 ? 1 : 0));
  }

  function product(a, b, T) {
    const out = new Float64Array(T * T);
    for (let i = 0; i < T; i++)
      for (let k = 0; k < T; k++) {
        const factor = a[i * T + k];
        for (let j = 0; j < T; j++) out[i * T + j] += factor * b[k * T + j];
      }
    return out;
  }

  /** The share of (N) that falls into a box of pixels; a patch that is cut counts by its area inside. */
  function massInside(patches, box, { gridSize: [rows, columns], patchSize: [P, Q] }) {
    const overlap = (start, end, index, length) =>
      Math.max(0, Math.min(end, (index + 1) * length) - Math.max(start, index * length)) / length;
    let mass = 0;
    for (let r = 0; r < rows; r++)
      for (let c = 0; c < columns; c++) {
        mass += patches[r * columns + c]
          * overlap(box.top, box.bottom, r, P) * overlap(box.left, box.right, c, Q);
      }
    return mass;
  }

  Object.assign(lab, { row, toPatches, averageHeads, rollout, massInside });
})();
