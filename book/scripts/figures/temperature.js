// Chapter 0: makes shares of four scores at a temperature; scores and temperature can be dragged.

import { listed, move, set, softmax, written } from "../moving/kit.js";
/** @import { Box, Figure } from "../moving/kit.js" */

/**
 * @typedef {object} Numbers
 * @property {string[]} names
 * @property {number[]} scores
 * @property {[number, number, number]} range low, high and step of a score
 * @property {number[]} taus
 * @property {number} shown index of τ at the start
 * @property {number} row height
 * @property {Box} track
 * @property {number} bar width of a share of 1
 * @property {Box} chart
 */

const ADDED = 10;

/** @type {(scores: number[], tau: number) => number[]} */
const sharesAt = (scores, tau) => softmax(scores.map((score) => score / tau));

/** @param {Figure<Numbers>} figure */
function start(figure) {
  const { names, range, taus, row, track, bar, chart } = figure.numbers;
  const first = figure.numbers.scores;
  const scores = [...first];
  const [low, high, step] = range;
  const unit = track.width / (high - low);
  let now = figure.numbers.shown;
  let added = 0;
  let untouched = true;

  /** @type {(index: number) => number} */
  const across = (index) => chart.x + (chart.width * index) / (taus.length - 1);
  /** @type {(share: number) => number} */
  const down = (share) => chart.y + chart.height * share;

  function draw() {
    const tau = taus[now];
    const shares = sharesAt(scores, tau);
    figure.write("tau", `τ = ${tau}`);
    figure.draw("now", { transform: `translate(${across(now) - across(figure.numbers.shown)} 0)` });
    const bands = taus.map((one) => sharesAt(scores, one));
    let above = taus.map(() => 0);
    names.forEach((_, index) => {
      figure.shift(`knob-${index}`, (scores[index] - first[index]) * unit);
      figure.write(`knob-${index}`, written(scores[index] + added));
      figure.fill(`bar-${index}`, bar * shares[index]);
      figure.write(`share-${index}`, shares[index].toFixed(2));
      const below = above.map((edge, place) => edge + bands[place][index]);
      const upper = above.map((edge, place) => `${across(place)} ${down(edge)}`);
      const lower = below.map((edge, place) => `${across(place)} ${down(edge)}`);
      figure.draw(`area-${index}`, { d: `M${[...upper, ...[...lower].reverse()].join("L")}Z` });
      figure.draw(`edge-${index}`, { d: `M${lower.join("L")}` });
      const middle = down((above[taus.length - 1] + below[taus.length - 1]) / 2);
      set(/** @type {Element} */ (figure.part(`name-${index}`).firstElementChild), { y: middle + 4 });
      above = below;
    });
    figure.say(sentence(shares.map((share) => share.toFixed(2)), Math.exp(1 / tau)));
  }

  /** @type {(shares: string[], times: number) => string} */
  function sentence(shares, times) {
    const rounded = shares.includes("0.00") ? ", rounded," : ""; // none of them is zero
    const state = `At τ = ${taus[now]} the shares are${rounded} ${listed(shares)}.`;
    const ratio = Number(times.toPrecision(3)).toLocaleString("en-US");
    if (added) return `${state} Adding ${ADDED} to each score changes none of them.`;
    return `${state} A score that is 1 higher has ${ratio} times the share.${untouched ? " Drag a score, or τ." : ""}`;
  }

  const touched = () => {
    untouched = false;
    draw();
  };
  names.forEach((name, index) => {
    figure.slider(`handle-${index}`, {
      box: [track.x - 22, track.y + index * row, track.width + 44, row],
      low,
      high,
      step,
      label: `score of ${name}`,
      at: (x) => low + (x - track.x) / unit,
      value: () => scores[index],
      says: (score) => written(score + added),
      change: (score) => { scores[index] = score; touched(); },
    });
  });
  figure.steps(
    {
      count: taus.length,
      first: now,
      label: "temperature τ",
      says: (index) => String(taus[index]),
      show: (index) => {
        if (index !== now) untouched = false;
        now = index;
        draw();
      },
      scrub: { chart: [chart.x, chart.y - 6, chart.width, chart.height + 26] },
    },
    { seconds: 0.5, meanwhile: "The temperature rises step by step. Watch the shares." },
  );
  figure.toggle(`Add ${ADDED} to each score`, (pressed) => { added = pressed ? ADDED : 0; touched(); });
}

move("temperature", start);
