// Chapter 7: opens each step of a trained model on the way from an image to its answer, with its numbers.

import { el } from "../shared/elements.js";
import { move, placeAt, set, softmax, sumOf, upTo, written } from "../moving/kit.js";
/** @import { Box, Figure } from "../moving/kit.js" */

/** @typedef {[[name: string, shape: number[], unit: number][], string]} Packed tensors, and their numbers as letters */
/** @typedef {[name: string, letters: string, here: string, base: string, from: number, to: number]} Described */
/**
 * @typedef {object} Numbers
 * @property {Packed[]} pictures
 * @property {number[]} labels of the pictures
 * @property {Packed} model
 * @property {{mean: number, std: number}} scale
 * @property {[Described[], Described[], Described[]]} steps before the blocks, in each block, after them
 * @property {number} depth blocks
 * @property {number} heads
 * @property {number} patch that is followed at the start
 * @property {number} chosen head at the start
 * @property {Box} flow the strands from the image to the bars, and what stands below them
 * @property {Box} image
 * @property {Box} large the image again, large enough for a finger
 * @property {Box} maps
 * @property {number} top y of the class token's strand
 * @property {[left: number, wide: number, end: number]} blocks the first block's left edge and its width, the last norm
 * @property {[left: number, longest: number]} bars
 * @property {[count: number, pitch: number, cell: number]} rows of numbers, and the width of a number
 */
/**
 * @typedef {object} Flow what the model computes from one picture: of a vector in a head three numbers, of others four
 * @property {number[][]} grey of each patch
 * @property {number[][]} tokens of each patch
 * @property {number[][]} class token before each block, and what becomes of it inside
 * @property {number[][]} normed
 * @property {number[][]} change
 * @property {number[][]} added
 * @property {number[][]} ready
 * @property {number[][]} wide
 * @property {number[][]} bent
 * @property {number[][]} narrow
 * @property {number[][][]} query of the class token in each block and head
 * @property {number[][][]} heads the values that each head has added up
 * @property {number[][][]} scores
 * @property {number[][][][]} key in each block and head, of each patch
 * @property {number[][][][]} value
 * @property {number[]} end class token after the blocks
 * @property {number[]} last class token after the last norm
 * @property {number[]} logits
 * @property {number[][]} reads the answer if the class token is read before the first block, after it, ...
 */
/**
 * @typedef {object} Model
 * @property {number[]} filter
 * @property {[number]} bias
 * @property {number[]} class token
 * @property {number[][]} positions
 * @property {number[][]} head
 * @property {number[]} headBias
 */
/**
 * @typedef {object} Step
 * @property {string} name
 * @property {string} shape in letters and in numbers
 * @property {string} base shape in ViT-B/16
 * @property {number} from
 * @property {number} to
 * @property {number} kind
 * @property {number} block
 * @property {number} read blocks that the class token has gone through
 */
/**
 * @typedef {object} Opened what is opened
 * @property {Flow} flow
 * @property {number} label of the picture
 * @property {number} patch
 * @property {number} head
 * @property {number} block
 * @property {number} read
 */
/** @typedef {{label: string, cells: string[], colour: string, more: boolean}} Row */

const DIGITS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
const LEVELS = [0.12, 0.3, 0.55, 0.8]; // of the largest weight in a head's map
const COLOURS = ["ink", "class", "query", "key", "value", "patch-0", "position"];
const [SIDE, SEEN] = [8, 4]; // patches along a side, numbers that are written
const [MAP, MAPS_APART] = [54, 58]; // side of a head's map, distance of two
const [JOINS, WEIGHTS] = [3, 5]; // kinds of steps: the class token joins, attention weights

