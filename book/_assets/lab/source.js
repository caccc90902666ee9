// Holds the content of the image: the digit, its place, the ground and the scraps. All panels of a page share it.
(() => {
  "use strict";
  const lab = (globalThis.vitLab ??= {});
  const MOST_SCRAPS = 8;
  /** The scene at the start; a switch changes the model's answer in it. */
  const START = { digit: 5, example: 0, drawn: null, top: 8, left: 8, ground: "grass", piece: 0, scraps: 3 };

  /** Makes the source. A state always gives the same image, so that a link can hold it. */
  function createSource() {
    const { digits, labels, grounds, textureSize } = lab.pictures();
    const homes = Array.from({ length: MOST_SCRAPS }, (_, i) => i).reduce((made, i) => [
      ...made, lab.makeScrap(digits, START.top, START.left, lab.seededRandom(i + 1), made)], []);
    const listeners = [];
    const state = { ...START };
    let scene;
    let image = null; // composed when it is first needed

    function compose() {
      const digit = state.drawn ?? digits[examples(state.digit)[state.example]];
      scene = { digit, top: state.top, left: state.left, ground: groundOf(state), scraps: scrapsOf(state) };
      image = null;
    }

    function examples(label) {
      return labels.flatMap((other, i) => (other === label ? [i] : []));
    }

    function groundOf({ ground, piece }) {
      if (ground === "none") return null;
      const random = lab.seededRandom(piece + 1);
      const [top, left] = textureSize.map((length) => Math.floor(random() * (length - lab.IMAGE)));
      return { pixels: grounds[ground], rows: textureSize[0], columns: textureSize[1], top, left };
    }

    /** Places the scraps: each in its home, unless the digit or another scrap is in the way. */
    function scrapsOf({ top, left, scraps: count }) {
      const placed = [];
      for (const [i, home] of homes.slice(0, count).entries()) {
        const scrap = { ...home };
        if (!lab.isClear(scrap, top, left) || placed.some((other) => !lab.areApart(scrap, other))) {
          lab.placeScrap(scrap, top, left, lab.seededRandom(lab.IMAGE * (lab.IMAGE * i + top) + left), placed);
        }
        placed.push(scrap);
      }
      return placed;
    }

    const api = {
      onChange(listener) {
        listeners.push(listener);
      },
      /** Changes the given parts of the state; the others stay. */
      set(change) {
        Object.assign(state, change);
        compose();
        for (const listener of listeners) listener();
      },
      get state() {
        return { ...state };
      },
      get scene() {
        return scene;
      },
      /** The true class of the image, or null if the reader drew it: then it is not known. */
      get label() {
        return state.drawn ? null : state.digit;
      },
      image: () => (image ??= lab.compose(scene)),
      box: () => ({ top: state.top, left: state.left, bottom: state.top + lab.DIGIT, right: state.left + lab.DIGIT }),
      where: () => `The box begins in row ${state.top}, column ${state.left} of the pixels.`,
      /** Shows a digit of this class: the next one if one is shown already. */
      choose(label) {
        const again = label === api.label;
        api.set({ digit: label, drawn: null, example: again ? (state.example + 1) % examples(label).length : 0 });
      },
      move(top, left) {
        const snap = (value) => lab.STEP * Math.round(lab.clamp(value, 0, lab.IMAGE - lab.DIGIT) / lab.STEP);
        [top, left] = [snap(top), snap(left)];
        if (top !== state.top || left !== state.left) api.set({ top, left });
      },
    };
    compose();
    return api;
  }

  Object.assign(lab, { createSource, START, MOST_SCRAPS });
})();
