// Chapter 4: shows on a map how much attention a chosen patch of a photograph gives to each patch.

import { dot, edgeAround, inWords, move, placeAt, set, softmax, squares, toned } from "../moving/kit.js";
/** @import { Figure, Pair, Place } from "../moving/kit.js" */

/** @typedef {{side: number, asks: Pair, colours: number[][], photo: Place, map: Place}} Numbers */

/** Returns the attention weights of one query. @type {(query: number[], keys: number[][]) => number[]} */
const attend = (query, keys) => softmax(keys.map((key) => dot(query, key) / Math.sqrt(query.length)));

/**
 * Returns the patches with the largest weights that make up half of the attention.
 * @type {(weights: number[]) => number[]}
 */
function half(weights) {
  let sum = 0;
  const ranked = weights.map((_, patch) => patch).sort((a, b) => weights[b] - weights[a]);
  return ranked.slice(0, ranked.findIndex((patch) => (sum += weights[patch]) >= 0.5) + 1);
}

/** @param {Figure<Numbers>} figure */
function start(figure) {
  const { side, asks, colours, photo, map } = figure.numbers;
  const size = photo[2] / side;
  let chosen = asks;
  /** @type {Pair | null} */
  let pointed = null; // the patch under the mouse

  /** @type {(place: Pair) => number} */
  const numberOf = ([row, column]) => row * side + column;
  /** @type {(patch: number) => string} */
  const said = (patch) => inWords(placeAt(patch, side));
  const shades = squares(map, side);
  figure.part("shades").replaceChildren(...shades);

  function draw() {
    const place = pointed ?? chosen;
    const patch = numberOf(place);
    const weights = attend(colours[patch], colours);
    const most = Math.max(...weights);
    const largest = half(weights);
    shades.forEach((shade, other) => set(shade, { fill: toned(weights[other] / most) }));
    for (const line of figure.part("half").children) set(line, { d: edgeAround(largest, side, photo) });
    for (const name of ["frame-photo", "frame-map"])
      figure.part(name).style.transform =
        `translate(${(place[1] - asks[1]) * size}px, ${(place[0] - asks[0]) * size}px)`;
    figure.svg.classList.toggle("asking-preview", Boolean(pointed) && String(pointed) !== String(chosen));
    figure.write("asks", `patch ${patch} looks`);
    const best = weights.indexOf(most);
    for (const frame of figure.part("best").children)
      set(frame, { x: map[0] + (best % side) * size, y: map[1] + Math.floor(best / side) * size });
    figure.part("shoulder").style.visibility = patch === numberOf(asks) ? "visible" : "hidden";
    const [own, top] = [weights[patch], most].map((weight) => weight.toFixed(4));
    figure.write("own", `its own weight ${own}`);
    figure.write("most", `largest weight ${top}`);
    figure.say(
      `Patch ${patch} (${said(patch)}) gives itself a weight of ${own}` +
        (best === patch
          ? ", and no other patch more."
          : own === top
            ? `, and ${said(best)}, a trace more.`
            : `. Its largest weight, ${top}, goes to ${said(best)}.`) +
        ` The ${largest.length} patches inside the white line share half of its attention.`,
    );
  }

  /** @type {{[name: string]: Pair}} */
  const presets = { Suit: asks, Face: [3, 5], Helmet: [12, 10], Backdrop: [0, 3] };
  /** @type {(place: Pair) => void} */
  const choose = (place) => {
    [chosen, pointed] = [place, null];
    press(Object.keys(presets).find((name) => String(presets[name]) === String(place)));
    draw();
  };
  figure.places("handle-asks", {
    grid: photo,
    size: () => [side, side],
    label: "the patch that looks",
    value: () => chosen,
    says: inWords,
    choose,
    point: (place) => { pointed = place; draw(); },
  });
  const press = figure.choice(Object.keys(presets), "Suit", (name) => choose(presets[name]));
  draw();
}

move("asking_patch", start);