/** @param {Figure<Numbers>} figure */
function start(figure) {
  const { labels, scale, depth, heads, flow, image, large, maps, top } = figure.numbers;
  const [left, wide, end] = figure.numbers.blocks;
  const [bars, longest] = figure.numbers.bars;
  const [rowCount, pitch, cellWidth] = figure.numbers.rows;
  const flows = figure.numbers.pictures.map((packed) => /** @type {Flow} */ (unpacked(packed)));
  const model = /** @type {Model} */ (unpacked(figure.numbers.model));
  const openings = opener(model, scale, heads);
  const steps = inOrder(figure.numbers);
  const last = steps.length - 1;
  let now = 0; // nothing is given away before the reader has made a guess
  figure.at = steps[now].to; // x up to which it is lit on the screen
  let [picture, patch, head] = [0, figure.numbers.patch, figure.numbers.chosen];

  // The drawing has one row; the others are copies of it.
  for (const name of ["label", "more", ...upTo(SEEN).map((column) => `cell-${column}`)]) {
    const first = figure.part(name);
    const others = upTo(rowCount - 1).map(() => /** @type {SVGElement} */ (first.cloneNode(true)));
    first.after(...others);
    [first, ...others].forEach((part, row) => {
      part.dataset.part = name.replace(/(?=-|$)/, `-${row}`);
      figure.parts.set(part.dataset.part, set(part, { transform: `translate(0 ${row * pitch})` }));
    });
  }

  /** @type {(token: number) => number} */
  const strand = (token) => top + 2 * token;
  /** @type {(block: number, of: number) => number[]} */
  const weightsOf = (block, of) => softmax(flows[picture].scores[block][of]);

  /** Draws a step of a picture, and returns its sentences. @type {(step: Step) => string} */
  function draw({ name, shape, base, kind, block, read }) {
    flows.forEach((_, index) => {
      for (const part of ["image", "large"]) {
        figure.part(`${part}-${index}`).style.display = index === picture ? "inline" : "none";
      }
    });
    const attends = kind === WEIGHTS || kind === WEIGHTS + 1;
    for (let b = 0; b < depth; b++) drawRibbons(b, b === block && attends ? [head] : upTo(heads));
    for (let of = 0; of < heads; of++) {
      drawMap(of, weightsOf(block, of).slice(1));
      figure.part(`map-${of}`).style.opacity = kind < WEIGHTS ? "0.3" : "1"; // pale until they are computed
    }
    follow();
    figure.write("of-maps", `attention, block ${block}`);
    const joined = kind >= JOINS; // before, there is no class token to be read
    flows[picture].reads[read].forEach((share, digit) => {
      figure.draw(`bar-${digit}`, { width: joined ? longest * share : 0 });
    });
    figure.part("bars").style.opacity = read === depth ? "1" : "0.55";
    figure.write("read", kind === steps[last].kind ? "answer" : joined ? "so far" : "none");
    figure.write("stage", name[0].toUpperCase() + name.slice(1));
    figure.write("shape", shape);
    figure.write("base", `in ViT-B/16: ${base}`);
    const open = { flow: flows[picture], label: labels[picture], patch, head, block, read };
    const [rows, sentences] = openings[kind](open);
    upTo(rowCount).forEach((row) => fill(row, rows[row] ?? words("")));
    return sentences;
  }

  /**
   * Draws ribbons from the patches to the class token, each ten times its weight wide, the mean of some heads.
   * @type {(block: number, of: number[]) => void}
   */
  function drawRibbons(block, of) {
    const all = of.map((one) => weightsOf(block, one));
    const x = left + block * wide;
    const d = upTo(SIDE ** 2).map((other) => {
      const weight = sumOf(all.map((weights) => weights[other + 1])) / of.length;
      if (weight < 0.01) return "";
      const [y, half] = [strand(other + 1), 5 * weight];
      const [a, b, c, e] = [y - half, y + half, top - half, top + half].map((edge) => edge.toFixed(1));
      return (
        `M${x + 5} ${a}C${x + 18} ${a} ${x + 16} ${c} ${x + 27} ${c}` +
        `V${e}C${x + 16} ${e} ${x + 18} ${b} ${x + 5} ${b}Z`
      );
    });
    figure.draw(`ribbons-${block}`, { d: d.join("") });
  }

  /**
   * Draws a head's weights as cells, the fuller the nearer to the largest.
   * @type {(of: number, weights: number[]) => void}
   */
  function drawMap(of, weights) {
    const most = Math.max(...weights);
    const [down, across] = placeAt(of, 2);
    const box = { x: maps.x + across * MAPS_APART, y: maps.y + down * MAPS_APART, width: MAP };
    [...figure.part(`map-${of}`).querySelectorAll("path")].forEach((path, level) => {
      const d = weights.map((weight, other) => {
        if (weight < LEVELS[level] * most || weight >= (LEVELS[level + 1] ?? Infinity) * most) return "";
        const { x, y, width } = square(other, box);
        return `M${x} ${y}h${width}v${width}h-${width}z`;
      });
      set(path, { d: d.join("") });
    });
    if (of === head) figure.draw("chosen", { x: box.x, y: box.y });
  }

  /** Draws the thread of the patch that is followed, and its frame. */
  function follow() {
    const { x, y, width } = square(patch, image);
    const [row, out] = [strand(patch + 1), y + width / 2];
    const d = `M${x + width / 2} ${out}H${image.x + image.width}C78 ${out} 80 ${row} 94 ${row}H${end}`;
    figure.draw("thread", { d });
    const marked = square(patch, large);
    figure.draw("mark", { x: marked.x, y: marked.y });
  }

  /** @type {(row: number, numbers: Row) => void} */
  function fill(row, { label, cells, colour, more }) {
    figure.write(`label-${row}`, label);
    const dots = figure.part(`more-${row}`);
    dots.style.display = more ? "" : "none";
    set(dots, { transform: `translate(${(cells.length - SEEN) * cellWidth} ${row * pitch})` });
    for (let column = 0; column < SEEN; column++) {
      const cell = figure.part(`cell-${row}-${column}`);
      cell.style.display = column < cells.length ? "" : "none";
      figure.write(`cell-${row}-${column}`, cells[column] ?? "");
      const rect = cell.querySelector("rect");
      for (const name of COLOURS) rect?.classList.toggle(`vd-${name}`, name === colour);
    }
  }

  /** Opens the step at which the answer is right for the first time, and judges the guess. @param {number} block */
  function judge(block) {
    const { reads } = flows[picture];
    const label = labels[picture];
    const read = firstRight(flows[picture], label);
    open(steps.findIndex((step) => step.read === read));
    const first = `${label} for the first time after block ${read - 1}, with ${percent(reads[read][label])}.`;
    if (block === read - 1) figure.say(`✓ You were right: the answer is ${first}`);
    else if (block >= read) figure.say(`✗ It comes earlier: the answer is ${first}`);
    else figure.say(`✗ After block ${block} the answer is still ${best(reads[block + 1])}. It is ${first}`);
  }

  /** Lights the flow up to an x, and marks the opened step. @type {(x: number) => void} */
  function light(x) {
    const { from, to } = steps[now];
    figure.draw("now", { x: from, width: to - from });
    figure.draw("ahead", { x, width: Math.max(0, bars - 14 - x) });
  }

  function show() {
    figure.say(draw(steps[now]));
  }

  /** @type {(step: number) => void} */
  function go(step) {
    now = step;
    show();
    figure.glide(steps[now].to, light, 600);
  }

  figure.places("handle-patch", {
    grid: [large.x, large.y, large.width, large.height],
    size: () => [SIDE, SIDE],
    label: "patch that is followed",
    value: () => placeAt(patch, SIDE),
    says: () => {
      const share = percent(weightsOf(steps[now].block, head)[patch + 1]);
      return `patch ${patch}, with ${share} of the attention in head ${head}`;
    },
    choose: ([row, column]) => { patch = row * SIDE + column; show(); },
  });
  figure.places("handle-head", {
    grid: [maps.x - 2, maps.y - 2, maps.width + 4, maps.height + 4],
    size: () => [heads / 2, 2],
    label: "head of attention",
    value: () => placeAt(head, 2),
    says: () => `head ${head}`,
    choose: ([row, column]) => { head = 2 * row + column; show(); },
  });
  const open = figure.steps(
    {
      count: steps.length,
      first: now,
      label: "step of the model",
      says: (step) => `${steps[step].name}, ${steps[step].shape}`,
      show: go,
    },
    { seconds: 2.4 },
  );
  figure.button("Another picture", () => { picture = (picture + 1) % flows.length; guess(); show(); });
  figure.newRow();
  set(figure.row, { role: "group", "aria-label": "guess after which block the answer is right for the first time" });
  figure.row.append(el("span", {}, "Guess:"));
  const guess = figure.choice(upTo(depth).map((block) => `block ${block}`), "", (name) => judge(Number(name.at(-1))));
  figure.dragged(
    figure.grip("handle-step", [flow.x, flow.y, flow.width, flow.height]),
    ({ x }) => {
      const step = Math.max(steps.filter(({ from }) => from <= x).length - 1, 0);
      if (step !== now) open(step);
    },
    { sideways: true },
  );
  matchMedia("print").addEventListener("change", ({ matches }) => {
    // paper shows the still picture
    const kept = picture;
    if (matches) picture = 0;
    draw(steps[matches ? last : now]);
    picture = kept;
  });
}

