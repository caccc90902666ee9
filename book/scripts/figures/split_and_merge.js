// Chapter 5: cuts three queries of four numbers, splits them into heads and merges them, in any order of the calls.

import { listed, move } from "../moving/kit.js";
/** @import { Figure, Pair } from "../moving/kit.js" */

/** @typedef {{queries: number[][], heads: number, cell: Pair, read: Pair}} Numbers */
/** @typedef {{numbers: number[], shape: number[]}} Tensor numbers in reading order */

const MIDDLE = 180; // x of the sheet's middle
const [STAGE, APART, STRIP] = [100, 26, 214]; // y of the tensor's middle, gap of blocks, y of the row

/** @type {(shape: number[]) => number} */
const size = (shape) => shape.reduce((product, side) => product * side, 1);
/** @type {(one: number[], other: number[]) => boolean} */
const same = (one, other) => one.length === other.length && one.every((number, i) => number === other[i]);

/**
 * Returns a tensor with another shape. A tensor is its numbers, in reading order, and its shape.
 * @type {(tensor: Tensor, shape: number[]) => Tensor}
 */
function reshape({ numbers }, shape) {
  return { numbers, shape };
}

/**
 * Swaps the first two dimensions, which changes the order in which the numbers are read.
 * @type {(tensor: Tensor) => Tensor}
 */
function transpose({ numbers, shape: [a, b, ...rest] }) {
  const inner = size(rest);
  /** @type {number[]} */
  const moved = [];
  for (let j = 0; j < b; j++) {
    for (let i = 0; i < a; i++) moved.push(...numbers.slice((i * b + j) * inner, (i * b + j + 1) * inner));
  }
  return { numbers: moved, shape: [b, a, ...rest] };
}

/** @param {Figure<Numbers>} figure */
function start(figure) {
  const { queries, heads, cell, read } = figure.numbers;
  const [T, D, d] = [queries.length, queries[0].length, queries[0].length / heads];
  const begin = { numbers: queries.flat(), shape: [T, D] };
  const cut = reshape(begin, [T, heads, d]);
  const split = transpose(cut);
  /** @type {Tensor} */
  let tensor = begin;
  /** @type {string[]} */
  let calls = [];
  let wasSplit = false; // at any time since each row last was one token's query
  /** @type {string[] | null} */
  let script = null; // the calls that are played
  /** @type {string[]} */
  let left = []; // those still to come

  /** @type {(other: Tensor) => boolean} */
  const is = (other) => same(tensor.shape, other.shape) && same(tensor.numbers, other.numbers);

  /**
   * Judges the tensor: "good", "bad" or neither, a short verdict, and a sentence.
   * @type {() => [string, string, string]}
   */
  function judged() {
    const { numbers, shape } = tensor;
    const first = numbers.slice(0, size(shape.slice(1)));
    const tokens = [...new Set(first.map((number) => Math.floor(number / 10)))].sort();
    if (is(begin) && !calls.length)
      return ["", "", "Each row is the query of one token. Split it into heads: press the calls."];
    if (is(begin) && wasSplit)
      return ["good", "✓ merged", "Each row is the query of one token again: the merge undoes the split."];
    if (is(begin))
      return [
        "",
        "as it was",
        "Each row is still the query of one token. A split takes two calls: reshape(T, h, d), then transpose(0, 1).",
      ];
    if (is(cut))
      return [
        "",
        "cut",
        "Each query is cut into its heads' pieces, and nothing has moved. A block is still one token.",
      ];
    if (is(split)) return ["good", "✓ split", `Each block is one head: it has ${d} numbers of every token's query.`];
    if (same(shape, [T, D]))
      return [
        "bad",
        "✗ scrambled",
        `The shape is right, but row 0 holds numbers of tokens ${listed(tokens.map(String))}.`,
      ];
    if (shape.length === 2) return ["", "transposed", "Rows and columns have changed places."];
    return [
      "bad",
      "✗ scrambled",
      `Each block should be one ${shape[0] === T ? "token" : "head"}, but block 0 holds ${listed(first.map(String))}.`,
    ];
  }

  function draw() {
    const { numbers, shape } = tensor;
    const [kind, verdict, sentence] = judged();
    const [blocks, rows, columns] = shape.length === 3 ? shape : [1, ...shape];
    const wide = blocks * columns * cell[0] + (blocks - 1) * APART;
    const [left, top] = [MIDDLE - wide / 2, STAGE - (rows * cell[1]) / 2];
    numbers.forEach((number, place) => {
      const [block, row, column] = [
        Math.floor(place / (rows * columns)),
        Math.floor(place / columns) % rows,
        place % columns,
      ];
      const index = begin.numbers.indexOf(number);
      const x = left + block * (columns * cell[0] + APART) + column * cell[0];
      figure.shift(`cell-${index}`, x, top + row * cell[1]);
      figure.shift(`read-${index}`, 6 + place * read[0], STRIP);
    });
    const name = kind === "bad" ? "block" : same(shape, split.shape) ? "head" : "token";
    for (let block = 0; block < T; block++) {
      const shown = shape.length === 3 && block < blocks;
      figure.write(`name-${block}`, shown ? `${name} ${block}` : "");
      const x = left + block * (columns * cell[0] + APART) + (columns * cell[0]) / 2;
      figure.shift(`name-${block}`, x, top + rows * cell[1] + 15);
    }
    const letters = same(shape, cut.shape)
      ? ["T", "h", "d"]
      : same(shape, split.shape)
        ? ["h", "T", "d"]
        : same(shape, [T, D])
          ? ["T", "D"]
          : ["D", "T"];
    figure.write("shape", `(${letters.join(", ")}) = (${shape.join(", ")})`);
    const shown = calls.slice(-4);
    const before = calls.length > 4 ? "…" : "q";
    figure.write("code-0", [before, ...shown.slice(0, 2)].join("."));
    figure.write("code-1", ["", ...shown.slice(2)].join("."));
    figure.write("verdict", verdict);
    figure.part("verdict").dataset.kind = kind;
    figure.say(sentence);
  }

  /** @type {{[name: string]: [string, () => Tensor]}} */
  const steps = {
    cut: [`reshape(T, h, d)`, () => reshape(tensor, cut.shape)],
    transpose: [`transpose(0, 1)`, () => transpose(tensor)],
    merge: [`reshape(T, D)`, () => reshape(tensor, [T, D])],
  };
  /** @type {(name: string) => void} */
  function take(name) {
    const [call, made] = steps[name];
    if (is(begin)) wasSplit = false;
    tensor = made();
    wasSplit ||= is(split);
    calls.push(call);
    draw();
  }
  function again() {
    [tensor, calls, wasSplit] = [begin, [], false];
    draw();
  }
  /** Stops the playing calls as soon as the reader acts. @type {(act: () => void) => () => void} */
  const byHand = (act) => () => {
    figure.stop?.();
    script = null;
    act();
  };
  /** @type {(names: string[]) => () => boolean} */
  const playing = (names) => () => {
    if (script === names && left.length) {
      take(String(left.shift()));
    } else { again(); [script, left] = [names, [...names]]; }
    return left.length > 0;
  };

  for (const [name, [call]] of Object.entries(steps)) {
    const act = byHand(() => take(name));
    figure.button(call, act).classList.add("moving-code");
  }
  figure.newRow();
  figure.button("Reset", byHand(again));
  figure.player("Play", playing(["cut", "transpose", "transpose", "merge"]), { seconds: 1.8 });
  figure.player("Play the bug", playing(["cut", "transpose", "merge"]), { seconds: 1.8 });
  draw();
}

move("split_and_merge", start);
