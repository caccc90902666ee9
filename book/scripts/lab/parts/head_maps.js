// A map for each head of each block, with one Tab stop, arrow keys between maps, and a switch below each; beside each
// block, the answer that the final norm and the head would give after it.

import { isWrong } from "./answer.js";
import { attribute, button, el, percent, write } from "./dom.js";
import { colouring, paintPixels } from "./paint.js";
import { DIGIT, clamp } from "./scene.js";
import { modelOf } from "./weights.js";

/** @import { Answer, Box, Numbers, Pair } from "./types.d.ts" */

/** @type {Record<string, Pair>} */
const STEPS = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] };

/**
 * Maps are named as in a link: "2.1" block and head, "2.mean", "rollout".
 *
 * look(name or null): called when a map is pointed at or focused. choose(name or null): called when a map is pressed,
 * or released. toggle(name): called to switch a head off or on.
 * @param {{
 *   withRollout: boolean, look(name: string | null): void, choose(name: string | null): void,
 *   toggle(name: string): void,
 * }} hands
 */
export function headMaps({ withRollout, look, choose, toggle }) {
  const { heads: h, depth, gridSize: [rows, columns] } = modelOf("trained");
  const heads = [...Array.from({ length: h }, (_, head) => String(head)), "mean"];
  /** @type {ReturnType<typeof cell>[][]} */
  const cells = []; // rows of cells, in the order of the table

  /** @param {string} name */
  function cell(name) {
    const canvas = el("canvas", { "aria-hidden": "true" });
    const frame = el("span", { class: "vl-map-box" });
    const press = button(el("span", { class: "vl-map-picture" }, canvas, frame), () => choose(name), {
      class: "vl-map", tabindex: -1, "aria-pressed": "false", onfocus: () => {
        stop(press);
        look(name);
      }, onblur: () => look(null),
    });
    const mass = el("span", { class: "vl-mass" });
    const share = isHead(name)
      ? button(mass, () => toggle(name), { class: "vl-switch", role: "switch", tabindex: -1 })
      : el("span", { class: "vl-switch" }, mass);
    const place = el("td", {
      onpointerenter: (event) => { if (event.pointerType !== "touch") look(name); },
      onpointerleave: (event) => { if (event.pointerType !== "touch") look(null); },
    }, press, share);
    return { name, canvas, frame, press, share, mass, place };
  }

  const answers = Array.from({ length: depth }, () => ({ digit: el("strong"), sure: el("span") }));
  const body = el("tbody");
  for (let block = 0; block < depth; block++) {
    const row = heads.map((head) => cell(`${block}.${head}`));
    cells.push(row);
    body.append(
      el(
        "tr",
        {},
        el(
          "th",
          { scope: "row" },
          `block ${block}`,
          el("span", { class: "vl-so-far" }, "says ", answers[block].digit, el("br"), answers[block].sure),
        ),
        ...row.map(({ place }) => place),
      ),
    );
  }
  if (withRollout) {
    const rollout = cell("rollout");
    cells.push([rollout]);
    body.append(
      el(
        "tr",
        {},
        el("th", { scope: "row" }, "rollout"),
        rollout.place,
        el(
          "td",
          { colspan: h },
          el(
            "p",
            { class: "vl-note vl-narrow" },
            "All blocks’ mean maps, multiplied. In each, every token first gives half the weight to itself.",
          ),
        ),
      ),
    );
  }
  const caption = el("caption", {});
  const table = el("table", { class: "vl-maps", role: "grid", onkeydown: walk }, caption,
    el("thead", {}, el("tr", {}, el("td", {}), ...heads.map((head) =>
      el("th", { scope: "col" }, head === "mean" ? "mean" : `head ${head}`)))), body);
  const all = cells.flat();
  let boxAt = "";
  stop(all[0].press);

  /**
   * Makes one map the Tab stop.
   * @type {(press: HTMLElement) => void}
   */
  function stop(press) {
    for (const other of all) other.press.tabIndex = other.press === press ? 0 : -1;
  }

  /** @type {(event: KeyboardEvent) => void} */
  function walk(event) {
    const row = cells.findIndex((some) => some.some(({ press }) => press === event.target));
    if (row < 0) return;
    const column = cells[row].findIndex(({ press }) => press === event.target);
    const step = STEPS[event.key];
    if (step) {
      const next = cells[clamp(row + step[0], 0, cells.length - 1)];
      next[clamp(column + step[1], 0, next.length - 1)].press.focus();
    } else if (event.key === "Escape") choose(null);
    else if (event.key === "Delete" || event.key === "o") {
      if (!isHead(cells[row][column].name)) return;
      toggle(cells[row][column].name);
    } else return;
    event.preventDefault();
  }

  /**
   * shown: the map on the board. mapOf(name): returns the shares of the patches. inBox(shares): returns their sum
   * inside the true box. isOff(name): whether a head, or each head of a mean, is off. said: each block's answer.
   * @param {{
   *   mapOf(name: string): Numbers, inBox(shares: Numbers): number, box: Box, chosen: string | null,
   *   shown: string | null,
   *   isOff(name: string): boolean, title: string, said: Answer[], truth: number | null,
   * }} seen
   */
  function paint({ mapOf, inBox, box, chosen, shown, isOff, title, said, truth }) {
    write(caption, title);
    answers.forEach(({ digit, sure }, block) => {
      const answer = said[block];
      write(digit, answer.level ? "–" : String(answer.best));
      write(sure, percent(answer.sure));
      digit.classList.toggle("vl-wrong", isWrong(answer, truth));
    });
    const moved = `translate(${(100 * box.left) / DIGIT}%, ${(100 * box.top) / DIGIT}%)`;
    if (moved !== boxAt) for (const { frame } of all) frame.style.transform = moved;
    boxAt = moved;
    for (const { name, canvas, press, share, mass } of all) {
      const shares = mapOf(name);
      const inside = percent(inBox(shares));
      const off = isOff(name);
      paintPixels(canvas, shares, rows, columns, colouring(shares));
      press.classList.toggle("vl-off", off);
      press.classList.toggle("vl-shown", name === shown);
      attribute(press, "aria-label", `${mapName(name)}: ${inside} inside the box${off ? ", switched off" : ""}`);
      attribute(press, "aria-pressed", name === chosen);
      write(mass, off ? "off" : inside);
      if (!isHead(name)) continue;
      attribute(share, "aria-checked", !off);
      attribute(share, "aria-label", `${mapName(name)}, ${mass.textContent}`);
      attribute(share, "title", off ? "Switch this head on" : "Switch this head off");
    }
  }

  /**
   * Puts the focus on a map.
   * @type {(name: string) => void}
   */
  const focus = (name) => all.find((one) => one.name === name)?.press.focus();

  return { element: table, paint, focus };
}

/**
 * Returns whether a map's name, or null, is that of one head.
 * @param {string | null} name
 * @returns {name is string}
 */
export const isHead = (name) => /^\d+\.\d+$/.test(name ?? "");

/** @type {(name: string) => string} */
export function mapName(name) {
  if (name === "rollout") return "rollout";
  const [block, head] = name.split(".");
  return `block ${block}, ${head === "mean" ? "mean of the heads" : `head ${head}`}`;
}
