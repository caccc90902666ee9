// The board: the image, with the chosen map as light on it, and lines from the token whose query it is.

import { el, html } from "../../shared/elements.js";
import { ARROWS, clamp, inWords, isInside, placeAt } from "../../shared/grid.js";
import { attribute, button, hide } from "./dom.js";
import { ASKING, TRUE_BOX, context, grey, gridLines, penOf, pixels, strokeFrame } from "./paint.js";
import { DIGIT, IMAGE, STEP } from "./scene.js";
import { paintVotes } from "./votes.js";
import { modelOf } from "./weights.js";

/** @import { Asked, Numbers, Pair, Pen, Shown, Source } from "./types.d.ts" */

const SIDE = 320; // units of the image; above it is the class token, one patch high
const FLOOR = 0.5; // share of its light that a patch without attention keeps
const THICK = 5; // thickness of a line with all of the attention, where it begins
const LEAST = 0.0154; // a smaller share has no line
const FLIGHT = 700; // milliseconds until shuffled patches have moved

/** Returns the height of the class token's row above the image. */
const rowHeight = () => SIDE / modelOf("trained").gridSize[0];
/** @type {(above?: number) => Pair} */
export const boardSize = (above = rowHeight()) => [SIDE, SIDE + above];

/**
 * Returns the middle of a token's place on the board; token 0, the class token, is above the patches. moved: how far
 * the patches are on their way to where a model with shuffled positions believes them to be, from 0 to 1.
 * @type {(token: number, moved?: number, above?: number) => Pair}
 */
function middle(token, moved = 0, above = rowHeight()) {
  const { gridSize: [rows, columns], permutation } = modelOf("trained");
  if (token === 0) return [SIDE / 5, above * 0.8];
  const own = token - 1;
  /** @type {(place: (patch: number) => number) => number} */
  const between = (place) => place(own) + moved * (place(permutation[own]) - place(own));
  return [
    (between((patch) => patch % columns) + 0.5) * (SIDE / columns),
    (between((patch) => Math.floor(patch / columns)) + 0.5) * (SIDE / rows) + above,
  ];
}

/**
 * Paints the board into a context that counts in its units.
 *
 * shares: the attention that the token gives to each patch, or null for the plain image.
 * votes: the patches' votes, or null.
 * above: the height of the class token's row, or 0 if it is not shown.
 * moved: how far shuffled patches are on their way, from 0 to 1. A small picture shows the image as it is.
 * @type {(c: Pen, source: Source, shown?: Shown) => void}
 */
export function paintBoard(
  c,
  source,
  { shares = null, votes = null, token = 0, showGrid = true, showBox = true, above = rowHeight(), moved = 0 } = {},
) {
  const { gridSize: [rows, columns] } = modelOf("trained");
  const unit = SIDE / IMAGE;
  c.clearRect(0, 0, ...boardSize(above));
  c.drawImage(pixels(source.image(), IMAGE, IMAGE, grey), 0, above, SIDE, SIDE);
  if (shares) dim(c, shares, rows, columns, above);
  if (votes) paintVotes(c, votes, middle, SIDE / columns);
  c.save();
  c.translate(0, above);
  if (showGrid) gridLines(c, SIDE, rows, "rgba(255, 255, 255, 0.35)");
  const box = source.box();
  if (showBox) strokeFrame(c, box.left * unit, box.top * unit, DIGIT * unit, DIGIT * unit, TRUE_BOX);
  c.restore();
  if (moved > 0) {
    movePatches(c, moved, above);
    if (above > 0) {
      c.globalAlpha = moved;
      c.drawImage(pixels(source.image(), IMAGE, IMAGE, grey), SIDE - above + 4, 0, above - 4, above - 4);
      c.globalAlpha = 1;
    }
  }
  if (shares) lines(c, shares, (at) => middle(at, moved, above), token);
  if (token > 0) {
    const [x, y] = middle(token, moved, above);
    strokeFrame(c, x - SIDE / columns / 2, y - SIDE / rows / 2, SIDE / columns, SIDE / rows, ASKING);
  }
}

