// Chapter 9: covers a picture patch by patch, the most attended first, beside another order.

import { move, placeAt, set } from "../moving/kit.js";
/** @import { Box, Figure } from "../moving/kit.js" */

/** @typedef {{order: number[], shares: number[], answers: string}} Curve shares in hundredths, answers a digit each */
/**
 * @typedef {object} Numbers
 * @property {{label: number, box: [number, number, number, number], curves: {[order: string]: Curve}}[]} pictures
 * @property {{[order: string]: string}} orders
 * @property {number} side
 * @property {number} patch
 * @property {number} covered
 * @property {Box} photo
 * @property {Box} bar
 * @property {number} second x of the second picture
 * @property {Box} chart
 * @property {string} beside the order whose curve is always there
 */
/** @typedef {(count: number, inBox: number) => string} Words */
/** @typedef {{share: string, answer: string}} Half */

/** @type {(words: string) => Words} */
const few = (words) => (count) => (count === 1 ? `the ${words}` : `the ${count} ${words}`);
/** @type {{[order: string]: Words}} */
const OTHERS = {
  random: (count) => (count === 1 ? "a random one" : `${count} random ones`),
  brightest: few("brightest"),
  "ink in the box": (count, inBox) =>
    count > inBox ? `the ${inBox} in the box and ${count - inBox} more` : few("brightest in the box")(count, inBox),
  "least attended": few("least attended"),
};

/** @param {Figure<Numbers>} figure */
function start(figure) {
  const { pictures, orders, side, patch, photo, bar, second, chart, beside } = figure.numbers;
  const patches = side * side;
  const cell = photo.width / side;
  const names = Object.keys(orders); // the first one stays at the left
  const shown = [names[0], "brightest"];
  let picture = pictures[0];
  let now = figure.numbers.covered;

  /** @type {(count: number) => number} */
  const across = (count) => chart.x + (chart.width * count) / patches;
  /** @type {(shares: number[]) => string} */
  const graph = (shares) =>
    `M${shares.map((share, count) => `${across(count)} ${chart.y + chart.height * (1 - share / 100)}`).join("L")}`;
  /** @type {(hundredths: number) => string} */
  const number = (hundredths) => (hundredths / 100).toFixed(2);

  function draw() {
    const [left, right] = shown.map((name, half) => drawHalf(half, picture.curves[name]));
    pictures.forEach((one, index) => {
      for (const half of [0, 1]) {
        figure.part(`digit-${half}-${index}`).style.display = one === picture ? "inline" : "none";
      }
    });
    figure.write("chart-title", `probability of the ${picture.label}`);
    figure.write("covered", `${now} of ${patches} patches covered`);
    figure.draw("now", { transform: `translate(${across(now) - across(figure.numbers.covered)} 0)` });
    const shares = picture.curves[beside].shares;
    figure.draw("curve-beside", { d: graph(shares) });
    for (const part of ["curve-beside", "name-beside"]) figure.seen(part, shown[1] !== beside);
    figure.say(sentence(left, right));
  }

  /** @type {(left: Half, right: Half) => string} */
  function sentence(left, right) {
    const digit = `the digit ${picture.label}`;
    if (now === 0)
      return `Nothing is covered yet: ${digit} has a probability of ${left.share}. Drag the line, and watch the bars.`;
    if (now === patches)
      return `All ${patches} patches are covered. The model sees nothing but grey, and answers ${left.answer}.`;
    const most = now === 1 ? "most attended patch" : `${now} most attended patches`;
    const others = OTHERS[shown[1]](now, patchesInBox());
    return (
      `Without the ${most}, ${digit} gets ${left.share} and the answer is ${left.answer}; ` +
      `without ${others}, ${right.share} and ${right.answer}.`
    );
  }

  function patchesInBox() {
    const [top, left, bottom, right] = picture.box.map((edge) => edge / patch);
    return (Math.ceil(bottom) - Math.floor(top)) * (Math.ceil(right) - Math.floor(left));
  }

  /** @type {(half: number, curve: Curve) => Half} */
  function drawHalf(half, { order, shares, answers }) {
    const left = half * second + photo.x;
    const d = order
      .slice(0, now)
      .map((place) => {
        const [row, column] = placeAt(place, side);
        return `M${left + column * cell} ${photo.y + row * cell}h${cell}v${cell}h-${cell}z`;
      })
      .join("");
    for (const path of figure.part(`covers-${half}`).children) set(path, { d });
    const [top, start, bottom, end] = picture.box.map((edge) => (edge / patch) * cell);
    figure.draw(`box-${half}`, { x: left + start, y: photo.y + top, width: end - start, height: bottom - top });
    const height = (bar.height * shares[now]) / 100;
    figure.draw(`bar-${half}`, { y: bar.y + bar.height - height, height });
    figure.draw(`curve-${half}`, { d: graph(shares.slice(0, now + 1)) }); // what is ahead is not given away
    const [share, answer] = [number(shares[now]), answers[now]];
    const right = Number(answer) === picture.label;
    figure.write(`label-${half}`, String(picture.label));
    figure.write(`share-${half}`, share);
    figure.write(`title-${half}`, orders[shown[half]]);
    figure.write(`answer-${half}`, `answer: ${answer} ${right ? "✓" : "✗"}`);
    figure.part(`answer-${half}`).dataset.kind = right ? "good" : "bad";
    return { share, answer };
  }

  figure.steps(
    {
      count: patches + 1,
      first: now,
      label: "how many patches are covered",
      says: (count) => `${count} of ${patches}`,
      show: (count) => { now = count; draw(); },
      scrub: { chart: [chart.x, chart.y - 8, chart.width, chart.height + 26] },
    },
    { seconds: 0.35, meanwhile: "One patch after another is covered. Watch the bars." },
  );
  figure.newRow();
  const others = Object.fromEntries(names.slice(1).map((name) => [name, orders[name]]));
  figure.select("order at the right", others, shown[1], (name) => { shown[1] = name; draw(); });
  figure.button("Another picture", () => {
    picture = pictures[(pictures.indexOf(picture) + 1) % pictures.length];
    draw();
  });
}

move("deletion_curve", start);