/** Returns all steps, with those of each block in their places. @type {(numbers: Numbers) => Step[]} */
function inOrder({ steps: [before, inside, after], depth, blocks: [left, wide] }) {
  /** @type {(described: Described, kind: number, block: number, read: number) => Step} */
  const step = ([name, letters, here, base, from, to], kind, block, read) => ({
    name, shape: `${letters} = ${here}`, base, from, to, kind, block, read,
  });
  return [
    ...before.map((one, i) => step(one, i, 0, 0)),
    ...upTo(depth).flatMap((block) =>
      inside.map((one, i) => {
        const found = step(one, before.length + i, block, i === inside.length - 1 ? block + 1 : block);
        const x = left + block * wide;
        return { ...found, name: `block ${block}: ${found.name}`, from: x + found.from, to: x + found.to };
      }),
    ),
    ...after.map((one, i) => step(one, before.length + inside.length + i, depth - 1, depth)),
  ];
}

/**
 * Returns a function for each kind of step: from what is opened to its rows, and the sentences that go with them.
 * @type {(model: Model, scale: {mean: number, std: number}, heads: number) =>
 *   ((opened: Opened) => [Row[], string])[]}
 */
function opener(model, scale, heads) {
  /** @type {(greys: number[]) => number[]} */
  const normed = (greys) => greys.map((grey) => (grey - scale.mean) / scale.std);
  return [
    ({ flow: { grey }, label, patch }) => [
      [
        ...grid(`patch ${patch}`, grey[patch], 2),
        words(`minus the mean ${scale.mean.toFixed(3)},`),
        words(`divided by the spread ${scale.std.toFixed(3)}:`),
        words(`${grey[patch][0].toFixed(2)} becomes ${two(normed(grey[patch])[0])}`),
      ],
      `The image is 1,024 grey values, and patch ${patch} has 16 of them. ` +
        `After which block will the answer be ${label} for the first time?`,
    ],
    ({ flow: { grey }, patch }) => [
      [...grid(`patch ${patch}`, normed(grey[patch]), 2), words("read row by row: 16 numbers")],
      `Cut into 64 patches: patch ${patch} is now a row of 16 numbers. Press another patch to follow that one.`,
    ],
    ({ flow: { grey, tokens }, patch }) => [
      [
        row(`patch ${patch}`, normed(grey[patch]).slice(0, SEEN), "patch-0"),
        row("× weights", model.filter),
        row("products", times(normed(grey[patch]), model.filter)),
        words(`all 16 products and the bias ${two(model.bias[0])}: ${two(tokens[patch][0])}`),
        row("token", tokens[patch], "patch-0"),
      ],
      `One matrix makes 64 numbers of the 16 of patch ${patch}, and of any patch. ` +
        "The first is worked out here, and 63 more go the same way.",
    ],
    ({ flow: { tokens }, patch }) => [
      [
        row("class token", model.class, "class"),
        row("+ position 0", model.positions[0], "position"),
        row("=", plus(model.class, model.positions[0]), "class"),
        words(`patch ${patch}, at position ${patch + 1}:`),
        row("token", tokens[patch], "patch-0"),
        row("+ position", model.positions[patch + 1], "position"),
        row("=", plus(tokens[patch], model.positions[patch + 1]), "patch-0"),
      ],
      `The class token joins in front, and patch ${patch} gets the position of its place. ` +
        "An answer read now would be the same for any image.",
    ],
    ({ flow, patch, head, block }) => [
      [
        row("class token", flow.class[block], "class"),
        row("norm", flow.normed[block]),
        words(`times one matrix, in head ${head}:`),
        row("query", flow.query[block][head], "query"),
        words(`patch ${patch}, normed, times two others:`),
        row("key", flow.key[block][head][patch], "key"),
        row("value", flow.value[block][head][patch], "value"),
      ],
      `Block ${block}, head ${head}: the class token’s query asks, and patch ${patch}’s key and value answer. ` +
        "Every token makes all three in each head.",
    ],
    ({ flow, patch, head, block }) => {
      const [query, key, scores] = [flow.query[block][head], flow.key[block][head][patch], flow.scores[block][head]];
      const score = scores[patch + 1];
      const share = percent(softmax(scores)[patch + 1]);
      return [
        [
          row("query", query, "query"),
          row("× key", key, "key"),
          row("products", times(query, key)),
          words(`all 16 add up to ${written(4 * score)}, ÷ √16: ${two(score)}`),
          words(`e to that is ${short(Math.exp(score))}`),
          words(`summed over all 65 tokens: ${short(sumOf(scores.map(Math.exp)))}`),
          words(`weight: the share, ${share}`),
        ],
        `Block ${block}, head ${head}: the class token gives ${share} of its attention to patch ${patch}. ` +
          "Press a map for another head, or another patch.",
      ];
    },
    ({ flow, patch, head, block }) => {
      const weight = softmax(flow.scores[block][head])[patch + 1];
      const value = flow.value[block][head][patch];
      return [
        [
          row("value", value, "value"),
          row(`× ${percent(weight).replace("under ", "<")}`, value.map((number) => number * weight), "value"),
          row("sum of 65", flow.heads[block][head], "value"),
          words(`${heads} heads, times one matrix:`),
          row("change", flow.change[block]),
          row("+ token", flow.class[block], "class"),
          row("=", flow.added[block], "class"),
        ],
        `Block ${block}, head ${head}: patch ${patch}’s value and all others, times their weights, add up. ` +
          "A matrix mixes the heads, and that is added.",
      ];
    },
    ({ flow, label, block, read }) => [
      [
        row("norm", flow.ready[block]),
        row("64 → 128", flow.wide[block]),
        row("GELU", flow.bent[block]),
        row("128 → 64", flow.narrow[block]),
        row("+ token", flow.added[block], "class"),
        row("=", flow.class[block + 1] ?? flow.end, "class"),
      ],
      `Block ${block}: the MLP works on each token by itself, and its result is added. ` +
        `Read now, the answer would be ${best(flow.reads[read])}` +
        `${read === firstRight(flow, label) ? " for the first time" : ""}, ` +
        `with ${percent(Math.max(...flow.reads[read]))}.`,
    ],
    ({ flow: { end, last } }) => [
      [
        row("class token", end, "class"),
        row("norm", last),
        words("row 0 goes on alone"),
        words("64 rows stay behind"),
      ],
      "After the last norm only the class token goes on. " +
        "Whatever it says about the image, it has gathered in the blocks.",
    ],
    ({ flow: { last, logits } }) => {
      const answer = best(logits);
      const largest = two(logits[answer]);
      return [
        [
          row("class token", last, "class"),
          row(`× for the ${answer}`, model.head[answer]),
          words(`all 64 products and the bias ${two(model.headBias[answer])}: ${largest}`),
          words("the logits of all ten digits:"),
          ...tens(logits, two),
        ],
        `The head makes a logit for each digit, and the largest, ${largest}, is that of the ${answer}. ` +
          "It has a row of weights for each.",
      ];
    },
    ({ flow: { logits, scores }, label, patch, head, block }) => {
      const answer = best(logits);
      const shares = softmax(logits);
      const right = answer === label ? ", and it is right" : "";
      const share = percent(softmax(scores[block][head])[patch + 1]);
      return [
        [
          words(`e to the ${answer}’s logit: ${short(Math.exp(logits[answer]))}`),
          words(`all ten together: ${short(sumOf(logits.map(Math.exp)))}`),
          words("the shares of all ten digits:"),
          ...tens(shares, (share) => (share < 0.005 ? "<1 %" : `${Math.round(100 * share)} %`)),
        ],
        `The answer: ${answer} with ${percent(shares[answer])}${right}; patch ${patch} had ${share} of ` +
          `head ${head}’s attention in block ${block}. Press an earlier step.`,
      ];
    },
  ];
}

