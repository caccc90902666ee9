// Chapter 1: draws the cost of a block for an image in patches as a band of T by T + 6D, to scale.

import { clamp, drawn, move } from "../moving/kit.js";
/** @import { Box, Figure, Pair } from "../moving/kit.js" */

/**
 * @typedef {object} Numbers
 * @property {{[name: string]: Pair}} models embed_dim and heads of each model
 * @property {string} model
 * @property {number} image
 * @property {[number, number, number]} sides of the image: first, last, step
 * @property {number[]} patches
 * @property {number} patch index of the patch side at the start
 * @property {string} gpu
 * @property {number} limit bytes that the GPU has
 * @property {number} gridFrom least distance of lines
 * @property {Box} photo
 * @property {Box} stage
 */
/** @typedef {[number, number, number]} Drawn logarithms of T, 6D and the scale */

/**
 * Returns a block's T, multiply-accumulates, and the bytes of all heads' scores, as in vit_steps/cost.py.
 * @param {number} image
 * @param {number} patch
 * @param {Pair} model
 */
function billOf(image, patch, [D, heads]) {
  const T = (image / patch) ** 2 + 1;
  return { T, quadratic: 2 * T * T * D, linear: 12 * T * D * D, squares: 4 * heads * T * T };
}

/**
 * Writes a number with three digits, in the unit that fits.
 * @type {(value: number, step: number, units: string[]) => string}
 */
function inUnits(value, step, units) {
  let power = 0;
  while (value >= step && power < units.length - 1) {
    value /= step;
    power += 1;
  }
  return `${value >= 100 ? counted(Math.round(value)) : Number(value.toPrecision(3))} ${units[power]}`;
}

/** @type {(number: number) => string} */
const counted = (number) => number.toLocaleString("en");
/** @type {(number: number) => string} */
const memory = (bytes) => inUnits(bytes, 1024, ["bytes", "KiB", "MiB", "GiB", "TiB"]);
/** @type {(number: number) => string} */
const large = (count) => inUnits(count, 1000, ["", "thousand", "million", "billion", "trillion", "quadrillion"]);

/** @type {(number: number) => string} */
const inPixels = (side) => `${side} ${side === 1 ? "pixel" : "pixels"}`;
/** Writes a ratio with two digits. @type {(number: number) => string} */
const times = (ratio) => counted(Number(ratio.toPrecision(2)));

