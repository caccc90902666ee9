// A map for each head of each block, with a switch below each; beside each block, the answer that the final norm and
// the head would give after it.

import { el, html } from "../../shared/elements.js";
import { upTo } from "../../shared/grid.js";
import { isWrong } from "./answer.js";
import { attribute, button, percent, write } from "./dom.js";
import { isHead, mapTable, paintMap } from "./map_table.js";
import { DIGIT } from "./scene.js";
import { modelOf } from "./weights.js";

/** @import { MapHands } from "./map_table.js" */
/** @import { Answer, Box, Numbers } from "./types.d.ts" */

/**
 * Maps are named as in a link: "2.1" block and head, "2.mean", "rollout".
 * @param {MapHands & { withRollout: boolean }} hands
 */
export function headMaps({ withRollout, ...hands }) {
  const { heads: h, depth, gridSize } = modelOf("trained");
  const heads = [...upTo(h).map(String), "mean"];
  const blocks = upTo(depth);
  const names = blocks.map((block) => heads.map((head) => `${block}.${head}`));
  const maps = mapTable(withRollout ? [...names, ["rollout"]] : names, hands);
  const answers = blocks.map(() => ({ digit: el("strong"), sure: el("span") }));
  const cells = maps.all.map((cell) => {
    const frame = el("span", { class: "vl-map-box" });
    const mass = el("span", { class: "vl-mass" });
    const share = isHead(cell.name)
      ? button(mass, () => hands.toggle(cell.name), { class: "vl-switch", role: "switch", tabindex: -1 })
      : el("span", { class: "vl-switch" }, mass);
    cell.picture.append(frame);
    cell.place.append(share);
    return { ...cell, frame, mass, share };
  });
  const body = blocks.map((block) => {
    const { digit, sure } = answers[block];
    const says = html`<span class="vl-so-far">says ${digit}<br>${sure}</span>`;
    return html`<tr><th scope="row">block ${block}${says}</th>${maps.rows[block].map(({ place }) => place)}</tr>`;
  });
  if (withRollout) {
    const about = "All blocks’ mean maps, multiplied. In each, every token first gives half the weight to itself.";
    const beside = el("td", { colspan: h }, el("p", { class: "vl-note vl-narrow" }, about));
    body.push(html`<tr><th scope="row">rollout</th>${maps.rows[depth][0].place}${beside}</tr>`);
  }
  const caption = el("caption");
  let boxAt = "";

  /**
   * shown: the map on the board. mapOf(name): returns the shares of the patches. inBox(shares): returns their sum
   * inside the true box. isOff(name): whether a head, or each head of a mean, is off. said: each block's answer.
   * waits: whether the box is to be drawn in, so that there are no answers and no shares yet.
   * @param {{
   *   mapOf(name: string): Numbers, inBox(shares: Numbers): number, box: Box, chosen: string | null,
   *   shown: string | null,
   *   isOff(name: string): boolean, title: string, said: Answer[], truth: number | null, waits: boolean,
   * }} seen
   */
  function paint({ mapOf, inBox, box, chosen, shown, isOff, title, said, truth, waits }) {
    write(caption, title);
    answers.forEach(({ digit, sure }, block) => {
      const answer = said[block];
      write(digit, waits || answer.level ? "–" : String(answer.best));
      write(sure, waits ? "" : percent(answer.sure));
      digit.classList.toggle("vl-wrong", !waits && isWrong(answer, truth));
    });
    const moved = `translate(${(100 * box.left) / DIGIT}%, ${(100 * box.top) / DIGIT}%)`;
    if (moved !== boxAt) for (const { frame } of cells) frame.style.transform = moved;
    boxAt = moved;
    for (const cell of cells) {
      const { name, share, mass } = cell;
      const shares = mapOf(name);
      const inside = waits ? "" : percent(inBox(shares));
      const label = mapName(name) + (waits ? "" : `: ${inside} inside the box`);
      const off = isOff(name);
      paintMap(cell, shares, gridSize, { isOff: off, shown, chosen, label });
      write(mass, off ? "off" : inside.slice(0, -2));
      if (!isHead(name)) continue;
      attribute(share, "aria-checked", !off);
      attribute(share, "aria-label", `${mapName(name)}${waits && !off ? "" : `, ${off ? "off" : inside}`}`);
      attribute(share, "title", off ? "Switch this head on" : "Switch this head off");
    }
  }

  /** Puts the focus on a map. @type {(name: string) => void} */
  const focus = (name) => cells.find((one) => one.name === name)?.press.focus();
  const table = maps.table(caption, heads.map((head) => (head === "mean" ? "mean" : `head ${head}`)), body);
  return { element: table, paint, focus };
}

/** @type {(name: string) => string} */
export function mapName(name) {
  if (name === "rollout") return "rollout";
  const [block, head] = name.split(".");
  return `block ${block}, ${head === "mean" ? "mean of the heads" : `head ${head}`}`;
}
