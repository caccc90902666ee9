// The controls for the image's content: the digit, or a drawn one, the ground, and the scraps.

import { el, html } from "../../shared/elements.js";
import { clamp, upTo } from "../../shared/grid.js";
import { attribute, button, labelled, makeChoice } from "./dom.js";
import { drawingPad } from "./drawing_pad.js";
import { MOST_SCRAPS } from "./source.js";

/** @import { Board, Source } from "./types.d.ts" */

/**
 * Makes {element}: the controls, one of which opens a pad on the board.
 * @param {Source} source
 * @param {Board} board
 * @param {...Node} more
 */
export function makeToolbar(source, board, ...more) {
  const digits = upTo(10).map((label) =>
    button(String(label), () => source.choose(label), {
      "aria-label": `digit ${label}, press again for another one`,
      "aria-pressed": "false",
    }),
  );
  const draw = button("Draw", () => pad.open(!pad.isOpen), { class: "vl-draw", "aria-expanded": "false" });
  const options = button("Options", () => {
    const isOpen = element.closest(".vl-panel")?.classList.toggle("vl-options");
    attribute(options, "aria-expanded", isOpen);
    if (isOpen) another.scrollIntoView({ block: "nearest" });
  }, { class: "vl-more", "aria-expanded": "false" }); // on a phone, where they are folded
  const pad = drawingPad(source, board, {
    opener: draw,
    opened: (isOpen) => draw.setAttribute("aria-expanded", String(isOpen)),
  });
  const ground = makeChoice(
    [["brick", "brick"], ["grass", "grass"], ["gravel", "gravel"], ["none", "black"]],
    (name) => source.set({ ground: name }));
  const another = button("Another piece", () => source.set({ piece: source.state.piece + 1 }));
  const scraps = el("input", {
    type: "number", min: 0, max: MOST_SCRAPS, inputmode: "numeric",
    onchange: () => {
      source.set({ scraps: clamp(Math.round(Number(scraps.value)) || 0, 0, MOST_SCRAPS) });
    },
  });

  const ten = el("div", { class: "vl-ten" }, ...digits);
  function refresh() {
    digits.forEach((element, label) => attribute(element, "aria-pressed", source.label === label));
    ground.value = source.state.ground;
    another.disabled = source.state.ground === "none";
    scraps.value = String(source.state.scraps);
  }
  source.onChange(refresh);
  refresh();
  const element = html`
    <div class="vl-toolbar" role="group" aria-label="The image">
      <div class="vl-row vl-digits">${ten}${draw}${options}</div>
      <div class="vl-row">${labelled("Background", ground)}${another}</div>
      ${labelled("Distractors", scraps)}${more}
    </div>`;
  return { element };
}
