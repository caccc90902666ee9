// Chapter 13: cuts a map of tokens into windows, rolls it, cuts again, masks and rolls back; shows which tokens a token
// sees, and from how far it can be reached after one block or several.
(() => {
  "use strict";
  const figures = (globalThis.vitFigures ??= {});
  const CAT = new URL("../lab/cat.jpg", document.currentScript.src).href;

  /** Returns functions for the windows of a map of tokens, [row, column], that is rolled up and left by a shift. */
  function windowing(side, w) {
    const name = ([row, column]) => row * side + column;
    const token = (place) => [Math.floor(place / side), place % side];
    const all = [...Array(side * side).keys()];
    const rolled = ([row, column], shift) => [(row - shift + side) % side, (column - shift + side) % side];
    /** Returns the edges over which roll carried a token: 0 none, 1 the top, 2 the left, 3 both. */
    const carried = ([row, column], shift) => (row < shift) + 2 * (column < shift);
    const together = (one, other, shift) => {
      const [a, b] = [one, other].map((of) => rolled(of, shift).map((index) => Math.floor(index / w)));
      return String(a) === String(b);
    };
    const inside = (one, shift) => all.map(token).filter((other) => together(one, other, shift))
      .sort((a, b) => name(rolled(a, shift)) - name(rolled(b, shift))); // in the order of the rolled map
    const sees = (one, shift) => inside(one, shift).filter((other) => carried(one, shift) === carried(other, shift));
    const reach = (one, blocks) => {
      let reached = new Set([name(one)]);
      for (let block = blocks - 1; block >= 0; block--) {
        const shift = block % 2 ? Math.floor(w / 2) : 0;
        reached = new Set([...reached].flatMap((of) => sees(token(of), shift).map(name)));
      }
      return [...reached].sort((a, b) => a - b).map(token);
    };
    return { all: all.map(token), rolled, carried, inside, sees, reach };
  }

  function start(figure) {
    const { set, SVG } = figures;
    const { side, window: w, blocks, map, panel, groups, bar, begins } = figure.numbers;
    const shift = Math.floor(w / 2);
    const { all, rolled, carried, inside, sees, reach } = windowing(side, w);
    let chosen = figure.numbers.chosen;
    let pointed = null; // the token under the mouse
    let now = begins;

    const make = (tag, attributes, ...children) => {
      const element = set(document.createElementNS(SVG, tag), attributes);
      element.append(...children);
      return element;
    };
    /** Draws the piece of the cat that count × count tokens cover, from one token on. */
    const piece = ([row, column], size, count = 1) => make("svg", { width: size, height: size, preserveAspectRatio: "none",
      viewBox: `${column} ${row} ${count} ${count}` }, make("image", { href: CAT, width: side, height: side, preserveAspectRatio: "none" }));
    const tint = (of, size) => make("rect", { class: `swin-tint vd-full vd-${groups[carried(of, shift)]}`, width: size, height: size });
    const same = (one, other) => String(one) === String(other);
    const said = ([row, column]) => `row ${row}, column ${column}`;

    // The map, with copies of the carried tokens beyond its right and lower edges, which come in when it rolls.
    const view = make("svg", { x: map.x, y: map.y, width: side * map.cell, height: side * map.cell });
    const sheet = make("g", { class: "swin-sheet" });
    view.append(sheet);
    const tokens = all.flatMap((token) => {
      const places = carried(token, shift) ? [token, token.map((index) => (index < shift ? index + side : index))] : [token];
      return places.map((place) => {
        const dark = make("rect", { class: "swin-dark", width: map.cell, height: map.cell });
        const element = make("g", { transform: `translate(${place[1] * map.cell} ${place[0] * map.cell})` },
          piece(token, map.cell), tint(token, map.cell), dark);
        sheet.append(element);
        return { token, dark };
      });
    });
    figure.part("map").append(view);

    // The tables of all windows in the windows' places, like those of the still picture but larger.
    const { masks } = figure.numbers;
    const larger = map.cell / masks.cell;
    figure.part("tables").append(make("g", { transform: `translate(${map.x} ${map.y}) scale(${larger}) translate(${-masks.x} ${-masks.y})` },
      ...[...figure.part("masks").children].map((child) => child.cloneNode(true))));

    // One window's tokens as queries and as keys, with the table of their pairs.
    const pairs = figure.part("pairs");
    const [headers, table] = [make("g", {}), make("g", {})];
    pairs.append(headers, table);

    const STEPS = [
      { name: "Block 1: windows", lines: 0, lit: (one) => sees(one, 0), shift: 0,
        says: (one) => `The framed token, in ${said(one)}, sees the ${w * w} tokens of its window.` },
      { name: "Block 2: roll", rolled: true, coloured: true,
        says: () => `The map moves up and to the left by ${shift}. What falls off comes in again on the other side, and keeps its colour.` },
      { name: "Block 2: cut", rolled: true, coloured: true, lines: 0, lit: (one) => inside(one, shift), shift,
        says: (one) => `The same lines cut other windows: ${said(one)} shares one with ${
          inside(one, shift).some((other) => carried(other, shift) !== carried(one, shift)) ? "tokens from the opposite edge" : "new neighbours"}.` },
      { name: "Block 2: mask", rolled: true, coloured: true, lines: 0, lit: (one) => sees(one, shift), shift, masked: true,
        says: (one) => `Tokens of different colours may not see each other: ${said(one)} sees ${sees(one, shift).length} of the ${w * w} in its window. In the tables, rows look at columns, and masked pairs are hatched.` },
      { name: "Block 2: roll back", coloured: true, lines: shift, lit: (one) => sees(one, shift), shift, masked: true,
        says: (one) => `Every token is where it was, and ${said(one)} has seen ${sees(one, shift).length === 1 ? "only itself" : `${sees(one, shift).length} tokens, across the old lines`}.` },
      ...[...Array(blocks).keys()].map((index) => ({
        name: `After ${index + 1} block${index ? "s" : ""}`, lines: index % 2 ? shift : 0, reached: index + 1, lit: (one) => reach(one, index + 1),
        says: (one) => `What was in ${reach(one, index + 1).length} of the ${side * side} tokens can have reached ${said(one)}.`,
      })),
    ];

    const placeOf = (token) => (STEPS[now].rolled ? rolled(token, shift) : token);
    const tokenAt = (place) => (STEPS[now].rolled ? place.map((index) => (index + shift) % side) : place);

    function draw() {
      const step = STEPS[now];
      const one = pointed ?? chosen;
      const lit = step.lit?.(one) ?? all;
      const tables = Boolean(step.masked && step.rolled);
      figure.svg.classList.toggle("swin-coloured", Boolean(step.coloured));
      figure.svg.classList.toggle("swin-tables", tables);
      const by = step.rolled ? -shift * map.cell : 0;
      sheet.style.transform = `translate(${by}px, ${by}px)`;
      for (const { token, dark } of tokens) dark.style.opacity = lit.some((other) => same(other, token)) ? 0 : 0.62;
      figure.part("lines-0").style.opacity = Number(step.lines === 0);
      figure.part(`lines-${shift}`).style.opacity = Number(step.lines === shift);
      figure.part("tables").style.opacity = Number(tables);
      frame(one, tables);
      figure.write("step", step.name);
      figure.write("count", step.reached ? `reached by ${lit.length} of ${all.length}` : step.lit ? `sees ${lit.length} of ${all.length}` : "");

      figure.part("window").style.display = step.lit && !step.reached ? "" : "none";
      figure.part("legend").style.display = step.coloured ? "" : "none";
      figure.part("reach").style.display = step.reached ? "" : "none";
      if (step.reached) drawReach(one, step.reached);
      else if (step.lit) drawPairs(one, step);
      const preview = pointed && !same(pointed, chosen);
      figure.part("frame").classList.toggle("swin-preview", Boolean(preview));
      const hint = preview ? "Click to choose it." : now === begins ? "Choose another one on the map." : "";
      figure.say(`${step.says(one)} ${hint}`.trim());
    }

    /** Frames a token, or its row in the table of its window. */
    function frame(one, inTable) {
      const [row, column] = placeOf(one);
      const [top, left] = [row, column].map((index) => index - (inTable ? index % w : 0));
      const down = inTable ? ((row % w) * w + (column % w)) / w : 0;
      figure.part("frame").style.transform = `translate(${left * map.cell}px, ${(top + down) * map.cell}px)`;
      set(figure.part("frame").firstElementChild, { width: map.cell * (inTable ? w : 1), height: map.cell / (inTable ? w : 1) });
    }

    function drawReach(one, until) {
      for (let index = 0; index < blocks; index++) {
        const count = index < until ? reach(one, index + 1).length : 0;
        figure.write(`reached-${index}`, count ? String(count) : "");
        set(figure.part(`share-${index}`).querySelector(".vd-full"), { width: (bar * count) / all.length });
      }
    }

    function drawPairs(one, step) {
      const { x, y, cell } = panel;
      const members = inside(one, step.shift);
      const at = (element, row, column) => set(element, { transform: `translate(${x + column * cell} ${y + row * cell})` });
      headers.replaceChildren(...members.flatMap((token, i) => [[i + 1, 0], [0, i + 1]].map((place) =>
        at(make("g", {}, piece(token, cell), tint(token, cell)), ...place))));
      table.replaceChildren(...members.flatMap((query, i) => members.map((key, j) => {
        const together = !step.masked || carried(query, shift) === carried(key, shift);
        const colour = step.coloured && together ? groups[carried(query, shift)] : "soft";
        const path = `M0 ${cell / 2}L${cell / 2} 0M0 ${cell}L${cell} 0M${cell / 2} ${cell}L${cell} ${cell / 2}`;
        return at(make("g", { "data-pair": together ? "seen" : "masked" },
          make("rect", { class: `vd-box vd-${colour}`, width: cell, height: cell, "stroke-width": 0.5 }),
          ...(together ? [make("circle", { class: `vd-full vd-${colour}`, cx: cell / 2, cy: cell / 2, r: 3 })]
            : [make("path", { class: "vd-stroke vd-ink", d: path, "stroke-width": 0.75 })])), i + 1, j + 1);
      })), at(make("rect", { class: "vd-box vd-open vd-asking", width: 5 * cell, height: cell, "stroke-width": 2.25, rx: 2 }),
        members.findIndex((token) => same(token, one)) + 1, 0));
    }

    const tell = figure.places("handle-map", {
      grid: [map.x, map.y, side * map.cell, side * map.cell], size: () => [side, side], label: "the token that looks",
      value: () => placeOf(chosen), says: () => said(chosen),
      choose: (place) => { chosen = tokenAt(place); pointed = null; draw(); },
      point: (place) => { pointed = place && tokenAt(place); draw(); },
    });
    figure.steps({ count: STEPS.length, first: begins, says: (index) => STEPS[index].name, show: (index) => { now = index; pointed = null; draw(); tell(); } });
  }

  Object.assign(figures, { windowing, swin_window: start });
})();
