// A worker of the large model, which runs all blocks for its share of the tokens. The page makes workers of this
// function's text, because a page opened from a folder cannot start them from a file. Each has all weights. In a block
// the workers send each other the keys and values of their tokens; nothing else is needed from the others.
// Letters as in the book: N patches, T tokens, D width, h heads, d head width. Addresses are in bytes.

/** @import { Manifest, Pair, Share, WeightsPart } from "../parts/types.d.ts" */

/**
 * A message from a worker to the page.
 * @typedef {{
 *   did: string, message?: string, name?: string, index?: number, tokens?: Float32Array, queries?: Float32Array,
 *   keys?: Float32Array, saliency?: ArrayLike<number>,
 * }} Message
 * @typedef {{ block: number, row: number, keys: Float32Array, values: Float32Array }} Keyed
 * @typedef {{ queries: Float32Array<ArrayBuffer>, keys: Float32Array<ArrayBuffer> }} Keys
 * @typedef {{ manifest: Manifest, modules: WebAssembly.Module[], share: Share, peers: MessagePort[] }} StartMessage
 * @typedef {{
 *   from: number, to: number, tokens: Float32Array | null, headsOff: number[][], blocksOff: number[],
 * }} LookMessage
 * @typedef {{ kind: string, height: number, width: number, address: number, scales: number }} Placed
 * @typedef {Record<"multiply" | "unpack" | "softmaxRows" | "gelu", (...numbers: number[]) => void>} Kernels
 */

