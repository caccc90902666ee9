// Chapter 2: cuts an image of 4×4 numbers into patches: split, move, join, with the axes moved into any order.

import { listed, move, placeAt, upTo } from "../moving/kit.js";
/** @import { Figure, Pair } from "../moving/kit.js" */

/** @typedef {{side: number, patch: number, cell: number, read: number}} Numbers */
/** @typedef {(number: number) => Pair} Centre returns the centre of a number's cell */
/**
 * @typedef {object} Step
 * @property {string} name
 * @property {number[]} shape
 * @property {Centre} at
 * @property {number[]} order in which the numbers are read
 * @property {string} code
 * @property {string} says
 * @property {string} [kind] good or bad
 * @property {boolean} [named] whether rows have names
 */

const [MIDDLE, STAGE, STRIP, APART, BETWEEN] = [180, 156, 304, 16, 8]; // centres; gaps of patches and of rows

/**
 * Returns the numbers of an image patch by patch, the order that the move makes.
 * @type {(side: number, P: number) => number[]}
 */
function patchByPatch(side, P) {
  /** @type {number[]} */
  const order = [];
  for (let patch = 0; patch < (side / P) ** 2; patch++) {
    const [row, column] = placeAt(patch, side / P);
    for (let i = 0; i < P * P; i++) order.push((row * P + Math.floor(i / P)) * side + column * P + (i % P));
  }
  return order;
}

/**
 * Returns the numbers 0, 1, ... of a tensor with a shape in the order that permute makes of them.
 * @type {(shape: number[], axes: number[]) => number[]}
 */
function permuted(shape, axes) {
  const strides = shape.map((_, axis) => shape.slice(axis + 1).reduce((product, size) => product * size, 1));
  return axes.reduce(
    (starts, axis) => starts.flatMap((start) => upTo(shape[axis]).map((i) => start + i * strides[axis])),
    [0],
  );
}

/** Returns all orders of some axes, the usual one first. @type {(axes: number[]) => number[][]} */
const orders = (axes) =>
  axes.length < 2
    ? [axes]
    : axes.flatMap((axis) => orders(axes.filter((other) => other !== axis)).map((others) => [axis, ...others]));

