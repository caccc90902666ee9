// Chapter 10: resizes trained positions to another grid, and shows how similar they are to that of a chosen place.

import { clamp, inWords, move, set, squares, sumOf, upTo } from "../moving/kit.js";
/** @import { Box, Figure, Pair } from "../moving/kit.js" */

/**
 * @typedef {object} Numbers
 * @property {number} old rows and columns that the positions were trained with
 * @property {number[]} sides rows and columns of the new grids
 * @property {number} start
 * @property {number} shortcut side to which "cut off" goes
 * @property {Pair} chosen
 * @property {number} pixels along a patch
 * @property {Box} left
 * @property {Box} right
 * @property {number[]} products of the trained positions, below and on the diagonal, in 1/1,000
 * @property {{[kind: string]: number[][]}} along for each side how much each old row gives each new one, in 1/10,000
 */
/** @typedef {(one: number, other: number) => number} Alike returns the similarity of two new places */
/** @typedef {"bicubic" | "bilinear" | "cut off"} Kind */

const KINDS = { bicubic: "Bicubic", bilinear: "Bilinear", "cut off": "Cut off" };

/** Returns a function for the similarities of resized positions and their neighbours' mean. @param {Numbers} numbers */
function resizing({ old, sides, products, along }) {
  const places = upTo(old * old);

  /** @type {(one: number, other: number) => number} */
  const dot = (one, other) => {
    const [low, high] = one < other ? [one, other] : [other, one];
    return products[(high * (high + 1)) / 2 + low] / 1000;
  };

  /**
   * Returns how much each old place gives to each new one, as a list for each new place.
   * @type {(side: number, kind: Kind) => number[][]}
   */
  function shares(side, kind) {
    const made = upTo(side * side);
    if (kind === "cut off") return made.map((place) => places.map((other) => Number(place === other)));
    const given = along[kind][sides.indexOf(side)].map((number) => number / 10000);
    return made.map((place) =>
      places.map(
        (other) =>
          given[Math.floor(place / side) * old + Math.floor(other / old)] *
          given[(place % side) * old + (other % old)],
      ),
    );
  }

  /** Returns the similarities of new places, from the products of the old ones. @type {(given: number[][]) => Alike} */
  function similarities(given) {
    const mixed = given.map((row) =>
      places.map((other) => row.reduce((sum, share, place) => (share ? sum + share * dot(place, other) : sum), 0)),
    );
    /** @type {(one: number, other: number) => number} */
    const times = (one, other) =>
      mixed[one].reduce((sum, number, place) => sum + number * given[other][place], 0);
    const lengths = given.map((_, place) => Math.sqrt(times(place, place)));
    return (one, other) => times(one, other) / (lengths[one] * lengths[other]);
  }

  /**
   * Returns the mean similarity of places side by side or one above another.
   * @type {(side: number, alike: Alike) => number}
   */
  function neighbours(side, alike) {
    const pairs = upTo(side * side).flatMap((place) => [
      ...(place % side < side - 1 ? [alike(place, place + 1)] : []),
      ...(place < side * (side - 1) ? [alike(place, place + side)] : []),
    ]);
    return sumOf(pairs) / pairs.length;
  }

  /** @type {Map<string, {alike: Alike, mean: number}>} */
  const known = new Map();
  return (/** @type {number} */ side, /** @type {Kind} */ kind) => {
    const key = `${side} ${kind}`;
    let found = known.get(key);
    if (!found) {
      const alike = similarities(shares(side, kind));
      found = { alike, mean: neighbours(side, alike) };
      known.set(key, found);
    }
    return found;
  };
}

/** @param {Figure<Numbers>} figure */
function start(figure) {
  const { old, sides, shortcut, pixels, left, right } = figure.numbers;
  const computed = resizing(figure.numbers);
  /** @type {Kind} */
  let kind = "bicubic";
  let { start: side, chosen } = figure.numbers;

  /**
   * Draws how similar all places are to one, and returns the mean similarity of neighbours.
   * @type {(name: string, box: Box, side: number, kind: Kind, place: Pair) => number}
   */
  function drawMap(name, box, side, kind, [row, column]) {
    const { alike, mean } = computed(side, kind);
    const cell = box.width / side;
    const map = figure.part(`map-${name}`);
    const cells = squares([box.x, box.y, box.width, box.height], side, "position");
    cells.forEach((square, place) => {
      set(square, { "fill-opacity": Math.max(0, alike(row * side + column, place)) });
    });
    map.replaceChildren(/** @type {Element} */ (map.firstElementChild), ...cells);
    figure.draw(`place-${name}`, { x: box.x + column * cell, y: box.y + row * cell, width: cell, height: cell });
    figure.write(`alike-${name}`, `neighbours: ${mean.toFixed(2)}`);
    return mean;
  }

  function draw() {
    const unchanged = side === old; // on its own grid nothing is resized
    const under = /** @type {Pair} */ (chosen.map((index) => Math.floor(((index + 0.5) * old) / side)));
    const before = drawMap("old", left, old, "bicubic", under);
    const now = drawMap("new", right, side, unchanged ? "bicubic" : kind, chosen);
    const called = unchanged ? "unchanged" : kind;
    figure.write("kind", called);
    figure.write("size", `${side}×${side}, for ${side * pixels}×${side * pixels} pixels`);
    const means = `Neighbours have a similarity of ${now.toFixed(2)}, where they had ${before.toFixed(2)}.`;
    figure.say(
      `${side} by ${side}, ${called}, seen from ${inWords(chosen)}. ` +
        (unchanged
          ? "This is the grid that the positions were trained with. Press Next, or choose a place."
          : kind === "cut off"
            ? `The first ${side * side} of ${old * old} positions, laid out in rows of ${side}: ` +
              `this place has that of ${inWords(taken(chosen))}. ${means}`
            : `${side < old ? "Fewer" : "More"} places for the same picture: ` +
              `the spot stays where it was. ${means}`),
    );
  }

  /** Returns the trained place whose position a place gets if the others are cut off. @param {Pair} place */
  function taken([row, column]) {
    const index = row * side + column;
    return /** @type {Pair} */ ([Math.floor(index / old), index % old]);
  }

  /** Keeps the chosen place in the same part of the picture. @param {number} to */
  function resize(to) {
    const inside = chosen.map((index) => clamp(Math.floor(((index + 0.5) * to) / side), 0, to - 1));
    chosen = /** @type {Pair} */ (inside);
    side = to;
    if (side > old && kind === "cut off") {
      // there are not enough to cut from
      kind = "bicubic";
      press(kind);
    }
    draw();
  }

  const show = figure.steps(
    {
      count: sides.length,
      first: sides.indexOf(side),
      label: "rows and columns of the new grid",
      says: (index) => `${sides[index]} by ${sides[index]}`,
      show: (index) => resize(sides[index]),
    },
    { seconds: 1.4 },
  );
  figure.newRow();
  const press = figure.choice(KINDS, kind, (name) => {
    kind = /** @type {Kind} */ (name);
    if (kind === "cut off" && side >= old) show(sides.indexOf(shortcut));
    else draw();
  });
  figure.places("handle-place", {
    grid: [right.x, right.y, right.width, right.height],
    size: () => [side, side],
    label: "place in the new grid",
    value: () => chosen,
    says: inWords,
    choose: (place) => { chosen = place; draw(); },
  });
}

move("resized_positions", start);
