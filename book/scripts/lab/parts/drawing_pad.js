// A pad on the board, on which a digit is drawn with the mouse, a finger or the arrow keys. It shows the digit's box,
// enlarged to the size of the image.

import { el, html } from "../../shared/elements.js";
import { ARROWS, clamp } from "../../shared/grid.js";
import { button, hide } from "./dom.js";
import { ASKING, context, grey, pixels } from "./paint.js";
import { DIGIT, IMAGE, compose } from "./scene.js";
import { digitFromStrokes } from "./strokes.js";

/** @import { Board, Pair, Source, Stroke } from "./types.d.ts" */

const SIDE = 144; // units
const PEN = 16; // units wide
const PIXELS = 4; // of the canvas, for a unit
const KEY = 1 / 24; // share of the side that a key press moves
const EDGE = 1 / 16; // share of the side at which the arrow keys stop
const START = { row: 1 / 4, column: 1 / 2, down: false }; // the pen at the start
const ZOOM = 250; // milliseconds in which the box becomes as large as the image
const EMPTY = new Float64Array(64);
/** @type {(drawn: Float64Array | null) => boolean} */
const isBlank = (drawn) => drawn !== null && drawn.every((ink) => ink === 0);

/**
 * Makes the pad on a board: {isOpen, open(isOpen)}. opener: the button that opens it, and gets the focus back when
 * the pad is closed by a key. opened(isOpen): called when it opens or closes.
 * @param {Source} source
 * @param {Board} board
 * @param {{ opener: HTMLElement, opened(isOpen: boolean): void }} hands
 */
