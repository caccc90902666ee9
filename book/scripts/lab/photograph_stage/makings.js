// What the model makes of a photograph: four small pictures, now and before, and the pressed one's sentence; and the
// other photograph.

import { el, html } from "../../shared/elements.js";
import { attribute, button, hide, labelled, makeChoice, write } from "../parts/dom.js";
import { colouring, context, paintPixels } from "../parts/paint.js";
import { PICTURE_SIDE, paintColours, paintPhotograph } from "./board.js";
import { PHOTOS } from "./state.js";

/** @import { ShownPhotograph, SmallPicture, Views } from "../parts/types.d.ts" */

const TITLES = { directions: "Directions", matches: "Matches", norms: "Norms", saliency: "Saliency" };

/**
 * Makes {element, said, onAgain, paint(views)}; choose(view) is called when a picture is pressed, and on a phone, where
 * they stay in sight, back() when the photograph is that stands beside them, and allOn() when onAgain is.
 * said is the place for words.
 * @param {{ grid: number, choose(view: string): void, back(): void, allOn(): void }} hands
 */
export function makings({ grid, choose, back, allOn }) {
  const rows = Object.entries(TITLES).map(([view, title]) => {
    const [now, before] = [0, 1].map(() => el("canvas", { class: "vp-small", "aria-hidden": "true" }));
    const press = button("", () => choose(view), { class: "vp-view", "aria-pressed": "false" });
    press.append(now, el("span", { class: "vp-view-name" }, title));
    const ghost = html`<figure class="vp-before" hidden>${before}<figcaption>before</figcaption></figure>`;
    return { view, now, before, press, ghost, row: html`<div class="vp-making">${press}${ghost}</div>` };
  });
  const board = el("canvas", { class: "vp-small", "aria-hidden": "true" });
  const toBoard = button("", back, { class: "vp-view vp-to-board" });
  toBoard.append(board, el("span", { class: "vp-view-name" }, "Photograph"));
  const said = el("p", { class: "vl-looks vp-said" });
  const onAgain = button("", allOn, { class: "vl-beside vp-on-again" });
  const element = html`
    <section class="vp-makings" aria-label="What the model makes of it">
      ${toBoard}${rows.map(({ row }) => row)}${said}${onAgain}
    </section>`;

  /**
   * views: for each view {now, before or null}; a picture is {colours} or {values, colouring}, or null.
   * onBoard: the photograph, and what lies on it.
   * @type {(views: Views, pressed: string, onBoard: ShownPhotograph) => void}
   */
  function paint(views, pressed, onBoard) {
    const side = PICTURE_SIDE;
    if (toBoard.checkVisibility()) paintPhotograph(context(board, side, side, 0.5), { grid, ...onBoard });
    for (const { view, now, before, press, ghost } of rows) {
      const shown = views[view];
      fill(now, shown.now);
      fill(before, shown.before);
      hide(ghost, !shown.before);
      attribute(press, "aria-pressed", view === pressed);
    }
  }

  /** @type {(canvas: HTMLCanvasElement, picture: SmallPicture | null) => void} */
  function fill(canvas, picture) {
    canvas.classList.toggle("vp-empty", !picture);
    if (!picture) return;
    if (picture.colours) paintColours(canvas, picture.colours, grid);
    else if (picture.values)
      paintPixels(canvas, picture.values, grid, grid, picture.colouring ?? colouring(picture.values));
  }

  return { element, said, onAgain, paint };
}

/**
 * Makes the other photograph: {element, paint({picture, light, match, words})}; choose(name or null) is called.
 * @param {{ grid: number, choose(name: string | null): void }} hands
 */
export function otherPhotograph({ grid, choose }) {
  const select = makeChoice([["", "none"], ...Object.entries(PHOTOS)], (name) => choose(name || null));
  const canvas = el("canvas", { class: "vp-other-picture", role: "img" });
  const words = el("p", { class: "vp-fact" });
  const beside = html`<div class="vp-other-shown" hidden>${canvas}${words}</div>`;
  const element = html`
    <section class="vp-other" aria-label="In another photograph">
      <div class="vl-row">
        ${labelled("Find it also in", select)}
        <p class="vl-note vp-what"><a href="#your-own-photograph">What are tokens, and what do these show?</a></p>
      </div>
      ${beside}
    </section>`;
  return {
    element,
    /** @type {(name: string | null, shown: (Partial<ShownPhotograph> & { words: string }) | null) => void} */
    paint(name, shown) {
      select.value = name ?? "";
      hide(beside, !shown);
      if (!shown) return;
      write(words, shown.words);
      canvas.setAttribute("aria-label", `The ${PHOTOS[name ?? ""]}. ${shown.words}`);
      const side = PICTURE_SIDE;
      const { picture } = shown;
      if (picture) paintPhotograph(context(canvas, side, side, 1), { ...shown, picture, grid });
    },
  };
}
