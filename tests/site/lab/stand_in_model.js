// A stand-in for the large model of the photograph stage: as many blocks and heads, few patches, and no sense. It
// notes each look, so that a test can see what was asked for.

import { openStage } from "../../../book/scripts/lab/photograph_stage/opening.js";

const [GRID, SIZE, BLOCKS, HEADS, D] = [8, 112, 12, 6, 384];
const N = GRID * GRID;
const manifest = { grid: GRID, size: SIZE, width: D, digest: "stand-in", parts: [{ name: "all", bytes: 33_000_000 }] };
Object.assign((globalThis.vitData ??= {}), { photograph: manifest });
const lab = (globalThis.vitLab = { looks: [] });

class PhotographModel {
  static async load({ onProgress, signal } = {}) {
    if (lab.refuses) throw new Error("the server sleeps");
    for (let part = 1; part <= 4; part++) {
      await new Promise((go) => setTimeout(go, lab.partTakes ?? 20));
      signal?.throwIfAborted();
      onProgress?.(part * 8_250_000, 33_000_000);
    }
    return Object.assign(new PhotographModel(), { grid: GRID, size: SIZE, blocks: BLOCKS, heads: HEADS, dim: D });
  }

  async look(pixels, { headsOff = [], blocksOff = [], shuffled = null, hidden = [] } = {}, before = null) {
    lab.looks.push({ headsOff, blocksOff, shuffled, hidden, hasBefore: before !== null, side: pixels.width });
    await (lab.held ?? new Promise((go) => setTimeout(go, 5))); // until a test lets it go
    const tokens = new Float32Array((1 + N) * D);
    const saliency = new Float32Array(64 * N);
    const part = SIZE / GRID;
    for (let patch = 0; patch < N; patch++) {
      const [row, column] = [Math.floor(patch / GRID), patch % GRID];
      const at = 4 * (SIZE * (row + 0.5) * part + (column + 0.5) * part);
      const rgb = [0, 1, 2].map((channel) => (hidden.includes(patch) ? 0.5 : pixels.data[at + channel] / 255));
      const position = shuffled ? shuffled[patch] : patch;
      for (let i = 0; i < D; i++) {
        const number = rgb[i % 3] - 0.5 + 0.1 * Math.sin(i * (1 + position));
        tokens[(1 + patch) * D + i] = number * (i % BLOCKS < BLOCKS - blocksOff.length ? 1 : -1);
      }
      for (let i = 0; i < 64; i++) {
        const place = 8 * GRID * (8 * row + (i >> 3)) + 8 * column + (i & 7);
        saliency[place] = blocksOff.length || shuffled ? 0.2 : 0.2 + 0.6 * rgb[0];
      }
    }
    return {
      saliency,
      tokens: () => tokens,
      norms: () => Float32Array.from({ length: N }, (_, patch) => Math.hypot(...tokens.subarray((1 + patch) * D, (2 + patch) * D))),
      attention: (block, head, query) => {
        const out = Float32Array.from({ length: 1 + N }, (_, token) => (token === ((query + 7 * block + head) % N) + 1 ? 0.8 : 0.2 / N));
        return out;
      },
    };
  }
}

openStage(PhotographModel);
