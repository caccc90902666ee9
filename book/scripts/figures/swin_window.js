// Chapter 13: cuts a map of tokens into windows, rolls it, cuts again, masks and rolls back; shows which tokens a token
// sees, and from how far it can be reached after one block or several.

import { drawn, inWords, move, placeAt, set, upTo } from "../moving/kit.js";
/** @import { Figure, Pair } from "../moving/kit.js" */

/**
 * @typedef {object} Numbers
 * @property {number} side
 * @property {number} window
 * @property {number} blocks
 * @property {Pair} chosen
 * @property {number} begins step at the start
 * @property {{x: number, y: number, cell: number}} map
 * @property {{x: number, y: number, cell: number}} masks
 * @property {{x: number, y: number, cell: number}} panel
 * @property {string[]} groups colours of the tokens, by how roll has carried them
 * @property {number} bar
 */
/**
 * @typedef {object} Step
 * @property {string} name
 * @property {(one: Pair) => string} says
 * @property {(one: Pair) => Pair[]} [lit] tokens that are not darkened
 * @property {number} [lines] token at which the first window ends
 * @property {number} [shift]
 * @property {boolean} [rolled]
 * @property {boolean} [coloured]
 * @property {boolean} [masked]
 * @property {number} [reached] blocks whose reach is shown
 */

const CAT = new URL("../../lab/cat.jpg", /** @type {HTMLScriptElement} */ (document.currentScript).src).href;

/**
 * Returns functions for the windows of a map of tokens, [row, column], that is rolled up and left by a shift.
 * @param {number} side @param {number} w
 */
function windowing(side, w) {
  /** @type {(token: Pair) => number} */
  const name = ([row, column]) => row * side + column;
  /** @param {number} number */
  const token = (number) => placeAt(number, side);
  const all = upTo(side * side).map(token);
  /** @type {(token: Pair, shift: number) => Pair} */
  const rolled = ([row, column], shift) => [(row - shift + side) % side, (column - shift + side) % side];
  /**
   * Returns the edges over which roll carried a token: 0 none, 1 the top, 2 the left, 3 both.
   * @type {(token: Pair, shift: number) => number}
   */
  const carried = ([row, column], shift) => (row < shift ? 1 : 0) + (column < shift ? 2 : 0);
  /** @type {(one: Pair, other: Pair, shift: number) => boolean} */
  const together = (one, other, shift) => {
    const [a, b] = [one, other].map((of) => rolled(of, shift).map((index) => Math.floor(index / w)));
    return String(a) === String(b);
  };
  /** @type {(one: Pair, shift: number) => Pair[]} */
  const inside = (one, shift) =>
    all
      .filter((other) => together(one, other, shift))
      .sort((a, b) => name(rolled(a, shift)) - name(rolled(b, shift))); // in the order of the rolled map
  /** @type {(one: Pair, shift: number) => Pair[]} */
  const sees = (one, shift) => inside(one, shift).filter((other) => carried(one, shift) === carried(other, shift));
  /** @type {(one: Pair, blocks: number) => Pair[]} */
  const reach = (one, blocks) => {
    let reached = new Set([name(one)]);
    for (let block = blocks - 1; block >= 0; block--) {
      const shift = block % 2 ? Math.floor(w / 2) : 0;
      reached = new Set([...reached].flatMap((of) => sees(token(of), shift).map(name)));
    }
    return [...reached].sort((a, b) => a - b).map(token);
  };
  return { all, rolled, carried, inside, sees, reach };
}

