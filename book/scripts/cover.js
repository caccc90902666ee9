// The cover: six photographs, and what a trained ViT makes of their patches. Of the patches of all six, the patch under
// the pointer lights the tenth that is most similar to it. book/cover.py made the picture and the numbers.

import { el } from "./shared/elements.js";
import { ARROWS, clamp, inWords, placeAt } from "./shared/grid.js";
import { bytesOf, dot } from "./shared/numbers.js";

/** @import { Pair } from "./shared/grid.js" */

/** @typedef {[left: number, top: number, side: number]} Tile a photograph's place, or its colours', in units */
/** @typedef {{ photo: number, place: Pair }} Where a patch lies */

const { grid, numbers: D, asking, names, tokens: packed } = vitCover; // of cover_data.js
const TILE = 222; // units of a photograph in the picture
const GAP = 8;
const WIDTH = 1372;
const NARROW = 560; // pixels of the screen
const FRAME = 12; // the same; the frame is no smaller, even where a patch is
const N = grid * grid;
// milliseconds: the colours appear, the first patch asks, it stops asking, end
const [COLOURS, ASK, STOP, END] = [1400, 1800, 4200, 4800];
const [DARK, BRIGHT] = [0.6, 0.35]; // how much darker the least similar patch is, and brighter the most similar
const LIT_FROM = 0.9; // share of the patches that stay dark
const NEAR = 3; // patches so near to the one that asks are not said to be similar

const bytes = new Int8Array(bytesOf(packed).buffer);
const tokens = names.flatMap((_, i) =>
  Array.from({ length: N }, (_, patch) => bytes.subarray((i * N + patch) * D, (i * N + patch + 1) * D)),
);
const lengths = tokens.map((token) => Math.sqrt(dot(token, token)));

/** @param {number} asked */
const cosines = (asked) => tokens.map((token, k) => dot(tokens[asked], token) / lengths[k] / lengths[asked]);

/** Returns how bright each patch is: all but the most similar tenth are dark. @param {number} asked */
function light(asked) {
  const found = cosines(asked);
  const least = [...found].sort((a, b) => a - b)[Math.floor(LIT_FROM * found.length)];
  return found.map((cosine) => Math.max(0, (cosine - least) / (1 - least)));
}
Object.assign(vitCover, { cosines, light }); // tests compare them

/** @type {(patch: number) => Where} */
const whereIs = (patch) => ({ photo: Math.floor(patch / N), place: placeAt(patch % N, grid) });
/** @type {(photo: number, place: Pair) => number} */
const patchOf = (photo, [row, column]) => photo * N + row * grid + column;

/** Names the patch that asks, and those most similar to it: farther away, and in another photograph. */
function similarInWords(/** @type {number} */ asked) {
  const found = cosines(asked);
  const { photo, place } = whereIs(asked);
  const isNear = (/** @type {Pair} */ other) => other.every((index, axis) => Math.abs(index - place[axis]) < NEAR);
  /** @type {(isMeant: (one: Where) => boolean) => Where} */
  const best = (isMeant) => {
    const meant = tokens.map((_, k) => k).filter((k) => isMeant(whereIs(k)));
    return whereIs(meant.reduce((one, other) => (found[other] > found[one] ? other : one)));
  };
  const here = best((one) => one.photo === photo && !isNear(one.place));
  const elsewhere = best((one) => one.photo !== photo);
  return (
    `The patch in ${inWords(place)} of the ${names[photo]}. Most similar farther away: ${inWords(here.place)}; ` +
    `in the other photographs: ${inWords(elsewhere.place)} of the ${names[elsewhere.photo]}.`
  );
}

