// Chapter 3: shows on a map how similar the position of a chosen place is to that of every place.

import { drawn, inWords, move, placeAt, squares, sumOf, upTo } from "../moving/kit.js";
/** @import { Figure, Pair, Place } from "../moving/kit.js" */

/** @typedef {{name: string, side: number, begins: [Pair, Pair]}} Kind */
/**
 * @typedef {object} Numbers
 * @property {{x: number, y: number, side: number}} map
 * @property {{[kind: string]: Kind}} kinds
 * @property {number} power
 * @property {{[kind: string]: number[]}} learned similarities below the diagonal, in hundredths
 * @property {number} embed_dim
 * @property {Pair[]} clocks
 * @property {number} hand its length
 */
/** @typedef {(one: Pair, other: Pair) => number} Similarity */

/** Returns the speeds of the clocks, in radians a step. @type {(count: number) => number[]} */
const speeds = (count) => upTo(count).map((i) => 10000 ** (-i / count));

/**
 * Returns the cosine similarity of two positions made of clocks: the mean cosine between their hands.
 * @type {(steps: number, count: number) => number}
 */
function alike(steps, count) {
  return sumOf(speeds(count).map((speed) => Math.cos(speed * steps))) / count;
}

/**
 * Functions that return the similarity of two places, [row, column], for each kind of position.
 * @type {(numbers: Numbers) => {[kind: string]: Similarity}}
 */
function kindsOf({ kinds, learned, embed_dim }) {
  const clocks = embed_dim / 2;
  /** @type {(count: number) => (steps: number) => number} */
  const memory = (count) => {
    /** @type {{[steps: number]: number}} */
    const known = {};
    return (steps) => (known[steps] ??= alike(steps, count));
  };
  const [all, half] = [memory(clocks), memory(clocks / 2)];
  /** @type {(kind: string, place: Pair) => number} */
  const numberOf = (kind, [row, column]) => row * kinds[kind].side + column;
  /** @type {(kind: string) => Similarity} */
  const table = (kind) => (one, other) => {
    const [low, high] = [numberOf(kind, one), numberOf(kind, other)].sort((a, b) => a - b);
    return low === high ? 1 : learned[kind][(high * (high - 1)) / 2 + low] / 100;
  };
  return {
    "1-D": (one, other) => all(Math.abs(numberOf("1-D", one) - numberOf("1-D", other))),
    "2-D": ([row, column], [down, across]) => (half(Math.abs(row - down)) + half(Math.abs(column - across))) / 2,
    before: table("before"),
    after: table("after"),
  };
}

/** @type {{[kind: string]: string}} */
const ABOUT = {
  "1-D": "1-D clocks count in reading order: a band along the row.",
  "2-D": "2-D clocks, half for row and half for column: a spot with a cross.",
  before: "A small model’s 8×8 places, untrained: none is much like another.",
  after: "The same model, trained: it has found out which places are near.",
};
/** @type {{[kind: string]: string[]}} */
const LEARNED = {
  before: ["No clocks:", "64 numbers for", "each place,", "drawn at random."],
  after: ["No clocks:", "64 numbers for", "each place, found", "by training on", "cluttered digits."],
};

