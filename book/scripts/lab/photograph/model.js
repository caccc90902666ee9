// The large model: a ViT-S/14 that looks at a photograph, on the graphics card (gpu.js) or on worker threads, which
// share the tokens among them. Where the card fails, the threads take over.
// Why not ONNX Runtime Web (1.30): on two cores without a card, a look takes 0.73 of its time with two threads, which
// need headers that a static host does not send, and 0.39 of its time with one. It fetches 14 MB of code and 97 MB of
// weights, where this takes 0.1 and 37. Its weights of 8 bits are as quick, but move tokens by up to 2.2 (these: 0.04).
// And where a head is switched off, its graph cannot begin at that block.

import { DATA } from "../parts/fetching.js";
import { bytesOf } from "../../shared/numbers.js";
import { simd } from "../parts/simd.js";
import { photographSimd } from "./simd.js";
import { photographWorker } from "./worker.js";
import { PhotographGpu, photographAdapter } from "./gpu.js";
import { photographParts } from "./parts.js";
import { PhotographRun, bandsOf, firstDifference, patchesOf, rowsOf } from "./run.js";

/** @import { LookOptions, Manifest, Progress, Sent, Share, WeightsPart } from "../parts/types.d.ts" */

/** @typedef {import("./worker.js").Message} Message */

const MOST_WORKERS = 4; // each holds all weights
const STRIDE = 3; // blocks that the threads run before they ask whether the look is still wanted
const PANEL = 8; // tokens that stand side by side for the kernels
const folder = new URL("../photograph/", DATA).href;

export class PhotographModel {
  /** @type {PhotographGpu | null} */
  #gpu = null;
  /** @type {WeightsPart[]} */
  #parts = []; // of the weights, as long as the threads may need them
  /** @type {Worker[]} */
  #workers = [];
  /** @type {Set<(worker: number, message: Message) => void>} */
  #listeners = new Set();
  /** @type {Error | null} */
  #failed = null; // why it can look no more
  /** @type {Promise<unknown>} */
  #last = Promise.resolve();