/** @param {Figure<Numbers>} figure */
function start(figure) {
  const { side, patch: P, cell, read } = figure.numbers;
  const lines = upTo(side * side);
  const patches = patchByPatch(side, P);
  const [across, inside] = [side / P, P * P];
  const [UNMOVED, RIGHT] = ["0, 1, 2, 3", "0, 2, 1, 3"];
  let axes = RIGHT;
  let step = 0;

  // inImage, inMatrix and inBlocks return the centre of a number's cell.
  /** @type {(gap: number) => Centre} */
  const inImage = (gap) => (number) => {
    const [row, column] = placeAt(number, side);
    /** @type {(i: number) => number} */
    const place = (i) => (i - (side - 1) / 2) * cell + (Math.floor(i / P) - (across - 1) / 2) * gap;
    return [place(column), place(row)];
  };
  /** @type {(index: number) => number} */
  const rowAt = (index) => (index - (patches.length / inside - 1) / 2) * (cell + BETWEEN);
  /** @type {(order: number[]) => Centre} */
  const inMatrix = (order) => (number) => {
    const place = order.indexOf(number);
    return [((place % inside) - (inside - 1) / 2) * cell, rowAt(Math.floor(place / inside))];
  };
  /** @type {(order: number[]) => Centre} */
  const inBlocks = (order) => (number) => {
    const place = order.indexOf(number);
    const [block, i] = placeAt(place, inside);
    const wide = P * cell + APART;
    return [
      (block - (across * across - 1) / 2) * wide + ((i % P) - (P - 1) / 2) * cell,
      (Math.floor(i / P) - (P - 1) / 2) * cell,
    ];
  };

  /** Returns the patches that numbers belong to. @type {(numbers: number[]) => string} */
  const held = (numbers) => {
    const found = [...new Set(numbers.map((number) => Math.floor(patches.indexOf(number) / inside)))];
    return found.length === 1 ? `patch ${found[0]}` : `patches ${listed(found.map(String))}`;
  };

  /**
   * Judges the numbers in the order in which they are joined: a name for the step, and a sentence.
   * @type {(order: number[]) => [string, string]}
   */
  function judged(order) {
    const rows = patches.flatMap((_, i) => (i % inside ? [] : [order.slice(i, i + inside)]));
    const [found, whole] = [rows.map(held), rows.every((row) => held(row).startsWith("patch "))];
    if (String(order) === String(patches)) return ["✓ joined", "Each row is one patch, and the first is 0, 1, 4, 5."];
    const line = axes === UNMOVED ? " Each row is a line of the image." : "";
    if (!whole) return ["✗ joined: scrambled", `Row 0 mixes ${found[0]}, although the shape is right.${line}`];
    const turned = rows[0].join() !== [...rows[0]].sort((a, b) => a - b).join();
    const mixed = found.some((name, i) => name !== `patch ${i}`);
    const which = mixed && turned ? "the patches and their pixels" : mixed ? "the patches" : "its pixels";
    return ["✗ joined: another order", `Each row is one patch, but ${which} come column by column.`];
  }

  const [n, s] = [across, side];
  /** @type {() => Step[]} */
  const steps = () => {
    const moved = permuted([n, P, n, P], axes.split(", ").map(Number));
    const still = axes === UNMOVED;
    const [name, sentence] = judged(moved);
    return [
      {
        name: "an image",
        shape: [s, s],
        at: inImage(0),
        order: lines,
        code: "tiny",
        says: "An image of 16 numbers, and a colour for each of its four patches. Press Next to cut it.",
      },
      {
        name: "split",
        shape: [n, P, n, P],
        at: inImage(APART),
        order: lines,
        code: "split = tiny.reshape(2, 2, 2, 2)",
        says: "Split: the sides are cut, and nothing has moved. Read in order, the patches still take turns.",
      },
      {
        name: still ? "no move" : "move",
        shape: [n, n, P, P],
        at: still ? inImage(APART) : inBlocks(moved),
        order: moved,
        code: `moved = split.permute(${axes})`,
        says: still
          ? "No axis has moved. Read in order, the patches still take turns."
          : axes === RIGHT
            ? "Move: the numbers of a patch come to lie next to each other. Watch the row below."
            : `Move: the old axes in the order ${axes}. Watch the row below.`,
      },
      {
        name,
        kind: name[0] === "✓" ? "good" : "bad",
        shape: [n * n, inside],
        at: inMatrix(moved),
        order: moved,
        code: "moved.reshape(4, 4)",
        named: true,
        says: sentence,
      },
    ];
  };

  /** @type {(index: number) => void} */
  function draw(index) {
    step = index;
    const { name, kind = "", shape, at, order, code, named, says } = steps()[index];
    for (const number of lines) {
      const [x, y] = at(number);
      figure.shift(`cell-${number}`, MIDDLE + x - cell / 2, STAGE + y - cell / 2);
      figure.shift(`read-${number}`, 4 + order.indexOf(number) * read, STRIP);
    }
    for (let i = 0; i < patches.length / inside; i++) {
      figure.write(`row-${i}`, named ? `row ${i}` : "");
      figure.write(`holds-${i}`, named ? held(order.slice(i * inside, (i + 1) * inside)) : "");
    }
    figure.write("step", name);
    figure.part("step").dataset.kind = kind;
    figure.write("shape", `(${shape.join(", ")})`);
    figure.write("code", code);
    figure.say(says);
  }

  const beside = (inside * cell) / 2 + BETWEEN;
  for (let i = 0; i < patches.length / inside; i++) {
    figure.shift(`row-${i}`, MIDDLE - beside, STAGE + rowAt(i) + 4);
    figure.shift(`holds-${i}`, MIDDLE + beside, STAGE + rowAt(i) + 4);
  }
  const show = figure.steps({ count: 4, show: draw });
  figure.newRow();
  /** @type {{[order: string]: string}} */
  const names = Object.fromEntries(
    orders([0, 1, 2, 3]).map((order) => [order.join(", "), `permute(${order.join(", ")})`]),
  );
  names[RIGHT] += ", the chapter’s";
  names[UNMOVED] += ", no move";
  figure.select("how the axes move", names, RIGHT, (order) => {
    axes = order;
    show(step < 2 ? 3 : step); // before the move all look the same, so the last step is shown
  });
}

move("split_move_join", start);
