// Chapter 3: lets three tokens change places; the sum that attention collects changes only if places add something.

import { move, softmax, sumOf, written } from "../moving/kit.js";
/** @import { Figure } from "../moving/kit.js" */

/**
 * @typedef {object} Numbers
 * @property {number[]} tokens
 * @property {number[]} added by each place
 * @property {number[][]} orders
 * @property {number[]} columns
 * @property {{x: number, unit: number}} bars
 * @property {number} apart columns of the table
 */

const NAMES = ["first", "second", "third"];

/**
 * Returns the attention weights of numbers (their softmax), and each number's share of the sum.
 * @type {(numbers: number[]) => {weights: number[], given: number[], sum: number}}
 */
function collect(numbers) {
  const weights = softmax(numbers);
  const given = numbers.map((number, i) => weights[i] * number);
  return { weights, given, sum: sumOf(given) };
}

/** @param {Figure<Numbers>} figure */
function start(figure) {
  const { tokens, added, orders, columns, bars, apart: wide } = figure.numbers;
  const apart = columns[1] - columns[0];
  let order = orders[0];
  /** @type {{[name: string]: string} | null} */
  let before = null; // the sums in the previous order

  function draw() {
    /** @type {{[name: string]: string}} */
    const sums = {};
    for (const [name, numbers] of Object.entries({
      alone: order.map((token) => tokens[token]),
      placed: order.map((token, place) => tokens[token] + added[place]),
    })) {
      const { weights, given, sum } = collect(numbers);
      let x = bars.x;
      order.forEach((token, place) => {
        figure.draw(`given-${name}-${token}`, { x, width: bars.unit * given[place] });
        x += bars.unit * given[place];
        figure.write(`weight-${name}-${place}`, weights[place].toFixed(3));
        if (name === "placed") figure.write(`sum-${place}`, written(numbers[place]));
      });
      sums[name] = sum.toFixed(3);
      figure.write(`total-${name}`, sums[name]);
    }
    order.forEach((token, place) => { figure.shift(`handle-${token}`, columns[place] - columns[token]); });
    figure.part(`order-${orders.indexOf(order)}`).classList.add("seen");
    figure.shift("now", wide * orders.indexOf(order));
    const inOrder = `In the order ${order.map((token) => tokens[token]).join(", ")}`;
    const still = before?.alone === sums.alone ? "still " : "";
    const instead = before && before.placed !== sums.placed ? ` instead of ${before.placed}` : "";
    const hint = before ? "" : " Drag the tokens into another order, and the table fills.";
    figure.say(
      `${inOrder} attention ${still}collects ${sums.alone} without positions, ` +
        `and with them ${sums.placed}${instead}.${hint}`,
    );
    before = sums;
  }

  const show = figure.steps({ count: orders.length, show: (index) => { order = orders[index]; draw(); } });
  orders.forEach((_, index) => figure.part(`order-${index}`).addEventListener("click", () => show(index)));
  tokens.forEach((number, token) => {
    figure.slider(`handle-${token}`, {
      box: [columns[token] - 27, 10, 54, 46],
      low: 0,
      high: 2,
      label: `place of the token ${number}`,
      at: (x) => (x - columns[0]) / apart,
      value: () => order.indexOf(token),
      says: (place) => NAMES[place],
      change: (place) => {
        const moved = order.filter((other) => other !== token);
        moved.splice(place, 0, token);
        show(orders.findIndex((known) => String(known) === String(moved)));
      },
    });
  });
}

move("shuffled_tokens", start);
