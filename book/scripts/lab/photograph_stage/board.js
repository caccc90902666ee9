// The photograph: a view or a head's attention lies on it, and any of its patches asks.

import { el, html } from "../../shared/elements.js";
import { ARROWS, inWords, isInside, placeAt } from "../../shared/grid.js";
import { attribute, button } from "../parts/dom.js";
import { context, penOf, strokeFrame } from "../parts/paint.js";
import { patchAt } from "./facts.js";

/** @import { Asked, Pair, Pen, ShownPhotograph } from "../parts/types.d.ts" */

export const PICTURE_SIDE = 448; // units of the picture
const FLOOR = 0.35; // share of its brightness that a patch without light keeps
const HIDDEN = "#7c7468"; // the mean colour of the images in training, which the model sees in place of a hidden patch

/** @type {(token: number, grid: number) => string} */
export function tokenNameOf(token, grid) {
  return token === 0 ? "the class token" : `the patch in ${inWords(placeAt(token - 1, grid))}`;
}

/**
 * Paints into a context that counts in units of the picture.
 *
 * light: from 0 to 1 for each patch, or null. colours: three bytes for each patch, or null. hidden: a set of patches.
 * asks: the token that asks. match: a patch with a ring, or null. places: where each patch is painted, or null.
 * @type {(c: Pen, seen: ShownPhotograph & { grid: number }) => void}
 */
export function paintPhotograph(
  c,
  { picture, grid, light = null, colours = null, hidden = new Set(), asks = 0, match = null, places = null },
) {
  const cell = PICTURE_SIDE / grid;
  /** @type {(patch: number) => Pair} */
  const corner = (patch) => [(patch % grid) * cell, Math.floor(patch / grid) * cell];
  c.imageSmoothingEnabled = true;
  c.imageSmoothingQuality = "high";
  if (places) {
    const part = picture.width / grid;
    places.forEach((to, from) =>
      c.drawImage(picture, (from % grid) * part, Math.floor(from / grid) * part, part, part, ...corner(to), cell, cell),
    );
  } else c.drawImage(picture, 0, 0, PICTURE_SIDE, PICTURE_SIDE);
  for (const patch of hidden) paintHidden(c, ...corner(places ? places[patch] : patch), cell);
  c.imageSmoothingEnabled = false;
  if (colours) c.drawImage(sheetOf(colours, grid, asColour), 0, 0, PICTURE_SIDE, PICTURE_SIDE);
  if (light) {
    c.drawImage(sheetOf(light, grid, shade), 0, 0, PICTURE_SIDE, PICTURE_SIDE);
    c.globalCompositeOperation = "screen"; // so that even a black patch shows that it is lit
    c.drawImage(sheetOf(light, grid, glow), 0, 0, PICTURE_SIDE, PICTURE_SIDE);
    c.globalCompositeOperation = "source-over";
  }
  if (colours || light) for (const patch of hidden) strike(c, ...corner(patch), cell);
  if (match !== null) ring(c, ...corner(match), cell);
  if (asks > 0) strokeFrame(c, ...corner(asks - 1), cell, cell);
}

/** @type {(c: Pen, x: number, y: number, cell: number) => void} */
function paintHidden(c, x, y, cell) {
  c.fillStyle = HIDDEN;
  c.fillRect(x, y, cell, cell);
  strike(c, x, y, cell);
}

/** @type {(c: Pen, x: number, y: number, cell: number) => void} */
function strike(c, x, y, cell) {
  c.strokeStyle = "rgba(255, 255, 255, 0.7)";
  c.lineWidth = 1;
  c.beginPath();
  c.moveTo(x, y + cell);
  c.lineTo(x + cell, y);
  c.stroke();
}

/** @type {(c: Pen, x: number, y: number, cell: number) => void} */
function ring(c, x, y, cell) {
  for (const width of [5, 2.5]) {
    c.strokeStyle = width === 5 ? "#000" : "#fff";
    c.lineWidth = width;
    c.beginPath();
    c.arc(x + cell / 2, y + cell / 2, cell * 0.95, 0, 2 * Math.PI);
    c.stroke();
  }
}

/**
 * Makes {element, paint(), focus()}. asked: {token(), point(token or null), pick(token)}. brush: {isOn(),
 * hide(patch, isHidden), isHidden(patch), done()}. beside: more controls above the photograph. shown(): returns the
 * options of paintPhotograph.
 * @param {{
 *   grid: number, asked: Asked, shown(): ShownPhotograph, beside: Node[],
 *   brush: {
 *     isOn(): boolean, isHidden(patch: number): boolean, hide(patch: number, isHidden: boolean): void, done(): void,
 *   },
 * }} hands
 */