/**
 * Darkens patches with little attention; with the square root, a tenth of the largest share still shows.
 * @type {(c: Pen, shares: Numbers, rows: number, columns: number, above: number) => void}
 */
function dim(c, shares, rows, columns, above) {
  const most = Math.max(...shares) || 1;
  shares.forEach((share, patch) => {
    c.fillStyle = `rgba(0, 0, 0, ${(1 - FLOOR) * (1 - Math.sqrt(share / most))})`;
    const [x, y] = middle(patch + 1, 0, above);
    c.fillRect(x - SIDE / columns / 2, y - SIDE / rows / 2, SIDE / columns, SIDE / rows);
  });
}

/** @type {HTMLCanvasElement | null} */
let cut = null; // the picture before it is cut into patches

/**
 * Moves each patch of a painted picture, with the light and the piece of the box's frame on it.
 * @type {(c: Pen, moved: number, above: number) => void}
 */
function movePatches(c, moved, above) {
  const { gridSize: [rows, columns] } = modelOf("trained");
  cut ??= el("canvas");
  [cut.width, cut.height] = [c.canvas.width, c.canvas.height];
  penOf(cut).drawImage(c.canvas, 0, 0);
  const unit = c.canvas.width / SIDE;
  const [width, height] = [SIDE / columns, SIDE / rows];
  c.fillRect(0, above, SIDE, SIDE);
  for (let token = 1; token <= rows * columns; token++) {
    const [from, to] = [middle(token, 0, above), middle(token, moved, above)].map(([x, y]) => [
      x - width / 2,
      y - height / 2,
    ]);
    c.drawImage(cut, from[0] * unit, from[1] * unit, width * unit, height * unit, to[0], to[1], width, height);
  }
}

/**
 * Draws a line from the token to each patch: the larger the patch's share, the thicker the line. It grows thinner on
 * its way, so that it hides little of where it leads.
 * @type {(c: Pen, shares: Numbers, middleOf: (token: number) => Pair, token: number) => void}
 */
function lines(c, shares, middleOf, token) {
  const from = middleOf(token);
  c.save();
  c.lineJoin = "round";
  for (const edge of [1, 0]) {
    c.strokeStyle = c.fillStyle = edge ? "rgba(0, 0, 0, 0.65)" : ASKING;
    shares.forEach((share, patch) => {
      if (share < LEAST) return;
      const width = THICK * Math.sqrt(share);
      const to = middleOf(patch + 1);
      c.beginPath();
      if (patch + 1 === token) { // the token's own share
        c.lineWidth = width + edge;
        c.arc(...to, 8, 0, 2 * Math.PI);
        return c.stroke();
      }
      const [right, down] = [to[0] - from[0], to[1] - from[1]];
      const [across, along] = [down, -right].map((way) => (way / Math.hypot(right, down)) * (width / 2));
      c.moveTo(from[0] + across, from[1] + along);
      c.lineTo(to[0] + across / 3, to[1] + along / 3);
      c.lineTo(to[0] - across / 3, to[1] - along / 3);
      c.lineTo(from[0] - across, from[1] - along);
      c.closePath();
      c.fill();
      if (edge === 0) return;
      c.lineWidth = edge;
      c.stroke();
    });
  }
  c.restore();
}

/**
 * asked: {pick(token), point(token or null), token()} if patches can be chosen, else null.
 * shown(): returns the options of paintBoard, and shuffled: whether each patch is shown where the model believes it
 * to be.
 * @param {Source} source
 * @param {{ asked?: Asked | null, shown?: () => Shown & { shuffled?: boolean } }} hands
 */
