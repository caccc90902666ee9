// Chapter 15: turns a query and a key by where they stand, and computes their score.

import { clamp, inWords, move, placeAt, squares, sumOf, upTo } from "../moving/kit.js";
/** @import { Figure, Pair, Place } from "../moving/kit.js" */

/**
 * @typedef {object} Numbers
 * @property {number} side of the grid
 * @property {{pair: Pair, place: Pair}} query the pair that its head has four times, and its place
 * @property {{pair: Pair, place: Pair}} key
 * @property {Place} map
 * @property {Pair[]} dials their centres
 * @property {number} reach of a vector of length 1
 * @property {number} letter distance from a vector's end
 * @property {number} base the longest period
 */

/** @type {(value: number) => string} */
const signed = (value) => `${value < -0.005 ? "−" : "+"}${Math.abs(value).toFixed(2)}`;

/** @type {(count: number, thing: string) => string} */
const counted = (count, thing) => `${Math.abs(count)} ${thing}${Math.abs(count) === 1 ? "" : "s"}`;

/** Says where a key is, seen from a query. @type {(query: Pair, key: Pair) => string} */
function apart(query, key) {
  const [down, across] = [key[0] - query[0], key[1] - query[1]];
  const parts = [
    down ? `${counted(down, "row")} ${down > 0 ? "down" : "up"}` : "",
    across ? `${counted(across, "column")} to the ${across > 0 ? "right" : "left"}` : "",
  ].filter((part) => part);
  return parts.join(" and ") || "at the same place";
}

