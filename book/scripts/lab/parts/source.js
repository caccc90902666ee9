// Holds the content of the image: the digit, its place, the ground and the scraps. All panels of a page share it.

import { clamp } from "../../shared/grid.js";
import { DIGIT, IMAGE, STEP, areApart, compose, isClear, makeScrap, placeScrap, seededRandom } from "./scene.js";
import { picturesContent } from "./weights.js";

/** @import { Ground, Scene, SceneState, Scrap } from "./types.d.ts" */

export const MOST_SCRAPS = 8;
/** The scene at the start; a switch changes the model's answer in it. @type {SceneState} */
export const START = { digit: 5, example: 0, drawn: null, top: 8, left: 8, ground: "grass", piece: 0, scraps: 3 };

/** Makes the source. A state always gives the same image, so that a link can hold it. */
export function createSource() {
  const { digits, labels, grounds, textureSize } = picturesContent();
  /** @type {Scrap[]} */
  const homes = [];
  for (let i = 0; i < MOST_SCRAPS; i++)
    homes.push(makeScrap(digits, START.top, START.left, seededRandom(i + 1), homes));
  /** @type {(() => void)[]} */
  const listeners = [];
  const state = { ...START };
  /** @type {Scene} */
  let scene;
  let waits = false;
  /** @type {Float64Array | null} */
  let image = null; // composed when it is first needed

  function arrange() {
    const digit = state.drawn ?? digits[examples(state.digit)[state.example]];
    scene = { digit, top: state.top, left: state.left, ground: groundOf(state), scraps: scrapsOf(state) };
    image = null;
  }

  /** @type {(label: number) => number[]} */
  function examples(label) {
    return labels.flatMap((other, i) => (other === label ? [i] : []));
  }

  /** @type {(state: SceneState) => Ground | null} */
  function groundOf({ ground, piece }) {
    if (ground === "none") return null;
    const random = seededRandom(piece + 1);
    const [top, left] = textureSize.map((length) => Math.floor(random() * (length - IMAGE)));
    return { pixels: grounds[ground], rows: textureSize[0], columns: textureSize[1], top, left };
  }

  /**
   * Places the scraps: each in its home, unless the digit or another scrap is in the way.
   * @type {(state: SceneState) => Scrap[]}
   */
  function scrapsOf({ top, left, scraps: count }) {
    /** @type {Scrap[]} */
    const placed = [];
    for (const [i, home] of homes.slice(0, count).entries()) {
      const scrap = { ...home };
      if (!isClear(scrap, top, left) || placed.some((other) => !areApart(scrap, other))) {
        placeScrap(scrap, top, left, seededRandom(IMAGE * (IMAGE * i + top) + left), placed);
      }
      placed.push(scrap);
    }
    return placed;
  }

  const source = {
    /** @type {(listener: () => void) => void} */
    onChange(listener) {
      listeners.push(listener);
    },
    /** Changes the given parts of the state; the others stay. @type {(change: Partial<SceneState>) => void} */
    set(change) {
      Object.assign(state, change);
      arrange();
      for (const listener of listeners) listener();
    },
    /** Whether a pad without strokes is open; then no answer is shown. */
    get waits() {
      return waits;
    },
    /** @type {(isWaiting: boolean) => void} */
    wait(isWaiting) {
      waits = isWaiting;
    },
    get state() {
      return { ...state };
    },
    get scene() {
      return scene;
    },
    /**
     * The true class of the image, or null if the reader drew it: then it is not known.
     * @returns {number | null}
     */
    get label() {
      return state.drawn ? null : state.digit;
    },
    image: () => (image ??= compose(scene)),
    box: () => ({ top: state.top, left: state.left, bottom: state.top + DIGIT, right: state.left + DIGIT }),
    where: () => `The box begins in row ${state.top}, column ${state.left} of the pixels.`,
    /** Shows a digit of this class: the next one if one is shown already. @type {(label: number) => void} */
    choose(label) {
      const again = label === source.label;
      source.set({ digit: label, drawn: null, example: again ? (state.example + 1) % examples(label).length : 0 });
    },
    /** @type {(top: number, left: number) => void} */
    move(top, left) {
      const snap = (/** @type {number} */ value) => STEP * Math.round(clamp(value, 0, IMAGE - DIGIT) / STEP);
      [top, left] = [snap(top), snap(left)];
      if (top !== state.top || left !== state.left) source.set({ top, left });
    },
  };
  arrange();
  return source;
}