export function makeBoard(source, { asked = null, shown = () => ({}) } = {}) {
  const { gridSize: [rows, columns], permutation } = modelOf("trained");
  const canvas = el("canvas", { class: "vl-board", "aria-hidden": "true" });
  const handle = el("div", {
    class: "vl-handle", tabindex: 0, role: "application", "aria-roledescription": "digit",
    "aria-label": "The digit in its box. Arrow keys move it.",
  });
  const square = el("div", { class: "vl-square" }, handle);
  const place = el("div", { class: asked ? "vl-board-place" : "vl-board-place vl-alone" }, canvas, square);
  const above = asked ? rowHeight() : 0;
  const calm = matchMedia("(prefers-reduced-motion: reduce)");
  /** @type {boolean | null} */
  let shuffled = null; // whether the patches are shuffled, or on their way there; unknown before the first painting
  let moved = 0;

  /**
   * Returns the pointer's row and column on the square, in pixels of the image.
   * @type {(event: PointerEvent) => Pair}
   */
  const pixelAt = (event) => {
    const area = square.getBoundingClientRect();
    return [((event.clientY - area.top) / area.height) * IMAGE, ((event.clientX - area.left) / area.width) * IMAGE];
  };
  /** Returns the place under the pointer, counted as the patches are. @type {(event: PointerEvent) => number} */
  const placeAt = (event) => {
    const [row, column] = pixelAt(event).map((at, axis) => {
      const count = [rows, columns][axis];
      return clamp(Math.floor((at / IMAGE) * count), 0, count - 1);
    });
    return columns * row + column;
  };
  /** @type {(place: number) => number} */
  const patchIn = (place) => (shuffled ? permutation.indexOf(place) : place);
  /** @type {(patch: number) => number} */
  const placeOfPatch = (patch) => (shuffled ? permutation[patch] : patch);
  /** @type {(event: PointerEvent) => number} */
  const patchAt = (event) => 1 + patchIn(placeAt(event));

  /**
   * Returns whether the pointer is on the digit's box: on the box itself, or on a shuffled patch that was cut from it.
   * @type {(event: PointerEvent) => boolean}
   */
  function isOnBox(event) {
    if (!shuffled) return event.target instanceof Node && handle.contains(event.target);
    const place = placeAt(event);
    const from = patchIn(place);
    const [row, column] = pixelAt(event);
    const y = row + (Math.floor(from / columns) - Math.floor(place / columns)) * (IMAGE / rows);
    const x = column + ((from % columns) - (place % columns)) * (IMAGE / columns);
    const { top, left, bottom, right } = source.box();
    return y >= top && y < bottom && x >= left && x < right;
  }

  // The digit is dragged by its box. A press without a move chooses the patch under it.
  /** @type {{ x: number, y: number, grip: { at: Pair, from: Pair } | null, moved: boolean } | null} */
  let pressed = null;
  square.addEventListener("pointerdown", (event) => {
    if (event.button > 0) return;
    place.classList.add("vl-moved");
    const { top, left } = source.state;
    const grip = isOnBox(event) ? { at: pixelAt(event), from: /** @type {Pair} */ ([top, left]) } : null;
    pressed = { x: event.clientX, y: event.clientY, grip, moved: false };
    if (grip) square.setPointerCapture(event.pointerId);
  });
  square.addEventListener("pointermove", (event) => {
    if (pressed) {
      pressed.moved ||= Math.hypot(event.clientX - pressed.x, event.clientY - pressed.y) > 4;
      if (!pressed.grip || !pressed.moved) return;
      asked?.point(null); // no patch is pointed at during a drag
      const { at, from } = pressed.grip;
      const [row, column] = pixelAt(event);
      moveTo(from[0] + row - at[0], from[1] + column - at[1]);
    } else if (event.pointerType !== "touch") {
      if (shuffled) square.classList.toggle("vl-grip", isOnBox(event));
      asked?.point(patchAt(event));
    }
  });
  square.addEventListener("pointerup", (event) => {
    if (pressed && !pressed.moved) asked?.pick(patchAt(event));
    pressed = null;
  });
  square.addEventListener("pointercancel", () => { pressed = null; });
  square.addEventListener("pointerleave", () => {
    if (!pressed?.grip) pressed = null; // the pointer is released elsewhere
    asked?.point(null);
  });

  handle.addEventListener("keydown", (event) => {
    const step = ARROWS[event.key];
    if (!step) return;
    event.preventDefault();
    event.stopPropagation();
    moveTo(source.state.top + STEP * step[0], source.state.left + STEP * step[1]);
  });

  /** @type {(top: number, left: number) => void} */
  function moveTo(top, left) {
    place.classList.add("vl-moved");
    source.move(top, left);
  }

  /** @type {HTMLButtonElement | null} */
  let classButton = null;
  /** @type {HTMLElement | null} */
  let patches = null;
  const asItIs = el("span", { class: "vl-as-it-is", hidden: true }, "the image");
  if (asked) {
    patches = el("div", {
      class: "vl-patches",
      tabindex: 0,
      role: "application",
      "aria-roledescription": "patches",
      onkeydown: (event) => {
        const step = ARROWS[event.key];
        const token = asked.token();
        if (event.key === "Home" || event.key === "Escape") asked.pick(0);
        else if (step && token === 0) asked.pick(1);
        else if (step) {
          const [row, column] = placeOf(1 + placeOfPatch(token - 1)).map((at, axis) => at + step[axis]);
          if (isInside([row, column], [rows, columns])) asked.pick(1 + patchIn(columns * row + column));
        } else return;
        event.preventDefault();
      },
    });
    square.prepend(patches);
    classButton = button("class token", () => asked.pick(0), { class: "vl-class-token", "aria-pressed": "true" });
    square.before(html`<div class="vl-over">${classButton}${asItIs}<span class="vl-drag">drag digit</span></div>`);
  }

  /**
   * Lets the patches go where the model believes them to be, or back; the first time they are there at once.
   * @type {(isShuffled: boolean) => void}
   */
  function shuffle(isShuffled) {
    if (isShuffled === shuffled) return;
    const [from, to] = [moved, Number(isShuffled)];
    const isFirst = shuffled === null;
    shuffled = isShuffled;
    place.classList.toggle("vl-shuffled", shuffled);
    hide(asItIs, !shuffled);
    if (isFirst || calm.matches) moved = to;
    if (moved === to) return;
    const start = performance.now();
    requestAnimationFrame(function fly(now) {
      if (shuffled !== isShuffled) return; // they have turned back
      const share = clamp((now - start) / FLIGHT, 0, 1);
      moved = from + (to - from) * share * share * (3 - 2 * share);
      paint();
      if (share < 1) requestAnimationFrame(fly);
    });
  }

  function paint() {
    const { top, left } = source.state;
    handle.style.transform = `translate(${(100 * left) / DIGIT}%, ${(100 * top) / DIGIT}%)`;
    const { shuffled: isShuffled = false, ...others } = shown();
    shuffle(isShuffled);
    const seen = { ...others, above, moved };
    paintBoard(context(canvas, ...boardSize(above)), source, seen);
    if (!asked) return;
    if (classButton) attribute(classButton, "aria-pressed", seen.token === 0);
    if (patches) attribute(patches, "aria-label",
      `The image in patches${shuffled ? ", each where the model believes it to be" : ""}. Arrow keys choose the ` +
      `patch that asks, Home the class token. Now asks ${tokenName(asked.token())}.`);
  }

  return { element: place, square, paint };
}

/** Returns row and column of a patch's token. @type {(token: number) => Pair} */
export function placeOf(token) {
  const { gridSize: [, columns] } = modelOf("trained");
  return placeAt(token - 1, columns);
}

/** @type {(token: number) => string} */
export function tokenName(token) {
  return token === 0 ? "the class token" : `the patch in ${inWords(placeOf(token))}`;
}
