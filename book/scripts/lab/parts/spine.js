// The map of the walk: the model as a line with a stop for every step, along which the tensor travels.

import { el, html } from "../../shared/elements.js";
import { clamp, upTo } from "../../shared/grid.js";
import { button, labelled, makeChoice, uniqueId } from "./dom.js";
import { penOf } from "./paint.js";

/**
 * @typedef {(string[] | string[][])[]} Stops
 * @typedef {Record<"left" | "right" | "top" | "bottom" | "floor" | "x" | "y", number>} StopBox
 */

const SVG = "http://www.w3.org/2000/svg";
const TRAVEL = 450; // milliseconds from a stop to the next
const CLEAR = 8; // pixels between a box and a line that goes around it
/** @type {string[][]} */
const FORK = [["attn.q", "q"], ["attn.k", "k"], ["attn.v", "v"]];
// Rows of stops; where there is little room, each list in a row becomes a line of its own.
/** @type {Stops[]} */
const BEFORE = [
  [["image", "image"], ["patches", "patches"], ["patch_embed", "embedding"]],
  [["cls_token", "class token"], ["pos_embed", "positions"], ["embed", "+"]],
];
/** @type {Stops[]} */
const ATTENTION = [
  [["norm1", "norm"], FORK, ["attn.scores", "scores"], ["attn.weights", "softmax"]],
  [["attn.mixed", "mix"], ["attn.proj", "projection"], ["residual1", "+"]],
];
/** @type {Stops[]} */
const MLP = [[["norm2", "norm"], ["mlp.fc1", "MLP, wide"]], [["mlp.fc2", "MLP, narrow"], ["block", "+"]]];
/** @type {Stops[]} */
const AFTER = [
  [["later", ""], ["norm", "norm"]],
  [["class_token", "class token alone"], ["head", "logits"], ["probabilities", "probabilities"]],
];
const RESIDUAL = [["norm1", "residual1"], ["norm2", "block"]];
/**
 * The stop that a tensor comes from, if that is not the stop before; positions come from none.
 * @type {Record<string, string | null>}
 */
const FROM = { pos_embed: null, embed: "cls_token", "attn.k": "norm1", "attn.v": "norm1", "attn.scores": "attn.q" };

/**
 * whole: whether the map shows the model to its end, or only the tokens. depth: the number of blocks.
 * pick(stop), open(block): called when the reader chooses a stop or a block.
 *
 * Returns {element, show}. show({stops, stop, block, picture}) takes all stops in order, [[stop, full name]]; the
 * reader's stop; the open block; and the picture of the tensor there, which travels to the next stop.
 * @param {{ whole: boolean, depth: number, pick(stop: string): void, open(block: number): void }} hands
 */
