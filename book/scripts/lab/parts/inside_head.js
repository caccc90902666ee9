// Shows one head for one token in numbers: its query, the best keys, scores, weights, and the head's output.

import { el, html } from "../../shared/elements.js";
import { upTo } from "../../shared/grid.js";
import { placeOf, tokenName } from "./board.js";
import { hide, percent } from "./dom.js";
import { mapName } from "./head_maps.js";
import { isHead } from "./map_table.js";
import { tokenRow } from "./maps.js";
import { bothSigns, context, grey, pixels } from "./paint.js";
import { modelOf } from "./weights.js";

/** @import { Block, Numbers, Room } from "./types.d.ts" */

/**
 * @typedef {{
 *   query: Float32Array, brought: Float64Array, tokens: {
 *     token: number, key: Float32Array, value: Float32Array, product: number, score: number, weight: number,
 *   }[],
 * }} Inside
 */

const MOST = 5; // tokens with a row of their own; the others share one
const PATCH = 24; // side of a patch's picture
const COLUMNS = [["k", "key k"], ["q", "q · k"], ["d", "÷ √d"], ["softmax", "softmax"], ["v", "value v"]];
/** @type {Record<string, string>} */
const PARTS = { q: "query", k: "key", d: "root of the head’s width", softmax: "weights", v: "value" };

/**
 * Returns the numbers of one head: the tokens in falling order of weight, and the weighted sum of their values.
 * @type {(block: Block, head: number, token: number, T: number, d: number) => Inside}
 */
export function insideHead({ q, k, v, scores, weights }, head, token, T, d) {
  /** @type {(table: Float32Array, at: number) => Float32Array} */
  const rowOf = (table, at) => table.subarray((head * T + at) * d, (head * T + at + 1) * d);
  const scored = tokenRow(scores, head, token, T);
  const shares = tokenRow(weights, head, token, T);
  const brought = new Float64Array(d);
  for (let other = 0; other < T; other++) {
    const value = rowOf(v, other);
    for (let i = 0; i < d; i++) brought[i] += shares[other] * value[i];
  }
  const order = upTo(T).sort((a, b) => shares[b] - shares[a]);
  return {
    query: rowOf(q, token),
    brought,
    tokens: order.map((other) => ({
      token: other, key: rowOf(k, other), value: rowOf(v, other),
      product: scored[other] * Math.sqrt(d), score: scored[other], weight: shares[other],
    })),
  };
}

