// Chapter 14: asks PyTorch's attention, with batch_first left out and given, which tokens an output is made of.

import { move, sumOf, upTo, written } from "../moving/kit.js";
/** @import { Figure, Pair } from "../moving/kit.js" */

/**
 * @typedef {object} Numbers
 * @property {number[][]} tokens of two images
 * @property {Pair} chosen image and token of the output at the start
 * @property {[number, number, number]} first low, high and step of the first token of image 1
 * @property {Pair} cell width and height
 * @property {number} right left edge of what comes out
 * @property {{[name: string]: number}} tops
 * @property {number} strength
 */

/**
 * For each layer, a function that returns the places that an output is the mean of.
 * @type {{[name: string]: (images: number[], place: Pair) => Pair[]}}
 */
const SEES = {
  "left out": (images, [, token]) => images.map((image) => [image, token]),
  given: (images, [image]) => upTo(3).map((token) => [image, token]),
};

/** @param {Figure<Numbers>} figure */
function start(figure) {
  const { chosen, first, cell, right, tops, strength } = figure.numbers;
  const tokens = figure.numbers.tokens.map((row) => [...row]);
  const [low, high, step] = first;
  const [wide, tall] = cell;
  let place = chosen;
  let alone = false;
  let untouched = true;

  const images = () => (alone ? [0] : [0, 1]);
  /** @type {(places: Pair[]) => number} */
  const mean = (places) => sumOf(places.map(([image, token]) => tokens[image][token])) / places.length;
  /** @type {(name: string, batch?: number[], at?: Pair) => string} */
  const answer = (name, batch = images(), at = place) => written(mean(SEES[name](batch, at)), 2);

  function draw() {
    const [image, token] = place;
    for (const name of Object.keys(SEES)) {
      const seen = SEES[name](images(), place);
      for (const row of [0, 1]) {
        const there = images().includes(row);
        figure.part(`row-${name}-${row}`).style.opacity = there ? "1" : "0.25";
        for (const column of upTo(3)) {
          const share = seen.some((one) => String(one) === String([row, column])) ? 1 / seen.length : 0;
          figure.draw(`share-${name}-${row}-${column}`, { "fill-opacity": strength * share });
          figure.write(`in-${name}-${row}-${column}`, String(tokens[row][column]));
          figure.write(`out-${name}-${row}-${column}`, there ? answer(name, images(), [row, column]) : "");
        }
      }
      figure.draw(`chosen-${name}`, { x: right + token * wide + 1, y: tops[name] + image * tall + 1 });
      const terms = seen.map(([row, column]) => tokens[row][column]);
      const sum = terms.length === 1 ? ", as it went in" : ` = (${terms.join(" + ")}) / ${terms.length}`;
      figure.write(`sum-${name}`, answer(name) + sum);
    }
    figure.say(sentence());
  }

  function sentence() {
    const [image, token] = place;
    const state =
      `${alone ? "Alone" : "In the batch"}, token ${token} of image ${image} becomes ${answer("left out")} ` +
      `if batch_first is left out, and ${answer("given")} if it is True.`;
    if (alone) {
      const before = Object.keys(SEES).map((name) => answer(name, [0, 1]));
      return `${state} In the batch they were ${before.join(" and ")}: only the second stays, as both should.`;
    }
    if (untouched) return `${state} Choose another token on the right, or change image 1.`;
    return `${state} The first number comes from both images, the second from one.`;
  }

  for (const name of Object.keys(SEES)) {
    figure.places(`handle-${name}`, {
      grid: [right, tops[name], 3 * wide, 2 * tall],
      size: () => [2, 3],
      label: `output, ${name === "given" ? "batch_first=True" : "batch_first left out"}`,
      value: () => place,
      says: ([image, token]) => `image ${image}, token ${token}: ${answer(name, images(), [image, token])}`,
      choose: ([image, token]) => {
        place = [alone ? 0 : image, token];
        untouched = false;
        draw();
      },
    });
  }
  figure.toggle("Image 0 alone", (pressed) => {
    alone = pressed;
    if (alone) place = [0, place[1]];
    draw();
  });
  figure.range({
    label: "token 0 of image 1",
    low,
    high,
    step,
    value: () => tokens[1][0],
    change: (value) => {
      tokens[1][0] = value;
      untouched = false;
      draw();
    },
  });
  draw();
}

move("made_of", start);