/** @type {(numbers: number[]) => number} */
const best = (numbers) => numbers.indexOf(Math.max(...numbers));

/** Returns the first read whose answer is the label. @type {(flow: Flow, label: number) => number} */
const firstRight = ({ reads }, label) => reads.findIndex((shares) => best(shares) === label);

/**
 * Returns a row of numbers in a colour, with dots if there are more of them.
 * @type {(label: string, numbers: number[], colour?: string) => Row}
 */
function row(label, numbers, colour = "ink") {
  return { label, cells: numbers.map(two), colour, more: true };
}

/** Returns a row of words. @type {(text: string) => Row} */
function words(text) {
  return { label: text, cells: [], colour: "ink", more: false };
}

/** Returns the rows of a patch. @type {(name: string, numbers: number[], digits: number) => Row[]} */
function grid(name, numbers, digits) {
  return upTo(numbers.length / SEEN).map((i) => {
    const cells = numbers.slice(SEEN * i, SEEN * i + SEEN).map((number) => number.toFixed(digits).replace("-", "−"));
    return { label: i ? "" : name, cells, colour: "patch-0", more: false };
  });
}

/** Returns rows for ten digits. @type {(numbers: number[], write: (number: number) => string) => Row[]} */
function tens(numbers, write) {
  const parts = [[0, 4], [4, 8], [8, 10]];
  return parts.map(([from, to]) => {
    const cells = numbers.slice(from, to).map((number) => write(number));
    return { label: `${from} to ${to - 1}`, cells, colour: "ink", more: false };
  });
}