/** @param {Figure<Numbers>} figure */
function start(figure) {
  const { side, map, dials, reach, letter, base } = figure.numbers;
  const { query, key } = figure.numbers;
  /** @typedef {"query" | "key"} Name */
  const NAMES = /** @type {const} */ (["query", "key"]);
  const begins = { query: query.place, key: key.place };
  /** @type {Record<Name, Pair>} */
  let at = { ...begins };
  let shown = at; // on its way to where they are
  let together = false;
  let before = ""; // what the score was with added hands when both moved

  /** Returns by how much each pair turns at a place. @type {(place: Pair) => number[]} */
  function angles(place) {
    const each = dials.length / 2;
    return upTo(dials.length).map((pair) => {
      const coordinate = (2 * place[Math.floor(pair / each)] + 1) / side - 1; // a patch's centre, from -1 to 1
      return (2 * Math.PI * coordinate) / base ** ((pair % each) / each);
    });
  }
  /** @type {(pair: Pair, place: Pair) => Pair[]} */
  const turned = ([x, y], place) =>
    angles(place).map((angle) => {
      const [cos, sin] = [Math.cos(angle), Math.sin(angle)];
      return [x * cos - y * sin, y * cos + x * sin];
    });
  /** @type {(pair: Pair, place: Pair) => Pair[]} */
  const added = ([x, y], place) => angles(place).map((angle) => [x + Math.cos(angle), y + Math.sin(angle)]);
  /** Returns the dot product of each pair. @type {(put: typeof turned, of: Record<Name, Pair>) => number[]} */
  function products(put, of) {
    const keys = put(key.pair, of.key);
    return put(query.pair, of.query).map(([x, y], pair) => x * keys[pair][0] + y * keys[pair][1]);
  }
  const largest = dials.length * Math.hypot(...query.pair) * Math.hypot(...key.pair);
  const cells = squares(map, side, "query");
  figure.part("map").append(...cells);
  const cell = map[2] / side;

  /** Draws both at places that may lie between two. @param {Record<Name, Pair>} of */
  function draw(of) {
    shown = of;
    cells.forEach((square, number) => {
      const score = sumOf(products(turned, { query: of.query, key: placeAt(number, side) }));
      square.style.fillOpacity = ((0.6 * Math.max(0, score)) / largest).toFixed(3);
    });
    for (const name of NAMES) {
      const [down, right] = [0, 1].map((axis) => (of[name][axis] - begins[name][axis]) * cell);
      figure.shift(`handle-${name}`, right, down);
      turned(figure.numbers[name].pair, of[name]).forEach(([a, b], pair) => {
        const [x, y] = dials[pair];
        const far = reach + letter / Math.hypot(a, b);
        figure.draw(`${name}-${pair}`, { d: `M${x} ${y}L${(x + reach * a).toFixed(2)} ${(y - reach * b).toFixed(2)}` });
        figure.draw(`${name}-letter-${pair}`, { x: (x + far * a).toFixed(2), y: (y - far * b + 4).toFixed(2) });
      });
    }
  }

  /** Moves one or both to other places, and says what becomes of the score. @param {Record<Name, Pair>} to */
  function go(to) {
    const from = shown;
    const far = apart(at.query, at.key) === apart(to.query, to.key) && String(at.query) !== String(to.query);
    before = far ? signed(sumOf(products(added, at))) : "";
    at = to;
    figure.tween((t) => {
      /** @type {(name: Name, axis: 0 | 1) => number} */
      const way = (name, axis) => from[name][axis] + (to[name][axis] - from[name][axis]) * t;
      /** @type {(name: Name) => Pair} */
      const between = (name) => [way(name, 0), way(name, 1)];
      draw({ query: between("query"), key: between("key") });
    }, 450);
    tell();
  }

  function tell() {
    const each = products(turned, at);
    each.forEach((product, pair) => figure.write(`product-${pair}`, signed(product)));
    const [score, other] = [sumOf(each), sumOf(products(added, at))].map(signed);
    figure.write("turned", score);
    figure.write("added", other);
    figure.write("turned-says", before ? "stands still" : "");
    figure.write("added-says", before && before !== other ? `was ${before}` : "");
    const where = apart(at.query, at.key);
    const stands = "Both have turned by the same angles, so it stands still. With added hands ";
    const alone = `The key is ${where}${where.startsWith("at") ? "" : ", seen from the query"}. `;
    figure.say(
      `Query in ${inWords(at.query)}, key in ${inWords(at.key)}: the score is ${score}. ` +
        (before ? `${stands}${before} became ${other}.` : `${alone}Nothing else counts for the score.`),
    );
  }

  /**
   * Returns where both are once one of them is at a place; if they move together, neither leaves the grid.
   * @type {(name: Name, to: Pair) => Record<Name, Pair>}
   */
  function moved(name, to) {
    if (!together) return { ...at, [name]: to };
    const by = [0, 1].map((axis) => {
      const [low, high] = [Math.min(at.query[axis], at.key[axis]), Math.max(at.query[axis], at.key[axis])];
      return clamp(to[axis] - at[name][axis], -low, side - 1 - high);
    });
    /** @type {(one: Pair) => Pair} */
    const on = (one) => [one[0] + by[0], one[1] + by[1]];
    return { query: on(at.query), key: on(at.key) };
  }

  for (const name of NAMES) {
    const [row, column] = begins[name];
    const [x, y] = [map[0] + (column + 0.5) * cell, map[1] + (row + 0.5) * cell];
    figure.places(`handle-${name}`, {
      grid: map,
      box: [x - 21, y - 21, 42, 42],
      size: () => [side, side],
      label: `place of the ${name}`,
      value: () => at[name],
      says: inWords,
      choose: (place) => {
        const to = moved(name, place);
        if (String(to[name]) !== String(at[name])) go(to);
      },
    });
  }
  /** Takes both one place on, row by row, until they are at the lower right. */
  function walk() {
    const [down, across] = [0, 1].map((axis) => side - 1 - Math.max(at.query[axis], at.key[axis]));
    const back = Math.min(at.query[1], at.key[1]);
    const by = across ? [0, 1] : down ? [1, -back] : [-Math.min(at.query[0], at.key[0]), -back];
    /** @type {(one: Pair) => Pair} */
    const on = (one) => [one[0] + by[0], one[1] + by[1]];
    go({ query: on(at.query), key: on(at.key) });
    return across > 1 || down > 0;
  }
  figure.player("Play", walk, { seconds: 1.2, meanwhile: "Query and key walk together, and the score stands still." });
  figure.toggle("Drag both together", (pressed) => { together = pressed; });
  figure.button("Swap places", () => { figure.stop?.(); go({ query: at.key, key: at.query }); });
  draw(at);
  tell();
}

move("rotary", start);
