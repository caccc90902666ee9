// The large model on a graphics card, in browsers that have WebGPU. It computes what the worker threads do, and takes
// the same weights: eight numbers of 12 bits are three words. Letters as in the book: T tokens, D width, h heads.

/** @import { PhotographRun } from "./run.js" */
/** @import { Manifest, ManifestPart, Sent, WeightsPart } from "../parts/types.d.ts" */

/**
 * @typedef {Record<string, number>} Told what a step is told, by the names in STEP
 * @typedef {{ does: string, uniform: GPUBuffer, groups: number[], group: GPUBindGroup }} Step
 * @typedef {Record<string, { scales: number, matrix: number, width: number, height: number }>} At
 * @typedef {(
 *   block: number | null, name: string, buffer: GPUBuffer, start?: number, bytes?: number,
 * ) => void} Keep
 */

const NONE = 0xffffffff; // a layer that adds no bias
const GELU = 1;
const RELU = 2;
// The settings of a step. A layer reads its rows at `begin`, `stride` apart, and writes them at `to`, `apart` apart, in
// lines of `line` rows, `lineApart` apart, of which the first `across` count.
const STEP = (
  "rows width height scales matrix bias add then begin stride to apart line lineApart across off"
).split(" ");
const ROWS = 32; // of a layer's tile, which has as many rows and twice as many columns
const COLUMNS = 64;
const QUERIES = 16;

