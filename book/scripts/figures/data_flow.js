// Chapter 7: opens each step of a trained model on the way from an image to its answer, with its numbers.

import { el } from "../shared/elements.js";
import { clamp, drawn, move, placeAt, set, softmax, squares, sumOf, toned, upTo, written } from "../moving/kit.js";
/** @import { Attributes, Box, Figure, Place, Spot } from "../moving/kit.js" */

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

/**
 * @typedef {object} Plan where everything stands, for a phone or across the page
 * @property {[number, number]} size of the sheet
 * @property {[number, number][]} across x on the phone's sheet, in which the steps are told, and here
 * @property {Place} image in the flow
 * @property {Place} large the image in which a patch is chosen
 * @property {number} top y of the class token's strand
 * @property {number} pitch from one strand to the next
 * @property {number} longest bar
 * @property {number} thick half the width of a ribbon whose weight is 1
 * @property {number} names base line of what stands below the flow
 * @property {Place[]} maps of the heads
 * @property {Spot} mapped where the title of the maps is
 * @property {[number, number]} legend how far it is from where a phone has it
 * @property {{x: number, y: number, pitch: number, first: number, cell: number}} rows of numbers, the first cell's x
 * @property {Spot} stage
 * @property {Spot} shape
 * @property {Spot} base
 * @property {number} [lens] y at which what is opened begins
 */

const DIGITS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
const [SIDE, SEEN, ROWS] = [8, 4, 7]; // patches along a side, numbers that are written, rows of them
const [JOINS, WEIGHTS, MIXES] = [3, 5, 6]; // kinds of steps: the class token joins, attention weights, values add up
// Where the parts of the flow stand on the phone's sheet; in a block, from its left edge on.
const [CUT, TOKENS, PLACED, NORM, HEAD, BARS, LAST] = [94, 106, 110, 286, 300, 324, 298];
const [LEFT, WIDE, READS, GIVES, MLP] = [124, 40, 5, 27, 30];

/** @type {Plan} */
const PHONE = {
  size: [360, 474],
  across: [[0, 0], [360, 360]],
  image: [2, 76, 64, 64],
  large: [2, 206, 112, 112],
  top: 44,
  pitch: 2,
  longest: 34,
  thick: 5,
  names: 194,
  maps: upTo(4).map((head) => [2 + (head % 2) * 58, 340 + Math.floor(head / 2) * 58, 54, 54]),
  mapped: { x: 2, y: 334 },
  legend: [0, 0],
  rows: { x: 124, y: 208, pitch: 34, first: 192, cell: 38 },
  stage: { x: 2, y: 14 },
  shape: { x: 358, y: 14 },
  base: { x: 358, y: 30 },
};
/** @type {Plan} */
const DESK = {
  size: [784, 428],
  across: [
    [0, 0], [66, 128], [94, 174], [104, 186], [110, 228], [118, 242], [124, 260],
    [284, 640], [308, 694], [324, 714], [360, 784],
  ],
  image: [0, 46, 128, 128],
  large: [0, 46, 128, 128],
  top: 24,
  pitch: 2.7,
  longest: 33,
  thick: 12,
  names: 218,
  maps: upTo(4).map((head) => [424 + head * 92, 276, 82, 82]),
  mapped: { x: 424, y: 267 },
  legend: [668, -199],
  rows: { x: 0, y: 276, pitch: 22, first: 150, cell: 48 },
  stage: { x: 0, y: 267 },
  shape: { x: 424, y: 401 },
  base: { x: 424, y: 420 },
  lens: 250,
};
const desk = matchMedia("screen and (min-width: 820px)");

/** Writes on the drawing. @type {(spot: Spot, text: string, of?: Attributes) => SVGTextElement} */
function inked({ x, y }, text, { colour = "ink", ...of } = {}) {
  const about = { class: `vd-text vd-${colour}`, "font-size": desk.matches ? 13 : 12 };
  return drawn("text", { x, y, ...about, ...of }, document.createTextNode(text));
}

