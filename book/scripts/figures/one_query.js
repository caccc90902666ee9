// Chapter 4: lets a reader drag a query, three keys and their values, and shows every step to the output.

import { clamp, dot, listed, move, set, softmax, sumOf, written } from "../moving/kit.js";
/** @import { Figure, Pair } from "../moving/kit.js" */

/**
 * @typedef {object} Numbers
 * @property {number[]} query
 * @property {number[][]} keys
 * @property {number[][]} values
 * @property {{low: number, high: number, zero: number, unit: number, apart: number}} bars
 * @property {{x: number, apart: number, width: number, high: number}} strips the keys
 * @property {{x: number, y: number, unit: number}} plane
 */

/**
 * What each step computes: the terms of the formula that it is, and the parts of the drawing that it fills, one group
 * after the other, with the parts that their numbers come from.
 * @type {{terms: string[], fills: {[part: string]: string}[]}[]}
 */
const STEPS = [
  { terms: [], fills: [] },
  { terms: ["q", "k"], fills: [{ product: "query" }, { score: "" }] },
  { terms: ["d"], fills: [{ scaled: "score" }] },
  { terms: ["softmax"], fills: [{ exp: "scaled" }, { total: "" }, { weight: "exp", divisor: "", share: "" }] },
  { terms: ["v"], fills: [{ times: "weight" }, { output: "", pull: "", dot: "" }] },
];
const FIRST = STEPS.length - 1; // all is there to be dragged, and Play begins anew

/**
 * Computes attention for a query, step by step.
 * @param {number[]} query @param {number[][]} keys @param {number[][]} values
 */
function attend(query, keys, values) {
  const products = keys.map((key) => key.map((number, j) => number * query[j]));
  const scores = products.map(sumOf);
  const scaled = scores.map((score) => score / Math.sqrt(query.length));
  const exps = scaled.map(Math.exp);
  const weights = softmax(scaled);
  const output = values[0].map((_, n) => dot(weights, values.map((value) => value[n])));
  return { products, scores, scaled, exps, total: sumOf(exps), weights, output };
}