  /**
   * Loads the model, on a graphics card if there is one.
   * onProgress(bytes, total): called while it comes; signal: an AbortSignal; workers: how many threads; adapter:
   * WebGPU's, or null.
   * @param {{
   *   onProgress?: Progress, signal?: AbortSignal, workers?: number, manifest?: Manifest | null,
   *   adapter?: Promise<GPUAdapter | null> | GPUAdapter | null,
   * }} options
   */
  static async load({
    onProgress,
    signal,
    workers = Math.min(navigator.hardwareConcurrency || 2, MOST_WORKERS),
    manifest = globalThis.vitData.photograph,
    adapter = photographAdapter(),
  } = {}) {
    if (!manifest) throw new Error("This copy of the book was built without the model.");
    const model = new PhotographModel(manifest, workers);
    try {
      const card = await adapter;
      model.#gpu = card && (await PhotographGpu.start(manifest, card).catch(() => null));
      const ready = model.#gpu ? null : model.#startThreads();
      await Promise.all([
        ready,
        photographParts({ manifest, folder, onProgress, signal, take: (part) => model.#take(part) }),
      ]);
      if (model.#gpu) await model.#warmUp();
    } catch (error) {
      model.close();
      throw error;
    }
    return model;
  }

  /**
   * @param {Manifest} manifest
   * @param {number} count
   */
  constructor(manifest, count) {
    this.manifest = manifest;
    this.grid = manifest.grid;
    this.size = manifest.size;
    this.blocks = manifest.blocks;
    this.heads = manifest.heads;
    this.dim = manifest.width;
    this.saliencySide = 8 * manifest.grid;
    this.shares = shares(manifest.grid, count);
  }

  /** @param {WeightsPart} part */
  #take(part) {
    if (!this.#gpu) return this.#tell(() => ({ does: "receive", ...part }));
    this.#parts.push(part);
    this.#gpu.receive(part);
  }

  /** Starts the workers; resolves when they have all weights and the browser has compiled their code. */
  #startThreads() {
    const { manifest } = this;
    const modules = compile();
    const url = URL.createObjectURL(new Blob([`(${photographWorker})()`], { type: "text/javascript" }));
    this.#workers = this.shares.map(() => new Worker(url));
    this.#workers.forEach((worker, index) => {
      worker.onmessage = ({ data }) => this.#heard(index, data);
      worker.onerror = (event) => this.#heard(index, { did: "fail", message: event.message });
    });
    /** @type {MessagePort[][]} */
    const ports = this.#workers.map(() => []);
    for (let i = 0; i < ports.length; i++)
      for (let j = i + 1; j < ports.length; j++) {
        const { port1, port2 } = new MessageChannel();
        ports[i].push(port1);
        ports[j].push(port2);
      }
    this.#tell(
      (index) => ({ does: "start", manifest, modules, share: this.shares[index], peers: ports[index] }),
      (index) => ports[index],
    );
    const ready = Promise.all([this.#all("receive", manifest.parts.length), this.#warmUp()]);
    for (const part of this.#parts.splice(0)) this.#take(part);
    return ready;
  }

  /** Ends what computes and gives its memory back. */
  close() {
    this.#gpu?.close();
    for (const worker of this.#workers) worker.terminate();
    this.#heard(0, { did: "fail", message: "it was closed." });
  }

  /**
   * Looks at nothing with the last block only, so that the browser compiles the code; threads do so while the
   * weights come.
   * @returns {Promise<PhotographRun>}
   */
  #warmUp() {
    const blocksOff = Array.from({ length: this.blocks - 1 }, (_, block) => block);
    return this.#look(new Float32Array(3 * this.size ** 2), { blocksOff }, null);
  }

  /**
   * @param {(index: number) => object} messageFor
   * @param {(index: number) => Transferable[]} transferFor
   */
  #tell(messageFor, transferFor = () => []) {
    this.#workers.forEach((worker, index) => worker.postMessage(messageFor(index), transferFor(index)));
  }

  /**
   * @param {number} worker
   * @param {Message} message
   */
  #heard(worker, message) {
    if (message.did === "fail") this.#failed ??= new Error(`The model stopped: ${message.message}`);
    for (const listener of [...this.#listeners]) listener(worker, message);
  }

  /**
   * Waits until every worker has sent `times` messages of a kind; hands each to take(worker, message).
   * @param {string} kind
   * @param {number} times
   * @param {(worker: number, message: Message) => void} take
   * @returns {Promise<void>}
   */
  #all(kind, times = 1, take = () => {}) {
    return new Promise((resolve, reject) => {
      if (this.#failed) reject(this.#failed);
      let missing = times * this.#workers.length;
      /** @type {(worker: number, message: Message) => void} */
      const listener = (worker, message) => {
        if (message.did === "fail") {
          this.#listeners.delete(listener);
          reject(this.#failed);
        }
        if (message.did !== kind) return;
        take(worker, message);
        if (--missing > 0) return;
        this.#listeners.delete(listener);
        resolve();
      };
      this.#listeners.add(listener);
    });
  }

  /**
   * Looks at a picture; resolves to a Run (run.js). Calls wait for each other.
   *
   * pixels: an ImageData of S×S, or a Float32Array (3, S, S) from 0 to 1.
   * options.headsOff: [[block, head], ...], whose output is replaced by zeros; options.blocksOff: [block, ...], which
   * add nothing; options.shuffled: for each patch, the patch whose position it gets, or null; options.hidden:
   * [patch, ...], which are covered with the mean colour.
   * before: an earlier Run; only what is after the first difference from it is computed. isOld(): whether the look is
   * no longer wanted; threads then end it with an Error.
   * @type {(
   *   pixels: ImageData | Float32Array, options?: LookOptions, before?: PhotographRun | null, isOld?: () => boolean,
   * ) => Promise<PhotographRun>}
   */
  look(pixels, options = {}, before = null, isOld = () => false) {
    const looked = this.#last.then(() => this.#look(pixels, options, before, isOld));
    this.#last = looked.catch(() => {});
    return looked;
  }

  /**
   * @param {ImageData | Float32Array} pixels
   * @param {LookOptions} options
   * @param {PhotographRun | null} before
   */
  async #look(pixels, { headsOff = [], blocksOff = [], shuffled = null, hidden = [] }, before, isOld = () => false) {
    const settings = {
      pixels: planes(pixels, this.size),
      headsOff: [...headsOff],
      blocksOff: [...blocksOff],
      shuffled,
      hidden: [...hidden],
    };
    const from = before ? firstDifference(before.settings, settings, this.blocks) : -1;
    if (before && from === this.blocks) return before.again(settings);
    const run = new PhotographRun(this, settings, from < 0 ? null : before, from);
    const patches = from < 0 ? patchesOf(settings, this.manifest) : null;
    try {
      await this.#gpu?.look(run, from, patches);
    } catch {
      if (this.#failed) throw this.#failed;
      this.#gpu?.close();
      this.#gpu = null;
      await this.#startThreads();
    }
    if (!this.#gpu) await this.#lookOnThreads(run, from, patches, isOld);
    return run;
  }

  /**
   * @param {PhotographRun} run
   * @param {number} from
   * @param {Sent | null} patches
   * @param {() => boolean} isOld
   */
  async #lookOnThreads(run, from, patches, isOld) {
    const { shuffled, headsOff, blocksOff } = run.settings;
    if (patches) {
      const length = patches.length / this.grid ** 2;
      const places = Array.from({ length: this.grid ** 2 }, (_, i) => 1 + (shuffled ? shuffled[i] : i));
      const embedded = this.#all("embed", 1, (worker, { tokens = null }) =>
        run.put(-1, this.shares[worker], { tokens }),
      );
      this.#tell((index) => {
        const { first, rows } = this.shares[index];
        const share = new Float32Array(rows * length);
        const skipped = first === 0 ? 1 : 0; // the class token is no patch
        const own = patches.subarray((first + skipped - 1) * length, (first + rows - 1) * length);
        share.set(own, skipped * length);
        return { does: "embed", patches: share, places: [0, ...places].slice(first, first + rows) };
      });
      await embedded;
    }
    const start = Math.max(0, from);
    for (let at = start; at < this.blocks; at += STRIDE) {
      if (isOld()) throw new Error("Another look was asked for.");
      const to = Math.min(at + STRIDE, this.blocks);
      const blocks = this.#all("block", to - at, (worker, { index = 0, tokens = null, queries, keys }) =>
        run.put(index, this.shares[worker], { tokens, queries, keys }),
      );
      const normal = to < this.blocks ? null : this.#all("norm", 1, (worker, { tokens = null }) =>
        run.put(this.blocks, this.shares[worker], { tokens }),
      );
      this.#tell((index) => ({
        does: "look", from: at, to, headsOff, blocksOff,
        tokens: at === from ? rowsOf(run.tokens(from - 1), this.shares[index], this.dim) : null,
      }));
      await Promise.all([blocks, normal]);
    }
    await this.#decode(run);
  }

  /** Adds the answer of the model's own head, each worker a band of it. @param {PhotographRun} run */
  async #decode(run) {
    const { grid, dim } = this;
    const bands = this.shares.map((share) => bandsOf(share, grid));
    const tokens = run.tokens().subarray(dim); // of the patches
    const decoded = this.#all("decode", 1, (worker, { saliency = [] }) =>
      run.saliency.set(saliency, bands[worker][3][0] * this.saliencySide),
    );
    this.#tell((index) => {
      const [[top, end]] = bands[index];
      return { does: "decode", bands: bands[index], tokens: tokens.slice(top * grid * dim, end * grid * dim) };
    });
    await decoded;
  }
}

