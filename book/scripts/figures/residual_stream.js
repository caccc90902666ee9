// Chapter 6: draws four stacks block by block: the stream, and the cat put together from its tokens.

import { clamp, drawn, listed, move, placeAt, upTo } from "../moving/kit.js";
/** @import { Box, Figure, Pair } from "../moving/kit.js" */

/**
 * @typedef {object} Stack
 * @property {number} steps in a block
 * @property {Pair[]} lengths of a token and of what is left of it, after each step
 * @property {(number | null)[]} recognised after each block
 * @property {(number[] | null)[]} wrong after each block: a place, the patch that is seen there, the next place, ...
 */
/**
 * @typedef {object} Numbers
 * @property {{[name: string]: Stack}} stacks
 * @property {Box} cat
 * @property {number} top
 * @property {number} pitch
 * @property {number} floor
 * @property {number} left
 * @property {number} wide
 */

const ROWS = 14; // rows of patches
const LENGTHS = { length: "length", left: "left of the start" }; // parts of the drawing, and their words

/** @param {Figure<Numbers>} figure */
function start(figure) {
  const { stacks, cat, top, pitch, floor, left, wide } = figure.numbers;
  const names = Object.keys(stacks);
  const blocks = stacks[names[0]].wrong.length - 1;
  const side = cat.width / ROWS;
  let now = blocks; // the end is what the chapter speaks of, and Play begins anew

  /** @type {(href: string, attributes?: {[name: string]: number}) => SVGUseElement} */
  const use = (href, attributes = {}) => drawn("use", { href: `#${href}`, ...attributes });
  const photograph = figure.svg.querySelector("image")?.id ?? "";
  /** @type {(patch: number) => string} */
  const piece = (patch) => `residual-stream-piece-${patch}`;
  /** @type {(patch: number) => string} */
  const box = (patch) => [...placeAt(patch, ROWS).reverse().map((index) => 16 * index), 16, 16].join(" ");
  const whole = { id: "residual-stream-whole", viewBox: `0 0 ${16 * ROWS} ${16 * ROWS}` };
  figure.svg
    .querySelector("defs")
    ?.append(
      drawn("symbol", whole, use(photograph)),
      ...upTo(ROWS ** 2).map((patch) => drawn("symbol", { id: piece(patch), viewBox: box(patch) }, use(photograph))),
    );

  /**
   * Draws the photograph of the cat, and on it the patches that its tokens resemble instead of their own.
   * @type {(name: string, wrong: number[] | null) => void}
   */
  function putTogether(name, wrong) {
    const place = figure.part(`cat-${name}`);
    const y = top + names.indexOf(name) * pitch + cat.y;
    const pieces = wrong ? [use("residual-stream-whole", { x: cat.x, y, width: cat.width, height: cat.height })] : [];
    for (let i = 0; wrong && i < wrong.length; i += 2) {
      const [row, column] = placeAt(wrong[i], ROWS);
      pieces.push(
        use(piece(wrong[i + 1]), { x: cat.x + column * side, y: y + row * side, width: side, height: side }),
      );
    }
    place.replaceChildren(...pieces);
    figure.seen(`empty-${name}`, !wrong);
  }

  /**
   * Returns the path of a band up to a block; a block has one step or several.
   * @type {(stack: Stack, which: number, at: number, bottom: number) => string}
   */
  function band({ steps, lengths }, which, at, bottom) {
    const end = at * steps;
    const [before, after] = [Math.floor(end), Math.ceil(end)];
    const last = lengths[before][which] + (lengths[after][which] - lengths[before][which]) * (end - before);
    const points = lengths.slice(0, before + 1).map((pair, i) => [left + (i / steps) * wide, bottom - pair[which]]);
    points.push([left + at * wide, bottom - last]);
    return `M${left} ${bottom}L${points.map((point) => point.join(" ")).join("L")}V${bottom}Z`;
  }

  /** @type {(at: number) => void} */
  function draw(at) {
    names.forEach((name, index) => {
      const bottom = top + index * pitch + floor;
      ["stream", "first"].forEach((part, which) => {
        figure.draw(`${part}-${name}`, { d: band(stacks[name], which, at, bottom) });
      });
      for (let block = 0; block < blocks; block++) {
        figure.part(`added-${name}-${block}`).style.opacity = String(clamp(at - block, 0.15, 1));
      }
    });
    const x = left + at * wide;
    figure.draw("now", { transform: `translate(${x - left - blocks * wide} 0)` });
  }

  /**
   * Writes all texts and puts the cats together; returns the sentence for a block.
   * @type {(block: number) => string}
   */
  function tell(block) {
    const gone = `${block} block${block === 1 ? "" : "s"}`;
    figure.write("block", `after ${gone}`);
    const counts = names.map((name) => {
      const { wrong, recognised, steps, lengths } = stacks[name];
      Object.entries(LENGTHS).forEach(([part, words], which) =>
        figure.write(`${part}-${name}`, `${words} ${lengths[block * steps][which].toFixed(1)}`),
      );
      putTogether(name, wrong[block]);
      const count = recognised[block];
      figure.write(`count-${name}`, count === null ? "all tokens equal" : `${count} of ${ROWS ** 2} recognised`);
      return count === null ? `with ${name} all tokens are equal` : `${name} ${count}`;
    });
    return block === 0
      ? "Before the first block every token is recognised. Press Next, or drag the line."
      : `After ${gone}, of ${ROWS ** 2} patches: ${listed(counts)}.`;
  }

  /** @type {(block: number) => void} */
  function go(block) {
    now = block;
    figure.glide(block, draw, 700);
    figure.say(tell(block));
  }

  figure.steps(
    {
      count: blocks + 1,
      first: now,
      label: "how many blocks the tokens have gone through",
      says: String,
      show: go,
      scrub: { rows: [left, top + 28, blocks * wide, names.length * pitch - 14] },
    },
    { seconds: 1.2 },
  );
  matchMedia("print").addEventListener("change", ({ matches }) => {
    // paper shows the last frame
    const block = matches ? blocks : now;
    tell(block);
    draw(block);
  });
}

move("residual_stream", start);