/** @param {HTMLImageElement} still */
function cover(still) {
  const calm = matchMedia("(prefers-reduced-motion: reduce)");
  const canvas = el("canvas", {
    tabindex: 0,
    role: "application",
    "aria-roledescription": "picture",
    "aria-label": "Six photographs in patches. Arrow keys choose a patch; " +
      "of the patches in all six, the tenth that is most similar to it lights up.",
    onpointerenter: (event) => {
      if (now < ASK) resting = event;
      else point(event);
    },
    onpointermove: point,
    onpointerdown: point,
    onpointerleave: (event) => {
      resting = null;
      if (event.pointerType === "mouse" && now >= END) look(null);
    },
    onkeydown: step,
  });
  const pen = /** @type {CanvasRenderingContext2D} */ (canvas.getContext("2d"));
  const sheet = el("canvas", { width: grid, height: names.length * grid });
  const shade = /** @type {CanvasRenderingContext2D} */ (sheet.getContext("2d"));
  const said = el("p", { class: "visually-hidden", role: "status" });
  const again = el("button", {
    class: "cover-again",
    type: "button",
    "aria-label": "Play again",
    title: "Play again",
    onclick: play,
  });
  const first = asking[0] * N + asking[1];
  /** @type {number | null} */
  let asked = null;
  let kept = first; // the patch that asks, or asked last
  let lit = tokens.map(() => 0);
  let wanted = 0; // of shine, how much of the light is seen
  let shine = 0;
  /** @type {number | undefined} */
  let began;
  let now = Infinity; // milliseconds of the film, which is over
  /** @type {PointerEvent | null} */
  let resting = null; // a pointer that lies there as the film begins and gets its answer after that, or once it moves
  let waiting = 0;
  let shownAt = 0;
  let later = 0;

  /** Returns the places of photographs and of their colours below, and the height: a row, or on a phone two. */
  function places() {
    const isNarrow = canvas.clientWidth < NARROW;
    const gap = isNarrow ? 2 * GAP : GAP;
    const columns = isNarrow ? 3 : names.length;
    const side = (WIDTH - (columns - 1) * gap) / columns;
    const high = 2 * side + GAP + gap;
    const photos = names.map((_, i) => {
      const [row, column] = placeAt(i, columns);
      return /** @type {Tile} */ ([column * (side + gap), row * high, side]);
    });
    return {
      photos,
      colours: photos.map(([left, top]) => /** @type {Tile} */ ([left, top + side + GAP, side])),
      height: (names.length / columns) * high - gap,
    };
  }

  function paint() {
    const { photos, colours, height } = places();
    const wide = Math.round(canvas.clientWidth * Math.max(2, devicePixelRatio));
    const high = Math.round((wide * height) / WIDTH);
    if (canvas.width !== wide || canvas.height !== high) [canvas.width, canvas.height] = [wide, high];
    const scale = wide / WIDTH;
    pen.setTransform(scale, 0, 0, scale, 0, 0);
    pen.clearRect(0, 0, WIDTH, height);
    pen.imageSmoothingQuality = "high";
    const image = shade.createImageData(sheet.width, sheet.height);
    lit.forEach((bright, k) => {
      const up = bright ** 0.3 * (DARK + BRIGHT) - DARK; // steep at first: what is lit at all is seen to be
      image.data.fill(up > 0 ? 255 : 0, 4 * k, 4 * k + 3);
      image.data[4 * k + 3] = 255 * shine * Math.abs(up);
    });
    shade.putImageData(image, 0, 0);
    const seen = Math.round(clamp(now / COLOURS, 0, 1) * 2 * grid) / (2 * grid); // share of the colours
    photos.forEach(([x, y, side], i) => {
      const cut = i * (TILE + GAP);
      const [left, top, small] = colours[i];
      pen.imageSmoothingEnabled = true;
      pen.drawImage(still, cut, 0, TILE, TILE, x, y, side, side);
      pen.drawImage(still, cut, 0, TILE, TILE, left, top, small, small);
      pen.imageSmoothingEnabled = false;
      if (seen) pen.drawImage(still, cut, TILE + GAP, seen * TILE, TILE, left, top, seen * small, small);
      if (shine) pen.drawImage(sheet, 0, i * grid, grid, grid, x, y, side, side);
    });
    const framed = now < END ? shine : 1; // after the film the frame stays: a patch can be pointed at
    if (framed < 0.02) return;
    pen.globalAlpha = framed;
    const { photo, place: [row, column] } = whereIs(kept);
    for (const [x, y, side] of [photos[photo], colours[photo]]) {
      const cell = side / grid;
      const large = Math.max(cell, (FRAME * WIDTH) / canvas.clientWidth);
      const [left, top] = [x + column * cell, y + row * cell].map((at) => at - (large - cell) / 2);
      for (const [width, colour] of /** @type {const} */ ([[6, "#000"], [3, "#ffe800"]])) {
        pen.lineWidth = width / Math.max(0.6, scale / 2);
        pen.strokeStyle = colour;
        pen.strokeRect(clamp(left, 0, WIDTH - large), clamp(top, 0, height - large), large, large);
      }
    }
    pen.globalAlpha = 1;
  }

  /** @param {number} time */
  function frame(time) {
    waiting = requestAnimationFrame(frame);
    if (time - shownAt < 30 && !calm.matches) return; // 30 frames a second are enough
    shownAt = time;
    if (now < END) {
      now = time - (began ??= time);
      wanted = now > ASK && now < STOP ? 1 : 0;
      if (resting && now >= ASK) point(resting);
    }
    const t = calm.matches ? 1 : 0.25;
    const goal = light(kept);
    lit = shine < 0.02 ? goal : lit.map((bright, k) => bright + t * (goal[k] - bright));
    shine += t * (wanted - shine);
    if (Math.abs(shine - wanted) < 0.01) shine = wanted;
    paint();
    if (now < END || shine !== wanted || lit.some((bright, k) => Math.abs(bright - goal[k]) >= 0.01)) return;
    cancelAnimationFrame(waiting);
    waiting = 0;
  }

  function draw() {
    waiting ||= requestAnimationFrame(frame);
  }

  function play() {
    [asked, kept, shine, wanted, began, now] = [null, first, 0, 0, undefined, 0];
    draw();
  }

  /** @param {number | null} patch */
  function look(patch) {
    asked = patch;
    kept = patch ?? kept;
    wanted = patch === null ? 0 : 1;
    now = Infinity;
    draw();
    if (patch === null) return;
    clearTimeout(later);
    later = window.setTimeout(() => { said.textContent = similarInWords(patch); }, 300);
  }

  /** @param {PointerEvent} event */
  function point(event) {
    resting = null;
    const box = canvas.getBoundingClientRect();
    const [down, right] = [event.clientY - box.top, event.clientX - box.left].map((at) => (at * WIDTH) / box.width);
    const { photos, colours } = places();
    for (const [i, [left, top, side]] of [...photos, ...colours].entries()) {
      const row = Math.floor(((down - top) / side) * grid);
      const column = Math.floor(((right - left) / side) * grid);
      if (row < 0 || row >= grid || column < 0 || column >= grid) continue;
      const hit = patchOf(i % names.length, [row, column]);
      if (hit !== asked) look(hit);
      return;
    }
  }

  /** @param {KeyboardEvent} event */
  function step(event) {
    if (event.key === "Escape") return look(null);
    const move = ARROWS[event.key];
    if (!move) return;
    event.preventDefault();
    const [down, right] = asked === null ? [0, 0] : move; // the first key shows the patch that asked last
    const { photo, place: [row, column] } = whereIs(kept);
    const across = clamp(photo * grid + column + right, 0, names.length * grid - 1);
    look(patchOf(Math.floor(across / grid), [clamp(row + down, 0, grid - 1), across % grid]));
  }

  still.after(canvas, again, said);
  new ResizeObserver(() => {
    paint();
    still.style.opacity = "0";
  }).observe(canvas);
  new IntersectionObserver((entries, observer) => {
    if (!entries.some((entry) => entry.isIntersecting)) return;
    observer.disconnect();
    if (!calm.matches) play();
  }, { threshold: 0.6 }).observe(canvas);
}

async function begin() {
  const still = document.querySelector("figure.cover img");
  if (!(still instanceof HTMLImageElement)) return;
  await still.decode();
  cover(still);
}
if (document.readyState === "complete") begin();
else addEventListener("load", begin);
