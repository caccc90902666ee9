// Chapter 0: opens a window on a photograph, step by step, until all of it is seen.

import { clamp, move, set } from "../moving/kit.js";
/** @import { Box, Figure, Pair, Place } from "../moving/kit.js" */

/**
 * @typedef {object} Numbers
 * @property {number} pixels along a side of the photograph
 * @property {number[]} sides of the window, in pixels
 * @property {Pair} middle column and row of the window's middle
 * @property {Box} photo
 */

/** @param {Figure<Numbers>} figure */
function start(figure) {
  const { pixels, sides, middle, photo } = figure.numbers;
  const scale = photo.width / pixels;
  const use = /** @type {SVGUseElement} */ (figure.part("view").firstElementChild);
  const view = /** @type {Element} */ (figure.svg.querySelector(use.getAttribute("href") ?? ""));
  /** @type {(side: number) => string} */
  const sized = (side) => `${side}×${side} pixels`;

  /** Opens the window, and cuts the same place out of the photograph's cover. @param {number} side */
  function open(side) {
    const [left, top] = middle.map((at) => clamp(at - (side - 1) / 2, 0, pixels - side));
    set(view, { viewBox: `${left} ${top} ${side} ${side}` });
    use.classList.toggle("small-window", side < 100);
    const [x, y, wide, hole] = [photo.x + left * scale, photo.y + top * scale, photo.width, side * scale];
    figure.draw("cover", { d: `M${photo.x} ${photo.y}h${wide}v${wide}h-${wide}zM${x} ${y}v${hole}h${hole}v-${hole}z` });
    for (const line of figure.part("frame").children) set(line, { x, y, width: hole, height: hole });
  }

  /** @param {number} index */
  function show(index) {
    const side = sides[index];
    const share = (100 * side ** 2) / pixels ** 2;
    figure.write("title", sized(side));
    figure.glide(side, open);
    const asks = share === 100 ? "How early did you know?" : index ? "Do you know yet?" : "What could it be?";
    figure.say(`The window shows ${sized(side)}, ${share.toFixed(share < 1 ? 1 : 0)} % of the photograph. ${asks}`);
  }

  const scrub = { whole: /** @type {Place} */ ([photo.x, photo.y, photo.width, photo.height]) };
  figure.steps({ count: sides.length, label: "side of the window", says: (index) => sized(sides[index]), show, scrub });
}

move("three_windows", start);