/** @type {(about: Manifest & { tokens: number }) => string} */
const program = ({ width: D, epsilon, tokens: T }) => `
struct Step { ${STEP.map((name) => `${name}: u32`).join(", ")} }
@group(0) @binding(0) var<storage, read> weights: array<u32>;
@group(0) @binding(1) var<storage, read> x: array<f32>;
@group(0) @binding(2) var<storage, read_write> out: array<f32>;
@group(0) @binding(3) var<uniform> s: Step;

fn number(at: u32) -> f32 { return bitcast<f32>(weights[at]); }

fn gelu(x: f32) -> f32 {
  let z = abs(x) * 0.70710678;
  let t = 1 / (1 + 0.3275911 * z);
  let fourth = 1.421413741 + t * (-1.453152027 + t * 1.061405429);
  let erf = 1 - t * (0.254829592 + t * (-0.284496736 + t * fourth)) * exp(-z * z);
  return 0.5 * x * (1 + sign(x) * erf);
}

var<workgroup> left: array<f32, ${ROWS * 16}>;
var<workgroup> low: array<vec4f, 128>; // 16 columns of eight panels, the first four rows of each panel
var<workgroup> high: array<vec4f, 128>; // and the last four

// x weightᵀ + bias. A workgroup computes a tile, each thread four rows and eight columns, 16 products at a time.
@compute @workgroup_size(8, 8)
fn linear(
  @builtin(workgroup_id) tile: vec3u,
  @builtin(local_invocation_id) me: vec3u,
  @builtin(local_invocation_index) i: u32
) {
  var a: array<vec4f, 4>;
  var b: array<vec4f, 4>;
  for (var start = 0u; start < s.width; start += 16) {
    for (var j = i; j < ${ROWS * 16}; j += 64) {
      let row = tile.y * ${ROWS} + j / 16;
      let column = start + j % 16;
      left[j] = select(0, x[s.begin + row * s.stride + column], row < s.rows && column < s.width);
    }
    for (var j = i; j < 128; j += 64) {
      let at = s.matrix + 3 * ((tile.x * 8 + j % 8) * s.width + start + j / 8);
      let w = vec3u(weights[at], weights[at + 1], weights[at + 2]);
      low[j] = vec4f(vec4u(w.x, w.x >> 12, (w.x >> 24) | (w.y << 8), w.y >> 4) & vec4u(4095)) - 2048;
      high[j] = vec4f(vec4u(w.y >> 16, (w.y >> 28) | (w.z << 4), w.z >> 8, w.z >> 20) & vec4u(4095)) - 2048;
    }
    workgroupBarrier();
    for (var k = 0u; k < 16; k++) {
      let p = low[8 * k + me.x];
      let q = high[8 * k + me.x];
      for (var r = 0u; r < 4; r++) {
        let value = left[(4 * me.y + r) * 16 + k];
        a[r] += value * p;
        b[r] += value * q;
      }
    }
    workgroupBarrier();
  }
  for (var r = 0u; r < 4; r++) {
    let row = tile.y * ${ROWS} + 4 * me.y + r;
    if (row >= s.rows || row % s.line >= s.across) { continue; }
    for (var c = 0u; c < 8; c++) {
      let column = 8 * (8 * tile.x + me.x) + c;
      let at = s.to + row / s.line * s.lineApart + row % s.line * s.apart + column;
      var value = number(s.scales + column) * select(b[r][c % 4], a[r][c % 4], c < 4);
      if (s.bias != ${NONE}u) { value += number(s.bias + column); }
      if (s.add == 1) { value += out[at]; }
      if (s.then == ${GELU}) { value = gelu(value); }
      if (s.then == ${RELU}) { value = max(value, 0); }
      out[at] = value;
    }
  }
}

var<workgroup> parts: array<f32, 64>;

fn total(i: u32, part: f32) -> f32 {
  parts[i] = part;
  for (var half = 32u; half > 0; half /= 2) {
    workgroupBarrier();
    if (i < half) { parts[i] += parts[i + half]; }
  }
  return workgroupUniformLoad(&parts[0]);
}

@compute @workgroup_size(64)
fn norm(@builtin(workgroup_id) token: vec3u, @builtin(local_invocation_index) i: u32) {
  let first = token.x * ${D};
  var sum = 0f;
  for (var j = i; j < ${D}; j += 64) { sum += x[first + j]; }
  let mean = total(i, sum) / ${D};
  var squares = 0f;
  for (var j = i; j < ${D}; j += 64) { squares += (x[first + j] - mean) * (x[first + j] - mean); }
  let scale = inverseSqrt(total(i, squares) / ${D} + ${epsilon});
  for (var j = i; j < ${D}; j += 64) {
    out[first + j] = (x[first + j] - mean) * scale * number(s.scales + j) + number(s.bias + j);
  }
}

var<workgroup> asking: array<vec4f, ${QUERIES * 17}>;
var<workgroup> tokens: array<vec4f, ${32 * 17}>; // keys, and then values; 16 and one that keeps rows apart
var<workgroup> shares: array<f32, ${QUERIES * 33}>;

fn four(token: u32, at: u32) -> vec4f {
  let i = min(token, ${T - 1}) * ${D} + at;
  return vec4f(x[i], x[i + 1], x[i + 2], x[i + 3]);
}

// softmax(q kᵀ) v of 16 queries in a head: 32 keys at a time, and what was summed is scaled when a larger score comes.
// Four threads serve a query.
@compute @workgroup_size(64)
fn attention(@builtin(workgroup_id) group: vec3u, @builtin(local_invocation_index) i: u32) {
  let head = 64 * group.y;
  let query = i / 4;
  let part = i % 4;
  for (var j = i; j < ${QUERIES * 16}; j += 64) {
    asking[j / 16 * 17 + j % 16] = four(group.x * ${QUERIES} + j / 16, head + j % 16 * 4);
  }
  var most = -1e30;
  var sum = 0f;
  var mixed: array<vec4f, 4>;
  for (var start = 0u; start < ${T}; start += 32) {
    for (var j = i; j < 512; j += 64) {
      tokens[j / 16 * 17 + j % 16] = four(start + j / 16, ${T * D} + head + j % 16 * 4);
    }
    workgroupBarrier();
    var scores = array<f32, 8>();
    for (var c = 0u; c < 16; c++) {
      let q = asking[query * 17 + c];
      for (var j = 0u; j < 8; j++) { scores[j] += dot(q, tokens[(4 * j + part) * 17 + c]); }
    }
    for (var j = 0u; j < 8; j++) {
      if (start + 4 * j + part >= ${T}) { scores[j] = -1e30; }
      shares[query * 33 + 4 * j + part] = scores[j];
    }
    workgroupBarrier();
    for (var j = i; j < 512; j += 64) {
      tokens[j / 16 * 17 + j % 16] = four(start + j / 16, ${2 * T * D} + head + j % 16 * 4);
    }
    var largest = most;
    for (var j = 0u; j < 32; j++) { largest = max(largest, shares[query * 33 + j]); }
    workgroupBarrier();
    for (var j = 0u; j < 8; j++) { shares[query * 33 + 4 * j + part] = exp(scores[j] - largest); }
    workgroupBarrier();
    let kept = exp(most - largest);
    most = largest;
    sum *= kept;
    for (var n = 0u; n < 4; n++) { mixed[n] *= kept; }
    for (var j = 0u; j < 32; j++) {
      let share = shares[query * 33 + j];
      sum += share;
      for (var n = 0u; n < 4; n++) { mixed[n] += share * tokens[j * 17 + 4 * n + part]; }
    }
    workgroupBarrier();
  }
  let token = group.x * ${QUERIES} + query;
  let on = select(0f, 1 / sum, ((s.off >> group.y) & 1) == 0);
  if (token >= ${T}) { return; }
  for (var n = 0u; n < 16; n++) {
    out[token * ${D} + head + 4 * (n - n % 4 + part) + n % 4] = on * mixed[n / 4][n % 4];
  }
}

@compute @workgroup_size(64)
fn mark(@builtin(global_invocation_id) pixel: vec3u) {
  if (pixel.x >= s.rows) { return; }
  var sum = number(s.bias);
  for (var i = 0u; i < s.width; i++) { sum += number(s.scales + i) * x[pixel.x * s.width + i]; }
  out[pixel.x] = 1 / (1 + exp(-sum));
}`;