/** Makes {element, show(name, room, asking, image)}; room is forward()'s result. Hidden if name is not a head's. */
export function insidePanel() {
  const { heads: h, width: D, imageSize: [, columns], patchSize: [height, width], mean, std } = modelOf("trained");
  const d = D / h;
  const title = el("h3");
  const words = el("p");
  const table = el("table", { class: "vl-inside-table" });
  /** @type {(part: string, text: string) => HTMLButtonElement} */
  const term = (part, text) =>
    el("button", { type: "button", "data-part": part, "aria-label": `${text}, ${PARTS[part]}: its column` }, text);
  const [softmax, q, k, root, v] = [["softmax"], ["q"], ["k", "kᵀ"], ["d", "√d"], ["v"]].map(
    ([part, text = part]) => term(part, text),
  );
  const scrolls = html`<div class="vl-scrolls" role="group" aria-label="The head’s numbers">${table}</div>`;
  const element = html`
    <section class="vl-inside" hidden aria-label="Inside the head">
      ${title}
      <p class="vl-formula">${softmax}( ${q}${k} / ${root} ) ${v}</p>
      ${scrolls}
      ${words}
    </section>`;
  for (const kind of ["pointerover", "focusin", "click"]) {
    element.addEventListener(kind, (event) => {
      const part = event.target instanceof Element ? event.target.closest("[data-part]") : null;
      element.dataset.lit = part?.getAttribute("data-part") ?? "";
    });
  }
  element.addEventListener("pointerleave", () => { element.dataset.lit = ""; });

  /**
   * Draws numbers as a row of colours, blue below zero and red above.
   * @type {(values: Numbers, most: number) => HTMLCanvasElement}
   */
  function strip(values, most) {
    const canvas = el("canvas", {
      class: "vl-vector",
      role: "img",
      "aria-label": `${d} numbers: ${Array.from(values, (value) => value.toFixed(1)).join(", ")}`,
    });
    const c = context(canvas, 8 * d, 14);
    c.drawImage(pixels(values, 1, d, bothSigns(most)), 0, 0, 8 * d, 14);
    return canvas;
  }

  /** @type {(token: number, image: Numbers) => HTMLCanvasElement} */
  function patch(token, image) {
    const canvas = el("canvas", { class: "vl-patch", "aria-hidden": "true" });
    const c = context(canvas, PATCH, PATCH);
    if (token > 0) {
      const [row, column] = placeOf(token);
      const whole = pixels(image, image.length / columns, columns, grey);
      c.drawImage(whole, width * column, height * row, width, height, 0, 0, PATCH, PATCH);
    }
    return canvas;
  }

  /** @type {(rows: Numbers[]) => number} */
  const most = (rows) => Math.max(...rows.flatMap((row) => Array.from(row, Math.abs))) || 1;
  /** @type {(part: string, content?: Node | string) => HTMLElement} */
  const cell = (part, content = "") => el("td", { "data-part": part }, content);

  /** @type {(name: string | null, room: Room, asking: number, image: Numbers) => void} */
  function show(name, { blocks, T, patches, embed }, asking, image) {
    hide(element, !isHead(name));
    if (!isHead(name)) return;
    const [block, head] = name.split(".").map(Number);
    const { query, brought, tokens } = insideHead(blocks[block], head, asking, T, d);
    const [first, rest] = [tokens.slice(0, MOST), tokens.slice(MOST)];
    title.textContent = `Inside ${mapName(name)}`;
    const area = height * width;
    const light = patches.slice((asking - 1) * area, asking * area).reduce((sum, pixel) => sum + pixel, 0) / area;
    const norm = Math.hypot(...(blocks[block - 1]?.output ?? embed).subarray(asking * D, (asking + 1) * D)).toFixed(1);
    const own = asking
      ? `Its pixels are on average ${percent(mean[0] + std[0] * light)} white, and its token comes into this block ` +
        `with a norm of ${norm}. `
      : "";
    words.textContent =
      `${tokenName(asking).replace(/^t/, "T")} asks with its query. ${own}The query’s dot product with each key is ` +
      "divided by √d " +
      `= √${d}${Number.isInteger(Math.sqrt(d)) ? ` = ${Math.sqrt(d)}` : ""}. A softmax turns these scores of all ` +
      `${tokens.length} tokens, the class token among them, into attention weights. The values, mixed by these ` +
      "weights, are what the head brings. (The map leaves the class token out, so its shares can be larger.)";
    const inKeys = most([query, ...first.map(({ key }) => key)]);
    const inValues = most([brought, ...first.map(({ value }) => value)]);
    const others = percent(rest.reduce((sum, { weight }) => sum + weight, 0));
    const rows = first.map(({ token, key, value, product, score, weight }) => html`
      <tr>
        <th scope="row">${token ? [patch(token, image), placeOf(token).join(", ")] : "class token"}</th>
        ${cell("k", strip(key, inKeys))}
        ${cell("q", signed(product, 1))}
        ${cell("d", signed(score, 2))}
        ${cell("softmax", percent(weight))}
        ${cell("v", strip(value, inValues))}
      </tr>`);
    const headings = COLUMNS.map(([part, text]) => el("th", { scope: "col", "data-part": part }, text));
    table.replaceChildren(
      html`<thead><tr><th scope="col">row, column</th>${headings}</tr></thead>`,
      html`
        <tbody>
          <tr>
            <th scope="row">its query q</th>
            ${cell("q", strip(query, inKeys))}<td></td><td></td><td></td><td></td>
          </tr>
          ${rows}
          <tr>
            <th scope="row">${rest.length} others</th>
            ${cell("k")}${cell("q")}${cell("d")}${cell("softmax", others)}${cell("v")}
          </tr>
          <tr class="vl-brought">
            <th scope="row">what it brings</th>
            <td></td><td></td><td></td>${cell("softmax", percent(1))}${cell("v", strip(brought, inValues))}
          </tr>
        </tbody>`,
    );
    if (scrolls.scrollWidth > scrolls.clientWidth) scrolls.tabIndex = 0; // so that the keyboard can scroll it
    else scrolls.removeAttribute("tabindex");
  }
  return { element, show };
}

/** @type {(value: number, digits: number) => string} */
function signed(value, digits) {
  return value.toFixed(digits).replace("-", "−");
}
