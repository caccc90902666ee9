// Chapter 9: covers a picture patch by patch, the most attended first, beside another order.
(() => {
  "use strict";
  const figures = (globalThis.vitFigures ??= {});

  const few = (words) => (count) => (count === 1 ? `the ${words}` : `the ${count} ${words}`);
  const OTHERS = {
    random: (count) => (count === 1 ? "a random one" : `${count} random ones`),
    brightest: few("brightest"),
    "ink in the box": (count, inBox) => (count > inBox
      ? `the ${inBox} in the box and ${count - inBox} more` : few("brightest in the box")(count)),
    "least attended": few("least attended"),
  };

  function start(figure) {
    const { set } = figures;
    const { pictures, orders, side, patch, photo, bar, second, chart, beside, named } = figure.numbers;
    const patches = side * side;
    const cell = photo.width / side;
    const names = Object.keys(orders); // the first one stays at the left
    const shown = [names[0], "brightest"];
    let picture = pictures[0];
    let now = figure.numbers.covered;

    const across = (count) => chart.x + (chart.width * count) / patches;
    const graph = (shares) => `M${shares.map((share, count) => `${across(count)} ${chart.y + chart.height * (1 - share / 100)}`).join("L")}`;
    const number = (hundredths) => (hundredths / 100).toFixed(2);

    function draw() {
      const halves = shown.map((name, half) => drawHalf(half, picture.curves[name]));
      pictures.forEach((one, index) => halves.forEach((_, half) => {
        figure.part(`digit-${half}-${index}`).style.display = one === picture ? "inline" : "none";
      }));
      figure.write("chart-title", `probability of the ${picture.label}`);
      figure.write("covered", `${now} of ${patches} patches covered`);
      set(figure.part("now").firstElementChild, { transform: `translate(${across(now) - across(figure.numbers.covered)} 0)` });
      const shares = picture.curves[beside].shares;
      set(figure.part("curve-beside").firstElementChild, { d: graph(shares) });
      set(figure.part("name-beside").firstElementChild, { y: chart.y + chart.height * (1 - shares[named] / 100) + 13 });
      for (const part of ["curve-beside", "name-beside"]) figure.part(part).style.visibility = shown[1] === beside ? "hidden" : "visible";
      figure.say(sentence(...halves));
    }

    function sentence(left, right) {
      const digit = `the ${picture.label}`;
      if (now === 0) return `Nothing is covered yet: ${digit} has a probability of ${left.share}. Drag the line, and watch the bars.`;
      if (now === patches) return `All ${patches} patches are covered. The model sees nothing but grey, and answers ${left.answer}.`;
      const most = now === 1 ? "most attended patch" : `${now} most attended patches`;
      return `Without the ${most}, ${digit} gets ${left.share} and the answer is ${left.answer}; without ${OTHERS[shown[1]](now, patchesInBox())}, ${right.share} and ${right.answer}.`;
    }

    function patchesInBox() {
      const [top, left, bottom, right] = picture.box.map((edge) => edge / patch);
      return (Math.ceil(bottom) - Math.floor(top)) * (Math.ceil(right) - Math.floor(left));
    }

    function drawHalf(half, { order, shares, answers }) {
      const left = half * second + photo.x;
      const d = order.slice(0, now).map((place) => {
        const [row, column] = [Math.floor(place / side), place % side];
        return `M${left + column * cell} ${photo.y + row * cell}h${cell}v${cell}h-${cell}z`;
      }).join("");
      for (const path of figure.part(`covers-${half}`).children) set(path, { d });
      const [top, start, bottom, end] = picture.box.map((edge) => (edge / patch) * cell);
      set(figure.part(`box-${half}`).firstElementChild,
        { x: left + start, y: photo.y + top, width: end - start, height: bottom - top });
      const height = (bar.height * shares[now]) / 100;
      set(figure.part(`bar-${half}`).firstElementChild, { y: bar.y + bar.height - height, height });
      set(figure.part(`curve-${half}`).firstElementChild, { d: graph(shares) });
      const [share, answer] = [number(shares[now]), answers[now]];
      const right = Number(answer) === picture.label;
      figure.write(`label-${half}`, picture.label);
      figure.write(`share-${half}`, share);
      figure.write(`title-${half}`, orders[shown[half]]);
      figure.write(`answer-${half}`, `answer: ${answer} ${right ? "✓" : "✗"}`);
      figure.part(`answer-${half}`).dataset.kind = right ? "good" : "bad";
      return { share, answer };
    }

    const show = figure.steps({ count: patches + 1, first: now, seconds: 0.35, meanwhile: "One patch after another is covered. Watch the bars.",
      label: "how many patches are covered", says: (count) => `${count} of ${patches}`, show: (count) => { now = count; draw(); } });
    figure.button("Another picture", () => { picture = pictures[(pictures.indexOf(picture) + 1) % pictures.length]; draw(); });
    figure.newRow();
    figure.choice(Object.fromEntries(names.slice(1).map((name) => [name, orders[name].replace(" first", "")])), shown[1],
      (name) => { shown[1] = name; draw(); });
    figure.scrubbed("chart", [chart.x, chart.y - 8, chart.width, chart.height + 26], { high: patches, value: () => now, change: show });
  }

  Object.assign(figures, { deletion_curve: start });
})();