/** @type {(manifest: Manifest, name: string) => ManifestPart} */
export function partOf({ parts }, name) {
  const found = parts.find((part) => part.name === name);
  if (!found) throw new Error(`part: got ${name}, expected one of ${parts.map((part) => part.name).join(", ")}`);
  return found;
}

/**
 * Returns the browser's graphics card, or null: without WebGPU, or where a program only acts as one, and is slow.
 * @type {() => Promise<GPUAdapter | null>}
 */
export async function photographAdapter() {
  const adapter = await globalThis.navigator?.gpu?.requestAdapter().catch(() => null);
  const { isFallbackAdapter, architecture } = adapter?.info ?? {};
  return adapter && !isFallbackAdapter && architecture !== "swiftshader" ? adapter : null;
}

export class PhotographGpu {
  #device;
  #about;
  #T;
  #layout;
  /** @type {Record<string, GPUComputePipeline>} */
  #pipelines = {};
  /** @type {Record<string, GPUBuffer>} */
  #buffers = {};
  /** @type {Map<string, Step[]>} */
  #steps = new Map(); // part -> what is done with it, one after the other
  /** @type {Sent} */
  #places = new Float32Array(); // (T, D): what is added to the embedded patches, and the class token

  /** @type {(manifest: Manifest, adapter: GPUAdapter) => Promise<PhotographGpu>} */
  static async start(manifest, adapter) {
    return new PhotographGpu(manifest, await adapter.requestDevice());
  }