/** @param {Figure<Numbers>} figure */
function start(figure) {
  const { bars, strips, plane } = figure.numbers;
  const begin = () => structuredClone(figure.numbers);
  let { query, keys, values } = begin();
  const full = Number(figure.part("share-0").querySelector(".vd-box")?.getAttribute("width"));
  const [dot] = figure.part("dot").children;
  let [filled, said] = [FIRST, FIRST]; // steps

  /** @type {(point: number[]) => Pair} */
  const spot = ([x, y]) => [plane.x + plane.unit * x, plane.y - plane.unit * y];
  /** @type {(number: number) => string} */
  const three = (number) => (number < 1000 ? number.toFixed(3) : Math.round(number).toLocaleString("en"));

  /** @type {(number: number) => string} */
  const all = (number) => written(number, 2);

  function draw() {
    const { products, scores, scaled, exps, total, weights, output } = attend(query, keys, values);
    const here = spot(output);
    query.forEach((number, j) => {
      const height = bars.unit * Math.abs(number);
      figure.draw(`bar-${j}`, { height, y: number > 0 ? bars.zero - height : bars.zero });
      figure.shift(`knob-${j}`, 0, -bars.unit * number);
      figure.write(`query-${j}`, written(number));
    });
    keys.forEach((key, i) => {
      key.forEach((number, j) => figure.write(`key-${i}-${j}`, written(number)));
      values[i].forEach((number, n) => figure.write(`value-${i}-${n}`, written(number)));
      figure.write(`point-${i}`, `· (${values[i].join(", ")})`);
      const [from, to] = [figure.numbers.values[i], values[i]].map(spot);
      figure.shift(`handle-value-${i}`, to[0] - from[0], to[1] - from[1]);
      products[i].forEach((number, j) => figure.write(`product-${i}-${j}`, written(number)));
      figure.write(`score-${i}`, written(scores[i]));
      figure.write(`scaled-${i}`, written(scaled[i], 2));
      figure.write(`exp-${i}`, three(exps[i]));
      figure.write(`weight-${i}`, three(weights[i]));
      figure.write(`times-${i}`, three(weights[i]));
      figure.fill(`share-${i}`, full * weights[i]);
      figure.draw(`pull-${i}`, { d: `M${spot(values[i])}L${here}`, "stroke-width": 7 * weights[i] });
    });
    figure.write("total", `sum ${three(total)}`);
    figure.write("divisor", `÷ ${three(total)}`);
    figure.draw("triangle", { d: `M${values.map(spot).join("L")}Z` });
    output.forEach((number, n) => figure.write(`output-${n}`, three(number)));
    const side = Number(dot.getAttribute("width")) / 2;
    set(dot, { x: here[0] - side, y: here[1] - side });

    const root = written(Math.sqrt(query.length));
    const most = Math.max(...weights);
    const strongest = weights.flatMap((weight, i) => (most - weight < 1e-9 ? [i + 1] : []));
    const pulling =
      strongest.length === 1
        ? `Value ${strongest} pulls hardest, with a weight of ${three(most)}.`
        : `Values ${listed(strongest.map(String))} pull equally hard, each with a weight of ${three(most)}.`;
    figure.say(
      [
        `The query is ${listed(query.map(all))}, and nothing has been computed yet. ` +
          "Press Next to compare it with the three keys.",
        `q kᵀ: the scores are ${listed(scores.map(all))}, each the products of the query’s numbers ` +
          "with a key’s, added up.",
        `Divided by √d = √${query.length} = ${root}, the scores are ${listed(scaled.map(all))}.`,
        `softmax: the exponentials, each divided by their sum ${three(total)}, are the attention weights: ` +
          `${listed(weights.map(three))}.`,
        `v: the values, mixed by these weights, are the output (${output.map(three).join(", ")}). ${pulling} ` +
          "Drag the query, a key or a value.",
      ][said],
    );
  }

  /** @type {(name: string) => Pair} */
  const placeOf = (name) => {
    const text = figure.parts.get(name)?.querySelector("text");
    return [Number(text?.getAttribute("x")), Number(text?.getAttribute("y"))];
  };

  /** Shows what a step computes; at is 0 to 1 while it arrives. @type {(step: number, at: number) => void} */
  function arrive(step, at) {
    STEPS[step].fills.forEach((group, turn, { length }) => {
      const here = clamp(length * at - turn, 0, 1);
      for (const [name, part] of figure.parts) {
        const [kind, ...indices] = (name ?? "").split("-");
        if (!name || !(kind in group)) continue;
        const [to, from] = [name, [group[kind], ...indices.slice(-1)].join("-")].map(placeOf);
        const way = from.map((start, axis) => `${(1 - here) * (start - to[axis])}px`);
        for (const ink of part.querySelectorAll(name === "dot" ? "rect" : "text, path, .vd-full")) {
          set(ink, { style: `opacity: ${here}; ${group[kind] && `translate: ${way.join(" ")}`}` });
        }
      }
    });
  }

  /**
   * Fills the drawing up to a step, and lights the terms of one: of the same, or of one that the mouse points at.
   * @type {(to: number, pointed?: number) => void}
   */
  function fill(to, pointed = to) {
    const before = Math.max(filled, said);
    [filled, said] = [to, pointed];
    const last = Math.max(filled, said);
    STEPS.forEach(({ terms }, step) => {
      for (const part of terms.flatMap((term) => [`band-${term}`, `term-${term}`])) {
        figure.part(part).classList.toggle("lit", step === said);
      }
      arrive(step, step <= last ? 1 : 0);
    });
    figure.tween((t) => arrive(last, t), last > before ? 500 * STEPS[last].fills.length : 1);
    draw();
  }

  query.forEach((_, j) => {
    const middle = Number(figure.part(`query-${j}`).querySelector("text")?.getAttribute("x"));
    figure.slider(`handle-${j}`, {
      box: [
        middle - bars.apart / 2 + 1,
        bars.zero - bars.unit * bars.high - 9,
        bars.apart - 2,
        bars.unit * (bars.high - bars.low) + 16,
      ],
      low: bars.low,
      high: bars.high,
      step: 0.5,
      along: "y",
      label: `number ${j + 1} of the query`,
      at: (y) => (bars.zero - y) / bars.unit,
      value: () => query[j],
      says: (number) => written(number),
      change: (number) => { query[j] = number; draw(); },
    });
  });
  keys.forEach((_, i) => keyHandle(i));
  values.forEach((_, i) => {
    const [x, y] = spot(values[i]);
    figure.places(`handle-value-${i}`, {
      grid: [plane.x - plane.unit / 2, plane.y - 10.5 * plane.unit, 11 * plane.unit, 11 * plane.unit],
      box: [x - 27, y - 27, 54, 54],
      size: () => [11, 11],
      label: `value ${i + 1}`,
      value: () => [10 - values[i][1], values[i][0]],
      says: ([row, column]) => `(${column}, ${10 - row})`,
      choose: ([row, column]) => { values[i] = [column, 10 - row]; draw(); },
    });
  });

  /**
   * Makes a key a handle: up and down change one of its numbers; with arrow keys, left and right pick which.
   * @param {number} i
   */
  function keyHandle(i) {
    const wide = strips.width / query.length;
    const left = strips.x + i * strips.apart;
    const handle = figure.handle(`handle-key-${i}`, [left - 2, 126, strips.width + 4, 54], {
      "aria-label": `key ${i + 1}`,
      "aria-valuemin": bars.low,
      "aria-valuemax": strips.high,
      "aria-orientation": "vertical",
    });
    let picked = 0;
    /** @type {{y: number, number: number} | null} */
    let grasped = null; // where a drag began, and the number there
    const show = () => {
      set(handle, {
        "aria-valuenow": keys[i][picked],
        "aria-valuetext": `number ${picked + 1} is ${written(keys[i][picked])}, of ${keys[i].map(all).join(", ")}`,
      });
      figure.shift(`picked-${i}`, picked * wide);
    };
    /** @type {(number: number) => void} */
    const change = (to) => {
      const number = clamp(Math.round(2 * to) / 2, bars.low, strips.high);
      if (number === keys[i][picked]) return show(); // another number may have been picked
      keys[i][picked] = number;
      draw();
    };
    handle.addEventListener("pointerdown", (event) => {
      const { x, y } = figure.spot(event);
      picked = clamp(Math.floor((x - left) / wide), 0, query.length - 1);
      grasped = { y, number: keys[i][picked] };
    });
    figure.dragged(handle, ({ y }) => {
      if (grasped) change(grasped.number + (grasped.y - y) / bars.unit);
    });
    figure.keyed(handle, {
      ArrowUp: () => change(keys[i][picked] + 0.5),
      ArrowDown: () => change(keys[i][picked] - 0.5),
      Home: () => change(bars.low),
      End: () => change(strips.high),
      ArrowLeft: () => { picked = Math.max(picked - 1, 0); show(); },
      ArrowRight: () => { picked = Math.min(picked + 1, query.length - 1); show(); },
    });
    figure.follows(show);
  }

  const show = figure.steps({ count: STEPS.length, show: fill, first: FIRST });
  STEPS.forEach(({ terms }, index) => {
    for (const term of terms) {
      const part = figure.part(`term-${term}`);
      part.addEventListener("pointerenter", (event) => {
        if (event.pointerType === "mouse") fill(filled, index);
      });
      part.addEventListener("pointerleave", (event) => {
        if (event.pointerType === "mouse") fill(filled);
      });
      part.addEventListener("click", () => show(index));
    }
  });
  figure.button("Reset", () => {
    figure.stop?.();
    ({ query, keys, values } = begin());
    draw();
  });
}

move("one_query", start);
