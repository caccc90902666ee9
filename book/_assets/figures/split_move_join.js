// Chapter 2: cuts an image of 4×4 numbers into patches: split, move, join, or join without the move.
(() => {
  "use strict";
  const figures = (globalThis.vitFigures ??= {});
  const [MIDDLE, STAGE, STRIP, APART, BETWEEN] = [180, 156, 304, 16, 8]; // centres; gaps of patches and of rows

  /** Returns the numbers of an image patch by patch, the order that the move makes. */
  function patchByPatch(side, P) {
    const order = [];
    for (let patch = 0; patch < (side / P) ** 2; patch++) {
      const [row, column] = [Math.floor(patch / (side / P)), patch % (side / P)];
      for (let i = 0; i < P * P; i++) order.push((row * P + Math.floor(i / P)) * side + column * P + (i % P));
    }
    return order;
  }

  function start(figure) {
    const { side, patch: P, cell, read } = figure.numbers;
    const lines = [...Array(side * side).keys()];
    const patches = patchByPatch(side, P);
    const [across, inside] = [side / P, P * P];
    let forgets = false;
    let step = 0;

    // inImage, inMatrix and inBlocks return the centre of a number's cell.
    const inImage = (gap) => (number) => {
      const [row, column] = [Math.floor(number / side), number % side];
      const place = (i) => (i - (side - 1) / 2) * cell + (Math.floor(i / P) - (across - 1) / 2) * gap;
      return [place(column), place(row)];
    };
    const rowAt = (index) => (index - (patches.length / inside - 1) / 2) * (cell + BETWEEN);
    const inMatrix = (order) => (number) => {
      const place = order.indexOf(number);
      return [((place % inside) - (inside - 1) / 2) * cell, rowAt(Math.floor(place / inside))];
    };
    const inBlocks = (number) => {
      const place = patches.indexOf(number);
      const [patch, i] = [Math.floor(place / inside), place % inside];
      const wide = P * cell + APART;
      return [(patch - (across * across - 1) / 2) * wide + ((i % P) - (P - 1) / 2) * cell,
        (Math.floor(i / P) - (P - 1) / 2) * cell];
    };

    /** Returns the patches that numbers belong to. */
    const held = (numbers) => {
      const found = [...new Set(numbers.map((number) => Math.floor(patches.indexOf(number) / inside)))];
      return found.length === 1 ? `patch ${found[0]}` : `patches ${figures.listed(found.map(String))}`;
    };

    const [n, s] = [across, side];
    const steps = () => [
      { name: "an image", shape: [s, s], at: inImage(0), order: lines, code: "tiny",
        says: "An image of 16 numbers, and a colour for each of its four patches. Press Next to cut it." },
      { name: "split", shape: [n, P, n, P], at: inImage(APART), order: lines, code: "split = tiny.reshape(2, 2, 2, 2)",
        says: "Split: the sides are cut, and nothing has moved. Read in order, the patches still take turns." },
      forgets
        ? { name: "no move", shape: [n, P, n, P], at: inImage(APART), order: lines, code: "split = tiny.reshape(2, 2, 2, 2)",
          says: "The move is forgotten. Read in order, the patches still take turns." }
        : { name: "move", shape: [n, n, P, P], at: inBlocks, order: patches, code: "moved = split.permute(0, 2, 1, 3)",
          says: "Move: the numbers of a patch come to lie next to each other. Watch the row below." },
      forgets
        ? { name: "✗ joined: scrambled", kind: "bad", shape: [n * n, inside], at: inMatrix(lines), order: lines, code: "split.reshape(4, 4)", named: true,
          says: "Joined without the move. The shape is right, but each row is a line of the image, and mixes two patches." }
        : { name: "✓ joined", kind: "good", shape: [n * n, inside], at: inMatrix(patches), order: patches, code: "moved.reshape(4, 4)", named: true,
          says: "Join: each row is one patch, and the first is 0, 1, 4, 5." },
    ];

    function draw(index) {
      step = index;
      const { name, kind = "", shape, at, order, code, named, says } = steps()[index];
      for (const number of lines) {
        const [x, y] = at(number);
        const corner = [MIDDLE + x - cell / 2, STAGE + y - cell / 2];
        figure.part(`cell-${number}`).style.transform = `translate(${corner[0]}px, ${corner[1]}px)`;
        figure.part(`read-${number}`).style.transform = `translate(${4 + order.indexOf(number) * read}px, ${STRIP}px)`;
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

    for (let i = 0; i < patches.length / inside; i++) {
      for (const [name, side] of [["row", -1], ["holds", 1]]) {
        const x = MIDDLE + side * ((inside * cell) / 2 + BETWEEN);
        figure.part(`${name}-${i}`).style.transform = `translate(${x}px, ${STAGE + rowAt(i) + 4}px)`;
      }
    }
    const show = figure.steps({ count: 4, show: draw });
    const forget = figure.button("Forget the move", () => {
      forgets = !forgets;
      forget.setAttribute("aria-pressed", forgets);
      show(step < 2 ? 3 : step); // before the move both look the same, so the last step is shown
    });
    forget.setAttribute("aria-pressed", false);
  }

  Object.assign(figures, { patchByPatch, split_move_join: start });
})();
