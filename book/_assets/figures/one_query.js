// Chapter 4: lets a reader drag the four numbers of a query, and shows every step to its output.
(() => {
  "use strict";
  const figures = (globalThis.vitFigures ??= {});
  const TERMS = ["q", "k", "d", "softmax", "v"];

  /** Computes attention for a query, step by step. */
  function attend(query, keys, values) {
    const products = keys.map((key) => key.map((number, j) => number * query[j]));
    const scores = products.map((row) => row.reduce((sum, number) => sum + number, 0));
    const scaled = scores.map((score) => score / Math.sqrt(query.length));
    const exps = scaled.map(Math.exp);
    const total = exps.reduce((sum, number) => sum + number, 0);
    const weights = exps.map((number) => number / total);
    const output = values[0].map((_, n) => values.reduce((sum, value, i) => sum + weights[i] * value[n], 0));
    return { products, scores, scaled, exps, total, weights, output };
  }

  function start(figure) {
    const { written, listed, set } = figures;
    const { keys, values, bars, plane } = figure.numbers;
    const query = [...figure.numbers.query];
    const full = Number(figure.part("share-0").querySelector(".vd-box").getAttribute("width"));
    const [dot] = figure.part("dot").children;
    let lit = 0;

    const spot = ([x, y]) => [plane.x + plane.unit * x, plane.y - plane.unit * y];
    const three = (number) => number.toFixed(3);

    function draw() {
      const { products, scores, scaled, exps, total, weights, output } = attend(query, keys, values);
      const here = spot(output);
      query.forEach((number, j) => {
        const height = bars.unit * Math.abs(number);
        const [bar] = figure.part(`bar-${j}`).children;
        set(bar, { height, y: number > 0 ? bars.zero - height : bars.zero });
        figure.part(`knob-${j}`).style.transform = `translateY(${-bars.unit * number}px)`;
        figure.write(`query-${j}`, written(number));
      });
      keys.forEach((key, i) => {
        products[i].forEach((number, j) => figure.write(`product-${i}-${j}`, written(number)));
        figure.write(`score-${i}`, written(scores[i]));
        figure.write(`scaled-${i}`, written(scaled[i], 2));
        figure.write(`exp-${i}`, three(exps[i]));
        figure.write(`weight-${i}`, three(weights[i]));
        figure.write(`times-${i}`, three(weights[i]));
        set(figure.part(`share-${i}`).querySelector(".vd-full"), { width: full * weights[i] });
        const [pull] = figure.part(`pull-${i}`).children;
        set(pull, { d: `M${spot(values[i])}L${here}`, "stroke-width": 7 * weights[i] });
      });
      figure.write("total", `sum ${three(total)}`);
      figure.write("divisor", `÷ ${three(total)}`);
      output.forEach((number, n) => figure.write(`output-${n}`, three(number)));
      const side = Number(dot.getAttribute("width")) / 2;
      set(dot, { x: here[0] - side, y: here[1] - side });

      const root = written(Math.sqrt(query.length));
      const most = Math.max(...weights);
      const strongest = weights.flatMap((weight, i) => (most - weight < 1e-9 ? [i + 1] : []));
      const pulling = strongest.length === 1 ? `Value ${strongest} pulls hardest at the output now, with an attention weight of ${three(most)}.`
        : `Values ${listed(strongest)} pull equally hard at the output now, each with an attention weight of ${three(most)}.`;
      figure.say([
        `Drag the bars of the query. ${pulling}`,
        `q: the query, ${listed(query.map((number) => written(number)))}.`,
        `q kᵀ: multiply the query by each key, number by number, and add up. The scores are ${listed(scores.map((number) => written(number)))}.`,
        `Divided by √d = √${query.length} = ${root}, the scores are ${listed(scaled.map((number) => written(number, 2)))}.`,
        `softmax: the exponentials, each divided by their sum ${three(total)}, are the attention weights: ${listed(weights.map(three))}.`,
        `v: the three values, mixed by these weights, are the output (${output.map(three).join(", ")}), a point in their triangle.`,
      ][lit]);
    }

    function light(index) {
      lit = index;
      TERMS.forEach((term, i) => {
        figure.part(`band-${term}`).classList.toggle("lit", lit === i + 1);
        figure.part(`term-${term}`).classList.toggle("lit", lit === i + 1);
      });
      draw();
    }

    const told = query.map((_, j) => {
      const middle = Number(figure.part(`query-${j}`).querySelector("text").getAttribute("x"));
      return figure.slider(`handle-${j}`, {
        box: [middle - bars.apart / 2 + 1, bars.zero - bars.unit * bars.high - 9, bars.apart - 2, bars.unit * (bars.high - bars.low) + 16],
        low: bars.low, high: bars.high, step: 0.5, along: "y",
        label: `number ${j + 1} of the query`,
        at: (y) => (bars.zero - y) / bars.unit,
        value: () => query[j],
        says: (number) => written(number),
        change: (number) => { query[j] = number; draw(); },
      });
    });
    const show = figure.steps({ count: TERMS.length + 1, show: light });
    TERMS.forEach((term, i) => {
      const part = figure.part(`term-${term}`);
      let before = 0;
      part.addEventListener("pointerenter", (event) => { before = lit; if (event.pointerType === "mouse") light(i + 1); });
      part.addEventListener("pointerleave", (event) => { if (event.pointerType === "mouse") light(before); });
      part.addEventListener("click", () => { before = i + 1; show(i + 1); });
    });
    figure.button("Start again", () => {
      query.splice(0, query.length, ...figure.numbers.query);
      show(0);
      told.forEach((tell) => tell());
    });
  }

  Object.assign(figures, { attend, one_query: start });
})();