  /**
   * @param {Manifest} manifest
   * @param {GPUDevice} device
   */
  constructor(manifest, device) {
    this.#about = manifest;
    this.#device = device;
    const { grid, patch, width: D } = manifest;
    const T = (this.#T = grid ** 2 + 1);
    /** @type {GPUBufferBindingType[]} */
    const kinds = ["read-only-storage", "read-only-storage", "storage", "uniform"];
    this.#layout = device.createBindGroupLayout({
      entries: kinds.map((type, binding) => ({ binding, visibility: GPUShaderStage.COMPUTE, buffer: { type } })),
    });
    const module = device.createShaderModule({ code: program({ ...manifest, tokens: T }) });
    const layout = device.createPipelineLayout({ bindGroupLayouts: [this.#layout] });
    for (const entryPoint of ["linear", "norm", "attention", "mark"]) {
      this.#pipelines[entryPoint] = device.createComputePipeline({ layout, compute: { module, entryPoint } });
    }
    /** @type {(part: string, name: string) => number} */
    const heightOf = (part, name) => partOf(manifest, part).tensors.find(([key]) => key === name)?.[2] ?? 0;
    const channels = [D, ...[0, 1, 2].map((stage) => heightOf("end", `up${stage}.bias`))];
    this.levels = channels.map((count, level) => ({
      side: grid << level,
      wide: (grid << level) + (level < 3 ? 2 : 0),
      channels: count,
    }));
    const lengths = {
      patches: (T - 1) * 3 * patch ** 2,
      x: T * D,
      normal: T * D,
      qkv: 3 * T * D,
      mixed: T * D,
      hidden: T * heightOf("block0", "mlp.fc1.bias"),
      saliency: (8 * grid) ** 2,
      ...Object.fromEntries(
        this.levels.map(({ wide, channels: count }, level) => [`level${level}`, wide ** 2 * count]),
      ),
    };
    const usage = GPUBufferUsage.STORAGE | GPUBufferUsage.COPY_SRC | GPUBufferUsage.COPY_DST;
    for (const [name, length] of Object.entries(lengths))
      this.#buffers[name] = device.createBuffer({ size: 4 * length, usage });
    const most = T * D * (2 + 3 * manifest.blocks) + lengths.saliency;
    this.#buffers.read = device.createBuffer({
      size: 4 * most,
      usage: GPUBufferUsage.MAP_READ | GPUBufferUsage.COPY_DST,
    });
  }

  close() {
    this.#device.destroy();
  }

  /** Takes one part of the weights, and prepares what is done with it. @param {WeightsPart} part */
  receive({ name, bytes }) {
    /** @type {At} */
    const at = {};
    let next = 0;
    for (const [key, kind, height, width = 1] of partOf(this.#about, name).tensors) {
      at[key] = { scales: next, matrix: next + height, width, height };
      next += kind === "packed" ? height + (3 * height * width) / 8 : height;
    }
    const usage = GPUBufferUsage.STORAGE | GPUBufferUsage.COPY_DST;
    const weights = this.#device.createBuffer({ size: bytes.length, usage });
    this.#device.queue.writeBuffer(weights, 0, bytes);
    /** @type {Step[]} */
    const steps = [];
    this.#steps.set(name, steps);
    /** @type {(does: string, x: string, out: string, groups: number[], told: Told) => void} */
    const step = (does, x, out, groups, told) =>
      steps.push(this.#step(does, weights, this.#buffers[x], this.#buffers[out], groups, told));
    const T = this.#T;
    const { width: D, heads, grid } = this.#about;
    /** @type {(key: string, x: string) => void} */
    const norm = (key, x) =>
      step("norm", x, "normal", [T], { scales: at[`${key}.weight`].scales, bias: at[`${key}.bias`].scales });
    /** @type {(key: string, x: string, out: string, told?: Told) => void} */
    const linear = (key, x, out, told = {}) => {
      const { scales, matrix, width, height } = at[`${key}.weight`];
      const layer = {
        rows: T, width, height, scales, matrix, bias: at[`${key}.bias`]?.scales ?? NONE, stride: width,
        apart: height, line: NONE, across: NONE, ...told,
      };
      step("linear", x, out, [layer.height / COLUMNS, Math.ceil(layer.rows / ROWS)], layer);
    };
    if (name === "embed") {
      this.#places = table(bytes, at, T, D);
      return linear("proj", "patches", "x", { rows: T - 1, add: 1, to: D });
    }
    if (name === "end") {
      norm("norm", "x");
      for (const stage of [0, 1, 2]) for (const odd of [0, 1]) for (const right of [0, 1]) for (const lower of [0, 1]) {
        const { side, wide, channels } = this.levels[stage];
        const out = this.levels[stage + 1];
        const edge = stage < 2 ? 1 : 0; // zeros around what the next stage reads
        const apart = 2 * out.channels;
        linear(`up${stage}.${odd}${right}${lower}`, `level${stage}`, `level${stage + 1}`, {
          rows: side * wide,
          begin: ((odd + lower) * wide + right) * channels,
          stride: channels,
          line: wide,
          across: side,
          to: ((odd + edge) * out.wide + right + edge) * out.channels,
          apart,
          lineApart: out.wide * apart,
          ...(lower ? { add: 1, then: RELU } : { bias: at[`up${stage}.bias`].scales }),
        });
      }
      const { scales, height } = at["last.weight"];
      const rows = (8 * grid) ** 2;
      return step("mark", "level3", "saliency", [Math.ceil(rows / 64)], {
        rows,
        width: height,
        scales,
        bias: at["last.bias"].scales,
      });
    }
    norm("norm1", "x");
    const { scales, matrix, width } = at["attn.qkv.weight"];
    for (const third of [0, 1, 2]) {
      linear("attn.qkv", "normal", "qkv", {
        height: D, scales: scales + third * D, matrix: matrix + third * D * width * 3 / 8,
        bias: at["attn.qkv.bias"].scales + third * D, to: third * T * D, apart: D,
      });
    }
    step("attention", "qkv", "mixed", [Math.ceil(T / QUERIES), heads], {});
    linear("attn.proj", "mixed", "x", { add: 1 });
    norm("norm2", "x");
    linear("mlp.fc1", "normal", "hidden", { then: GELU });
    linear("mlp.fc2", "hidden", "x", { add: 1 });
  }

  /**
   * @param {string} does
   * @param {GPUBuffer} weights
   * @param {GPUBuffer} x
   * @param {GPUBuffer} out
   * @param {number[]} groups
   * @param {Told} told
   */
  #step(does, weights, x, out, groups, told) {
    const uniform = this.#device.createBuffer({
      size: 4 * STEP.length,
      usage: GPUBufferUsage.UNIFORM | GPUBufferUsage.COPY_DST,
    });
    this.#device.queue.writeBuffer(uniform, 0, Uint32Array.from(STEP, (name) => told[name] ?? 0));
    const entries = [weights, x, out, uniform].map((buffer, binding) => ({ binding, resource: { buffer } }));
    return { does, uniform, groups, group: this.#device.createBindGroup({ layout: this.#layout, entries }) };
  }