export function drawingPad(source, board, { opener, opened }) {
  /** @type {Stroke[]} */
  const strokes = []; // lists of points [row, column], in shares of the pad
  const pen = { ...START };
  let isTouched = false; // whether something was drawn or wiped since it opened
  const calm = matchMedia("(prefers-reduced-motion: reduce)");
  const canvas = el("canvas", { class: "vl-pad" });
  const hint = el("span", { class: "vl-pad-hint" }, "draw a digit here");
  const sheet = el("div", {
    class: "vl-sheet",
    tabindex: 0,
    role: "application",
    "aria-roledescription": "drawing pad",
    "aria-label": "Drawing pad. Arrow keys move the pen, the space bar lowers and lifts it, Escape ends.",
  }, canvas, hint);
  const wipe = button("Wipe", () => {
    isTouched = true;
    clear();
    source.set({ drawn: EMPTY });
  });
  const done = button("Done", () => close());
  const element = html`
    <div class="vl-drawing" hidden>
      ${sheet}
      <div class="vl-row vl-hands">
        ${wipe}${done}
        <span class="vl-note">Arrows move the pen, space lowers it.</span>
      </div>
    </div>`;
  board.element.append(element);

  function clear() {
    strokes.length = 0;
    Object.assign(pen, START);
  }

  function lower() {
    pen.down = isTouched = true;
    strokes.push([[pen.row, pen.column]]);
  }

  /** @type {(row: number, column: number) => void} */
  function move(row, column) {
    [pen.row, pen.column] = [row, column];
    if (pen.down) strokes[strokes.length - 1].push([row, column]);
  }

  /** Paints the ground inside the digit's box, enlarged, and the strokes on it. */
  function show() {
    const c = context(canvas, SIDE, SIDE, PIXELS);
    const { top, left } = source.box();
    const ground = compose({ ...source.scene, digit: EMPTY });
    c.drawImage(pixels(ground, IMAGE, IMAGE, grey), left, top, DIGIT, DIGIT, 0, 0, SIDE, SIDE);
    c.strokeStyle = "#fff";
    c.lineWidth = PEN;
    c.lineCap = c.lineJoin = "round";
    for (const stroke of strokes) {
      c.beginPath();
      for (const [row, column] of [stroke[0], ...stroke]) c.lineTo(column * SIDE, row * SIDE);
      c.stroke();
    }
    if (sheet.matches(":focus-visible")) { // the keys may move the pen
      c.strokeStyle = ASKING;
      c.lineWidth = pen.down ? 3 : 1;
      c.strokeRect(pen.column * SIDE - 6, pen.row * SIDE - 6, 12, 12);
    }
    hide(hint, strokes.length > 0);
  }

  function draw() {
    show();
    const digit = digitFromStrokes(strokes);
    if (digit) source.set({ drawn: digit });
  }

  /** Lets the pad grow out of the box, or shrink back into it. @type {(isOpening: boolean) => Animation} */
  function zoom(isOpening) {
    const { top, left } = source.box();
    const [down, right] = [top, left].map((pixel) => (100 * pixel) / IMAGE);
    const share = DIGIT / IMAGE;
    const box = { transform: `translate(${right}%, ${down}%) scale(${share})`, transformOrigin: "0 0" };
    const whole = { transform: "none", transformOrigin: "0 0" };
    return sheet.animate(isOpening ? [box, whole] : [whole, box], {
      duration: calm.matches ? 0 : ZOOM,
      easing: "ease-out",
    });
  }

  const pad = {
    isOpen: false,
    /** @type {(isOpen: boolean) => void} */
    open(isOpen) {
      if (isOpen === pad.isOpen) return;
      pad.isOpen = isOpen;
      opened(isOpen);
      if (isOpen) {
        isTouched = source.state.drawn !== null;
        element.hidden = false;
        element.scrollIntoView({ block: "nearest" });
        sheet.focus({ preventScroll: true });
        source.set({ drawn: source.state.drawn ?? EMPTY });
        zoom(true);
        document.addEventListener("pointerdown", outside, true);
      } else {
        document.removeEventListener("pointerdown", outside, true);
        source.wait(false);
        source.set(!isTouched && source.state.drawn === EMPTY ? { drawn: null } : {});
        zoom(false).onfinish = () => { element.hidden = !pad.isOpen; };
      }
    },
  };

  function close() {
    pad.open(false);
    opener.focus({ preventScroll: true });
  }

  /** @type {(event: PointerEvent) => void} */
  function outside(event) {
    if (!(event.target instanceof Node && element.contains(event.target)) && event.target !== opener) pad.open(false);
  }

  /** @type {(event: PointerEvent) => number[]} */
  const at = (event) => {
    const area = canvas.getBoundingClientRect();
    return [(event.clientY - area.top) / area.height, (event.clientX - area.left) / area.width].map((share) =>
      clamp(share, 0, 1),
    );
  };
  canvas.addEventListener("pointerdown", (event) => {
    canvas.setPointerCapture(event.pointerId);
    [pen.row, pen.column] = at(event);
    lower();
    draw();
  });
  canvas.addEventListener("pointermove", (event) => {
    if (!canvas.hasPointerCapture(event.pointerId)) return;
    const [row, column] = at(event);
    move(row, column);
    draw();
  });
  for (const end of ["pointerup", "pointercancel"]) canvas.addEventListener(end, () => {
    pen.down = false;
  });
  for (const kind of ["focus", "blur"]) sheet.addEventListener(kind, show);
  element.addEventListener("keydown", (event) => {
    if (event.key !== "Escape") return;
    event.stopPropagation();
    close();
  });
  sheet.addEventListener("keydown", (event) => {
    const step = ARROWS[event.key]?.map((way) => KEY * way);
    if (event.key === " ") {
      if (pen.down) pen.down = false;
      else lower();
    } else if (step) move(clamp(pen.row + step[0], EDGE, 1 - EDGE), clamp(pen.column + step[1], EDGE, 1 - EDGE));
    else return;
    event.preventDefault();
    draw();
  });
  source.onChange(() => {
    if (!pad.isOpen) return;
    if (!source.state.drawn || source.state.drawn === EMPTY) clear();
    source.wait(isBlank(source.state.drawn));
    show();
  });
  return pad;
}
