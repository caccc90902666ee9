// Chapter 3: lets three tokens change places; the sum that attention collects changes only if places add something.
(() => {
  "use strict";
  const figures = (globalThis.vitFigures ??= {});
  const NAMES = ["first", "second", "third"];

  /** Returns the attention weights of numbers (their softmax), and each number's share of the sum. */
  function collect(numbers) {
    const exps = numbers.map(Math.exp);
    const total = exps.reduce((sum, number) => sum + number, 0);
    const weights = exps.map((exp) => exp / total);
    const given = numbers.map((number, i) => weights[i] * number);
    return { weights, given, sum: given.reduce((sum, number) => sum + number, 0) };
  }

  function start(figure) {
    const { set, written } = figures;
    const { tokens, added, orders, columns, bars, apart: wide } = figure.numbers;
    const apart = columns[1] - columns[0];
    let order = orders[0];
    let before = null; // the sums in the previous order

    function draw() {
      const sums = {};
      for (const [name, numbers] of Object.entries({
        alone: order.map((token) => tokens[token]),
        placed: order.map((token, place) => tokens[token] + added[place]),
      })) {
        const { weights, given, sum } = collect(numbers);
        let x = bars.x;
        order.forEach((token, place) => {
          set(figure.part(`given-${name}-${token}`).firstElementChild, { x, width: bars.unit * given[place] });
          x += bars.unit * given[place];
          figure.write(`weight-${name}-${place}`, weights[place].toFixed(3));
          if (name === "placed") figure.write(`sum-${place}`, written(numbers[place]));
        });
        sums[name] = sum.toFixed(3);
        figure.write(`total-${name}`, sums[name]);
      }
      order.forEach((token, place) => { figure.part(`handle-${token}`).style.transform = `translateX(${columns[place] - columns[token]}px)`; });
      figure.part(`order-${orders.indexOf(order)}`).classList.add("seen");
      figure.part("now").style.transform = `translateX(${wide * orders.indexOf(order)}px)`;
      const inOrder = `In the order ${order.map((token) => tokens[token]).join(", ")}`;
      figure.say(before
        ? `${inOrder} attention ${before.alone === sums.alone ? "still " : ""}collects ${sums.alone} without positions, and with them ${sums.placed}${
          before.placed === sums.placed ? "" : ` instead of ${before.placed}`}.`
        : `${inOrder} attention collects ${sums.alone} without positions, and with them ${sums.placed}. Drag the tokens into another order, and the table fills.`);
      before = sums;
      told.forEach((tell) => tell());
    }

    const told = [];
    const show = figure.steps({ count: orders.length, show: (index) => { order = orders[index]; draw(); } });
    orders.forEach((_, index) => figure.part(`order-${index}`).addEventListener("click", () => show(index)));
    tokens.forEach((number, token) => told.push(figure.slider(`handle-${token}`, {
      box: [columns[token] - 27, 10, 54, 46],
      low: 0, high: 2, step: 1,
      label: `place of the token ${number}`,
      at: (x) => (x - columns[0]) / apart,
      value: () => order.indexOf(token),
      says: (place) => NAMES[place],
      change: (place) => {
        const moved = order.filter((other) => other !== token);
        moved.splice(place, 0, token);
        show(orders.findIndex((known) => String(known) === String(moved)));
      },
    })));
  }

  Object.assign(figures, { collect, shuffled_tokens: start });
})();