  /** @param {string} part */
  #stepsOf(part) {
    const steps = this.#steps.get(part);
    if (!steps) throw new Error(`part: got ${part}, expected one that has come`);
    return steps;
  }

  /**
   * @param {GPUCommandEncoder} encoder
   * @param {Step[]} steps
   */
  #run(encoder, steps) {
    const pass = encoder.beginComputePass();
    for (const { does, group, groups } of steps) {
      pass.setPipeline(this.#pipelines[does]);
      pass.setBindGroup(0, group);
      pass.dispatchWorkgroups(groups[0], groups[1]);
    }
    pass.end();
  }

  /**
   * Looks, from a block on or, if it is -1, at the patches; puts what it finds into the run. Fails if the card does.
   * @type {(run: PhotographRun, from: number, patches: Sent | null) => Promise<void>}
   */
  async look(run, from, patches) {
    const { width: D, blocks, grid } = this.#about;
    const { headsOff, blocksOff, shuffled } = run.settings;
    const { queue } = this.#device;
    const buffers = this.#buffers;
    const size = 4 * this.#T * D;
    /** @type {{ block: number | null, name: string, at: number, length: number }[]} */
    const found = []; // what is read back, in this order: {block, name, length}
    let read = 0;
    /** @type {GPUErrorFilter[]} */
    const kinds = ["validation", "out-of-memory", "internal"];
    for (const kind of kinds) this.#device.pushErrorScope(kind);
    /** @type {(record: (encoder: GPUCommandEncoder, keep: Keep) => void) => void} */
    const inOne = (record) => { // a command for each block, because systems stop a card that is busy for seconds
      const encoder = this.#device.createCommandEncoder();
      record(encoder, (block, name, buffer, start = 0, bytes = size) => {
        encoder.copyBufferToBuffer(buffer, start, buffers.read, read, bytes);
        found.push({ block, name, at: read, length: bytes / 4 });
        read += bytes;
      });
      queue.submit([encoder.finish()]);
    };
    if (patches) {
      queue.writeBuffer(buffers.patches, 0, patches);
      queue.writeBuffer(buffers.x, 0, placed(this.#places, shuffled, D));
      inOne((encoder, keep) => {
        this.#run(encoder, this.#stepsOf("embed"));
        keep(-1, "tokens", buffers.x);
      });
    } else queue.writeBuffer(buffers.x, 0, run.tokens(from - 1));
    for (let block = Math.max(0, from); block < blocks; block++) {
      const steps = this.#stepsOf(`block${block}`);
      let off = 0;
      for (const [index, head] of headsOff) if (index === block) off |= 1 << head;
      for (const { does, uniform } of steps) {
        if (does === "attention") queue.writeBuffer(uniform, 4 * STEP.indexOf("off"), Uint32Array.of(off));
      }
      inOne((encoder, keep) => {
        if (!blocksOff.includes(block)) {
          this.#run(encoder, steps);
          keep(block, "queries", buffers.qkv);
          keep(block, "keys", buffers.qkv, size);
        }
        keep(block, "tokens", buffers.x);
      });
    }
    inOne((encoder, keep) => {
      const [norm, ...decoder] = this.#stepsOf("end");
      this.#run(encoder, [norm]);
      keep(blocks, "tokens", buffers.normal);
      for (let row = 0; row < grid; row++) {
        encoder.copyBufferToBuffer(
          buffers.normal,
          4 * D * (1 + row * grid),
          buffers.level0,
          4 * D * ((row + 1) * (grid + 2) + 1),
          4 * D * grid,
        );
      }
      this.#run(encoder, decoder);
      keep(null, "saliency", buffers.saliency, 0, buffers.saliency.size);
    });
    const errors = await Promise.all([
      buffers.read.mapAsync(GPUMapMode.READ, 0, read),
      ...kinds.map(() => this.#device.popErrorScope()),
    ]);
    const error = errors.find(Boolean);
    if (error) throw new Error(error.message);
    const mapped = buffers.read.getMappedRange(0, read);
    /** @type {Map<number, Record<string, Float32Array>>} */
    const layers = new Map();
    for (const { block, name, at, length } of found) {
      const values = new Float32Array(mapped, at, length).slice();
      if (block === null) run.saliency.set(values);
      else layers.set(block, { ...layers.get(block), [name]: values });
    }
    buffers.read.unmap();
    if (!layers.get(blocks)?.tokens.every(Number.isFinite))
      throw new Error("The graphics card computed what is no number.");
    for (const [block, { tokens, queries, keys }] of layers) run.put(block, { first: 0 }, { tokens, queries, keys });
  }
}

/**
 * Returns the positions, (T, D), and with the first of them the class token.
 * @type {(bytes: Uint8Array<ArrayBuffer>, at: At, T: number, D: number) => Sent}
 */
function table(bytes, { pos_embed: positions, cls_token: token }, T, D) {
  /** @type {(at: number, length: number) => Float32Array} */
  const numbers = (at, length) => new Float32Array(bytes.slice(4 * at, 4 * (at + length)).buffer);
  const scales = numbers(positions.scales, T);
  const out = new Float32Array(T * D);
  for (let i = 0, at = 4 * positions.matrix; i < T * D; i += 2, at += 3) {
    const scale = scales[Math.floor(i / D)];
    out[i] = scale * ((bytes[at] | (bytes[at + 1] & 15) << 8) - 2048);
    out[i + 1] = scale * ((bytes[at + 1] >> 4 | bytes[at + 2] << 4) - 2048);
  }
  numbers(token.scales, D).forEach((value, i) => { out[i] += value; });
  return out;
}

/**
 * Returns the positions in the order in which patches get them.
 * @type {(places: Sent, shuffled: number[] | null, D: number) => Sent}
 */
function placed(places, shuffled, D) {
  const out = places.slice();
  shuffled?.forEach((place, patch) => out.set(places.subarray((1 + place) * D, (2 + place) * D), (1 + patch) * D));
  return out;
}
