// Attention maps in the rows of a table, with one Tab stop: arrow keys go from map to map, Escape lets a map go, and
// Delete switches its head off or on.

import { el, html } from "../../shared/elements.js";
import { ARROWS, clamp } from "../../shared/grid.js";
import { attribute, button } from "./dom.js";
import { colouring, paintPixels } from "./paint.js";

/** @import { Numbers, Pair } from "./types.d.ts" */

/**
 * @typedef {object} MapHands
 * @property {(name: string | null) => void} look is called when a map is pointed at or focused, or no longer
 * @property {(name: string | null) => void} choose is called when a map is pressed, or let go
 * @property {(name: string) => void} toggle is called to switch a head off or on
 */

/**
 * Returns whether a map's name, or null, is that of one head.
 * @param {string | null} name
 * @returns {name is string}
 */
export const isHead = (name) => /^\d+\.\d+$/.test(name ?? "");

/**
 * Makes the maps with these names, row by row, and a table around them.
 * @param {string[][]} names
 * @param {MapHands} hands
 */
export function mapTable(names, { look, choose, toggle }) {
  const rows = names.map((row) => row.map(cell));
  const all = rows.flat();
  stop(all[0].press);

  /** @param {string} name */
  function cell(name) {
    const canvas = el("canvas", { "aria-hidden": "true" });
    const picture = el("span", { class: "vl-map-picture" }, canvas);
    const press = button(picture, () => choose(name), {
      class: "vl-map",
      tabindex: -1,
      "aria-pressed": "false",
      onfocus: () => {
        stop(press);
        look(name);
      },
      onblur: () => look(null),
    });
    const place = el("td", {
      onpointerenter: (event) => { if (event.pointerType !== "touch") look(name); },
      onpointerleave: (event) => { if (event.pointerType !== "touch") look(null); },
    }, press);
    return { name, canvas, picture, press, place };
  }

  /** Makes one map the Tab stop. @param {HTMLElement} press */
  function stop(press) {
    for (const other of all) other.press.tabIndex = other.press === press ? 0 : -1;
  }

  /** @param {KeyboardEvent} event */
  function walk(event) {
    const row = rows.findIndex((some) => some.some(({ press }) => press === event.target));
    if (row < 0) return;
    const column = rows[row].findIndex(({ press }) => press === event.target);
    const { name } = rows[row][column];
    const step = ARROWS[event.key];
    if (step) {
      const next = rows[clamp(row + step[0], 0, rows.length - 1)];
      next[clamp(column + step[1], 0, next.length - 1)].press.focus();
    } else if (event.key === "Escape") choose(null);
    else if ((event.key === "Delete" || event.key === "o") && isHead(name)) toggle(name);
    else return;
    event.preventDefault();
  }

  return {
    rows,
    all,
    /**
     * Makes the table, of rows that hold the maps' places.
     * @type {(caption: HTMLElement, headings: (string | Element)[], body: HTMLElement[]) => HTMLElement}
     */
    table(caption, headings, body) {
      const head = headings.map((text) => html`<th scope="col">${text}</th>`);
      const scale = el("p", { class: "vl-narrow vl-scale-of-maps" }, SCALE);
      const table = html`
        <table class="vl-maps" role="grid">
          ${caption}
          <thead><tr><td></td>${head}</tr></thead>
          <tbody>${body}</tbody>
          <tfoot>
            <tr>${el("td", { colspan: headings.length + 1 }, scale)}</tr>
          </tfoot>
        </table>`;
      table.addEventListener("keydown", walk);
      return table;
    },
  };
}

const SCALE = "Square-root scale: yellow is a map’s most, teal a quarter.";

/**
 * Paints a map on a scale of square roots, which is also that of the light on the picture. shown and chosen are the
 * names of the map on the picture and of the one that was pressed.
 * @type {(
 *   cell: { name: string, canvas: HTMLCanvasElement, press: HTMLElement }, shares: Numbers, size: Pair,
 *   seen: { isOff: boolean, shown: string | null, chosen: string | null, label: string },
 * ) => void}
 */
export function paintMap({ name, canvas, press }, shares, [rows, columns], { isOff, shown, chosen, label }) {
  const roots = shares.map(Math.sqrt);
  paintPixels(canvas, roots, rows, columns, colouring(roots));
  press.classList.toggle("vl-off", isOff);
  press.classList.toggle("vl-shown", name === shown);
  attribute(press, "aria-label", `${label}${isOff ? ", switched off" : ""}`);
  attribute(press, "aria-pressed", name === chosen);
}
