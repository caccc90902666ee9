// Chapter 4: shows how 197 keys share a query's attention as d grows, with and without the division by √d.
(() => {
  "use strict";
  const figures = (globalThis.vitFigures ??= {});
  const HIGH = { "-": "⁻", 0: "⁰", 1: "¹", 2: "²", 3: "³", 4: "⁴", 5: "⁵", 6: "⁶", 7: "⁷", 8: "⁸", 9: "⁹" };

  /** Writes 3e-10 as 3·10⁻¹⁰. */
  function power(number) {
    const [digit, exponent] = number.toExponential(0).split("e");
    return `${digit}·10${[...String(Number(exponent))].map((sign) => HIGH[sign]).join("")}`;
  }

  function start(figure) {
    const { set } = figures;
    const { dims, shares, slopes, equal, bar, chart, slope } = figure.numbers;
    const names = Object.keys(shares);
    const keys = Math.max(...names.flatMap((name) => shares[name].map((row) => row.length)));
    const share = (name, index, rank) => (shares[name][index][rank] ?? 0) / 1e4;
    let now = figure.numbers.shown;
    let drawn = now; // the d on the screen while it moves to the new one

    /** Draws all parts; at, an index of dims, is no whole number while the drawing moves. */
    function draw(at) {
      drawn = at;
      const [low, high] = [Math.floor(at), Math.ceil(at)];
      const between = (of) => of(low) + (of(high) - of(low)) * (at - low);
      const x = chart.x + (chart.w * at) / (dims.length - 1);
      for (const name of names) {
        const best = between((index) => share(name, index, 0));
        set(figure.part(`best-${name}`).firstElementChild, { width: bar.width * best });
        let [end, cuts] = [bar.x, ""];
        for (let rank = 0; rank < keys - 1; rank++) {
          end += bar.width * between((index) => share(name, index, rank));
          cuts += `M${end.toFixed(1)} ${bar.y[name]}v${bar.height}`;
        }
        set(figure.part(`cuts-${name}`).firstElementChild, { d: cuts });
        figure.write(`share-${name}`, `best key ${best.toFixed(2)}`);
        const steep = Math.min(between((index) => slopes[name][index]) / equal, 1);
        set(figure.part(`slope-bar-${name}`).querySelector(".vd-full"), { width: slope * steep });
        set(figure.part(`dot-${name}`).firstElementChild, { x: x - 4.5, y: chart.y - chart.h * best - 4.5 });
      }
      set(figure.part("now").firstElementChild, { d: `M${x} ${chart.y - chart.h}V${chart.y + 12}` });
      set(figure.part("knob-d").firstElementChild, { x: x - 8 });
    }

    function go(index) {
      const from = drawn;
      now = index;
      figure.tween((t) => draw(from + (index - from) * t), 500);
      figure.write("d", `d = ${dims[index]}`);
      for (const name of names) figure.write(`slope-${name}`, power(slopes[name][index]));
      const [undivided, divided] = names.map((name) => [share(name, index, 0).toFixed(2), power(slopes[name][index])]);
      figure.say(`d = ${dims[index]}. Undivided, the best key gets ${undivided[0]} of the attention, and a typical weight's slope is ${undivided[1]}. `
        + `Divided by √d, they are ${divided[0]} and ${divided[1]}.`);
      told?.();
    }

    let told;
    const show = figure.steps({ count: dims.length, first: now, show: go });
    told = figure.slider("handle-d", {
      box: [chart.x - 12, chart.y - 8, chart.w + 24, 44],
      low: 0, high: dims.length - 1, step: 1,
      label: "d, how many numbers a query and a key have",
      at: (x) => ((x - chart.x) / chart.w) * (dims.length - 1),
      value: () => now,
      says: (index) => String(dims[index]),
      change: show,
    });
  }

  Object.assign(figures, { softmax_saturation: start });
})();
