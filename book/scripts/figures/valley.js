// Chapter 8: moves SGD and AdamW down a narrow valley from the same start, step by step, with or without warm-up and
// momentum; the start and the learning rates can be changed.

import { drawn, move, set, upTo, written } from "../moving/kit.js";
/** @import { Box, Figure, Pair } from "../moving/kit.js" */

/** @typedef {(gradient: Pair, lr: number) => number[]} StepOf */
/**
 * @typedef {object} Numbers
 * @property {Pair} start
 * @property {number} steeper
 * @property {number} steps
 * @property {number} shown step at the start
 * @property {number} warmup steps
 * @property {number} momentum
 * @property {{along: number, across: number, apart: Pair, size: Pair}} starts a grid, from the left on and down
 * @property {{[name: string]: {apart: number, stops: number, first: number}}} rates
 * @property {{[name: string]: Box}} panels
 * @property {number} left
 * @property {number} half
 * @property {number} unit
 */

const [BETA1, BETA2, EPS] = [0.9, 0.999, 1e-8]; // defaults of torch.optim.AdamW; there is no weight decay

/**
 * For each optimiser, a function that returns the step for a gradient and a learning rate.
 * @type {{[name: string]: (momentum: number) => StepOf}}
 */
const OPTIMISERS = {
  SGD: (momentum) => {
    let rolling = [0, 0];
    return (gradient, lr) => {
      rolling = rolling.map((old, i) => momentum * old + gradient[i]);
      return rolling.map((speed) => -lr * speed);
    };
  },
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

/**
 * Returns an optimiser's path step by step, given the learning rate of each step.
 * @type {(name: string, rates: number[], start: Pair, steeper: number, momentum: number) => Pair[]}
 */
function descend(name, rates, start, steeper, momentum) {
  const stepOf = OPTIMISERS[name](momentum);
  const places = [start];
  for (const lr of rates) {
    const [x, y] = places[places.length - 1];
    const [along, across] = stepOf([x, steeper * y], lr);
    places.push([x + along, y + across]);
  }
  return places;
}

/** @param {Figure<Numbers>} figure */
function start(figure) {
  const { steeper, steps, shown, warmup, momentum, starts, rates, panels, left, half, unit } = figure.numbers;
  const names = Object.keys(rates);
  const stops = Object.fromEntries(names.map((name) => [name, rates[name].first]));
  let top = figure.numbers.start;
  let warms = false;
  let rolls = false; // whether SGD has momentum
  let now = shown;
  let untouched = true;

  for (const name of names) {
    // a path that leaves the valley is cut off at its edge
    const id = `valley-edge-${name}`;
    figure.svg.append(drawn("clipPath", { id, "aria-hidden": true }, drawn("rect", { ...panels[name] })));
    for (const part of ["ghost", "path", "dots", "more", "last"]) {
      set(figure.part(`${part}-${name}`), { "clip-path": `url(#${id})` });
    }
  }

  /** @type {(name: string, place: Pair) => Pair} */
  const at = (name, [x, y]) => [panels[name].x + (x - left) * unit, panels[name].y + (half - y) * unit];
  /** @type {(name: string) => number} */
  const peak = (name) => stops[name] * rates[name].apart;
  /** @type {(name: string, step: number, warm: boolean) => number} */
  const rate = (name, step, warm) => peak(name) * (warm ? Math.min(1, (step + 1) / (warmup + 1)) : 1);
  /** @type {(name: string, warm: boolean, rolling: boolean) => Pair[]} */
  const walk = (name, warm, rolling) =>
    descend(name, upTo(steps).map((step) => rate(name, step, warm)), top, steeper, rolling ? momentum : 0);
  /** @type {(place: Pair) => string} */
  const far = ([x, y]) => Math.hypot(x, y).toFixed(1);

  function draw() {
    const walked = Object.fromEntries(names.map((name) => [name, walk(name, warms, rolls)]));
    for (const name of names) drawPath(name, walked[name]);
    figure.say(sentence(walked));
    untouched = false;
  }

  /** @type {(name: string, places: Pair[]) => void} */
  function drawPath(name, places) {
    /** @type {(through: Pair[]) => string} */
    const line = (through) =>
      `M${through
        .map((place) =>
          at(name, place)
            .map((number) => number.toFixed(2))
            .join(" "),
        )
        .join("L")}`;
    const before = Math.max(now - 1, 0);
    const rolling = rolls && name === "SGD";
    const ghost = warms || rolling ? walk(name, false, false).slice(0, now + 1) : [top];
    figure.draw(`path-${name}`, { d: line(places.slice(0, now + 1)) });
    figure.draw(`last-${name}`, { d: line(places.slice(before, now + 1)) });
    figure.draw(`ghost-${name}`, { d: line(ghost) });
    const dots = [`dots-${name}`, `more-${name}`].flatMap((part) => [...figure.part(part).children]);
    dots.forEach((dot, index) => {
      const [x, y] = at(name, places[index + 1]);
      const radius = Number(dot.getAttribute("width")) / 2;
      set(dot, { x: x - radius, y: y - radius, visibility: index < now ? "visible" : "hidden" });
    });
    const risen = warms && before < warmup ? `${Number(rate(name, before, true).toPrecision(2))} of ` : "";
    const called = rolling ? `${name} with momentum ${momentum}` : name;
    figure.write(`title-${name}`, `${called}, learning rate ${risen}${written(peak(name), 3)}`);
    figure.write(
      `line-${name}`,
      `After ${now} ${now === 1 ? "step" : "steps"}: ${far(places[now])} of ${far(top)} units away.`,
    );
    const [from, to] = [at(name, figure.numbers.start), at(name, top)];
    figure.shift(`handle-start-${name}`, to[0] - from[0], to[1] - from[1]);
    const right = to[0] > panels[name].x + panels[name].width - 45; // there its name stands on its other side
    const letters = /** @type {Element} */ (figure.part(`handle-start-${name}`).querySelector("text"));
    set(letters, { x: from[0] + (right ? -8 : 8), "text-anchor": right ? "end" : "start" });
  }

  /** @type {(walked: {[name: string]: Pair[]}) => string} */
  function sentence(walked) {
    if (now === 0)
      return "Both are at the start, up on one wall. Take the steps one by one, or change a learning rate.";
    const [SGD, AdamW] = names.map((name) => far(walked[name][now]));
    const without = [warms && `${warmup} steps of warm-up`, rolls && "momentum"].filter(Boolean);
    const dashed = without.length ? ` Dashed: without ${without.join(" and ")}.` : "";
    if (now === 1 && top[0] && top[1])
      return `AdamW’s first step is as long across as along, although the valley is much steeper across.${dashed}`;
    if (Math.abs(walked.SGD[now][1]) > half)
      return `SGD is thrown out: its steps are too long. AdamW is ${AdamW} units from the lowest point.${dashed}`;
    const [[before], [x]] = walked.AdamW.slice(now - 1);
    if (x * top[0] < 0 && (x - before) * top[0] < 0)
      return (
        `After ${now} steps SGD is ${SGD} units away, ` +
        `and AdamW ${AdamW}: its average of gradients carried it past.${dashed}`
      );
    return (
      `After ${now} steps SGD is ${SGD} units from the lowest point, and AdamW ${AdamW}.` +
      (untouched ? " Drag the start, or change a learning rate." : dashed)
    );
  }

  figure.steps(
    {
      count: steps + 1,
      first: now,
      says: (step) => `${step} of ${steps}`,
      show: (step) => { now = step; draw(); },
    },
    { seconds: 0.4, meanwhile: "Step by step: SGD above, AdamW below." },
  );
  figure.newRow();
  const [along, across] = starts.apart;
  for (const name of names) {
    const { apart, stops: high } = rates[name];
    figure.range({
      label: `learning rate of ${name}`,
      text: `${name}’s rate`,
      low: 1,
      high,
      value: () => stops[name],
      says: (stop) => written(stop * apart, 3),
      change: (stop) => { stops[name] = stop; draw(); },
    });
    const [x, y] = at(name, top);
    figure.places(`handle-start-${name}`, {
      grid: [
        panels[name].x + (starts.along - along / 2 - left) * unit,
        panels[name].y + (half - starts.across - across / 2) * unit,
        starts.size[1] * along * unit,
        starts.size[0] * across * unit,
      ],
      box: [x - 20, y - 26, 52, 52],
      size: () => starts.size,
      label: `start of ${name}`,
      value: () => [Math.round((starts.across - top[1]) / across), Math.round((top[0] - starts.along) / along)],
      says: () => `${written(top[0], 2)} along, ${written(top[1])} across`,
      choose: ([row, column]) => {
        top = [starts.along + column * along, Math.round(10 * (starts.across - row * across)) / 10];
        draw();
      },
    });
  }
  figure.newRow();
  figure.toggle("Momentum", (pressed) => { rolls = pressed; draw(); });
  figure.toggle("Warm-up", (pressed) => { warms = pressed; draw(); });
}

move("valley", start);