/** @param {Figure<Numbers>} figure */
function start(figure) {
  const { side, window: w, blocks, map, panel, groups, bar, begins } = figure.numbers;
  const shift = Math.floor(w / 2);
  const { all, rolled, carried, inside, sees, reach } = windowing(side, w);
  let chosen = figure.numbers.chosen;
  /** @type {Pair | null} */
  let pointed = null; // the token under the mouse
  let now = begins;

  /** Draws the piece of the cat that a token covers. @type {(place: Pair, size: number) => SVGElement} */
  const piece = ([row, column], size) =>
    drawn(
      "svg",
      { width: size, height: size, preserveAspectRatio: "none", viewBox: `${column} ${row} 1 1` },
      drawn("image", { href: CAT, width: side, height: side, preserveAspectRatio: "none" }),
    );
  /** @type {(of: Pair, size: number) => SVGElement} */
  const tint = (of, size) =>
    drawn("rect", { class: `swin-tint vd-full vd-${groups[carried(of, shift)]}`, width: size, height: size });
  /** @type {(one: Pair, other: Pair) => boolean} */
  const same = (one, other) => String(one) === String(other);

  // The map, with copies of the carried tokens beyond its right and lower edges, which come in when it rolls.
  const view = drawn("svg", { x: map.x, y: map.y, width: side * map.cell, height: side * map.cell });
  const sheet = drawn("g", { class: "swin-sheet" });
  view.append(sheet);
  const tokens = all.flatMap((token) => {
    const [row, column] = token;
    const places = [token];
    if (carried(token, shift)) places.push([row + (row < shift ? side : 0), column + (column < shift ? side : 0)]);
    return places.map((place) => {
      const dark = drawn("rect", { class: "swin-dark", width: map.cell, height: map.cell });
      const element = drawn(
        "g",
        { transform: `translate(${place[1] * map.cell} ${place[0] * map.cell})` },
        piece(token, map.cell),
        tint(token, map.cell),
        dark,
      );
      sheet.append(element);
      return { token, dark };
    });
  });
  figure.part("map").append(view);

  // The tables of all windows in the windows' places, like those of the still picture but larger.
  const { masks } = figure.numbers;
  const larger = map.cell / masks.cell;
  figure
    .part("tables")
    .append(
      drawn(
        "g",
        { transform: `translate(${map.x} ${map.y}) scale(${larger}) translate(${-masks.x} ${-masks.y})` },
        ...[...figure.part("masks").children].map((child) => child.cloneNode(true)),
      ),
    );

  // One window's tokens as queries and as keys, with the table of their pairs.
  const pairs = figure.part("pairs");
  const [headers, table] = [drawn("g", {}), drawn("g", {})];
  pairs.append(headers, table);

  /** @type {Step[]} */
  const STEPS = [
    {
      name: "Block 0: windows",
      lines: 0,
      lit: (one) => sees(one, 0),
      shift: 0,
      says: (one) => `The framed token, in ${inWords(one)}, sees the ${w * w} tokens of its window.`,
    },
    {
      name: "Block 1: roll",
      rolled: true,
      coloured: true,
      says: () =>
        `The map moves up and to the left by ${shift}. ` +
        "What falls off comes in again on the other side, and keeps its colour.",
    },
    {
      name: "Block 1: cut",
      rolled: true,
      coloured: true,
      lines: 0,
      lit: (one) => inside(one, shift),
      shift,
      says: (one) =>
        `The lines cut other windows: ${inWords(one)} shares one with ${
          inside(one, shift).some((other) => carried(other, shift) !== carried(one, shift))
            ? "tokens from the opposite edge"
            : "new neighbours"
        }.`,
    },
    {
      name: "Block 1: mask",
      rolled: true,
      coloured: true,
      lines: 0,
      lit: (one) => sees(one, shift),
      shift,
      masked: true,
      says: (one) =>
        `Different colours may not see each other: ${inWords(one)} sees ${sees(one, shift).length} ` +
        `of the ${w * w} in its window. Masked pairs are hatched.`,
    },
    {
      name: "Block 1: roll back",
      coloured: true,
      lines: shift,
      lit: (one) => sees(one, shift),
      shift,
      masked: true,
      says: (one) => {
        const { length } = sees(one, shift);
        const seen = length === 1 ? "only itself" : `${length} tokens, across the old lines`;
        return `Every token is where it was, and ${inWords(one)} has seen ${seen}.`;
      },
    },
    ...upTo(blocks).map((index) => ({
      name: `After ${index + 1} block${index ? "s" : ""}`,
      lines: index % 2 ? shift : 0,
      reached: index + 1,
      lit: (/** @type {Pair} */ one) => reach(one, index + 1),
      says: (/** @type {Pair} */ one) =>
        `What was in ${reach(one, index + 1).length} of the ${side * side} tokens can have reached ${inWords(one)}.`,
    })),
  ];

  /** @type {(token: Pair) => Pair} */
  const placeOf = (token) => (STEPS[now].rolled ? rolled(token, shift) : token);
  /** @type {(place: Pair) => Pair} */
  const tokenAt = (place) => (STEPS[now].rolled ? rolled(place, -shift) : place);

  function draw() {
    const step = STEPS[now];
    const one = pointed ?? chosen;
    const lit = step.lit?.(one) ?? all;
    const tables = Boolean(step.masked && step.rolled);
    figure.svg.classList.toggle("swin-coloured", Boolean(step.coloured));
    figure.svg.classList.toggle("swin-tables", tables);
    const by = step.rolled ? -shift * map.cell : 0;
    sheet.style.transform = `translate(${by}px, ${by}px)`;
    for (const { token, dark } of tokens) dark.style.opacity = lit.some((other) => same(other, token)) ? "0" : "0.62";
    figure.part("lines-0").style.opacity = step.lines === 0 ? "1" : "0";
    figure.part(`lines-${shift}`).style.opacity = step.lines === shift ? "1" : "0";
    figure.part("tables").style.opacity = tables ? "1" : "0";
    frame(one, tables);
    figure.write("step", step.name);
    figure.write(
      "count",
      step.reached
        ? `reached by ${lit.length} of ${all.length}`
        : step.lit
          ? `sees ${lit.length} of ${all.length}`
          : "",
    );

    figure.part("window").style.display = step.lit && !step.reached ? "" : "none";
    figure.part("legend").style.display = step.coloured ? "" : "none";
    figure.part("reach").style.display = step.reached ? "" : "none";
    if (step.reached) drawReach(one, step.reached);
    else if (step.lit) drawPairs(one, step);
    const preview = pointed && !same(pointed, chosen);
    figure.part("frame").classList.toggle("swin-preview", Boolean(preview));
    const hint = preview ? "Click to choose it." : now === begins ? "Choose another token." : "";
    figure.say(`${step.says(one)} ${hint}`.trim());
  }

  /** Frames a token, or its row in the table of its window. @type {(one: Pair, inTable: boolean) => void} */
  function frame(one, inTable) {
    const [row, column] = placeOf(one);
    const [top, left] = [row, column].map((index) => index - (inTable ? index % w : 0));
    const down = inTable ? ((row % w) * w + (column % w)) / w : 0;
    figure.shift("frame", left * map.cell, (top + down) * map.cell);
    figure.draw("frame", { width: map.cell * (inTable ? w : 1), height: map.cell / (inTable ? w : 1) });
  }

  /** @type {(one: Pair, until: number) => void} */
  function drawReach(one, until) {
    for (let index = 0; index < blocks; index++) {
      const count = index < until ? reach(one, index + 1).length : 0;
      figure.write(`reached-${index}`, count ? String(count) : "");
      figure.fill(`share-${index}`, (bar * count) / all.length);
    }
  }

  /** @type {(one: Pair, step: Step) => void} */
  function drawPairs(one, step) {
    const { x, y, cell } = panel;
    const members = inside(one, step.shift ?? 0);
    /** @type {<E extends Element>(element: E, row: number, column: number) => E} */
    const at = (element, row, column) =>
      set(element, { transform: `translate(${x + column * cell} ${y + row * cell})` });
    headers.replaceChildren(
      ...members.flatMap((token, i) => [
        at(drawn("g", {}, piece(token, cell), tint(token, cell)), i + 1, 0),
        at(drawn("g", {}, piece(token, cell), tint(token, cell)), 0, i + 1),
      ]),
    );
    table.replaceChildren(
      ...members.flatMap((query, i) =>
        members.map((key, j) => {
          const together = !step.masked || carried(query, shift) === carried(key, shift);
          const colour = step.coloured && together ? groups[carried(query, shift)] : "soft";
          const path = `M0 ${cell / 2}L${cell / 2} 0M0 ${cell}L${cell} 0M${cell / 2} ${cell}L${cell} ${cell / 2}`;
          return at(
            drawn(
              "g",
              { "data-pair": together ? "seen" : "masked" },
              drawn("rect", { class: `vd-box vd-${colour}`, width: cell, height: cell, "stroke-width": 0.5 }),
              ...(together
                ? [drawn("circle", { class: `vd-full vd-${colour}`, cx: cell / 2, cy: cell / 2, r: 3 })]
                : [drawn("path", { class: "vd-stroke vd-ink", d: path, "stroke-width": 0.75 })]),
            ),
            i + 1,
            j + 1,
          );
        }),
      ),
      at(
        drawn("rect", {
          class: "vd-box vd-open vd-asking",
          width: 5 * cell,
          height: cell,
          "stroke-width": 2.25,
          rx: 2,
        }),
        members.findIndex((token) => same(token, one)) + 1,
        0,
      ),
    );
  }

  figure.places("handle-map", {
    grid: [map.x, map.y, side * map.cell, side * map.cell],
    size: () => [side, side],
    label: "the token that looks",
    value: () => placeOf(chosen),
    says: () => inWords(chosen),
    choose: (place) => {
      chosen = tokenAt(place);
      pointed = null;
      draw();
    },
    point: (place) => { pointed = place && tokenAt(place); draw(); },
  });
  figure.steps({
    count: STEPS.length,
    first: begins,
    says: (index) => STEPS[index].name,
    show: (index) => {
      now = index;
      pointed = null;
      draw();
    },
  });
}

move("swin_window", start);
