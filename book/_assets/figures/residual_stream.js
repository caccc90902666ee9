// Chapter 6: draws four stacks block by block: the stream, and the cat put together from its tokens.
(() => {
  "use strict";
  const figures = (globalThis.vitFigures ??= {});
  const ROWS = 14; // rows of patches
  const LENGTHS = { length: "length", left: "left of the start" }; // parts of the drawing, and their words

  function start(figure) {
    const { set, SVG } = figures;
    const { stacks, cat, top, pitch, floor, left, wide } = figure.numbers;
    const names = Object.keys(stacks);
    const blocks = stacks[names[0]].wrong.length - 1;
    const side = cat.width / ROWS;
    let now = blocks; // the end is what the chapter speaks of, and Play begins anew
    let drawn = now; // the block on the screen while it moves to the new one

    const node = (tag, attributes, ...children) => {
      const made = set(document.createElementNS(SVG, tag), attributes);
      made.append(...children);
      return made;
    };
    const use = (href, attributes = {}) => node("use", { href: `#${href}`, ...attributes });
    const photograph = figure.svg.querySelector("image").id;
    const piece = (patch) => `residual-stream-piece-${patch}`;
    const box = (patch) => `${(patch % ROWS) * 16} ${Math.floor(patch / ROWS) * 16} 16 16`;
    figure.svg.querySelector("defs").append(
      node("symbol", { id: "residual-stream-whole", viewBox: `0 0 ${16 * ROWS} ${16 * ROWS}` }, use(photograph)),
      ...Array.from({ length: ROWS ** 2 }, (_, patch) => node("symbol", { id: piece(patch), viewBox: box(patch) }, use(photograph))));

    /** Draws the photograph of the cat, and on it the patches that its tokens resemble instead of their own. */
    function putTogether(name, wrong) {
      const place = figure.part(`cat-${name}`);
      const y = top + names.indexOf(name) * pitch + cat.y;
      const pieces = wrong ? [use("residual-stream-whole", { x: cat.x, y, width: cat.width, height: cat.height })] : [];
      for (let i = 0; wrong && i < wrong.length; i += 2) {
        const [row, column] = [Math.floor(wrong[i] / ROWS), wrong[i] % ROWS];
        pieces.push(use(piece(wrong[i + 1]), { x: cat.x + column * side, y: y + row * side, width: side, height: side }));
      }
      place.replaceChildren(...pieces);
      figure.part(`empty-${name}`).style.visibility = wrong ? "hidden" : "visible";
    }

    /** Returns the path of a band up to a block; a block has one step or several. */
    function band({ steps, lengths }, which, at, bottom) {
      const end = at * steps;
      const [before, after] = [Math.floor(end), Math.ceil(end)];
      const last = lengths[before][which] + (lengths[after][which] - lengths[before][which]) * (end - before);
      const points = lengths.slice(0, before + 1).map((pair, i) => [left + (i / steps) * wide, bottom - pair[which]]);
      points.push([left + at * wide, bottom - last]);
      return `M${left} ${bottom}L${points.map((point) => point.join(" ")).join("L")}V${bottom}Z`;
    }

    function draw(at) {
      drawn = at;
      names.forEach((name, index) => {
        const bottom = top + index * pitch + floor;
        ["stream", "first"].forEach((part, which) => {
          set(figure.part(`${part}-${name}`).firstElementChild, { d: band(stacks[name], which, at, bottom) });
        });
        for (let block = 0; block < blocks; block++) {
          figure.part(`added-${name}-${block}`).style.opacity = figures.clamp(at - block, 0.15, 1);
        }
      });
      const x = left + at * wide;
      set(figure.part("now").firstElementChild, { transform: `translate(${x - left - blocks * wide} 0)` });
    }

    /** Writes all texts and puts the cats together; returns the sentence for a block. */
    function tell(block) {
      figure.write("block", `after block ${block}`);
      const counts = names.map((name) => {
        const { wrong, recognised, steps, lengths } = stacks[name];
        Object.entries(LENGTHS).forEach(([part, words], which) => figure.write(`${part}-${name}`, `${words} ${lengths[block * steps][which].toFixed(1)}`));
        putTogether(name, wrong[block]);
        const count = recognised[block];
        figure.write(`count-${name}`, count === null ? "all tokens equal" : `${count} of ${ROWS ** 2} recognised`);
        return count === null ? `with ${name} all tokens are equal` : `${name} ${count}`;
      });
      return block === 0 ? "Before the first block every token is recognised. Press Next, or drag the line."
        : `After block ${block}, of ${ROWS ** 2} patches: ${figures.listed(counts)}.`;
    }

    function go(block) {
      const from = drawn;
      now = block;
      figure.tween((t) => draw(from + (block - from) * t), 700);
      figure.say(tell(block));
    }

    const show = figure.steps({ count: blocks + 1, first: now, seconds: 1.2, label: "how many blocks the tokens have gone through",
      says: String, show: go });
    figure.scrubbed("rows", [left, top + 28, blocks * wide, names.length * pitch - 14], { high: blocks, value: () => now, change: show });
    matchMedia("print").addEventListener("change", ({ matches }) => { // paper shows the last frame
      const block = matches ? blocks : now;
      tell(block);
      draw(block);
    });
  }

  Object.assign(figures, { residual_stream: start });
})();