/** Writes two digits after the point, but one from 10 on, as a cell is narrow. @type {(number: number) => string} */
function two(number) {
  const digits = Math.abs(number) < 9.995 ? 2 : 1;
  return number.toFixed(digits).replace("-", "−").replace("−0.00", "0.00");
}

/** Writes a number of any size with about three digits. @type {(number: number) => string} */
function short(number) {
  return number >= 100 ? Math.round(number).toLocaleString("en") : String(Number(number.toPrecision(3)));
}

/** Writes a share of 1; even the smallest is not zero. @type {(share: number) => string} */
function percent(share) {
  if (share < 0.0005) return "under 0.1 %";
  return share < 0.0995 ? `${(100 * share).toFixed(1)} %` : `${Math.round(100 * share)} %`;
}

/** @type {(one: number[], other: number[]) => number[]} */
function times(one, other) {
  return other.map((number, i) => number * one[i]);
}

/** @type {(one: number[], other: number[]) => number[]} */
function plus(one, other) {
  return one.map((number, i) => number + other[i]);
}

/** Returns a patch's square in a box. @type {(patch: number, box: {x: number, y: number, width: number}) => Box} */
function square(patch, { x, y, width }) {
  const side = width / SIDE;
  const [row, column] = placeAt(patch, SIDE);
  return { x: x + column * side, y: y + row * side, width: side, height: side };
}

/**
 * Reads tensors that are written as letters, two a number, into nested arrays.
 * @type {(packed: Packed) => {[name: string]: unknown}}
 */
function unpacked([described, text]) {
  let place = 0;
  /** @param {number} unit */
  const next = (unit) => {
    const count = 64 * DIGITS.indexOf(text[place]) + DIGITS.indexOf(text[place + 1]) - 2048;
    place += 2;
    return count * unit;
  };
  /** @type {(shape: number[], unit: number) => unknown[]} */
  const filled = ([length, ...rest], unit) => upTo(length).map(() => (rest.length ? filled(rest, unit) : next(unit)));
  return Object.fromEntries(described.map(([name, shape, unit]) => [name, filled(shape, unit)]));
}

move("data_flow", start);
