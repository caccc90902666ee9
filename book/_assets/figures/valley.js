// Chapter 8: moves SGD and AdamW down a narrow valley from the same start, step by step, with or without warm-up, at
// learning rates that can be changed.
(() => {
  "use strict";
  const figures = (globalThis.vitFigures ??= {});
  const [BETA1, BETA2, EPS] = [0.9, 0.999, 1e-8]; // defaults of torch.optim.AdamW; there is no weight decay

  /** For each optimiser, a function that returns the step for a gradient and a learning rate. */
  const OPTIMISERS = {
    SGD: () => (gradient, lr) => gradient.map((g) => -lr * g),
    AdamW: () => {
      let [m, v, step] = [[0, 0], [0, 0], 0];
      return (gradient, lr) => {
        step += 1;
        m = m.map((old, i) => BETA1 * old + (1 - BETA1) * gradient[i]);
        v = v.map((old, i) => BETA2 * old + (1 - BETA2) * gradient[i] ** 2);
        return m.map((mean, i) => (-lr * (mean / (1 - BETA1 ** step))) / (Math.sqrt(v[i] / (1 - BETA2 ** step)) + EPS));
      };
    },
  };

  /** Returns an optimiser's path step by step, given the learning rate of each step. */
  function descend(name, rates, start, steeper) {
    const stepOf = OPTIMISERS[name]();
    const places = [start];
    for (const lr of rates) {
      const [x, y] = places.at(-1);
      const [along, across] = stepOf([x, steeper * y], lr);
      places.push([x + along, y + across]);
    }
    return places;
  }

  function start(figure) {
    const { set, SVG, written } = figures;
    const { start: top, steeper, steps, shown, warmup, rates, panels, left, half, unit, track, stepTrack } = figure.numbers;
    const names = Object.keys(rates);
    const stops = Object.fromEntries(names.map((name) => [name, rates[name].first]));
    let warms = false;
    let now = shown;
    let untouched = true;

    for (const name of names) { // a path that leaves the valley is cut off at its edge
      const edge = set(document.createElementNS(SVG, "clipPath"), { id: `valley-edge-${name}`, "aria-hidden": true });
      edge.append(set(document.createElementNS(SVG, "rect"), panels[name]));
      figure.svg.append(edge);
      for (const part of ["ghost", "path", "dots", "more", "last"]) figure.part(`${part}-${name}`).setAttribute("clip-path", `url(#${edge.id})`);
    }

    const peak = (name) => stops[name] * rates[name].apart;
    const rate = (name, step, warm) => peak(name) * (warm ? Math.min(1, (step + 1) / (warmup + 1)) : 1);
    const walk = (name, warm) => descend(name, Array.from({ length: steps }, (_, step) => rate(name, step, warm)), top, steeper);
    const far = ([x, y]) => Math.hypot(x, y).toFixed(1);
    const fixed = (number) => (Math.abs(number) < 0.005 ? "0.00" : number.toFixed(2).replace("-", "−"));

    function draw() {
      const walked = Object.fromEntries(names.map((name) => [name, walk(name, warms)]));
      for (const name of names) drawPath(name, walked[name]);
      figure.write("step", `step ${now}`);
      set(figure.part("knob-steps").firstElementChild, { x: stepTrack.x + (stepTrack.width * now) / steps - 8 });
      figure.say(sentence(walked));
      for (const tell of told) tell();
      untouched = false;
    }

    function drawPath(name, places) {
      const panel = panels[name];
      const spot = ([x, y]) => [panel.x + (x - left) * unit, panel.y + (half - y) * unit];
      const line = (through) => `M${through.map((place) => spot(place).map((number) => number.toFixed(2)).join(" ")).join("L")}`;
      const before = Math.max(now - 1, 0);
      for (const [part, through] of Object.entries({
        path: places.slice(0, now + 1), last: places.slice(before, now + 1), ghost: warms ? walk(name, false).slice(0, now + 1) : [top],
      })) set(figure.part(`${part}-${name}`).firstElementChild, { d: line(through) });
      [`dots-${name}`, `more-${name}`].flatMap((part) => [...figure.part(part).children]).forEach((dot, index) => {
        const [x, y] = spot(places[index + 1]);
        const radius = dot.width.baseVal.value / 2;
        set(dot, { x: x - radius, y: y - radius });
        dot.style.visibility = index < now ? "visible" : "hidden";
      });
      const at = warms && before < warmup ? `${Number(rate(name, before, true).toPrecision(2))} of ` : "";
      figure.write(`title-${name}`, `${name}, learning rate ${at}${written(peak(name), 3)}`);
      set(figure.part(`knob-${name}`).firstElementChild, { x: track.x + (track.width * (stops[name] - 1)) / (rates[name].stops - 1) - 8 });
      const [x, y] = places[before];
      const [along, across] = places[now].map((number, i) => fixed(number - [x, y][i]));
      figure.write(`line-${name}-0`, `Gradient ${now ? "before the step" : "here"}: ${fixed(x)} along the floor, ${fixed(steeper * y)} across.`);
      figure.write(`line-${name}-1`, now ? `Step: ${along} along, ${across} across. Now ${far(places[now])} units away.` : `${far(top)} units away.`);
    }

    function sentence(walked) {
      if (now === 0) return "Both are at the start, up on one wall. Take the steps one by one, or change a learning rate.";
      const [SGD, AdamW] = names.map((name) => far(walked[name][now]));
      const dashed = warms ? " Dashed: without warm-up." : "";
      if (now === 1) return `AdamW’s first step is as long across as along, although the valley is much steeper across.${dashed}`;
      if (Math.abs(walked.SGD[now][1]) > Math.abs(top[1])) return `SGD is thrown out: its steps are too long for the walls. AdamW is ${AdamW} units from the lowest point.${dashed}`;
      return `After ${now} steps SGD is ${SGD} units from the lowest point, and AdamW ${AdamW}.`
        + (warms ? ` The first ${warmup} learning rates are smaller.${dashed}` : untouched ? " Drag a learning rate, or the step." : "");
    }

    const told = [];
    const show = figure.steps({ count: steps + 1, first: now, seconds: 0.4, meanwhile: "Step by step: SGD above, AdamW below.", show: (step) => { now = step; draw(); } });
    const warm = figure.button("Warm-up", () => {
      warms = !warms;
      warm.setAttribute("aria-pressed", warms);
      draw();
    });
    warm.setAttribute("aria-pressed", warms);
    for (const name of names) {
      const { apart, stops: high } = rates[name];
      told.push(figure.slider(`handle-${name}`, {
        box: [track.x - 12, panels[name].y - 37, track.width + 24, 44],
        low: 1, high, step: 1, label: `learning rate of ${name}`,
        at: (x) => 1 + ((x - track.x) / track.width) * (high - 1),
        value: () => stops[name], says: (stop) => written(stop * apart, 3),
        change: (stop) => { stops[name] = stop; draw(); },
      }));
    }
    told.push(figure.slider("handle-steps", {
      box: [stepTrack.x - 12, stepTrack.y - 22, stepTrack.width + 24, 44],
      low: 0, high: steps, step: 1, label: "step",
      at: (x) => ((x - stepTrack.x) / stepTrack.width) * steps,
      value: () => now, says: String, change: show,
    }));
  }

  Object.assign(figures, { descend, valley: start });
})();