/** @param {Figure<Numbers>} figure */
function start(figure) {
  const { map, kinds, power, embed_dim, clocks, hand } = figure.numbers;
  const similarity = kindsOf(figure.numbers);
  /** @type {Map<number, SVGRectElement[]>} */
  const cells = new Map(); // for each side of a grid, a square for each place
  /** @type {{[side: number]: Pair}} */
  const chosen = {}; // like compared, one for each side of a grid, so that it stays when the kind changes
  /** @type {{[side: number]: Pair}} */
  const compared = {};
  /** @type {Pair | null} */
  let pointed = null; // the place under the mouse
  let kind = "1-D";

  const side = () => kinds[kind].side;
  /** @type {Place} */
  const grid = [map.x, map.y, map.side, map.side];
  for (const { side, begins } of Object.values(kinds)) {
    [chosen[side], compared[side]] = begins;
    if (cells.has(side)) continue;
    const made = squares(grid, side, "position");
    figure.part("map").append(drawn("g", {}, ...made));
    cells.set(side, made);
  }

  /**
   * Returns the speeds of the panel's eight clocks, and the steps that each has taken at a place.
   * @type {() => {speed: number, steps: (place: Pair) => number}[]}
   */
  function shownClocks() {
    if (kind === "1-D") {
      const every = speeds(embed_dim / 2);
      return clocks.map((_, i) => ({ speed: every[i * 48], steps: ([row, column]) => row * side() + column }));
    }
    const every = speeds(embed_dim / 4);
    return clocks.map((_, i) => ({ speed: every[(i % 4) * 24], steps: (place) => place[i < 4 ? 0 : 1] }));
  }

  function draw() {
    const here = chosen[side()];
    const there = pointed ?? compared[side()];
    const alike = similarity[kind];
    const { name } = kinds[kind];
    for (const [of, [square]] of cells) {
      if (square.parentElement) square.parentElement.style.display = of === side() ? "" : "none";
    }
    cells.get(side())?.forEach((cell, place) => {
      const value = alike(here, placeAt(place, side()));
      cell.style.fillOpacity = (Math.max(0, value) ** power).toFixed(3);
    });
    const apart = map.side / side();
    figure.shift("frame", here[1] * apart, here[0] * apart);
    figure.draw("frame", { width: apart, height: apart });
    /** @type {(place: Pair) => [number, number]} */
    const middle = ([row, column]) => [(column + 0.5) * apart, (row + 0.5) * apart];
    figure.shift("handle-compared", ...middle(compared[side()]));
    figure.part("pointed").style.display = pointed ? "" : "none";
    figure.shift("pointed", ...middle(there));
    figure.write("kind", name);
    figure.write("chosen", inWords(here));
    figure.write("compared", inWords(there));
    const shown = alike(here, there).toFixed(2).replace("-", "−");
    figure.write("similarity", shown);

    const fixed = !(kind in LEARNED);
    figure.part("clocks").style.display = fixed ? "" : "none";
    figure.write("mean-0", fixed ? "the mean cosine of" : "");
    figure.write("mean-1", fixed ? `${embed_dim / 2} pairs of hands` : "");
    for (let line = 0; line < 5; line++) figure.write(`line-${line}`, LEARNED[kind]?.[line] ?? "");
    if (fixed) {
      const heads = kind === "1-D" ? ["fast", "slow"] : ["row", "column"];
      heads.forEach((head, half) => figure.write(`half-${half}`, head));
      /** @type {[string, Pair][]} */
      const hands = [["hand", here], ["other", there]];
      shownClocks().forEach(({ speed, steps }, i) => {
        const [x, y] = clocks[i];
        for (const [part, place] of hands) {
          const angle = speed * steps(place);
          figure.draw(`${part}-${i}`, {
            d: `M${x} ${y}L${(x + hand * Math.cos(angle)).toFixed(2)} ${(y - hand * Math.sin(angle)).toFixed(2)}`,
          });
        }
      });
    }
    figure.say(
      `Row ${here[0]}, column ${here[1]} and ${inWords(there)} are ${shown} alike. ` +
        `${ABOUT[kind]}${pointed || kind !== "1-D" ? "" : " Drag the ring."}`,
    );
  }

  /** @type {() => Pair} */
  const size = () => [side(), side()];
  const common = { grid, size, says: inWords };
  figure.places("handle-chosen", {
    ...common,
    label: "the chosen place",
    value: () => chosen[side()],
    choose: (place) => {
      chosen[side()] = place;
      pointed = null;
      draw();
    },
    point: (place) => { pointed = place; draw(); },
  });
  figure.places("handle-compared", {
    ...common,
    box: [map.x - 21, map.y - 21, 42, 42],
    label: "the place it is compared with",
    value: () => compared[side()],
    choose: (place) => { compared[side()] = place; draw(); },
  });
  figure.choice({ "1-D": "1-D", "2-D": "2-D", before: "Untrained", after: "Trained" }, kind, (name) => {
    [kind, pointed] = [name, null];
    draw();
  });
  draw();
}

move("position_similarity", start);
