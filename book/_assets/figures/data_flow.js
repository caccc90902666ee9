// Chapter 7: opens each step of a trained model on the way from an image to its answer, with the numbers computed there.
(() => {
  "use strict";
  const figures = (globalThis.vitFigures ??= {});
  const DIGITS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  const LEVELS = [0.12, 0.3, 0.55, 0.8]; // of the largest weight in a head's map
  const COLOURS = ["ink", "class", "query", "key", "value", "patch-0", "position"];
  const [SIDE, SEEN] = [8, 4]; // patches along a side, numbers that are written

  /** Reads tensors that are written as letters, two a number, into nested arrays. */
  function unpacked([described, text]) {
    let place = 0;
    const next = (unit) => {
      const count = 64 * DIGITS.indexOf(text[place]) + DIGITS.indexOf(text[place + 1]) - 2048;
      place += 2;
      return count * unit;
    };
    const filled = ([length, ...rest], unit) => Array.from({ length }, () => (rest.length ? filled(rest, unit) : next(unit)));
    return Object.fromEntries(described.map(([name, shape, unit]) => [name, filled(shape, unit)]));
  }

  function softmax(scores) {
    const most = Math.max(...scores);
    const exps = scores.map((score) => Math.exp(score - most));
    const total = exps.reduce((sum, number) => sum + number, 0);
    return exps.map((number) => number / total);
  }

  /** Writes a number of any size with about three digits. */
  function short(number) {
    return number >= 100 ? Math.round(number).toLocaleString("en") : String(Number(number.toPrecision(3)));
  }

  function start(figure) {
    const { set, written, clamp } = figures;
    const { labels, scale, steps: [first, inside, last], depth, heads, image, large, maps, top, track } = figure.numbers;
    const [left, wide, end] = figure.numbers.blocks;
    const [bars, longest] = figure.numbers.bars;
    const [rowCount, pitch, cellWidth] = figure.numbers.rows;
    const model = unpacked(figure.numbers.model);
    const pictures = figure.numbers.pictures.map(unpacked);
    const steps = [
      ...first.map((step, kind) => ({ step, kind, block: 0, read: 0 })),
      ...Array.from({ length: depth }, (_, block) => inside.map(([name, letters, here, base, from, to], i) => ({
        step: [`block ${block + 1}: ${name}`, letters, here, base, left + block * wide + from, left + block * wide + to],
        kind: first.length + i, block, read: block + (i === inside.length - 1),
      }))).flat(),
      ...last.map((step, i) => ({ step, kind: first.length + inside.length + i, block: depth - 1, read: depth })),
    ];
    let now = steps.length - 1; // all of it is lit, and Play begins anew
    let lit = steps[now].step[5]; // x up to which it is lit on the screen
    let [picture, patch, head] = [0, figure.numbers.patch, figure.numbers.chosen];

    const two = (number) => number.toFixed(2).replace("-", "−").replace("−0.00", "0.00");
    const percent = (share) => (share < 0.0995 ? `${(100 * share).toFixed(1)} %` : `${Math.round(100 * share)} %`);
    const times = (one, other) => one.map((number, i) => number * other[i]);
    const plus = (one, other) => one.map((number, i) => number + other[i]);
    const here = () => pictures[picture];
    const weightsOf = (block, of) => softmax(here().scores[block][of]);
    const strand = (token) => top + 2 * token;
    const square = (index, rows, box) => ({ x: box.x + (index % rows) * (box.width / rows), y: box.y + Math.floor(index / rows) * (box.width / rows) });

    // A row has a label, numbers in a colour, and dots if there are more of them; or it is a line of words.
    const row = (label, numbers, colour = "ink", { more = true, write = two } = {}) => ({ label, cells: numbers.map(write), colour, more });
    const words = (text) => ({ label: text, cells: [] });

    /** Returns the rows of the opened step, and the sentence that goes with it. */
    function opened() {
      const { kind, block, read } = steps[now];
      const numbers = here();
      const of = (name) => numbers[name][block];
      const name = `patch ${patch}`;
      const weight = weightsOf(block, head)[patch + 1];
      const answer = numbers.logits.indexOf(Math.max(...numbers.logits));
      const grid = (list, digits) => [0, 1, 2, 3].map((i) => row(i ? "" : name, list.slice(SEEN * i, SEEN * i + SEEN), "patch-0",
        { more: false, write: (number) => number.toFixed(digits).replace("-", "−") }));
      const normed = numbers.grey[patch].map((grey) => (grey - scale.mean) / scale.std);
      const token = numbers.tokens[patch];
      const tens = (list, write) => [[0, 4], [4, 8], [8, 10]].map(([from, to]) => row(`${from} to ${to - 1}`, list.slice(from, to), "ink", { more: false, write }));
      const said = `Read now, the class token would say ${numbers.reads[read].indexOf(Math.max(...numbers.reads[read]))} with ${percent(Math.max(...numbers.reads[read]))}.`;
      switch (kind) {
        case 0: return [[...grid(numbers.grey[patch], 2), words(`minus the mean ${scale.mean.toFixed(3)},`), words(`divided by the spread ${scale.std.toFixed(3)}:`),
          words(`${numbers.grey[patch][0].toFixed(2)} becomes ${two(normed[0])}`)],
        "The image is 1,024 grey values. Press a patch, and then Next to follow it to the answer."];
        case 1: return [[...grid(normed, 2), words("read row by row: 16 numbers")],
          `Cut into 64 patches. ${name[0].toUpperCase()}${name.slice(1)} is now a row of 16 numbers, and none is lost.`];
        case 2: return [[row(name, normed.slice(0, SEEN), "patch-0"), row("× weights", model.filter), row("products", times(normed, model.filter)),
          words(`all 16 products and the bias ${two(model.bias[0])}: ${two(token[0])}`), row("token", token, "patch-0")],
        "One matrix, the same for every patch, makes 64 numbers of 16. The first is worked out here, and 63 more go the same way."];
        case 3: return [[row("class token", model["class token"], "class"), row("+ position 0", model.positions[0], "position"), row("=", plus(model["class token"], model.positions[0]), "class"),
          words(`${name}, at position ${patch + 1}:`), row("token", token, "patch-0"), row("+ position", model.positions[patch + 1], "position"), row("=", plus(token, model.positions[patch + 1]), "patch-0")],
        "The class token joins in front, the same for every image, and each token gets the position of its place: now there are 65."];
        case 4: return [[row("class token", of("class"), "class"), row("norm", of("normed")), words(`times one matrix, in head ${head}:`), row("query", of("query")[head], "query"),
          words(`${name}, normed, times the same:`), row("key", of("key")[head][patch], "key"), row("value", of("value")[head][patch], "value")],
        "Every token makes a query, a key and a value in each head. Watch the class token, which asks, and a patch, which answers."];
        case 5: {
          const score = of("scores")[head][patch + 1];
          const total = of("scores")[head].reduce((sum, other) => sum + Math.exp(other), 0);
          return [[row("query", of("query")[head], "query"), row("× key", of("key")[head][patch], "key"), row("products", times(of("query")[head], of("key")[head][patch])),
            words(`all 16 add up to ${written(4 * score)}, ÷ √16: ${two(score)}`), words(`e to that is ${short(Math.exp(score))}`), words(`for all 65 tokens: ${short(total)}`), words(`weight: the share, ${percent(weight)}`)],
          `In head ${head} the class token gives ${percent(weight)} of its attention to ${name}. Press a map for another head, or another patch.`];
        }
        case 6: return [[row("value", of("value")[head][patch], "value"), row(`× ${percent(weight)}`, of("value")[head][patch].map((number) => number * weight), "value"), row("sum of 65", of("heads")[head], "value"),
          words(`${heads} heads, times one matrix:`), row("change", of("change")), row("+ token", of("class"), "class"), row("=", of("added"), "class")],
        "The values of all tokens, times their weights, add up. One matrix mixes the heads, and the result is added to the class token."];
        case 7: return [[row("norm", of("ready")), row("64 → 128", of("wide")), row("GELU", of("bent")), row("128 → 64", of("narrow")), row("+ token", of("added"), "class"),
          row("=", block + 1 < depth ? numbers.class[block + 1] : numbers.end, "class")],
        `The MLP works on each token by itself, and its result is added. ${said}`];
        case 8: return [[row("class token", numbers.end, "class"), row("norm", numbers.last), words("row 0 goes on alone"), words("64 rows stay behind")],
          "After the last norm only the class token goes on. Whatever it says about the image, it has gathered in the blocks."];
        case 9: return [[row("class token", numbers.last, "class"), row(`× for the ${answer}`, model.head[answer]), words(`all 64 products and the bias ${two(model["head bias"][answer])}: ${two(numbers.logits[answer])}`), words("the logits of all ten digits:"), ...tens(numbers.logits, two)],
          `The head has a row of weights for each digit. The largest logit, ${two(numbers.logits[answer])}, is that of the ${answer}.`];
        default: {
          const total = numbers.logits.reduce((sum, other) => sum + Math.exp(other), 0);
          return [[words(`e to the ${answer}’s logit: ${short(Math.exp(numbers.logits[answer]))}`), words(`all ten together: ${short(total)}`), words("the shares of all ten digits:"), ...tens(numbers.reads[depth], (share) => `${Math.round(100 * share)} %`)],
            `The answer: ${answer} with ${percent(numbers.reads[depth][answer])}${answer === labels[picture] ? ", and it is right" : ""}. Press an earlier step to see how it comes about.`];
        }
      }
    }

    // The drawing has one row; the others are copies of it.
    const pieces = ["label", "more", ...Array.from({ length: SEEN }, (_, column) => `cell-${column}`)];
    for (const name of pieces) {
      const [first, ...others] = Array.from({ length: rowCount }, (_, r) => (r ? figure.part(name).cloneNode(true) : figure.part(name)));
      first.after(...others);
      [first, ...others].forEach((part, r) => {
        part.dataset.part = name.replace(/(?=-|$)/, `-${r}`);
        part.setAttribute("transform", `translate(0 ${r * pitch})`);
        figure.parts.set(part.dataset.part, part);
      });
    }

    function fill(rows) {
      for (let r = 0; r < rowCount; r++) {
        const { label = "", cells = [], colour = "ink", more = false } = rows[r] ?? {};
        figure.write(`label-${r}`, label);
        figure.part(`more-${r}`).style.display = more ? "" : "none";
        figure.part(`more-${r}`).setAttribute("transform", `translate(${(cells.length - SEEN) * cellWidth} ${r * pitch})`);
        for (let c = 0; c < SEEN; c++) {
          const cell = figure.part(`cell-${r}-${c}`);
          cell.style.display = c < cells.length ? "" : "none";
          cell.querySelector("text").textContent = cells[c] ?? "";
          const { classList } = cell.querySelector("rect");
          for (const name of COLOURS) classList.toggle(`vd-${name}`, name === colour);
        }
      }
    }

    /** Returns the outlines of ribbons from the patches to the class token, each ten times its weight wide. */
    function ribbons(block, weights) {
      const x = left + block * wide;
      return weights.map((weight, other) => {
        if (weight < 0.01) return "";
        const [y, half] = [strand(other + 1), 5 * weight];
        const [a, b, c, d] = [y - half, y + half, top - half, top + half].map((edge) => edge.toFixed(1));
        return `M${x + 5} ${a}C${x + 18} ${a} ${x + 16} ${c} ${x + 27} ${c}V${d}C${x + 16} ${d} ${x + 18} ${b} ${x + 5} ${b}Z`;
      }).join("");
    }

    /** Draws what depends on the picture, the patch, the head and the opened block. */
    function draw() {
      const { step: [name, letters, shape, base], kind, block, read } = steps[now];
      pictures.forEach((_, index) => {
        for (const part of ["image", "large"]) figure.part(`${part}-${index}`).style.display = index === picture ? "inline" : "none";
      });
      for (let b = 0; b < depth; b++) {
        const asks = b === block && (kind === 5 || kind === 6) ? [head] : Array.from({ length: heads }, (_, of) => of);
        const all = asks.map((of) => weightsOf(b, of).slice(1));
        set(figure.part(`ribbons-${b}`).firstElementChild, { d: ribbons(b, all[0].map((_, i) => all.reduce((sum, one) => sum + one[i], 0) / asks.length)) });
      }
      const cell = image.width / SIDE;
      const { x, y } = square(patch, SIDE, image);
      const row = strand(patch + 1);
      set(figure.part("thread").firstElementChild, { d: `M${x + cell / 2} ${y + cell / 2}H${image.x + image.width}C78 ${y + cell / 2} 80 ${row} 94 ${row}H${end}` });
      set(figure.part("mark").firstElementChild, square(patch, SIDE, large));
      const side = 54 / SIDE;
      for (let of = 0; of < heads; of++) {
        const weights = weightsOf(block, of).slice(1);
        const most = Math.max(...weights);
        const box = { x: maps.x + (of % 2) * 58, y: maps.y + Math.floor(of / 2) * 58, width: 54 };
        [...figure.part(`map-${of}`).querySelectorAll("path")].forEach((path, level) => set(path, { d: weights.map((weight, other) => {
          if (weight < LEVELS[level] * most || weight >= (LEVELS[level + 1] ?? Infinity) * most) return "";
          const at = square(other, SIDE, box);
          return `M${at.x} ${at.y}h${side}v${side}h-${side}z`;
        }).join("") }));
        if (of === head) set(figure.part("chosen").firstElementChild, { x: box.x, y: box.y });
      }
      figure.write("of-maps", `attention, block ${block + 1}`);
      here().reads[read].forEach((share, digit) => set(figure.part(`bar-${digit}`).firstElementChild, { width: longest * share }));
      figure.part("bars").style.opacity = read === depth ? 1 : 0.55;
      figure.write("read", now === steps.length - 1 ? "answer" : "so far");
      figure.write("stage", name[0].toUpperCase() + name.slice(1));
      figure.write("shape", `${letters} = ${shape}`);
      figure.write("base", `in ViT-B/16: ${base}`);
      const [rows, sentence] = opened();
      fill(rows);
      figure.svg.setAttribute("aria-label", `From the image to the answer. Open: ${name}, ${letters} = ${shape}.`);
      figure.say(sentence);
      for (const tell of told) tell();
    }

    /** Lights the picture up to an x, and marks the opened step. */
    function light(x) {
      lit = x;
      const [from, to] = steps[now].step.slice(4);
      set(figure.part("now").firstElementChild, { x: from, width: to - from });
      set(figure.part("ahead").firstElementChild, { x, width: Math.max(0, bars - 14 - x) });
      set(figure.part("knob-step").firstElementChild, { x: clamp((from + to) / 2, 8, 352) - 8 });
    }

    function go(to) {
      now = to;
      draw();
      const [from, until] = [lit, steps[now].step[5]];
      figure.tween((t) => light(from + (until - from) * t), 600);
    }

    const told = [];
    const show = figure.steps({ count: steps.length, first: now, seconds: 2.4, show: go });
    figure.button("Another picture", () => { picture = (picture + 1) % pictures.length; draw(); });
    const index = (x) => Math.max(0, steps.findLastIndex(({ step }) => step[4] <= x));
    told.push(figure.slider("handle-step", {
      box: [0, top - 10, 360, track + 22 - top], low: 0, high: steps.length - 1, step: 1, label: "step of the model",
      at: index, value: () => now, says: (at) => `${steps[at].step[0]}, ${steps[at].step[1]} = ${steps[at].step[2]}`, change: show,
    }));
    const place = (at, rows) => [Math.floor(at / rows), at % rows];
    told.push(figure.places("handle-patch", {
      grid: [large.x, large.y, large.width, large.width], size: () => [SIDE, SIDE], label: "patch that is followed",
      value: () => place(patch, SIDE), says: () => `patch ${patch}, with ${percent(weightsOf(steps[now].block, head)[patch + 1])} of the attention in head ${head}`, choose: ([y, x]) => { patch = y * SIDE + x; draw(); },
    }));
    told.push(figure.places("handle-head", {
      grid: [maps.x - 2, maps.y - 2, maps.width + 4, maps.width + 4], size: () => [2, heads / 2], label: "head of attention",
      value: () => place(head, 2), says: () => `head ${head}`, choose: ([y, x]) => { head = 2 * y + x; draw(); },
    }));
    matchMedia("print").addEventListener("change", ({ matches }) => { // paper shows the last step
      const kept = now;
      if (matches) now = steps.length - 1;
      draw();
      now = kept;
    });
    draw();
  }

  Object.assign(figures, { data_flow: start });
})();
