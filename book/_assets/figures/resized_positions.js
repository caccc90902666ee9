// Chapter 10: resizes trained positions to another grid, and shows how similar they are to that of a chosen place.
(() => {
  "use strict";
  const figures = (globalThis.vitFigures ??= {});
  const KINDS = { bicubic: "Bicubic", bilinear: "Bilinear", "cut off": "Cut off" };

  function start(figure) {
    const { clamp, set, SVG } = figures;
    const { old, sides, pixels, power, left, right, track, products, along } = figure.numbers;
    const places = old * old;
    let [side, kind, chosen] = [figure.numbers.start, "bicubic", figure.numbers.chosen];

    const dot = (one, other) => {
      const [low, high] = one < other ? [one, other] : [other, one];
      return products[(high * (high + 1)) / 2 + low] / 1000;
    };

    /** Returns how much each old place gives to each new one, as a list for each new place. */
    function shares(of, how) {
      if (how === "cut off") return Array.from({ length: of * of }, (_, i) => Array.from({ length: places }, (_, j) => Number(i === j)));
      const given = along[how][sides.indexOf(of)].map((number) => number / 10000);
      return Array.from({ length: of * of }, (_, i) => Array.from({ length: places }, (_, j) =>
        given[Math.floor(i / of) * old + Math.floor(j / old)] * given[(i % of) * old + (j % old)]));
    }

    /** Returns a function that gives the similarity of two new places, from the dot products of the old ones. */
    function similarities(of, how) {
      const given = shares(of, how);
      const mixed = given.map((row) => Array.from({ length: places }, (_, j) => row.reduce((sum, share, i) => (share ? sum + share * dot(i, j) : sum), 0)));
      const times = (one, other) => mixed[one].reduce((sum, number, j) => sum + number * given[other][j], 0);
      const lengths = given.map((_, i) => Math.sqrt(times(i, i)));
      return (one, other) => times(one, other) / (lengths[one] * lengths[other]);
    }

    /** Returns the mean similarity of places side by side or one above another. */
    function neighbours(of, alike) {
      let [sum, count] = [0, 0];
      for (let i = 0; i < of * of; i++) {
        if (i % of < of - 1) { sum += alike(i, i + 1); count++; }
        if (i < of * (of - 1)) { sum += alike(i, i + of); count++; }
      }
      return sum / count;
    }

    const known = new Map();
    function computed(of, how) {
      const key = `${of} ${how}`;
      if (!known.has(key)) {
        const alike = similarities(of, how);
        known.set(key, { alike, mean: neighbours(of, alike) });
      }
      return known.get(key);
    }

    function drawMap(name, box, of, how, [row, column]) {
      const { alike, mean } = computed(of, how);
      const cell = box.width / of;
      const [ground] = figure.part(`map-${name}`).querySelectorAll("rect");
      figure.part(`map-${name}`).replaceChildren(ground, ...Array.from({ length: of * of }, (_, i) =>
        set(document.createElementNS(SVG, "rect"), { class: "vd-full vd-position", x: box.x + (i % of) * cell, y: box.y + Math.floor(i / of) * cell, width: cell, height: cell,
          "fill-opacity": Math.max(0, alike(row * of + column, i)) ** power })));
      const frame = figure.part(name === "new" ? "handle-place" : "place-old").querySelector("rect:last-of-type");
      set(frame, { x: box.x + column * cell, y: box.y + row * cell, width: cell, height: cell });
      figure.write(`alike-${name}`, `neighbours: ${mean.toFixed(2)}`);
      return mean;
    }

    function draw() {
      const how = side === old ? "bicubic" : kind; // on its own grid nothing is resized
      const before = drawMap("old", left, old, "bicubic", chosen.map((index) => Math.floor(((index + 0.5) * old) / side)));
      const now = drawMap("new", right, side, how, chosen);
      figure.write("kind", side === old ? "unchanged" : kind);
      figure.write("size", `${side}×${side}, for images of ${side * pixels}×${side * pixels}`);
      set(figure.part("knob-side").firstElementChild, { x: track.x + (track.width * (side - sides[0])) / (sides.length - 1) - 8 });
      for (const [name, button] of buttons) button.setAttribute("aria-pressed", name === kind);
      figure.svg.setAttribute("aria-label", `Positions on another grid: ${side} by ${side}, ${side === old ? "unchanged" : kind}.`);
      const means = `Neighbours have a similarity of ${now.toFixed(2)}, where they had ${before.toFixed(2)}.`;
      figure.say(side === old ? "This is the grid that the positions were trained with. Press Next, or drag the knob."
        : kind === "cut off" ? `The first ${side * side} of 64 positions, laid out in rows of ${side}: places that were far apart are neighbours now. ${means}`
          : `${side < old ? "Fewer" : "More"} places for the same picture: the spot stays where it was. ${means}`);
      for (const tell of told) tell();
    }

    /** Keeps the chosen place in the same part of the picture. */
    function resize(to) {
      chosen = chosen.map((index) => clamp(Math.floor(((index + 0.5) * to) / side), 0, to - 1));
      side = to;
      if (side > old && kind === "cut off") kind = "bicubic"; // there are not enough to cut from
      draw();
    }

    const told = [];
    const buttons = [];
    const show = figure.steps({ count: sides.length, first: sides.indexOf(side), seconds: 1.4, show: (index) => resize(sides[index]) });
    figure.newRow();
    for (const [name, text] of Object.entries(KINDS)) {
      buttons.push([name, figure.button(text, () => {
        kind = name;
        if (name === "cut off" && side >= old) show(sides.indexOf(6));
        else draw();
      })]);
    }
    told.push(figure.places("handle-place", {
      grid: [right.x, right.y, right.width, right.width], size: () => [side, side], label: "place in the new grid",
      value: () => chosen, says: ([row, column]) => `row ${row}, column ${column}`, choose: (place) => { chosen = place; draw(); },
    }));
    told.push(figure.slider("handle-side", {
      box: [track.x - 14, track.y - 20, track.width + 28, 46], low: sides[0], high: sides.at(-1), step: 1, label: "rows and columns of the new grid",
      at: (x) => sides[0] + ((x - track.x) / track.width) * (sides.length - 1),
      value: () => side, says: (of) => `${of} by ${of}`, change: (of) => show(sides.indexOf(of)),
    }));
    draw();
  }

  Object.assign(figures, { resized_positions: start });
})();