/** @param {Figure<Numbers>} figure */
function start(figure) {
  const { models, sides: [low, high, step], patches, gpu, limit, gridFrom, photo, stage } = figure.numbers;
  const began = { image: figure.numbers.image, patch: patches[figure.numbers.patch] };
  const now = { ...began, model: figure.numbers.model };
  let shown = goal(); // the values on the screen while they move to the new ones

  // Parts that grow beyond the stage, before the picture is zoomed out, are cut off.
  const seen = { ...stage, y: stage.y - 1, width: stage.width + 2, height: stage.height + 2 };
  figure.svg.append(drawn("clipPath", { id: "bill-stage", "aria-hidden": true }, drawn("rect", seen)));
  figure.part("areas").setAttribute("clip-path", "url(#bill-stage)");

  /**
   * Returns logarithms of the values to be drawn. The band fits the stage, and its area never shrinks as T grows.
   * @type {() => Drawn}
   */
  function goal() {
    const { T } = billOf(now.image, now.patch, models[now.model]);
    const sixD = 6 * models[now.model][0];
    const scale = Math.min(stage.width / (T + sixD), stage.height / Math.sqrt(T * (T + sixD)));
    return [Math.log(T), Math.log(sixD), Math.log(scale)];
  }

  /** @type {(logs: Drawn) => void} */
  function draw(logs) {
    shown = logs;
    const [T, sixD, scale] = logs.map(Math.exp);
    /** @type {(T: number, from: number, length: number) => Box} */
    const lying = (T, from, length) => ({
      x: stage.x + from * scale,
      y: stage.y + stage.height - T * scale,
      width: length * scale,
      height: T * scale,
    });
    figure.draw("area-quadratic", lying(T, 0, T));
    figure.draw("area-linear", lying(T, T, sixD));
    const { T: first } = billOf(began.image, began.patch, models[now.model]);
    const start = lying(first, 0, first + sixD);
    figure.draw("start", start);
    const aside = T * scale < 60 ? T * scale : 0; // beside a square that is too narrow for the words
    figure.draw("start-name", { x: stage.x + 4 + aside, y: Math.max(start.y - 5, stage.y + 12) });
    const power = 10 ** Math.floor(Math.log10(60 / scale));
    const tokens = power * (60 / scale >= 5 * power ? 5 : 60 / scale >= 2 * power ? 2 : 1);
    figure.draw("ruler", { d: `M${stage.x + stage.width - tokens * scale} ${stage.y + 6}h${tokens * scale}` });
    figure.write("ruled", `${counted(tokens)} tokens`);
  }

  /**
   * Moves the drawing in two halves: the band changes to one scale, and then all of it is zoomed.
   * @type {(to: Drawn) => void}
   */
  function zoom(to) {
    const [[T, sixD, scale], [newT, newSixD, newScale]] = [shown, to];
    /** @type {(from: number, until: number, t: number) => number} */
    const between = (from, until, t) => from + (until - from) * clamp(t, 0, 1);
    figure.tween(
      (t) => draw([between(T, newT, 2 * t), between(sixD, newSixD, 2 * t), between(scale, newScale, 2 * t - 1)]),
      1400,
    );
  }

  function cut() {
    const rows = now.image / now.patch;
    const gap = photo.width / rows;
    const seen = gap >= gridFrom;
    let lines = "";
    for (let i = 1; seen && i < rows; i++) {
      lines += `M${photo.x + i * gap} ${photo.y}v${photo.height}M${photo.x} ${photo.y + i * gap}h${photo.width}`;
    }
    figure.draw("grid", { d: lines });
    figure.draw("veil", { "fill-opacity": seen ? 0 : 0.45 });
  }

  const show = (motion = true) => {
    const [D, heads] = models[now.model];
    const { T, quadratic, linear, squares } = billOf(now.image, now.patch, models[now.model]);
    const share = quadratic / (quadratic + linear);
    /** @type {(number: number) => string} */
    const percent = (part) => `${(100 * part).toFixed(1)}%`;
    figure.write("tokens", `T = ${counted(T)} tokens`);
    const patchesOrOne = T === 2 ? "patch" : "patches";
    figure.write("patches", `${counted(T - 1)} ${patchesOrOne} of ${inPixels(now.patch)} + the class token`);
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
    for (const name of ["start", "start-name"]) figure.part(name).style.visibility = same ? "hidden" : "visible";
    figure.part("hint").style.visibility = same && now.model === figure.numbers.model ? "visible" : "hidden";
    figure.write(
      "equal",
      `in patches of ${now.patch}, at an image side of ${counted(Math.round(now.patch * Math.sqrt(6 * D - 1)))}.`,
    );
    cut();
    if (motion) zoom(goal());
    else draw(goal());
    figure.say(
      `${now.model}/${now.patch} at ${now.image}: ${counted(T)} tokens and ${large(quadratic + linear)} MACs ` +
        `in a block${same ? "" : `, ${times(ratio)} times those of the start`}. ` +
        `${percent(share)} of them are quadratic. The squares of scores ${fits ? "fit" : "do not fit"} into ${gpu}.`,
    );
  };

  figure.steps({
    count: patches.length,
    first: figure.numbers.patch,
    label: "patch side",
    says: (index) => inPixels(patches[index]),
    show: (index) => { now.patch = patches[index]; show(); },
  });
  figure.newRow();
  figure.range({
    label: "image side",
    low,
    high,
    step,
    value: () => now.image,
    says: inPixels,
    change: (to) => { now.image = to; show(false); },
  });
  figure.newRow();
  figure.choice(Object.keys(models), now.model, (name) => {
    now.model = name;
    show();
  });
}

move("bill", start);