export function photographWorker() {
  const CHUNK = 132; // rows that go through a layer together, so that they stay in the processor's cache
  const PANEL = 8; // columns that the kernels compute together
  const ONE = Float32Array.BYTES_PER_ELEMENT;
  /** @type {Map<number, Keyed[]>} */
  const inbox = new Map(); // block -> [{row, keys, values}], from the other workers
  /** @type {Manifest} */
  let about;
  let [T, D, h, d, rows, first, total] = [0, 0, 0, 0, 0, 0, 0];
  /** @type {MessagePort[]} */
  let ports = [];
  /** @type {Kernels} */
  let kernels;
  /** @type {Record<string, Placed>} */
  const weights = {}; // where each tensor is
  /** @type {Record<string, number>} */
  let at; // where each result is
  /** @type {{ address: number, side: number, channels: number }[]} */
  let levels;
  let floats = new Float32Array();
  let words = new Int16Array();

  /** @type {Record<string, Function>} */
  const handlers = { start, receive, embed, look, decode };
  globalThis.onmessage = async ({ data }) => {
    try {
      await handlers[data.does](data);
    } catch (error) {
      postMessage({ did: "fail", message: /** @type {Error} */ (error).message });
    }
  };

  /**
   * Gives every tensor and every result its place in the memory, and lets the kernels work on it.
   * @type {(message: StartMessage) => void}
   */
  function start({ manifest, modules, share, peers }) {
    about = manifest;
    ({ width: D, heads: h } = about);
    d = D / h;
    T = about.grid ** 2 + 1;
    ({ first, rows, total } = share);
    let bytes = 0;
    /** @type {(count: number, size?: number) => number} */
    const place = (count, size = ONE) => {
      const address = bytes;
      bytes += Math.ceil((count * size) / 64) * 64;
      return address;
    };
    at = { zeros: place(PANEL) };
    let longest = 0;
    for (const { name, tensors } of about.parts)
      for (const [key, kind, height, width = 1] of tensors) {
        const tensor = { kind, height, width, address: 0, scales: 0 };
        if (kind === "packed") tensor.scales = place(height);
        if (kind === "float32") tensor.address = place(height);
        else if (key === "pos_embed") tensor.address = place(height * width);
        else {
          tensor.address = place(height * width, 2);
          longest = Math.max(longest, width);
        }
        weights[`${name}.${key}`] = tensor;
      }
    const { grid, patch } = about;
    Object.assign(at, {
      panel: place(longest * PANEL), x: place(rows * D), qkv: place(rows * 3 * D), keys: place(total * D),
      values: place(total * D), normal: place(CHUNK * D), scores: place(CHUNK * total), mixed: place(CHUNK * D),
      hidden: place(CHUNK * weights["block0.mlp.fc1.bias"].height), patches: place(rows * 3 * patch * patch),
    });
    levels = [D, ...[0, 1].map((stage) => weights[`end.up${stage}.bias`].height)].map((channels, level) => {
      const side = grid << level;
      const tall = Math.min(side, (share.bandEnd - share.band + 4) << level);
      return { address: place((tall + 2) * (side + 2) * channels), side, channels };
    });
    at.line = place((grid << 3) * weights["end.up2.bias"].height);
    const memory = new WebAssembly.Memory({ initial: Math.ceil(bytes / 65_536) });
    floats = new Float32Array(memory.buffer);
    words = new Int16Array(memory.buffer);
    kernels = Object.assign(
      {},
      ...modules.map((module) => new WebAssembly.Instance(module, { lab: { memory } }).exports),
    );
    ports = peers;
    for (const port of ports)
      port.onmessage = ({ data }) => {
        const { block } = data;
        inbox.set(block, [...inbox.get(block) ?? [], data]);
        arrived();
      };
  }
  let arrived = () => {};

  /** Puts one part of the weights in its place. @type {(part: WeightsPart) => void} */
  function receive({ name, bytes }) {
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    let read = 0;
    /** @type {(count: number, to: number) => void} */
    const numbers = (count, to) => {
      for (let i = 0; i < count; i++, read += ONE) floats[to / ONE + i] = view.getFloat32(read, true);
    };
    for (const [key] of about.parts.find((part) => part.name === name)?.tensors ?? []) {
      const { kind, height, width, address, scales } = weights[`${name}.${key}`];
      if (kind === "float32") {
        numbers(height, address);
        continue;
      }
      numbers(height, scales);
      const count = height * width;
      const isTable = key === "pos_embed"; // it is added, and never multiplied
      const to = isTable ? new Int16Array(count) : words.subarray(address / 2, address / 2 + count);
      for (let i = 0; i < count; i += 2, read += 3) { // two numbers of 12 bits are three bytes
        to[i] = (bytes[read] | (bytes[read + 1] & 15) << 8) - 2048;
        to[i + 1] = (bytes[read + 1] >> 4 | bytes[read + 2] << 4) - 2048;
      }
      if (isTable)
        for (let i = 0; i < count; i++)
          floats[address / ONE + i] = to[i] * floats[scales / ONE + Math.floor(i / width)];
    }
    postMessage({ did: "receive", name });
  }

  /** @type {(address: number, length: number) => Float32Array<ArrayBuffer>} */
  const array = (address, length) => floats.subarray(address / ONE, address / ONE + length);

  /**
   * Computes x weightᵀ + bias for some rows. If add is 1, it is added to the numbers in out.
   * @type {(
   *     name: string, x: number, stride: number, count: number, out: number, outStride: number, add?: number,
   *     bias?: { address: number } | null,
   *   ) => void}
   */
  function linear(name, x, stride, count, out, outStride, add = 0, bias = weights[`${name}.bias`]) {
    const { height, width, address, scales } = weights[`${name}.weight`];
    for (let column = 0; column < height; column += PANEL) {
      const start = bias ? bias.address + column * ONE : at.zeros;
      kernels.unpack(address + column * width * 2, scales + column * ONE, width, at.panel);
      kernels.multiply(x, stride, count, at.panel, width, start, add, out + column * ONE, outStride);
    }
  }

  /** @type {(name: string, from: number, count: number, to: number) => void} */
  function layerNorm(name, from, count, to) {
    const weight = array(weights[`${name}.weight`].address, D);
    const bias = array(weights[`${name}.bias`].address, D);
    for (let row = 0; row < count; row++) {
      const x = array(from + row * D * ONE, D);
      const out = array(to + row * D * ONE, D);
      let mean = 0;
      for (let i = 0; i < D; i++) mean += x[i];
      mean /= D;
      let variance = 0;
      for (let i = 0; i < D; i++) variance += (x[i] - mean) ** 2;
      const scale = 1 / Math.sqrt(variance / D + about.epsilon);
      for (let i = 0; i < D; i++) out[i] = (x[i] - mean) * scale * weight[i] + bias[i];
    }
  }

  /**
   * Calls a function with the start and number of each chunk's rows.
   * @type {(doWith: (start: number, count: number) => void) => void}
   */
  function inChunks(doWith) {
    for (let start = 0; start < rows; start += CHUNK) doWith(start, Math.min(CHUNK, rows - start));
  }

  /**
   * Makes tokens of patches: (rows, 3·P·P) -> (rows, D). The class token's row of patches is not read.
   * @type {(message: { patches: Float32Array, places: number[] }) => void}
   */
  function embed({ patches, places }) {
    array(at.patches, patches.length).set(patches);
    const length = patches.length / rows * ONE;
    linear("embed.proj", at.patches, length, rows, at.x, D * ONE);
    if (first === 0) array(at.x, D).set(array(weights["embed.cls_token"].address, D));
    places.forEach((place, row) => {
      const x = array(at.x + row * D * ONE, D);
      const position = array(weights["embed.pos_embed"].address + place * D * ONE, D);
      for (let i = 0; i < D; i++) x[i] += position[i];
    });
    postMessage({ did: "embed", tokens: array(at.x, rows * D).slice() });
  }

  /**
   * Runs the blocks from one up to another, and sends the page what comes out of each, and after the last the norm.
   * @type {(message: LookMessage) => Promise<void>}
   */
  async function look({ from, to, tokens, headsOff, blocksOff }) {
    if (tokens) array(at.x, rows * D).set(tokens);
    for (let index = from; index < to; index++) {
      const off = headsOff.filter(([block]) => block === index);
      const keys = blocksOff.includes(index) ? {} : await attend(index, off);
      const found = { did: "block", index, ...keys, tokens: array(at.x, rows * D).slice() };
      const transfer = Object.values(found).flatMap((value) => (typeof value === "object" ? [value.buffer] : []));
      postMessage(found, { transfer });
    }
    if (to < about.blocks) return;
    const normal = new Float32Array(rows * D);
    inChunks((start, count) => {
      layerNorm("end.norm", at.x + start * D * ONE, count, at.normal);
      normal.set(array(at.normal, count * D), start * D);
    });
    postMessage({ did: "norm", tokens: normal }, { transfer: [normal.buffer] });
  }

  /**
   * Passes the tokens through a block; returns their queries and keys, (rows, D) each.
   * @type {(index: number, off: number[][]) => Promise<Keys>}
   */
  async function attend(index, off) {
    const name = `block${index}`;
    inChunks((start, count) => {
      layerNorm(`${name}.norm1`, at.x + start * D * ONE, count, at.normal);
      linear(`${name}.attn.qkv`, at.normal, D * ONE, count, at.qkv + start * 3 * D * ONE, 3 * D * ONE);
    });
    const [queries, keys, values] = [0, 1, 2].map((part) => {
      const out = new Float32Array(rows * D);
      for (let row = 0; row < rows; row++) out.set(array(at.qkv + (3 * row + part) * D * ONE, D), row * D);
      return out;
    });
    const own = { block: index, row: first, keys, values };
    for (const port of ports) port.postMessage(own);
    for (const share of [own, ...await fromOthers(index)]) lay(share);
    inChunks((start, count) => {
      for (let head = 0; head < h; head++) mix(head, start, count);
      for (const [, head] of off)
        for (let row = 0; row < count; row++) array(at.mixed + (row * D + head * d) * ONE, d).fill(0);
      const x = at.x + start * D * ONE;
      linear(`${name}.attn.proj`, at.mixed, D * ONE, count, x, D * ONE, 1);
      layerNorm(`${name}.norm2`, x, count, at.normal);
      const M = weights[`${name}.mlp.fc1.bias`].height;
      linear(`${name}.mlp.fc1`, at.normal, D * ONE, count, at.hidden, M * ONE);
      kernels.gelu(at.hidden, count * M * ONE);
      linear(`${name}.mlp.fc2`, at.hidden, M * ONE, count, x, D * ONE, 1);
    });
    return { queries, keys };
  }

  /** Waits for what all other workers send in a block. @type {(block: number) => Promise<Keyed[]>} */
  async function fromOthers(block) {
    while ((inbox.get(block)?.length ?? 0) < ports.length)
      await new Promise((resolve) => {
        arrived = () => resolve(null);
      });
    const all = inbox.get(block) ?? [];
    inbox.delete(block);
    return all;
  }

  /**
   * Lays a worker's keys and values where the kernels read them: eight keys, or eight of the d values, side by side.
   * @type {(keyed: Keyed) => void}
   */
  function lay({ row: top, keys, values }) {
    const count = keys.length / D;
    const [toKeys, toValues] = [at.keys / ONE, at.values / ONE];
    for (let head = 0; head < h; head++)
      for (let row = 0; row < count; row++) {
        const from = row * D + head * d;
        const token = top + row;
        const key = toKeys + head * total * d + (token - token % PANEL) * d + token % PANEL;
        const value = toValues + head * total * d + token * PANEL;
        for (let i = 0; i < d; i++) {
          floats[key + i * PANEL] = keys[from + i];
          floats[value + (i - i % PANEL) * total + i % PANEL] = values[from + i];
        }
      }
  }

  /**
   * Lets some tokens attend in one head: softmax(q kᵀ) v. The queries hold the factor 1 / √d.
   * @type {(head: number, start: number, count: number) => void}
   */
  function mix(head, start, count) {
    const wide = total * ONE;
    const query = at.qkv + (start * 3 * D + head * d) * ONE;
    const [keys, values] = [at.keys, at.values].map((address) => address + head * total * d * ONE);
    for (let token = 0; token < total; token += PANEL) {
      kernels.multiply(
        query,
        3 * D * ONE,
        count,
        keys + token * d * ONE,
        d,
        at.zeros,
        0,
        at.scores + token * ONE,
        wide,
      );
    }
    for (let row = 0; row < count; row++) array(at.scores + row * wide + T * ONE, total - T).fill(-Infinity);
    kernels.softmaxRows(at.scores, count, wide, at.scores);
    for (let i = 0; i < d; i += PANEL) {
      kernels.multiply(
        at.scores,
        wide,
        count,
        values + i * wide,
        total,
        at.zeros,
        0,
        at.mixed + (head * d + i) * ONE,
        D * ONE,
      );
    }
  }

  /**
   * Makes saliency of patch tokens, for a band of the picture's rows: three up-convolutions, each of which doubles
   * the rows and columns, and a last sum. tokens: the band's rows of patches, and those that it touches.
   * @type {(message: { tokens: Float32Array, bands: Pair[] }) => void}
   */
  function decode({ tokens, bands }) {
    const saliency = new Float32Array((bands[3][1] - bands[3][0]) * (about.grid << 3));
    levels.forEach(({ address, side, channels }, level) => {
      const [top, end] = bands[level];
      array(address, (end - top + 2) * (side + 2) * channels).fill(0); // what is outside the picture counts as 0
    });
    const { address, side, channels } = levels[0];
    for (let row = 0; row * side * channels < tokens.length; row++) {
      array(address + ((row + 1) * (side + 2) + 1) * channels * ONE, side * channels)
        .set(tokens.subarray(row * side * channels, (row + 1) * side * channels));
    }
    const last = array(weights["end.last.weight"].address, weights["end.last.weight"].height);
    const [lastBias] = array(weights["end.last.bias"].address, 1);
    for (let stage = 0; stage < 3; stage++)
      for (let row = bands[stage + 1][0]; row < bands[stage + 1][1]; row++) {
        const line = up(stage, row, bands);
        for (let i = 0; i < line.length; i++) if (line[i] < 0) line[i] = 0;
        if (stage < 2) continue;
        const start = (row - bands[3][0]) * (about.grid << 3);
        for (let column = 0; column < about.grid << 3; column++) {
          let sum = lastBias;
          for (let i = 0; i < last.length; i++) sum += last[i] * line[column * last.length + i];
          saliency[start + column] = 1 / (1 + Math.exp(-sum));
        }
      }
    postMessage({ did: "decode", saliency }, { transfer: [saliency.buffer] });
  }

  /**
   * Computes a row of an up-convolution, which sees two rows of its input; returns its numbers.
   * @type {(stage: number, row: number, bands: Pair[]) => Float32Array}
   */
  function up(stage, row, bands) {
    const { address: input, side, channels } = levels[stage];
    const name = `end.up${stage}`;
    const wide = weights[`${name}.bias`].height;
    const next = levels[stage + 1];
    const out = next ? next.address + ((row - bands[stage + 1][0] + 1) * (next.side + 2) + 1) * wide * ONE : at.line;
    const odd = row & 1;
    for (const right of [0, 1])
      for (const lower of [0, 1]) {
        const above = (row >> 1) + odd - 1 + lower - bands[stage][0] + 1;
        const from = input + (above * (side + 2) + right) * channels * ONE;
        const bias = lower ? null : weights[`${name}.bias`];
        linear(
          `${name}.${odd}${right}${lower}`,
          from,
          channels * ONE,
          side,
          out + right * wide * ONE,
          2 * wide * ONE,
          lower,
          bias,
        );
      }
    return array(out, 2 * side * wide);
  }
}
