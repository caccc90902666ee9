// Chapter 11: slides explicit attention, fused attention and a linear layer along the roof of an H100.
(() => {
  "use strict";
  const figures = (globalThis.vitFigures ??= {});

  function start(figure) {
    const { set } = figures;
    const { peak, bandwidth, dim, heads, sides, images, chart, least, most, track } = figure.numbers;
    const now = [...figure.numbers.start]; // places in the lists of sides and of images
    const lists = [sides, images];
    const names = ["tokens", "images"];

    const tokens = (side) => (side / 16) ** 2 + 1;
    const across = (intensity) => chart.x + (chart.width * Math.log(intensity / least[0])) / Math.log(most[0] / least[0]);
    const up = (speed) => chart.y + chart.height * (1 - Math.log(speed / least[1]) / Math.log(most[1] / least[1]));
    const allowed = (intensity) => Math.min(peak, intensity * bandwidth);
    const percent = (share) => `${Math.round(100 * share)} %`;

    /** Returns the FLOPs a byte of explicit attention, of fused attention and of the layer qkv, in bfloat16. */
    function intensities(T, batch) {
      const flops = 4 * T * T * dim + 5 * heads * T * T; // two products and a softmax
      const ends = 2 * 4 * T * dim; // q, k, v and the output
      const tables = 2 * 4 * heads * T * T; // two tables, each stored and fetched
      const rows = batch * T;
      return [flops / (ends + tables), flops / ends, (3 * rows * dim * dim) / (4 * rows * dim + 3 * dim * dim)];
    }

    function draw() {
      const [T, batch] = [tokens(sides[now[0]]), images[now[1]]];
      const found = intensities(T, batch);
      found.forEach((intensity, index) => {
        const mark = figure.part(`point-${index}`).firstElementChild;
        const half = Number(mark.getAttribute("width")) / 2;
        set(mark, { x: across(intensity) - half, y: up(allowed(intensity)) - half });
        // the way that it can go: the tokens or, for the layer, both sliders
        const ends = [[0, 0], [sides.length - 1, images.length - 1]].map(([side, count]) => intensities(tokens(sides[side]), images[count])[index]);
        const points = [ends[0], ...(ends[0] < peak / bandwidth && ends[1] > peak / bandwidth ? [peak / bandwidth] : []), ends[1]];
        set(figure.part(`path-${index}`).firstElementChild, { d: `M${points.map((one) => `${across(one)} ${up(allowed(one)) + 6 + 4 * index}`).join("L")}` });
        figure.write(`intensity-${index}`, Math.round(intensity).toLocaleString("en"));
        figure.write(`share-${index}`, percent(allowed(intensity) / peak));
      });
      figure.write("said-0", T.toLocaleString("en"));
      figure.write("said-1", batch);
      lists.forEach((list, row) => set(figure.part(`knob-${row}`).firstElementChild, { x: track.x + (track.width * now[row]) / (list.length - 1) - 8 }));
      const times = allowed(found[1]) / allowed(found[0]);
      const where = found[1] < peak / bandwidth ? "on the slope" : "on the flat part";
      figure.svg.setAttribute("aria-label", `The roof of an H100, with ${T} tokens and ${batch} images.`);
      figure.say(`With ${T.toLocaleString("en")} tokens, fused attention is ${where}. The roof allows it ${times.toFixed(1)} times the speed of explicit attention, which reaches ${percent(allowed(found[0]) / peak)} of the peak.`);
      for (const tell of told) tell();
    }

    const told = [];
    const show = figure.steps({ count: sides.length, first: now[0], seconds: 1.4, show: (index) => { now[0] = index; draw(); } });
    figure.button("Start again", () => { now[1] = figure.numbers.start[1]; show(figure.numbers.start[0]); });
    lists.forEach((list, row) => {
      const y = track.y + row * track.height;
      told.push(figure.slider(`handle-${row}`, {
        box: [track.x - 14, y - 23, track.width + 28, 46], low: 0, high: list.length - 1, step: 1, label: `number of ${names[row]}`,
        at: (x) => ((x - track.x) / track.width) * (list.length - 1),
        value: () => now[row], says: (index) => (row ? `${list[index]} images` : `${tokens(list[index])} tokens`),
        change: (index) => { if (row) { now[1] = index; draw(); } else show(index); },
      }));
    });
    draw();
  }

  Object.assign(figures, { roofline: start });
})();