export function photographBoard({ grid, asked, brush, shown, beside }) {
  const canvas = el("canvas", { class: "vl-board vp-board", "aria-hidden": "true" });
  const about = { tabindex: 0, role: "application", "aria-roledescription": "patches" };
  const patches = el("div", { class: "vl-patches vp-patches", ...about });
  const classButton = button("class token", () => asked.pick(0), { class: "vp-class-token", "aria-pressed": "false" });
  const nudges = [["←", "Left"], ["↑", "Up"], ["↓", "Down"], ["→", "Right"]].map(([sign, way]) =>
    button(sign, () => step(ARROWS[`Arrow${way}`]), { "aria-label": `One patch ${way.toLowerCase()}` }),
  );
  const element = html`
    <div class="vp-board-place">
      <div class="vl-row vp-above">${classButton}${beside}</div>
      <div class="vp-square">${canvas}${patches}</div>
      <div class="vp-nudges" role="group" aria-label="Move the patch that asks">
        <span aria-hidden="true">Move the patch</span>${nudges}
      </div>
    </div>`;

  /** @type {(event: PointerEvent) => number} */
  const patchUnder = (event) => {
    const area = patches.getBoundingClientRect();
    return patchAt((event.clientY - area.top) / area.height, (event.clientX - area.left) / area.width, grid);
  };
  /** @type {boolean | null} */
  let painting = null; // whether the brush hides or shows, while it is down
  patches.addEventListener("pointerdown", (event) => {
    if (event.button > 0) return;
    const patch = patchUnder(event);
    if (brush.isOn()) {
      painting = !brush.isHidden(patch);
      patches.setPointerCapture(event.pointerId);
      brush.hide(patch, painting);
    } else if (event.pointerType === "touch") asked.point(1 + patch);
  });
  patches.addEventListener("pointermove", (event) => {
    if (painting !== null) brush.hide(patchUnder(event), painting);
    else if (!brush.isOn()) asked.point(1 + patchUnder(event));
  });
  patches.addEventListener("pointerup", (event) => {
    if (painting !== null) brush.done();
    else if (!brush.isOn() && event.button <= 0) asked.pick(1 + patchUnder(event));
    painting = null;
  });
  for (const kind of ["pointercancel", "pointerleave"]) {
    patches.addEventListener(kind, () => {
      if (painting !== null) brush.done();
      painting = null;
      asked.point(null);
    });
  }

  /** @type {(way: Pair) => void} */
  function step([down, right]) {
    if (asked.token() === 0) return asked.pick(1);
    const [row, column] = placeAt(asked.token() - 1, grid);
    if (isInside([row + down, column + right], [grid, grid])) asked.pick(asked.token() + grid * down + right);
  }

  patches.addEventListener("keydown", (event) => {
    if (ARROWS[event.key]) step(ARROWS[event.key]);
    else if (event.key === "Home") asked.pick(0);
    else if ((event.key === "h" || (event.key === " " && brush.isOn())) && asked.token() > 0) {
      const patch = asked.token() - 1;
      brush.hide(patch, !brush.isHidden(patch));
      brush.done();
    } else return;
    event.preventDefault();
  });

  function paint() {
    const seen = shown();
    paintPhotograph(context(canvas, PICTURE_SIDE, PICTURE_SIDE, canvasRatio(canvas)), { grid, ...seen });
    element.classList.toggle("vp-hiding", brush.isOn());
    attribute(classButton, "aria-pressed", seen.asks === 0);
    attribute(patches, "aria-label",
      `The photograph in ${grid} × ${grid} patches. Arrow keys choose the patch that asks, Home the class token, H ` +
      `hides the patch or shows it again. Now asks ${tokenNameOf(asked.token(), grid)}.`);
  }
  return { element, paint, focus: () => patches.focus({ preventScroll: true }) };
}

/**
 * Returns how many pixels of the screen the canvas should have for a unit.
 * @type {(canvas: HTMLCanvasElement) => number}
 */
function canvasRatio(canvas) {
  const shown = canvas.clientWidth || PICTURE_SIDE;
  return Math.min(3, Math.max(1, (shown * (globalThis.devicePixelRatio || 1)) / PICTURE_SIDE));
}

/** @typedef {(values: ArrayLike<number>, patch: number) => number[]} Pixel */

// The colours laid on the photograph: four bytes for each patch.
/** @type {Pixel} */
const asColour = (colours, patch) => [colours[3 * patch], colours[3 * patch + 1], colours[3 * patch + 2], 255];
/** @type {Pixel} */
const shade = (light, patch) => [0, 0, 0, 255 * (1 - FLOOR) * (1 - light[patch])];
/** @type {Pixel} */
const glow = (light, patch) => [150, 120, 20, 190 * light[patch]];

/** @type {Map<number, HTMLCanvasElement>} */
const sheets = new Map();

/**
 * Returns a canvas with a pixel for each patch; the next call for that grid reuses it.
 * @type {(values: ArrayLike<number>, grid: number, pixel: Pixel) => HTMLCanvasElement}
 */
function sheetOf(values, grid, pixel) {
  const canvas = sheets.get(grid) ?? el("canvas");
  sheets.set(grid, canvas);
  paintColours(canvas, values, grid, pixel);
  return canvas;
}

/** @type {(canvas: HTMLCanvasElement, values: ArrayLike<number>, grid: number, pixel?: Pixel) => void} */
export function paintColours(canvas, values, grid, pixel = asColour) {
  if (canvas.width !== grid) canvas.width = canvas.height = grid;
  const c = penOf(canvas);
  const image = c.createImageData(grid, grid);
  for (let patch = 0; patch < grid * grid; patch++) image.data.set(pixel(values, patch), 4 * patch);
  c.putImageData(image, 0, 0);
}
