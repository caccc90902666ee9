// The large model's results for a picture, kept for the reader's questions, and the changes between two pictures.

/** @import { LayerShare, LookSizes, Manifest, Pair, Sent, Settings, Share } from "../parts/types.d.ts" */

/** @typedef {Pick<LookSizes, "grid" | "blocks" | "heads" | "dim"> & { saliencySide: number }} RunSizes */

/** The results of one forward pass. Blocks are counted from 0; tokens are (1 + N) × D, the class token first. */
export class PhotographRun {
  /** @type {Map<number, { shares: LayerShare[], tokens: Float32Array | null }>} */
  layers;

  /**
   * Copies the results before the block `from` from an earlier run.
   * @param {RunSizes} model
   * @param {Settings} settings
   * @param {PhotographRun | null} before
   * @param {number} from
   */
  constructor(model, settings, before, from) {
    this.model = model;
    this.settings = settings;
    this.count = 1 + model.grid ** 2;
    this.layers = new Map([...(before ? before.layers : [])].filter(([block]) => block < from));
    this.saliency = new Float32Array(model.saliencySide ** 2); // (8G, 8G), row by row, from 0 to 1
  }

  /** Returns this run with other settings that give the same result. @type {(settings: Settings) => PhotographRun} */
  again(settings) {
    return Object.assign(Object.create(PhotographRun.prototype), this, { settings });
  }

  /**
   * Keeps a worker's share of a block's results as it came: most of it is never read, so it is not copied.
   * @type {(block: number, share: { first: number }, found: Omit<LayerShare, "first">) => void}
   */
  put(block, { first }, found) {
    const layer = this.layers.get(block) ?? { shares: [], tokens: null };
    this.layers.set(block, layer);
    layer.shares.push({ first, ...found });
  }

  /** @param {number} block */
  layerOf(block) {
    const layer = this.layers.get(block);
    if (!layer) throw new Error(`block: got ${block}, expected one that was computed`);
    return layer;
  }

  /**
   * Returns the tokens after a block, counted from 0. -1 is for the embedded patches with their positions, the number
   * of blocks for the tokens after the final norm.
   * @type {(block?: number) => Float32Array}
   */
  tokens(block = this.model.blocks) {
    const layer = this.layerOf(block);
    if (!layer.tokens) {
      const D = this.model.dim;
      layer.tokens = new Float32Array(this.count * D);
      for (const share of layer.shares) {
        if (share.tokens) layer.tokens.set(share.tokens.subarray(0, (this.count - share.first) * D), share.first * D);
        share.tokens = null;
      }
    }
    return layer.tokens;
  }

  /**
   * Returns where a token (0: the class token) looks in a head: softmax(q kᵀ / √d), or zeros if the block is off.
   * @type {(block: number, head: number, query: number) => Float32Array}
   */
  attention(block, head, query) {
    const { shares } = this.layerOf(block);
    const out = new Float32Array(this.count);
    const D = this.model.dim;
    const d = D / this.model.heads;
    const asking = shares.find(({ first, keys }) => keys && first <= query && (query - first) * D < keys.length);
    if (!asking?.queries) return out;
    const { first: top, queries } = asking;
    const q = queries.subarray((query - top) * D + head * d, (query - top) * D + (head + 1) * d);
    let largest = -Infinity;
    for (const { first, keys = new Float32Array() } of shares)
      for (let token = first, at = head * d; token < this.count && at < keys.length; token++, at += D) {
        let sum = 0;
        for (let i = 0; i < d; i++) sum += q[i] * keys[at + i];
        out[token] = sum;
        if (sum > largest) largest = sum;
      }
    let total = 0;
    for (let token = 0; token < this.count; token++) total += out[token] = Math.exp(out[token] - largest);
    for (let token = 0; token < this.count; token++) out[token] /= total;
    return out;
  }

  /** Returns the length of each patch's token after a block. @type {(block?: number) => Float32Array} */
  norms(block = this.model.blocks) {
    const tokens = this.tokens(block);
    const D = this.model.dim;
    return Float32Array.from({ length: this.count - 1 }, (_, patch) => {
      let sum = 0;
      for (let i = (patch + 1) * D; i < (patch + 2) * D; i++) sum += tokens[i] ** 2;
      return Math.sqrt(sum);
    });
  }
}

/**
 * Returns the first block whose result differs between two settings: -1 for the embedding, or the number of blocks.
 * @type {(was: Settings, is: Settings, blocks: number) => number}
 */
export function firstDifference(was, is, blocks) {
  /** @type {(a: ArrayLike<number> | null, b: ArrayLike<number> | null) => boolean} */
  const isSame = (a, b) =>
    a === b || (a !== null && b !== null && a.length === b.length && Array.from(a).every((value, i) => value === b[i]));
  /** @type {(settings: Settings) => number[]} */
  const sorted = ({ hidden }) => [...new Set(hidden)].sort((a, b) => a - b);
  if (!isSame(was.pixels, is.pixels) || !isSame(was.shuffled, is.shuffled) || !isSame(sorted(was), sorted(is)))
    return -1;
  /** @type {(settings: Settings, block: number) => string} */
  const off = ({ headsOff, blocksOff }, block) => blocksOff.includes(block) ? "block"
    : [...new Set(headsOff.filter(([index]) => index === block).map(([, head]) => head))].sort().join();
  for (let block = 0; block < blocks; block++) if (off(was, block) !== off(is, block)) return block;
  return blocks;
}

/**
 * Cuts a picture into patches and normalises them: (N, 3·P·P), each by channel, row, column. Hidden ones are 0.
 * @type {(
 *   seen: Pick<Settings, "pixels" | "hidden">,
 *   sizes: Pick<Manifest, "size" | "grid" | "patch" | "mean" | "std">,
 * ) => Sent}
 */
export function patchesOf({ pixels, hidden }, { size, grid, patch: P, mean, std }) {
  const out = new Float32Array(pixels.length);
  const isHidden = new Set(hidden);
  let i = 0;
  for (let patch = 0; patch < grid ** 2; patch++) {
    if (isHidden.has(patch)) {
      i += 3 * P * P;
      continue;
    }
    const corner = Math.floor(patch / grid) * P * size + (patch % grid) * P;
    for (let channel = 0; channel < 3; channel++)
      for (let row = 0; row < P; row++)
        for (let column = 0; column < P; column++) {
          out[i++] = (pixels[channel * size ** 2 + corner + row * size + column] - mean[channel]) / std[channel];
        }
  }
  return out;
}

/**
 * Returns a worker's share of some tokens, with zeros after the last one.
 * @type {(tokens: Float32Array, share: Pick<Share, "first" | "rows">, D: number) => Float32Array}
 */
export function rowsOf(tokens, { first, rows }, D) {
  const out = new Float32Array(rows * D);
  out.set(tokens.subarray(first * D, (first + rows) * D));
  return out;
}

/**
 * Returns the rows that a band of the saliency needs of the patches and after each up-convolution: [top, end] each.
 * @type {(share: Pick<Share, "band" | "bandEnd">, grid: number) => Pair[]}
 */
export function bandsOf({ band, bandEnd }, grid) {
  /** @type {Pair[]} */
  const bands = [[8 * band, 8 * bandEnd]];
  for (let level = 2; level >= 0; level--) {
    const [[top, end]] = bands;
    bands.unshift([Math.max(0, Math.floor((top - 1) / 2)), Math.min(grid << level, Math.floor(end / 2) + 1)]);
  }
  return bands;
}
