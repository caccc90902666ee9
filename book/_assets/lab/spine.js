// The map of the walk: the model as a line with a stop for every step, along which the tensor travels.
(() => {
  "use strict";
  const lab = (globalThis.vitLab ??= {});
  const SVG = "http://www.w3.org/2000/svg";
  const TRAVEL = 450; // milliseconds from a stop to the next
  const CLEAR = 8; // pixels between a box and a line that goes around it
  const FORK = [["attn.q", "q"], ["attn.k", "k"], ["attn.v", "v"]];
  // Rows of stops; where there is little room, each list in a row becomes a line of its own.
  const BEFORE = [[["image", "image"], ["patches", "patches"], ["patch_embed", "embedding"]], [["cls_token", "class token"], ["pos_embed", "positions"], ["embed", "+"]]];
  const ATTENTION = [[["norm1", "norm"], FORK, ["attn.scores", "scores"], ["attn.weights", "softmax"]], [["attn.mixed", "mix"], ["attn.proj", "projection"], ["residual1", "+"]]];
  const MLP = [[["norm2", "norm"], ["mlp.fc1", "MLP, wide"]], [["mlp.fc2", "MLP, narrow"], ["block", "+"]]];
  const AFTER = [[["later", ""], ["norm", "norm"]], [["class_token", "class token alone"], ["head", "logits"], ["probabilities", "probabilities"]]];
  const RESIDUAL = [["norm1", "residual1"], ["norm2", "block"]];
  /** The stop that a tensor comes from, if that is not the stop before; positions come from none. */
  const FROM = { pos_embed: null, embed: "cls_token", "attn.k": "norm1", "attn.v": "norm1", "attn.scores": "attn.q" };

  /**
   * whole: whether the map shows the model to its end, or only the tokens. depth: the number of blocks.
   * pick(stop), open(block): called when the reader chooses a stop or a block.
   *
   * Returns {element, show}. show({stops, stop, block, picture}) takes all stops in order, [[stop, full name]]; the
   * reader's stop; the open block; and the picture of the tensor there, which travels to the next stop.
   */
  function spine({ whole, depth, pick, open }) {
    const { el, labelled, choice } = lab;
    const nodes = new Map();
    let order = [];
    let here = null;

    const node = ([stop, label]) => {
      nodes.set(stop, lab.button(label, () => pick(stop), { class: "vl-stop", tabindex: -1 }));
      return nodes.get(stop);
    };
    const row = (lines) => el("div", { class: "vl-stops" }, ...lines.map((stops) => el("div", { class: "vl-some" },
      ...stops.map((stop) => (stop === FORK ? el("span", { class: "vl-fork" }, ...FORK.map(node)) : node(stop))))));
    const opened = choice(Array.from({ length: depth }, (_, block) => [block, String(block)]), (block) => open(Number(block)));
    const wires = document.createElementNS(SVG, "svg");
    wires.setAttribute("class", "vl-wires");
    wires.setAttribute("aria-hidden", "true");
    const tip = lab.uniqueId("tip");
    const traveller = el("canvas", { class: "vl-traveller", "aria-hidden": "true", hidden: true, width: 32, height: 32 });
    const tensor = el("canvas", { width: 32, height: 32 }); // the tensor at this stop
    const line = el("div", { class: "vl-line" }, wires, row(whole ? [...BEFORE, [["earlier", ""]]] : BEFORE),
      ...(whole ? [
        el("div", { class: "vl-one-block" }, el("div", { class: "vl-open" }, labelled("Encoder block", opened), `of ${depth}`), row(ATTENTION), row(MLP)),
        row(AFTER)] : []),
      traveller);
    const element = el("div", { class: "vl-spine", role: "group", "aria-label": "The steps, in the model", onkeydown: walk }, line);
    new ResizeObserver(draw).observe(line);

    /** Returns the box of a stop, relative to the line, and the lower edge of its row. */
    function boxOf(stop) {
      const outer = line.getBoundingClientRect();
      const box = nodes.get(stop).getBoundingClientRect();
      const [left, right, top, bottom] = [box.left - outer.left, box.right - outer.left, box.top - outer.top, box.bottom - outer.top];
      const floor = nodes.get(stop).closest(".vl-some").getBoundingClientRect().bottom - outer.top;
      return { left, right, top, bottom, floor, x: (left + right) / 2, y: (top + bottom) / 2 };
    }

    const areInLine = (a, b) => Math.abs(a.floor - b.floor) < 1;

    /** Returns the path from a box to the box beside it, or to the first one of the next line. */
    function path(a, b) {
      if (!areInLine(a, b)) return `M${a.right} ${a.y} h${CLEAR} V${a.floor + 2 * CLEAR} H${b.left - 2 * CLEAR} V${b.y} H${b.left}`;
      return a.y === b.y ? `M${a.right} ${a.y} H${b.left}` : `M${a.right} ${a.y} H${(a.right + b.left) / 2} V${b.y} H${b.left}`;
    }

    /** Returns the path of a residual connection: from in front of a norm, below the boxes, to the sum. */
    function residual(norm, sum) {
      const out = areInLine(norm, sum) ? 2 * CLEAR : 3 * CLEAR; // beside the path to the next line
      return `M${norm.left - 2 * CLEAR} ${norm.y} H${norm.left - out} V${sum.floor + CLEAR} H${sum.x} V${sum.bottom}`;
    }

    /** Returns the path of the values, which pass by scores and softmax. */
    function values(v, mixed) {
      return areInLine(v, mixed) ? `M${v.right} ${v.y} H${mixed.x} V${mixed.bottom}` : `M${v.x} ${v.bottom} V${v.floor + CLEAR} H${mixed.x} V${mixed.top}`;
    }

    const cameFrom = (stop) => (stop in FROM ? FROM[stop] : order[order.indexOf(stop) - 1]);

    /** Draws the paths between boxes; called again whenever the widths of the words change. */
    function draw() {
      const boxes = new Map(order.map((stop) => [stop, boxOf(stop)]));
      const join = ([from, to]) => path(boxes.get(from), boxes.get(to));
      const [tokens, sum] = ["cls_token", "embed"].map((stop) => boxes.get(stop));
      const drawn = [`M${tokens.x} ${tokens.bottom} V${tokens.floor + CLEAR} H${sum.x} V${sum.bottom}`, join(["pos_embed", "embed"])];
      for (const stop of order.slice(1)) if (stop !== "embed" && cameFrom(stop)) drawn.push(join([cameFrom(stop), stop]));
      if (boxes.has("norm1")) {
        drawn.push(join(["attn.k", "attn.scores"]), values(boxes.get("attn.v"), boxes.get("attn.mixed")));
        for (const ends of RESIDUAL) drawn.push(residual(...ends.map((stop) => boxes.get(stop))));
      }
      wires.innerHTML = `<marker id="${tip}" viewBox="0 0 8 8" refX="8" refY="4" markerWidth="5" markerHeight="5" orient="auto"><path d="M0 0 8 4 0 8z"/></marker>`
        + drawn.map((d) => `<path d="${d}" marker-end="url(#${tip})"/>`).join("");
    }

    function walk(event) {
      const at = order.findIndex((stop) => nodes.get(stop) === event.target);
      const to = { ArrowRight: at + 1, ArrowDown: at + 1, ArrowLeft: at - 1, ArrowUp: at - 1, Home: 0, End: order.length - 1 }[event.key];
      if (at < 0 || to === undefined) return;
      event.preventDefault();
      const next = order[lab.clamp(to, 0, order.length - 1)];
      pick(next);
      nodes.get(next).focus({ preventScroll: true });
    }

    function copy(from, to) {
      const c = to.getContext("2d");
      c.clearRect(0, 0, to.width, to.height);
      c.drawImage(from, 0, 0, to.width, to.height);
    }

    function travel(to) {
      copy(tensor, traveller);
      traveller.hidden = false;
      traveller.style.offsetPath = `path("${path(boxOf(here), boxOf(to))}")`;
      const journey = traveller.animate([{ offsetDistance: "0%" }, { offsetDistance: "100%" }], { duration: TRAVEL, easing: "ease-in-out" });
      journey.onfinish = () => { traveller.hidden = true; };
    }

    function show({ stops, stop, block, picture }) {
      const names = new Map(stops);
      order = [...names.keys()];
      opened.value = block;
      for (const [name, button] of nodes) {
        button.hidden = !names.has(name);
        button.tabIndex = name === stop ? 0 : -1;
        if (name === stop) button.setAttribute("aria-current", "step");
        else button.removeAttribute("aria-current");
        if (names.has(name)) button.setAttribute("aria-label", names.get(name));
        if (names.has(name) && ["earlier", "later"].includes(name)) button.textContent = names.get(name).replace(/^\d+\. /, "").toLowerCase();
      }
      draw();
      if (here !== null && cameFrom(stop) === here && !matchMedia("(prefers-reduced-motion: reduce)").matches) travel(stop);
      here = stop;
      copy(picture, tensor);
    }

    return { element, show };
  }

  Object.assign(lab, { spine });
})();
