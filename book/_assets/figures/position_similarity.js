// Chapter 3: shows on a map how similar the position of a chosen place is to that of every place.
(() => {
  "use strict";
  const figures = (globalThis.vitFigures ??= {});

  /** Returns the speeds of the clocks, in radians a step. */
  const speeds = (count) => Array.from({ length: count }, (_, i) => 10000 ** (-i / count));

  /** Returns the cosine similarity of two positions made of clocks: the mean cosine between their hands. */
  function alike(steps, count) {
    return speeds(count).reduce((sum, speed) => sum + Math.cos(speed * steps), 0) / count;
  }

  /** Functions that return the similarity of two places, [row, column], for each kind of position. */
  function kindsOf({ kinds, learned, embed_dim }) {
    const clocks = embed_dim / 2;
    const memory = (count) => {
      const known = new Map();
      return (steps) => known.get(steps) ?? known.set(steps, alike(steps, count)).get(steps);
    };
    const [all, half] = [memory(clocks), memory(clocks / 2)];
    const place = ({ side }) => ([row, column]) => row * side + column;
    const table = (name) => (one, other) => {
      const [low, high] = [one, other].map(place(kinds[name])).sort((a, b) => a - b);
      return low === high ? 1 : learned[name][(high * (high - 1)) / 2 + low] / 100;
    };
    return {
      "1-D": (one, other) => all(Math.abs(place(kinds["1-D"])(one) - place(kinds["1-D"])(other))),
      "2-D": ([row, column], [down, across]) => (half(Math.abs(row - down)) + half(Math.abs(column - across))) / 2,
      before: table("before"),
      after: table("after"),
    };
  }

  const ABOUT = {
    "1-D": "1-D clocks count in reading order: there is a band along the row.",
    "2-D": "2-D clocks, half for the row and half for the column: a spot with a cross.",
    before: "A small model with 8×8 places, before training: no place is much like another.",
    after: "The same model, trained: it has found out which places are near.",
  };
  const LEARNED = {
    before: ["No clocks:", "64 numbers for", "each place,", "drawn at random."],
    after: ["No clocks:", "64 numbers for", "each place, found", "by training on", "cluttered digits."],
  };

  function start(figure) {
    const { set, SVG } = figures;
    const { map, kinds, power, embed_dim, clocks, hand } = figure.numbers;
    const similarity = kindsOf(figure.numbers);
    const cells = new Map(); // for each side of a grid, a group with a square for each place
    const chosen = {}; // like compared, one for each side of a grid, so that it stays when the kind changes
    const compared = {};
    let pointed = null; // the place under the mouse
    let kind = "1-D";

    const side = () => kinds[kind].side;
    const said = ([row, column]) => `row ${row}, column ${column}`;
    for (const { side, begins } of Object.values(kinds)) {
      [chosen[side], compared[side]] = begins;
      if (cells.has(side)) continue;
      const group = document.createElementNS(SVG, "g");
      const size = map.side / side;
      for (let place = 0; place < side * side; place++) {
        const [row, column] = [Math.floor(place / side), place % side];
        group.append(set(document.createElementNS(SVG, "rect"), { class: "vd-full vd-position",
          x: map.x + column * size, y: map.y + row * size, width: size, height: size }));
      }
      figure.part("map").append(group);
      cells.set(side, group);
    }

    /** Returns the speeds of the panel's eight clocks, and the steps that each has taken at a place. */
    function shownClocks() {
      if (kind === "1-D") {
        const every = speeds(embed_dim / 2);
        return clocks.map((_, i) => ({ speed: every[i * 48], steps: ([row, column]) => row * side() + column }));
      }
      const every = speeds(embed_dim / 4);
      return clocks.map((_, i) => ({ speed: every[(i % 4) * 24], steps: (place) => place[i < 4 ? 0 : 1] }));
    }

    function draw() {
      const here = chosen[side()];
      const there = pointed ?? compared[side()];
      const alike = similarity[kind];
      const { name } = kinds[kind];
      for (const [of, group] of cells) group.style.display = of === side() ? "" : "none";
      [...cells.get(side()).children].forEach((cell, place) => {
        const value = alike(here, [Math.floor(place / side()), place % side()]);
        cell.style.fillOpacity = (Math.max(0, value) ** power).toFixed(3);
      });
      const size = map.side / side();
      figure.part("frame").style.transform = `translate(${here[1] * size}px, ${here[0] * size}px)`;
      set(figure.part("frame").firstElementChild, { width: size, height: size });
      const middle = ([row, column]) => `translate(${(column + 0.5) * size}px, ${(row + 0.5) * size}px)`;
      figure.part("handle-compared").style.transform = middle(compared[side()]);
      figure.part("pointed").style.display = pointed ? "" : "none";
      figure.part("pointed").style.transform = middle(there);
      figure.write("kind", name);
      figure.write("chosen", said(here));
      figure.write("compared", said(there));
      const shown = alike(here, there).toFixed(2).replace("-", "−");
      figure.write("similarity", shown);

      const fixed = !(kind in LEARNED);
      figure.part("clocks").style.display = fixed ? "" : "none";
      figure.write("mean-0", fixed ? "the mean cosine of" : "");
      figure.write("mean-1", fixed ? `${embed_dim / 2} pairs of hands` : "");
      for (let line = 0; line < 5; line++) figure.write(`line-${line}`, LEARNED[kind]?.[line] ?? "");
      if (fixed) {
        const heads = kind === "1-D" ? ["fast", "slow"] : ["row", "column"];
        heads.forEach((head, half) => figure.write(`half-${half}`, head));
        shownClocks().forEach(({ speed, steps }, i) => {
          const [x, y] = clocks[i];
          for (const [part, place] of [["hand", here], ["other", there]]) {
            const angle = speed * steps(place);
            set(figure.part(`${part}-${i}`).firstElementChild,
              { d: `M${x} ${y}L${(x + hand * Math.cos(angle)).toFixed(2)} ${(y - hand * Math.sin(angle)).toFixed(2)}` });
          }
        });
      }
      figure.say(`Row ${here[0]}, column ${here[1]} and ${said(there)} have a similarity of ${shown}. ${ABOUT[kind]}${pointed ? "" : " Drag the ring."}`);
    }

    const grid = [map.x, map.y, map.side, map.side];
    const common = { grid, size: () => [side(), side()], says: said };
    const told = [
      figure.places("handle-chosen", { ...common, label: "the chosen place", value: () => chosen[side()],
        choose: (place) => { chosen[side()] = place; pointed = null; draw(); },
        point: (place) => { pointed = place; draw(); } }),
      figure.places("handle-compared", { ...common, box: [map.x - 21, map.y - 21, 42, 42], label: "the place it is compared with",
        value: () => compared[side()], choose: (place) => { compared[side()] = place; draw(); } }),
    ];
    figure.choice({ "1-D": "1-D", "2-D": "2-D", before: "Untrained", after: "Trained" }, kind, (name) => {
      [kind, pointed] = [name, null];
      told.forEach((tell) => tell());
      draw();
    });
    draw();
  }

  Object.assign(figures, { alike, kindsOf, position_similarity: start });
})();
