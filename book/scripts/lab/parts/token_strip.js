// Shows all tokens that enter block 0, one row each.

import { el, html } from "../../shared/elements.js";
import { tokenName } from "./board.js";
import { whenSeen } from "./dom.js";
import { colourBar, colouring, context, diverging, pixels, strokeFrame } from "./paint.js";

/** @import { Numbers } from "./types.d.ts" */

const STRIP = 208; // width of the picture

/**
 * Makes {element, show(embed, token)}: embed holds the tokens (T, D), token is the framed one.
 * @param {number} T
 * @param {number} D
 */
export function tokenStrip(T, D) {
  const strip = el("canvas", { class: "vl-strip", role: "img", "aria-label": `The ${T} tokens` });
  const scale = colourBar(diverging);
  const tokens = el("div", {}, strip, scale.element);
  /** @type {Numbers} */
  let embed = new Float32Array();
  let token = 0;
  const paint = whenSeen(tokens, () => {
    const c = context(strip, STRIP, 3 * T);
    const colours = colouring(embed);
    c.drawImage(pixels(embed, T, D, colours), 0, 0, STRIP, 3 * T);
    strokeFrame(c, 1, 3 * token, STRIP - 2, 3);
    const high = colours.high.toFixed(1);
    scale.show(`−${high}`, high);
    strip.setAttribute("aria-label",
      `The ${T} tokens as ${T} rows of ${D} numbers, from −${high} in blue to ${high} in red. Framed: ` +
      `${tokenName(token)}.`);
  });
  const words =
    `What enters block 0: ${T} rows of ${D} numbers each, the class token’s first. The row of the token that looks ` +
    "is framed.";
  const element = html`
    <div class="vl-panel vl-below">${tokens}<div><h3>All the tokens</h3><p>${words}</p></div></div>`;
  return {
    element,
    /** @type {(values: Numbers, framed: number) => void} */
    show(values, framed) {
      [embed, token] = [values, framed];
      paint();
    },
  };
}