/** @param {Figure<Numbers>} figure */
function start(figure) {
  const { labels, scale, depth, heads } = figure.numbers;
  const flows = figure.numbers.pictures.map((packed) => /** @type {Flow} */ (unpacked(packed)));
  const model = /** @type {Model} */ (unpacked(figure.numbers.model));
  const openings = opener(model, scale, heads);
  const steps = inOrder(figure.numbers);
  let now = 0; // nothing is given away before the reader has made a guess
  figure.at = steps[now].to; // x that the data have reached on the screen
  let [picture, patch, head] = [0, figure.numbers.patch, figure.numbers.chosen];
  let plan = desk.matches ? DESK : PHONE;

  const flow = figure.part("flow");
  const photographs = upTo(flows.length).map((index) => {
    return /** @type {Element} */ (figure.part(`image-${index}`).firstElementChild).getAttribute("href") ?? "";
  });

  /** Returns where an x of the phone's sheet is. @type {(x: number) => number} */
  function across(x) {
    const next = Math.max(1, plan.across.findIndex(([from]) => from >= x));
    const [[a, from], [b, to]] = [plan.across[next - 1], plan.across[next]];
    return from + ((to - from) * (x - a)) / (b - a);
  }
  /** @type {(token: number) => number} */
  const strand = (token) => plan.top + plan.pitch * token;
  /** @type {(block: number) => number} */
  const edge = (block) => LEFT + block * WIDE;
  /** @type {(block: number, of: number) => number[]} */
  const weightsOf = (block, of) => softmax(flows[picture].scores[block][of]);
  /** Returns the box of a step in the flow. @type {(step: Step) => Box} */
  function boxOf({ from, to, kind }) {
    if (kind === 0 && plan === DESK) return boxed(plan.image);
    return { x: across(from), y: plan.top - 9, width: across(to) - across(from), height: 64 * plan.pitch + 19 };
  }

  /** Draws all that stays where it is, and the parts that change. */
  function build() {
    set(figure.svg, { viewBox: `0 0 ${plan.size.join(" ")}` });
    const high = 64 * plan.pitch;
    /** @type {(name: string, ...children: Node[]) => SVGElement} */
    const part = (name, ...children) => {
      const made = drawn("g", { "data-part": name }, ...children);
      figure.parts.set(name, made);
      return made;
    };
    /** @type {(from: number, to: number, colour: string, of?: Attributes) => SVGElement} */
    const bar = (from, to, colour, of = {}) => {
      const x = across(from);
      const place = { x, y: plan.top - 3, width: across(to) - x, height: high + 6, rx: 3 };
      return drawn("rect", { class: `vd-box vd-${colour}`, ...place, ...of });
    };
    const photograph = (place = plan.image) =>
      photographs.map((href, index) => drawn("use", { href, ...boxed(place), class: `flow-image-${index}` }));
    const fan = upTo(SIDE ** 2).map((one) => wire(one, across(LAST - 6)));
    const phone = plan === PHONE;
    flow.replaceChildren(
      part("lens", drawn("path", { class: "vd-box vd-soft", "stroke-width": 0 })),
      part("now", drawn("rect", { class: "vd-box vd-ink", rx: 5 })),
      part("pointed", drawn("rect", { class: "vd-box vd-open vd-ink", rx: 5 })),
      part("called", inked({ x: 0, y: 10 }, "", { "text-anchor": "middle", class: "vd-text vd-ink vd-bold" })),
      drawn("path", { class: "vd-stroke vd-line flow-wires", d: fan.join("") }),
      ...upTo(depth).map((block) => {
        const [x, right] = [across(edge(block) + 2), across(edge(block) + 38)];
        const frame = { x, y: plan.top - 7, width: right - x, height: high + 14, rx: 5 };
        return drawn("rect", { class: "vd-box vd-open vd-line", ...frame });
      }),
      part("thread", drawn("path", { class: "vd-stroke vd-patch-0", "stroke-width": 2 })),
      bar(CUT, 104, "ink"),
      bar(PLACED, 118, "position"),
      drawn("path", { class: "vd-stroke vd-class flow-class", d: `M${across(TOKENS)} ${plan.top}H${across(HEAD)}` }),
      ...upTo(depth).flatMap((block) => [
        part(`ribbons-${block}`, drawn("path", { class: "vd-full vd-ink" })),
        bar(edge(block) + MLP, edge(block) + 35, "ink", { rx: 2 }),
      ]),
      bar(NORM, 293, "ink"),
      bar(HEAD, 308, "ink"),
      ...photograph(),
      part("tiles", ...upTo(SIDE ** 2).map(() => drawn("rect", {}))),
      part("values", drawn("path", { class: "vd-box vd-value", "stroke-width": 1.5 })),
      part("class", drawn("circle", { class: "vd-box vd-class", r: phone ? 3.5 : 5, "stroke-width": 2 })),
      ...upTo(10).flatMap((digit) => {
        const [x, y] = [across(BARS), plan.top + digit * (high / 9.55)];
        return [
          inked({ x: x - 4, y: y + 4 }, `${digit}`, { "text-anchor": "end" }),
          part(`bar-${digit}`, drawn("rect", { class: "vd-full vd-ink", x, y: y - 4.5, height: phone ? 9 : 11 })),
        ];
      }),
      part("share", inked({ x: 0, y: 0 }, "")),
      ...names(phone),
      part("read", inked({ x: phone ? 358 : 740, y: plan.names }, "", { "text-anchor": phone ? "end" : "middle" })),
      part("stage", inked(plan.stage, "", { class: "vd-text vd-ink vd-bold", "font-size": phone ? 13 : 15 })),
      part("shape", inked(plan.shape, "", { class: "vd-text vd-ink vd-bold", "font-size": 13 })),
      part("base", inked(plan.base, "", { class: "vd-text vd-soft", "font-size": phone ? 12 : 13 })),
      figure.part("legend"),
      part("of-maps", inked(plan.mapped, "", { "font-size": phone ? 12 : 13 })),
      ...upTo(ROWS).flatMap((row) => {
        const [y, { x, first, cell }] = [plan.rows.y + row * plan.rows.pitch, plan.rows];
        return [
          part(`label-${row}`, inked({ x, y: y + 14 }, "")),
          part(`more-${row}`, inked({ x: 0, y: y + 14 }, "…")),
          ...upTo(SEEN).map((column) => {
            const [left, size] = [first + column * cell, { width: cell, height: 20 }];
            const box = drawn("rect", { x: left, y, ...size, rx: 3 });
            const middle = { x: left + cell / 2, y: y + 14.3 };
            return part(`cell-${row}-${column}`, box, inked(middle, "", { "text-anchor": "middle" }));
          }),
        ];
      }),
    );
    figure.shift("legend", ...plan.legend);
    for (const name of ["shape", "base"]) {
      if (phone) set(/** @type {Element} */ (figure.part(name).firstElementChild), { "text-anchor": "end" });
    }
    fitted("handle-step", [0, plan.top - 10, plan.size[0], plan.names - plan.top + 12]);
    const mark = part("mark", framed("patch-0", plan.large[2] / SIDE));
    fitted("handle-patch", plan.large, ...(phone ? photograph(plan.large) : []), mark);
    const size = plan.maps[0][2];
    const maps = plan.maps.map(([x, y]) => {
      const frame = drawn("rect", { class: "vd-box vd-open vd-line", x, y, width: size, height: size });
      return drawn("g", {}, ...squares([x, y, size, size], SIDE), frame);
    });
    const below = plan.maps.map(([x, y], of) => {
      return inked({ x: x + size / 2, y: y + size + 15 }, `head ${of}`, { "text-anchor": "middle" });
    });
    maps.forEach((map, of) => figure.parts.set(`map-${of}`, set(map, { "data-part": `map-${of}` })));
    fitted("handle-head", around(), ...maps, ...(phone ? [] : below), part("chosen", framed("asking", size)));
  }

  /** @type {(colour: string, side: number) => SVGElement} */
  function framed(colour, side) {
    const size = { width: side, height: side, rx: 3, "stroke-width": 2.25 };
    return drawn("rect", { class: `vd-box vd-open vd-${colour}`, ...size });
  }

  /**
   * Puts a handle where it is in this plan, with what is drawn in it.
   * @type {(name: string, place: Place, ...parts: Node[]) => void}
   */
  function fitted(name, [x, y, width, height], ...parts) {
    const handle = figure.part(name);
    const grip = handle.querySelector(".moving-grip");
    if (grip) set(grip, { x, y, width, height });
    handle.replaceChildren(...(grip ? [grip] : []), ...parts);
  }

  /** Returns the place of all maps together. @type {() => Place} */
  function around() {
    const [[x, y, size], [right, bottom]] = [plan.maps[0], plan.maps[heads - 1]];
    return [x - 2, y - 2, right - x + size + 4, bottom - y + size + 4];
  }

  /** Names the parts below the flow, on a desk with what leaves them. @type {(phone: boolean) => Node[]} */
  function names(phone) {
    /** @typedef {[string, number, number]} Named with its x and its step */
    /** @type {(block: number) => Named} */
    const named = (block) => [phone && block ? `${block}` : `block ${block}`, edge(block) + 20, 7 + 4 * block];
    /** @type {Named[]} */
    const all = [
      ["image", phone ? 34 : 33, 0],
      ["tokens", phone ? 97 : 114, 3],
      ...upTo(depth).map(named),
      ["head", phone ? 297 : 299, steps.length - 2],
    ];
    if (!phone) all.push(["patches", 99, 1]);
    return all.flatMap(([name, x, step]) => {
      const at = { x: across(x), y: plan.names };
      const written = [inked(at, name, { "text-anchor": "middle", "font-size": phone ? 12 : 13 })];
      const here = steps[step].shape.replace(/.*= /, "");
      if (!phone) written.push(inked({ x: at.x, y: at.y + 16 }, here, { colour: "soft", "text-anchor": "middle" }));
      return written;
    });
  }

  /** Returns the path of a patch from the image's edge to an x. @type {(one: number, to: number) => string} */
  function wire(one, to) {
    const { x, y, width } = square(one, boxed(plan.image));
    const [left, row, out] = [x + width / 2, strand(one + 1), y + width / 2];
    const [leaves, middle, cut] = [across(66), across(79), across(CUT)];
    return `M${one === patch ? left : leaves} ${out}H${leaves}C${middle} ${out} ${middle} ${row} ${cut} ${row}H${to}`;
  }

  /** Draws a step of a picture, and returns its sentences. @type {(step: Step) => string} */
  function draw({ name, shape, base, kind, block, read }) {
    figure.svg.dataset.picture = String(picture);
    const attends = kind === WEIGHTS || kind === MIXES;
    for (let b = 0; b < depth; b++) drawRibbons(b, b === block && attends ? [head] : upTo(heads));
    for (let of = 0; of < heads; of++) drawMap(of, weightsOf(block, of).slice(1));
    figure.draw("thread", { d: wire(patch, across(LAST)) });
    const marked = square(patch, boxed(plan.large));
    figure.draw("mark", { x: marked.x, y: marked.y });
    const phone = plan === PHONE;
    figure.write("of-maps", phone ? `attention, block ${block}` : `Where each head of block ${block} looks`);
    const joined = kind >= JOINS; // before, there is no class token to be read
    const shares = flows[picture].reads[read];
    shares.forEach((share, digit) => {
      figure.draw(`bar-${digit}`, { width: joined ? plan.longest * share : 0 });
    });
    const first = best(shares);
    figure.write("share", joined && !phone ? percent(shares[first]) : "");
    const y = plan.top + first * ((64 * plan.pitch) / 9.55) + 5;
    figure.draw("share", { x: across(BARS) + plan.longest * shares[first] + 4, y });
    const none = phone ? "none" : "no answer yet";
    figure.write("read", kind === steps[steps.length - 1].kind ? "answer" : joined ? "so far" : none);
    figure.write("stage", name[0].toUpperCase() + name.slice(1));
    figure.write("shape", shape);
    figure.write("base", `in ViT-B/16: ${base}`);
    const open = { flow: flows[picture], label: labels[picture], patch, head, block, read };
    const [rows, sentences] = openings[kind](open);
    upTo(ROWS).forEach((row) => fill(row, rows[row] ?? words("")));
    return sentences;
  }

  /**
   * Draws ribbons from the patches to the class token, as wide as the mean of their weights in some heads.
   * @type {(block: number, of: number[]) => void}
   */
  function drawRibbons(block, of) {
    const all = of.map((one) => weightsOf(block, one));
    const [x, right] = [across(edge(block) + READS), across(edge(block) + GIVES)];
    const [one, two] = [x + 0.6 * (right - x), x + 0.5 * (right - x)].map((at) => at.toFixed(1));
    const d = upTo(SIDE ** 2).map((other) => {
      const weight = sumOf(all.map((weights) => weights[other + 1])) / of.length;
      if (weight < 0.01) return "";
      const [y, half] = [strand(other + 1), plan.thick * weight];
      const [a, b, c, e] = [y - half, y + half, plan.top - half, plan.top + half].map((at) => at.toFixed(1));
      return `M${x} ${a}C${one} ${a} ${two} ${c} ${right} ${c}V${e}C${two} ${e} ${one} ${b} ${x} ${b}Z`;
    });
    figure.draw(`ribbons-${block}`, { d: d.join("") });
  }

  /** Draws a head's weights as cells. @type {(of: number, weights: number[]) => void} */
  function drawMap(of, weights) {
    const most = Math.max(...weights);
    const cells = figure.part(`map-${of}`).children;
    weights.forEach((weight, other) => set(cells[other], { fill: toned(weight / most) }));
    const [x, y] = plan.maps[of];
    if (of === head) figure.draw("chosen", { x, y });
  }

  /** @type {(row: number, numbers: Row) => void} */
  function fill(row, { label, cells, colour, more }) {
    figure.write(`label-${row}`, label);
    figure.part(`more-${row}`).style.display = more ? "" : "none";
    figure.draw(`more-${row}`, { x: plan.rows.first + cells.length * plan.rows.cell + 3 });
    for (let column = 0; column < SEEN; column++) {
      const name = `cell-${row}-${column}`;
      figure.part(name).style.display = column < cells.length ? "" : "none";
      figure.write(name, cells[column] ?? "");
      figure.draw(name, { class: `vd-box vd-${colour}` });
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

  /** Writes the name of a step above it, on a desk. @param {Step} step */
  function call(step) {
    const { x, width } = boxOf(step);
    figure.write("called", plan === DESK ? step.name.replace(/^block.*: /, "") : "");
    figure.draw("called", { x: clamp(x + width / 2, 70, plan.size[0] - 70) });
  }

  /** Lets the data have reached an x, and marks the opened step. @type {(x: number) => void} */
  function reach(x) {
    figure.draw("now", boxOf(steps[now]));
    call(steps[now]);
    if (plan.lens) {
      const { x: left, y, width, height } = boxOf(steps[now]);
      figure.draw("lens", { d: `M${left} ${y + height}h${width}L404 ${plan.lens}H0Z` });
    }
    [...figure.part("tiles").children].forEach((tile, one) => set(tile, tileAt(one, x)));
    const joined = x >= TOKENS;
    figure.seen("class", joined);
    figure.draw("class", { cx: across(clamp(x, TOKENS, HEAD)), cy: plan.top });
    figure.draw("values", { d: valuesAt(x) });
  }

  /**
   * Returns a patch on its way: its piece of the image, then its place on its strand.
   * @type {(one: number, x: number) => Attributes}
   */
  function tileAt(one, x) {
    const from = square(one, boxed(plan.image));
    const phone = plan === PHONE;
    const large = one === patch ? 2 : 1;
    const small = { width: (phone ? 5 : 8) * large, height: (phone ? 1.6 : 2.4) * large };
    const t = clamp((x - 66) / (CUT - 66), 0, 1);
    const eased = t * t * (3 - 2 * t);
    /** @type {(from: number, to: number, t: number) => number} */
    const between = (a, b, s) => a + (b - a) * s;
    const width = between(from.width, small.width, t);
    const height = between(from.height, small.height, t);
    const centre = between(from.x + from.width / 2, across(CUT), t);
    const end = across(clamp(x, CUT, LAST));
    const y = between(from.y + from.height / 2, strand(one + 1), eased);
    const grey = flows[picture].grey[one]; // until it is a token
    const fill = x < TOKENS ? `fill: hsl(0 0% ${Math.round((100 * sumOf(grey)) / grey.length)}%)` : "";
    return {
      x: (t < 1 ? centre : end) - width / 2,
      y: y - height / 2,
      width,
      height,
      class: `vd-full vd-${one === patch ? "patch-0" : "line"}`,
      style: fill,
      visibility: t > 0 ? "visible" : "hidden",
    };
  }

  /**
   * Returns the values that are on their way to the class token, as large as their weights.
   * @type {(x: number) => string}
   */
  function valuesAt(x) {
    const block = Math.floor((x - LEFT) / WIDE);
    const t = (x - edge(block) - 19) / (MLP - 1 - 19);
    if (block < 0 || block >= depth || t <= 0 || t >= 1) return "";
    const weights = weightsOf(block, head);
    const [left, right] = [across(edge(block) + READS), across(edge(block) + GIVES)];
    return upTo(SIDE ** 2)
      .map((other) => {
        const weight = weights[other + 1];
        if (weight < 0.01) return "";
        const [s, from] = [1 - t, strand(other + 1)];
        const along = 3 * s * s * t * 0.6 + 3 * s * t * t * 0.5 + t ** 3;
        const y = from * (s ** 3 + 3 * s * s * t) + plan.top * (3 * s * t * t + t ** 3);
        const r = plan.pitch * (0.7 + 3 * Math.sqrt(weight));
        return `M${left + along * (right - left) - r} ${y}a${r} ${r} 0 1 0 ${2 * r} 0a${r} ${r} 0 1 0 ${-2 * r} 0`;
      })
      .join("");
  }

  function show() {
    figure.say(draw(steps[now]));
  }

  /** @type {(step: number) => void} */
  function go(step) {
    now = step;
    show();
    figure.glide(steps[now].to, reach, 900);
  }

  function arrange() {
    plan = desk.matches ? DESK : PHONE;
    build();
    draw(steps[now]);
    reach(figure.at ?? steps[now].to);
  }

  build();
  figure.places("handle-patch", {
    grid: () => plan.large,
    size: () => [SIDE, SIDE],
    label: "patch that is followed",
    value: () => placeAt(patch, SIDE),
    says: () => {
      const share = percent(weightsOf(steps[now].block, head)[patch + 1]);
      return `patch ${patch}, with ${share} of the attention in head ${head}`;
    },
    choose: ([row, column]) => { patch = row * SIDE + column; show(); reach(figure.at ?? 0); },
  });
  const columns = () => (plan === PHONE ? 2 : 4);
  figure.places("handle-head", {
    grid: around,
    size: () => [heads / columns(), columns()],
    label: "head of attention",
    value: () => placeAt(head, columns()),
    says: () => `head ${head}`,
    choose: ([row, column]) => { head = columns() * row + column; show(); },
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
  figure.newRow();
  figure.button("Another picture", () => {
    picture = (picture + 1) % flows.length;
    guess();
    show();
    reach(figure.at ?? 0);
  });
  const asked = "guess after which block the answer is right for the first time";
  const group = el("div", { class: "moving-row", role: "group", "aria-label": asked }, el("span", {}, "Guess:"));
  figure.row.append(group);
  figure.row = group;
  const guess = figure.choice(upTo(depth).map((block) => `block ${block}`), "", (name) => judge(Number(name.at(-1))));
  /** Returns the step at an x of the drawing. @type {(spot: Spot) => number} */
  const stepAt = ({ x }) => Math.max(steps.filter(({ from }) => across(from) <= x).length - 1, 0);
  const grip = figure.grip("handle-step", [0, plan.top - 10, plan.size[0], plan.names - plan.top + 12]);
  figure.dragged(
    grip,
    (spot) => {
      const step = stepAt(spot);
      if (step !== now) open(step);
    },
    { sideways: true },
  );
  /** Frames the step under the mouse. @param {number | null} step */
  const point = (step) => {
    figure.seen("pointed", step !== null);
    if (step !== null) figure.draw("pointed", boxOf(steps[step]));
    call(steps[step ?? now]);
  };
  grip.addEventListener("pointermove", (event) => {
    if (event.pointerType === "mouse") point(stepAt(figure.spot(event)));
  });
  grip.addEventListener("pointerleave", () => point(null));
  desk.addEventListener("change", arrange);
  arrange();
}

/** @type {(place: Place) => Box} */
function boxed([x, y, width, height]) {
  return { x, y, width, height };
}

/** Returns all steps, with those of each block in their places. @type {(numbers: Numbers) => Step[]} */
function inOrder({ steps: [before, inside, after], depth }) {
  /** @type {(described: Described, kind: number, block: number, read: number) => Step} */
  const step = ([name, letters, here, base, from, to], kind, block, read) => ({
    name, shape: `${letters} = ${here}`, base, from, to, kind, block, read,
  });
  return [
    ...before.map((one, i) => step(one, i, 0, 0)),
    ...upTo(depth).flatMap((block) =>
      inside.map((one, i) => {
        const found = step(one, before.length + i, block, i === inside.length - 1 ? block + 1 : block);
        const x = LEFT + block * WIDE;
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
      `1,024 grey values go into a trained model, 16 of them in patch ${patch}. ` +
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
