// The maps of all heads of all blocks, and a switch for each block.

import { el, html } from "../../shared/elements.js";
import { upTo } from "../../shared/grid.js";
import { attribute, write } from "../parts/dom.js";
import { mapTable, paintMap } from "../parts/map_table.js";
import { headName } from "./state.js";

/** @import { MapHands } from "../parts/map_table.js" */
/** @import { Numbers } from "../parts/types.d.ts" */

/**
 * Makes a switch that looks like one: {element, show(isOn)}.
 * @param {string} label
 * @param {() => void} ontoggle
 */
export function toggleSwitch(label, ontoggle) {
  const element = html`
    <button type="button" class="vp-switch" role="switch" aria-checked="true">
      <span class="vp-track" aria-hidden="true"><span class="vp-thumb"></span></span>
    </button>`;
  element.addEventListener("click", ontoggle);
  attribute(element, "aria-label", label);
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
 * toggle(name): called to switch a head ("7.3") or a block ("7") off or on.
 * @param {MapHands & { blocks: number, heads: number, grid: number }} hands
 */
export function photographMaps({ blocks, heads, grid, ...hands }) {
  const names = upTo(blocks).map((block) => upTo(heads).map((head) => `${block}.${head}`));
  const maps = mapTable(names, hands);
  const switches = names.map((_, block) => toggleSwitch(`block ${block}`, () => hands.toggle(String(block))));
  const caption = el("caption");
  const element = maps.table(
    caption,
    upTo(heads).map((head) => html`<span><span class="vp-head">head </span>${head}</span>`),
    maps.rows.map((row, block) => html`
      <tr>
        <th scope="row">block ${block}${switches[block].element}</th>
        ${row.map(({ place }) => place)}
      </tr>`),
  );
  element.classList.add("vp-maps");

  /**
   * mapOf(name): returns the shares of the patches; isOff(name): whether a head or its block is off.
   * @param {{
   *   mapOf(name: string): Numbers, isOff(name: string): boolean, chosen: string | null, shown: string | null,
   *   title: string,
   * }} seen
   */
  function paint({ mapOf, isOff, chosen, shown, title }) {
    write(caption, title);
    for (const cell of maps.all) {
      const { name } = cell;
      paintMap(cell, mapOf(name), [grid, grid], { isOff: isOff(name), shown, chosen, label: headName(name) });
    }
    switches.forEach((one, block) => one.show(!isOff(String(block))));
  }

  return { element, paint };
}
