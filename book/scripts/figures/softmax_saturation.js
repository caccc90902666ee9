// Chapter 4: shows how 197 keys share a query's attention as d grows, with and without the division by √d.

import { move } from "../moving/kit.js";
/** @import { Figure } from "../moving/kit.js" */

/**
 * @typedef {object} Numbers
 * @property {number[]} dims
 * @property {number} shown index of d at the start
 * @property {{[name: string]: number[][]}} shares of the keys for each d, the largest first, in 1/10,000
 * @property {{x: number, width: number, height: number, y: {[name: string]: number}}} bar
 * @property {{x: number, y: number, w: number, h: number}} chart
 */

/** @param {Figure<Numbers>} figure */
function start(figure) {
  const { dims, shares, bar, chart } = figure.numbers;
  const names = Object.keys(shares);
  const keys = Math.max(...names.flatMap((name) => shares[name].map((row) => row.length)));
  /** @type {(name: string, index: number, rank: number) => number} */
  const share = (name, index, rank) => (shares[name][index][rank] ?? 0) / 1e4;

  /** Draws all parts; at, an index of dims, is no whole number while the drawing moves. @type {(at: number) => void} */
  function draw(at) {
    const [low, high] = [Math.floor(at), Math.ceil(at)];
    /** @type {(of: (index: number) => number) => number} */
    const between = (of) => of(low) + (of(high) - of(low)) * (at - low);
    const x = chart.x + (chart.w * at) / (dims.length - 1);
    for (const name of names) {
      const best = between((index) => share(name, index, 0));
      figure.draw(`best-${name}`, { width: bar.width * best });
      let [end, cuts] = [bar.x, ""];
      for (let rank = 0; rank < keys - 1; rank++) {
        end += bar.width * between((index) => share(name, index, rank));
        cuts += `M${end.toFixed(1)} ${bar.y[name]}v${bar.height}`;
      }
      figure.draw(`cuts-${name}`, { d: cuts });
      figure.write(`share-${name}`, `best key ${best.toFixed(2)}`);
      figure.draw(`dot-${name}`, { x: x - 4.5, y: chart.y - chart.h * best - 4.5 });
    }
    figure.draw("now", { d: `M${x} ${chart.y - chart.h}V${chart.y + 4}` });
  }

  /** @type {(index: number) => void} */
  function go(index) {
    figure.glide(index, draw);
    figure.write("d", `d = ${dims[index]}`);
    const [undivided, divided] = names.map((name) => share(name, index, 0).toFixed(2));
    figure.say(
      `d = ${dims[index]}: undivided, the best key gets ${undivided} of the attention, and divided by √d ${divided}.`,
    );
  }

  figure.steps({
    count: dims.length,
    first: figure.numbers.shown,
    show: go,
    label: "d, how many numbers a query and a key have",
    says: (index) => String(dims[index]),
    scrub: { chart: [chart.x, chart.y - chart.h, chart.w, chart.h + 20] },
  });
}

move("softmax_saturation", start);