export function makeSpine({ whole, depth, pick, open }) {
  /** @type {Map<string, HTMLButtonElement>} */
  const nodes = new Map();
  /** @type {string[]} */
  let order = [];
  /** @type {string | null} */
  let here = null;

  /** @type {(stop: string[]) => HTMLButtonElement} */
  const node = ([stop, label]) => {
    const made = button(label, () => pick(stop), { class: "vl-stop", tabindex: -1 });
    nodes.set(stop, made);
    return made;
  };
  /**
   * @param {string[] | string[][]} stop
   * @returns {stop is string[][]}
   */
  const isFork = (stop) => stop === FORK;
  /** @type {(stop: string) => HTMLButtonElement} */
  function nodeOf(stop) {
    const found = nodes.get(stop);
    if (!found) throw new Error(`stop: got "${stop}", expected one of ${order.join(", ")}`);
    return found;
  }
  /** @type {(lines: Stops[]) => HTMLElement} */
  const row = (lines) => el("div", { class: "vl-stops" }, ...lines.map((stops) => el("div", { class: "vl-some" },
    ...stops.map((stop) => (isFork(stop) ? el("span", { class: "vl-fork" }, ...stop.map(node)) : node(stop))))));
  const opened = makeChoice(
    upTo(depth).map((block) => [String(block), String(block)]),
    (block) => open(Number(block)),
  );
  const wires = document.createElementNS(SVG, "svg");
  wires.setAttribute("class", "vl-wires");
  wires.setAttribute("aria-hidden", "true");
  const tip = uniqueId("tip");
  const traveller = el("canvas", { class: "vl-traveller", "aria-hidden": "true", hidden: true, width: 32, height: 32 });
  const tensor = el("canvas", { width: 32, height: 32 }); // the tensor at this stop
  const block = () => html`
    <div class="vl-one-block">
      <div class="vl-open">${labelled("Encoder block", opened)}of ${depth}</div>
      ${row(ATTENTION)}${row(MLP)}
    </div>`;
  const stops = whole ? [row([...BEFORE, [["earlier", ""]]]), block(), row(AFTER)] : [row(BEFORE)];
  const line = html`<div class="vl-line">${wires}${stops}${traveller}</div>`;
  const element = html`<div class="vl-spine" role="group" aria-label="The steps, in the model">${line}</div>`;
  element.addEventListener("keydown", walk);
  new ResizeObserver(draw).observe(line);

  /**
   * Returns the box of a stop, relative to the line, and the lower edge of its row.
   * @type {(stop: string) => StopBox}
   */
  function boxOf(stop) {
    const outer = line.getBoundingClientRect();
    const place = nodeOf(stop);
    const box = place.getBoundingClientRect();
    const [left, right] = [box.left, box.right].map((x) => x - outer.left);
    const [top, bottom] = [box.top, box.bottom].map((y) => y - outer.top);
    const floor = (place.closest(".vl-some") ?? place).getBoundingClientRect().bottom - outer.top;
    return { left, right, top, bottom, floor, x: (left + right) / 2, y: (top + bottom) / 2 };
  }

  /** @type {(a: StopBox, b: StopBox) => boolean} */
  const areInLine = (a, b) => Math.abs(a.floor - b.floor) < 1;

  /**
   * Returns the path from a box to the box beside it, or to the first one of the next line.
   * @type {(a: StopBox, b: StopBox) => string}
   */
  function path(a, b) {
    if (!areInLine(a, b))
      return `M${a.right} ${a.y} h${CLEAR} V${a.floor + 2 * CLEAR} H${b.left - 2 * CLEAR} V${b.y} H${b.left}`;
    return a.y === b.y
      ? `M${a.right} ${a.y} H${b.left}`
      : `M${a.right} ${a.y} H${(a.right + b.left) / 2} V${b.y} H${b.left}`;
  }

  /**
   * Returns the path of a residual connection: from in front of a norm, below the boxes, to the sum.
   * @type {(norm: StopBox, sum: StopBox) => string}
   */
  function residual(norm, sum) {
    const out = areInLine(norm, sum) ? 2 * CLEAR : 3 * CLEAR; // beside the path to the next line
    return `M${norm.left - 2 * CLEAR} ${norm.y} H${norm.left - out} V${sum.floor + CLEAR} H${sum.x} V${sum.bottom}`;
  }

  /**
   * Returns the path of the values, which pass by scores and softmax.
   * @type {(v: StopBox, mixed: StopBox) => string}
   */
  function values(v, mixed) {
    return areInLine(v, mixed)
      ? `M${v.right} ${v.y} H${mixed.x} V${mixed.bottom}`
      : `M${v.x} ${v.bottom} V${v.floor + CLEAR} H${mixed.x} V${mixed.top}`;
  }

  /** @type {(stop: string) => string | null} */
  const cameFrom = (stop) => (stop in FROM ? FROM[stop] : order[order.indexOf(stop) - 1]);

  /** Draws the paths between boxes; called again whenever the widths of the words change. */
  function draw() {
    const boxes = Object.fromEntries(order.map((stop) => [stop, boxOf(stop)]));
    /** @type {(ends: string[]) => string} */
    const join = ([from, to]) => path(boxes[from], boxes[to]);
    const { cls_token: tokens, embed: sum } = boxes;
    const drawn = [
      `M${tokens.x} ${tokens.bottom} V${tokens.floor + CLEAR} H${sum.x} V${sum.bottom}`,
      join(["pos_embed", "embed"]),
    ];
    for (const stop of order.slice(1)) {
      const from = cameFrom(stop);
      if (stop !== "embed" && from) drawn.push(join([from, stop]));
    }
    if (boxes.norm1) {
      drawn.push(join(["attn.k", "attn.scores"]), values(boxes["attn.v"], boxes["attn.mixed"]));
      for (const [norm, sum] of RESIDUAL) drawn.push(residual(boxes[norm], boxes[sum]));
    }
    wires.innerHTML =
      `<marker id="${tip}" viewBox="0 0 8 8" refX="8" refY="4" markerWidth="5" markerHeight="5" orient="auto"><path ` +
      `d="M0 0 8 4 0 8z"/></marker>`
      + drawn.map((d) => `<path d="${d}" marker-end="url(#${tip})"/>`).join("");
  }

  /** @type {(event: KeyboardEvent) => void} */
  function walk(event) {
    const at = order.findIndex((stop) => nodes.get(stop) === event.target);
    const to = new Map(Object.entries({
      ArrowRight: at + 1, ArrowDown: at + 1, ArrowLeft: at - 1, ArrowUp: at - 1, Home: 0, End: order.length - 1,
    })).get(event.key);
    if (at < 0 || to === undefined) return;
    event.preventDefault();
    const next = order[clamp(to, 0, order.length - 1)];
    pick(next);
    nodeOf(next).focus({ preventScroll: true });
  }

  /** @type {(from: HTMLCanvasElement, to: HTMLCanvasElement) => void} */
  function copy(from, to) {
    const c = penOf(to);
    c.clearRect(0, 0, to.width, to.height);
    c.drawImage(from, 0, 0, to.width, to.height);
  }

  /** @type {(from: string, to: string) => void} */
  function travel(from, to) {
    copy(tensor, traveller);
    traveller.hidden = false;
    traveller.style.offsetPath = `path("${path(boxOf(from), boxOf(to))}")`;
    const journey = traveller.animate([{ offsetDistance: "0%" }, { offsetDistance: "100%" }], {
      duration: TRAVEL,
      easing: "ease-in-out",
    });
    journey.onfinish = () => { traveller.hidden = true; };
  }

  /**
   * @param {{
   *   stops: [stop: string, name: string][], stop: string, block: number, picture: HTMLCanvasElement,
   * }} seen
   */
  function show({ stops, stop, block, picture }) {
    const names = new Map(stops);
    order = [...names.keys()];
    opened.value = String(block);
    for (const [name, press] of nodes) {
      press.hidden = !names.has(name);
      press.tabIndex = name === stop ? 0 : -1;
      press.classList.toggle("vl-passed", order.indexOf(name) < order.indexOf(stop));
      if (name === stop) press.setAttribute("aria-current", "step");
      else press.removeAttribute("aria-current");
      const full = names.get(name);
      if (full === undefined) continue;
      press.setAttribute("aria-label", full);
      if (["earlier", "later"].includes(name)) press.textContent = full.replace(/^\d+\. /, "").toLowerCase();
    }
    draw();
    if (here !== null && cameFrom(stop) === here && !matchMedia("(prefers-reduced-motion: reduce)").matches)
      travel(here, stop);
    here = stop;
    copy(picture, tensor);
  }

  return { element, show };
}