/** Compiles the kernels, with fused multiply-add where the browser has it. */
function compile() {
  const [fused, plain, small] = [...photographSimd, simd].map(bytesOf);
  /** @type {(bytes: BufferSource) => boolean | undefined} */
  const fits = (bytes) => globalThis.WebAssembly?.validate(bytes);
  if (!fits(plain)) throw new Error("This browser lacks WebAssembly's vector instructions, which the model needs.");
  return [fits(fused) ? fused : plain, small].map((bytes) => new WebAssembly.Module(bytes));
}

/**
 * Divides the tokens among the workers, in whole panels, and the picture's rows of patches in bands.
 * @type {(grid: number, count: number) => Share[]}
 */
function shares(grid, count) {
  const panels = Math.ceil((grid ** 2 + 1) / PANEL);
  const cut = (/** @type {number} */ all, /** @type {number} */ index) => Math.floor((all * index) / count);
  return Array.from({ length: count }, (_, index) => ({
    first: PANEL * cut(panels, index),
    rows: PANEL * (cut(panels, index + 1) - cut(panels, index)),
    total: PANEL * panels,
    band: cut(grid, index),
    bandEnd: cut(grid, index + 1),
  }));
}

/**
 * Returns a picture as (3, S, S) from 0 to 1.
 * @type {(pixels: ImageData | Float32Array, size: number) => Float32Array}
 */
function planes(pixels, size) {
  const area = size ** 2;
  if (pixels instanceof Float32Array) {
    if (pixels.length !== 3 * area) throw new Error(`pixels: got ${pixels.length} numbers, expected 3·${size}·${size}`);
    return pixels.slice();
  }
  if (pixels.width !== size || pixels.height !== size)
    throw new Error(`pixels: got ${pixels.width}×${pixels.height}, expected ${size}×${size}`);
  const out = new Float32Array(3 * area);
  for (let i = 0; i < area; i++) for (let c = 0; c < 3; c++) out[c * area + i] = pixels.data[4 * i + c] / 255;
  return out;
}
