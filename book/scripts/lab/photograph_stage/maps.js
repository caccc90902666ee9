// The maps of all heads of all blocks, with one Tab stop and arrow keys, and a switch for each block.

import { attribute, button, el, write } from "../parts/dom.js";
import { colouring, paintPixels } from "../parts/paint.js";
import { clamp } from "../parts/scene.js";
import { headName } from "./state.js";

/** @import { Numbers, Pair } from "../parts/types.d.ts" */

/** @type {Record<string, Pair>} */
const STEPS = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] };

/**
 * Makes a switch that looks like one: {element, show(isOn)}.
 * @param {string} label
 * @param {() => void} ontoggle
 */
export function toggleSwitch(label, ontoggle) {
  const element = el(
    "button",
    {
      type: "button",
      class: "vp-switch",
      role: "switch",
      "aria-checked": "true",
      "aria-label": label,
      onclick: ontoggle,
    },
    el("span", { class: "vp-track", "aria-hidden": "true" }, el("span", { class: "vp-thumb" })),
  );
  return {
    element,
    /** @type {(isOn: boolean, name?: string) => void} */
    show(isOn, name = label) {
      attribute(element, "aria-checked", isOn);
      attribute(element, "aria-label", name);
    },
  };
}

/**
 * look(name or null): called when a map is pointed at or focused; choose(name or null): when it is pressed or let go;
 * toggle(name): to switch a head ("7.3") or a block ("7") off or on.
 * @param {{
 *   blocks: number, heads: number, grid: number, look(name: string | null): void, choose(name: string | null): void,
 *   toggle(name: string): void,
 * }} hands
 */
export function photographMaps({ blocks, heads, grid, look, choose, toggle }) {
  const cells = Array.from({ length: blocks }, (_, block) =>
    Array.from({ length: heads }, (_, head) => cell(`${block}.${head}`)),
  );
  const switches = cells.map((_, block) => toggleSwitch(`block ${block}`, () => toggle(String(block))));
  const caption = el("caption");
  const element = el(
    "table",
    { class: "vl-maps vp-maps", role: "grid", onkeydown: walk },
    caption,
    el(
      "thead",
      {},
      el(
        "tr",
        {},
        el("td"),
        ...cells[0].map((_, head) => el("th", { scope: "col" }, `head ${head}`)),
        el("th", { scope: "col" }, "block on"),
      ),
    ),
    el(
      "tbody",
      {},
      ...cells.map((row, block) =>
        el(
          "tr",
          {},
          el("th", { scope: "row" }, `block ${block}`),
          ...row.map(({ place }) => place),
          el("td", {}, switches[block].element),
        ),
      ),
    ),
  );
  const all = cells.flat();
  stop(all[0].press);

  /** @param {string} name */
  function cell(name) {
    const canvas = el("canvas", { "aria-hidden": "true" });
    const press = button(el("span", { class: "vl-map-picture" }, canvas), () => choose(name), {
      class: "vl-map", tabindex: -1, "aria-pressed": "false",
      onfocus: () => {
        stop(press);
        look(name);
      },
      onblur: () => look(null),
    });
    /** @type {(event: PointerEvent, what: string | null) => void} */
    const over = (event, what) => { if (event.pointerType !== "touch") look(what); };
    const place = el(
      "td",
      { onpointerenter: (event) => over(event, name), onpointerleave: (event) => over(event, null) },
      press,
    );
    return { name, canvas, press, place };
  }

  /** @type {(press: HTMLElement) => void} */
  function stop(press) {
    for (const other of all) other.press.tabIndex = other.press === press ? 0 : -1;
  }

  /** @type {(event: KeyboardEvent) => void} */
  function walk(event) {
    const at = all.findIndex(({ press }) => press === event.target);
    if (at < 0) return;
    const step = STEPS[event.key];
    if (step) {
      const row = clamp(Math.floor(at / heads) + step[0], 0, blocks - 1);
      cells[row][clamp((at % heads) + step[1], 0, heads - 1)].press.focus();
    } else if (event.key === "Escape") choose(null);
    else if (event.key === "Delete" || event.key === "o") toggle(all[at].name);
    else return;
    event.preventDefault();
  }

  /**
   * mapOf(name): returns the shares of the patches; isOff(name): whether a head or its block is off.
   * @param {{
   *   mapOf(name: string): Numbers, isOff(name: string): boolean, chosen: string | null, shown: string | null,
   *   title: string,
   * }} seen
   */
  function paint({ mapOf, isOff, chosen, shown, title }) {
    write(caption, title);
    for (const { name, canvas, press } of all) {
      const shares = mapOf(name);
      const off = isOff(name);
      paintPixels(canvas, shares, grid, grid, colouring(shares));
      press.classList.toggle("vl-off", off);
      press.classList.toggle("vl-shown", name === shown);
      attribute(press, "aria-label", `${headName(name)}${off ? ", switched off" : ""}`);
      attribute(press, "aria-pressed", name === chosen);
    }
    switches.forEach((one, block) => one.show(!isOff(String(block))));
  }

  return { element, paint };
}
