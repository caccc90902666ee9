// Chapter 11: slides explicit attention, fused attention and a linear layer along the roof of an H100.

import { move, set } from "../moving/kit.js";
/** @import { Box, Figure, Pair } from "../moving/kit.js" */

/**
 * @typedef {object} Numbers
 * @property {number} peak FLOP/s
 * @property {number} bandwidth bytes a second
 * @property {number} dim
 * @property {number} heads
 * @property {number[]} sides of an image, in pixels
 * @property {number[]} images
 * @property {Pair} start places in the lists of sides and of images
 * @property {Box} chart
 * @property {Pair} least FLOPs a byte and FLOP/s at the chart's lower left corner
 * @property {Pair} most the same at its upper right corner
 */

const PATCH = 16;

/** @type {(side: number) => number} */
const tokensOf = (side) => (side / PATCH) ** 2 + 1;
/** @type {(number: number) => string} */
const grouped = (number) => number.toLocaleString("en");
/** @type {(share: number) => string} */
const percent = (share) => `${Math.round(100 * share)} %`;
/** @type {(count: number) => string} */
const inImages = (count) => `${count} ${count === 1 ? "image" : "images"}`;

/** @param {Figure<Numbers>} figure */
function start(figure) {
  const { peak, bandwidth, dim, heads, sides, images, chart, least, most } = figure.numbers;
  const bend = peak / bandwidth;
  let [side, batch] = figure.numbers.start;

  /** @type {(intensity: number) => number} */
  const across = (intensity) =>
    chart.x + (chart.width * Math.log(intensity / least[0])) / Math.log(most[0] / least[0]);
  /** @type {(speed: number) => number} */
  const up = (speed) => chart.y + chart.height * (1 - Math.log(speed / least[1]) / Math.log(most[1] / least[1]));
  /** Returns the FLOP/s that the roof allows. @param {number} intensity */
  const allowed = (intensity) => Math.min(peak, intensity * bandwidth);

  /**
   * Returns the FLOPs a byte of explicit attention, of fused attention and of the layer qkv, in bfloat16.
   * @type {(T: number, count: number) => number[]}
   */
  function intensities(T, count) {
    const flops = 4 * T * T * dim + 5 * heads * T * T; // two products and a softmax
    const ends = 2 * 4 * T * dim; // q, k, v and the output
    const tables = 2 * 4 * heads * T * T; // two tables, each stored and fetched
    const rows = count * T;
    return [flops / (ends + tables), flops / ends, (3 * rows * dim * dim) / (4 * rows * dim + 3 * dim * dim)];
  }

  const lowest = intensities(tokensOf(sides[0]), images[0]);
  const highest = intensities(tokensOf(sides[sides.length - 1]), images[images.length - 1]);
  lowest.forEach((low, index) => {
    // the way that an operation can go: with the tokens or, for the layer, with both
    const high = highest[index];
    const points = [low, ...(low < bend && bend < high ? [bend] : []), high];
    const below = 6 + 4 * index;
    const path = points.map((one) => `${across(one)} ${up(allowed(one)) + below}`).join("L");
    figure.draw(`path-${index}`, { d: `M${path}` });
  });

  function draw() {
    const [T, count] = [tokensOf(sides[side]), images[batch]];
    const found = intensities(T, count);
    found.forEach((intensity, index) => {
      const mark = /** @type {Element} */ (figure.part(`point-${index}`).firstElementChild);
      const half = Number(mark.getAttribute("width")) / 2;
      set(mark, { x: across(intensity) - half, y: up(allowed(intensity)) - half });
      figure.write(`intensity-${index}`, grouped(Math.round(intensity)));
      figure.write(`share-${index}`, percent(allowed(intensity) / peak));
    });
    figure.write("sizes", `${grouped(T)} tokens, ${inImages(count)}`);
    const [explicit, fused] = found.map(allowed);
    const where = found[1] < bend ? "on the slope" : "on the flat part";
    figure.say(
      `With ${grouped(T)} tokens and ${inImages(count)}, fused attention is ${where}. ` +
        `The roof allows it ${(fused / explicit).toFixed(1)} times the speed of explicit attention, ` +
        `whose limit is ${percent(explicit / peak)} of the peak.`,
    );
  }

  const [left, right] = [lowest[1], highest[1]].map(across);
  const show = figure.steps(
    {
      count: sides.length,
      first: side,
      label: "number of tokens",
      says: (index) => `${grouped(tokensOf(sides[index]))} tokens`,
      show: (index) => { side = index; draw(); },
      // A drag takes fused attention along, whose intensity doubles with the tokens.
      scrub: { chart: [left, chart.y, right - left, chart.height] },
    },
    { seconds: 1.4 },
  );
  figure.newRow();
  figure.range({
    label: "images",
    low: 0,
    high: images.length - 1,
    value: () => batch,
    says: (index) => String(images[index]),
    change: (index) => { batch = index; draw(); },
  });
  figure.button("Reset", () => {
    [side, batch] = figure.numbers.start;
    show(side);
  });
}

move("roofline", start);
