// Chapter 1: draws the cost of a block for an image in patches as a band of T by T + 6D, to scale.
(() => {
  "use strict";
  const figures = (globalThis.vitFigures ??= {});

  /** Returns a block's T, multiply-accumulates, and the bytes of all heads' scores, as in vit_steps/cost.py. */
  function billOf(image, patch, [D, heads]) {
    const T = (image / patch) ** 2 + 1;
    return { T, quadratic: 2 * T * T * D, linear: 12 * T * D * D, squares: 4 * heads * T * T };
  }

  /** Writes a number with three digits, in the unit that fits. */
  function inUnits(value, step, units) {
    let power = 0;
    while (value >= step && power < units.length - 1) { value /= step; power += 1; }
    return `${value >= 100 ? counted(Math.round(value)) : Number(value.toPrecision(3))} ${units[power]}`;
  }

  const counted = (number) => number.toLocaleString("en");
  const memory = (bytes) => inUnits(bytes, 1024, ["bytes", "KiB", "MiB", "GiB", "TiB"]);
  const large = (count) => inUnits(count, 1000, ["", "thousand", "million", "billion", "trillion", "quadrillion"]);

  const inPixels = (side) => `${side} ${side === 1 ? "pixel" : "pixels"}`;
  /** Writes a ratio with two digits. */
  const times = (ratio) => counted(Number(ratio.toPrecision(2)));

  function start(figure) {
    const { set } = figures;
    const { models, sides: [low, high, step], patches, gpu, limit, gridFrom, photo, stage, tracks } = figure.numbers;
    const began = { image: figure.numbers.image, patch: patches[figure.numbers.patch] };
    const now = { ...began, model: figure.numbers.model };
    const along = {
      image: (side) => tracks.image.x + (tracks.image.width * (side - low)) / (high - low),
      patch: (side) => tracks.patch.x + (tracks.patch.width * Math.log2(patches[0] / side)) / (patches.length - 1),
    };
    const marked = { image: along.image(began.patch * side(now.model)), patch: along.patch(began.image / side(now.model)) };
    let drawn = sizes(); // the values on the screen while they move to the new ones

    /** Returns the number of patches along the image at which T = 6D. */
    function side(model) { return Math.sqrt(6 * models[model][0] - 1); }

    /** Returns the drawn values as logarithms, so that the picture zooms evenly from one scale to another. */
    function sizes() {
      return { T: Math.log(billOf(now.image, now.patch, models[now.model]).T), sixD: Math.log(6 * models[now.model][0]) };
    }

    function draw(logs) {
      drawn = logs;
      const [T, sixD] = [Math.exp(logs.T), Math.exp(logs.sixD)];
      const scale = Math.min(stage.width / (T + sixD), stage.height / T);
      const lying = (T, from, length) => ({ x: stage.x + from * scale, y: stage.y + stage.height - T * scale,
        width: length * scale, height: T * scale });
      set(figure.part("area-quadratic").firstElementChild, lying(T, 0, T));
      set(figure.part("area-linear").firstElementChild, lying(T, T, sixD));
      const { T: first } = billOf(began.image, began.patch, models[now.model]);
      set(figure.part("ghost").firstElementChild, lying(first, 0, first + sixD));
    }

    function cut() {
      const rows = now.image / now.patch;
      const gap = photo.width / rows;
      const seen = gap >= gridFrom;
      let lines = "";
      for (let i = 1; seen && i < rows; i++) {
        lines += `M${photo.x + i * gap} ${photo.y}v${photo.height}M${photo.x} ${photo.y + i * gap}h${photo.width}`;
      }
      set(figure.part("grid").firstElementChild, { d: lines });
      set(figure.part("veil").firstElementChild, { "fill-opacity": seen ? 0 : 0.45 });
    }

    function move(name, to, half) {
      const track = tracks[name];
      figure.write(`side-${name}`, inPixels(now[name]));
      set(figure.part(`knob-${name}`).firstElementChild, { x: to - 8 });
      const mark = figure.part(`mark-${name}`);
      mark.style.visibility = half >= track.x && half <= track.x + track.width ? "visible" : "hidden";
      set(mark, { transform: `translate(${half - marked[name]} 0)` });
    }

    function show(motion = true) {
      const [D, heads] = models[now.model];
      const { T, quadratic, linear, squares } = billOf(now.image, now.patch, models[now.model]);
      const share = quadratic / (quadratic + linear);
      const percent = (part) => `${(100 * part).toFixed(1)}%`;
      figure.write("tokens", `T = ${counted(T)} tokens`);
      figure.write("patches", `${counted(T - 1)} ${T === 2 ? "patch" : "patches"} and the class token`);
      figure.write("scores", `${counted(T)} × ${counted(T)} scores in each head`);
      figure.write("squares", `${heads} heads, float32: ${memory(squares)}`);
      const fits = squares <= limit;
      figure.write("fits", `${fits ? "✓ fits" : "✗ does not fit"} into ${gpu}`);
      figure.part("fits").dataset.kind = fits ? "good" : "bad";
      figure.write("block", `A block of ${now.model}, D = ${D}`);
      figure.write("macs", `${large(quadratic + linear)} MACs`);
      figure.write("share-quadratic", `quadratic, 2T²D: ${percent(share)}`);
      figure.write("share-linear", `linear, 12TD²: ${percent(1 - share)}`);
      const first = billOf(began.image, began.patch, models[now.model]);
      const ratio = (quadratic + linear) / (first.quadratic + first.linear);
      const same = now.image === began.image && now.patch === began.patch;
      figure.part("ghost").style.visibility = same ? "hidden" : "visible";
      figure.part("hint").style.visibility = same && now.model === figure.numbers.model ? "visible" : "hidden";
      figure.write("compared", same ? "" : `Dashed: ${began.image} pixels in patches of ${began.patch}, to the same scale.`);
      cut();
      move("image", along.image(now.image), along.image(now.patch * side(now.model)));
      move("patch", along.patch(now.patch), along.patch(now.image / side(now.model)));
      const [from, to] = [drawn, sizes()];
      const between = (t) => Object.fromEntries(Object.keys(to).map((key) => [key, from[key] + (to[key] - from[key]) * t]));
      if (motion) figure.tween((t) => draw(between(t)), 600);
      else draw(to);
      figure.say(`${now.model}/${now.patch} at ${now.image}: ${counted(T)} tokens and ${large(quadratic + linear)} MACs in a block`
        + `${same ? "" : `, ${times(ratio)} times those of the dashed band`}. ${percent(share)} of them are quadratic. `
        + `The squares of scores ${fits ? "fit" : "do not fit"} into ${gpu}.`);
      for (const tell of told) tell();
    }

    const told = [];
    const finer = figure.steps({ count: patches.length, first: figure.numbers.patch,
      show: (index) => { now.patch = patches[index]; show(); } });
    figure.newRow();
    const buttons = Object.keys(models).map((name) => figure.button(name, () => {
      now.model = name;
      for (const button of buttons) button.setAttribute("aria-pressed", button.textContent === name);
      show();
    }));
    for (const button of buttons) button.setAttribute("aria-pressed", button.textContent === now.model);
    const grip = ({ x, y, width }) => [x - 14, y - 23, width + 24, 46];
    told.push(
      figure.slider("handle-image", {
        box: grip(tracks.image), low, high, step, label: "image side",
        at: (x) => low + ((x - tracks.image.x) / tracks.image.width) * (high - low),
        value: () => now.image, says: inPixels,
        change: (to) => { now.image = to; show(false); },
      }),
      figure.slider("handle-patch", {
        box: grip(tracks.patch), low: 0, high: patches.length - 1, step: 1, label: "patch side",
        at: (x) => ((x - tracks.patch.x) / tracks.patch.width) * (patches.length - 1),
        value: () => patches.indexOf(now.patch), says: (index) => inPixels(patches[index]),
        change: finer,
      }),
    );
  }

  Object.assign(figures, { billOf, bill: start });
})();
