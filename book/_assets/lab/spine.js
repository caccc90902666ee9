// The walk's map: the model as a line with a stop for every step, along which the tensor travels.
(() => {
  "use strict";
  const lab = (globalThis.vitLab ??= {});
  const SVG = "http://www.w3.org/2000/svg";
  const TRAVEL = 450; // milliseconds from a stop to the next
  const CLEAR = 8; // pixels between a box and a line that goes around it
  const BEFORE = [["image", "image"], ["patches", "patches"], ["patch_embed", "embedding"], ["cls_token", "class token"], ["pos_embed", "positions"], ["embed", "+"]];
  const FORK = [["attn.q", "q"], ["attn.k", "k"], ["attn.v", "v"]];
  const ATTENTION = [["norm1", "norm"], FORK, ["attn.scores", "scores"], ["attn.weights", "softmax"], ["attn.mixed", "mix"], ["attn.proj", "projection"], ["residual1", "+"]];
  const MLP = [["norm2", "norm"], ["mlp.fc1", "MLP, wide"], ["mlp.fc2", "MLP, narrow"], ["block", "+"]];
  const AFTER = [["norm", "norm"], ["class_token", "class token"], ["head", "head"], ["probabilities", "softmax"]];
  const RESIDUAL = [["norm1", "residual1"], ["norm2", "block"]];
  /** Where a stop's tensor comes from, if that is not the stop before; the positions come from nowhere. */
  const FROM = { pos_embed: null, embed: "cls_token", "attn.k": "norm1", "attn.v": "norm1", "attn.scores": "attn.q" };

  /**
   * whole: the model to its end, and not the tokens alone. depth: how many blocks it has.
   * pick(stop), open(block): called when the reader chooses.
   *
   * Gives {element, show}. show({stops: [[stop, its name in full]], stop, block, picture}): the stops that there are, in
   * order; the one where the tensor is; the block that is open. Its picture travels there, if the reader was at the stop before.
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
    const row = (...stops) => el("div", { class: "vl-stops" },
      ...stops.map((stop) => (stop === FORK ? el("span", { class: "vl-fork" }, ...FORK.map(node)) : node(stop))));
    const opened = choice(Array.from({ length: depth }, (_, block) => [block, String(block)]), (block) => open(Number(block)));
    const wires = document.createElementNS(SVG, "svg");
    wires.setAttribute("class", "vl-wires");
    wires.setAttribute("aria-hidden", "true");
    const tip = lab.uniqueId("tip");
    const traveller = el("canvas", { class: "vl-traveller", "aria-hidden": "true", hidden: true, width: 32, height: 32 });
    const line = el("div", { class: "vl-line" }, wires, row(...BEFORE, ...(whole ? [["earlier", ""]] : [])),
      ...(whole ? [
        el("div", { class: "vl-one-block" }, el("div", { class: "vl-open" }, labelled("Encoder block", opened), `of ${depth}`), row(...ATTENTION), row(...MLP)),
        row(["later", ""], ...AFTER)] : []),
      traveller);
    const element = el("div", { class: "vl-spine", role: "group", "aria-label": "The steps, in the model", onkeydown: walk }, line);
    new ResizeObserver(draw).observe(line);

    /** Where a stop's box is on the line, and how far down its row goes. */
    function boxOf(stop) {
      const outer = line.getBoundingClientRect();
      const box = nodes.get(stop).getBoundingClientRect();
      const [left, right, top, bottom] = [box.left - outer.left, box.right - outer.left, box.top - outer.top, box.bottom - outer.top];
      const floor = nodes.get(stop).closest(".vl-stops").getBoundingClientRect().bottom - outer.top;
      return { left, right, top, bottom, floor, x: (left + right) / 2, y: (top + bottom) / 2 };
    }

    /** From a box to one beside it, or round to the first one of the next row. */
    function path(a, b) {
      if (Math.abs(a.y - b.y) < 1) return `M${a.right} ${a.y} H${b.left}`;
      if (b.left > a.right) return `M${a.right} ${a.y} H${(a.right + b.left) / 2} V${b.y} H${b.left}`;
      return `M${a.right} ${a.y} h${CLEAR} V${a.floor + 2 * CLEAR} H${b.left - 2 * CLEAR} V${b.y} H${b.left}`;
    }

    /** Under a row, into a sum: from below the box, or from where the line enters it. */
    function around(a, b, atItsDoor) {
      return `M${atItsDoor ? `${a.left - 2 * CLEAR} ${a.y}` : `${a.x} ${a.bottom}`} V${a.floor + CLEAR} H${b.x} V${b.bottom}`;
    }

    const cameFrom = (stop) => (stop in FROM ? FROM[stop] : order[order.indexOf(stop) - 1]);

    /** The lines from box to box. They depend on how wide the words are, so they are drawn anew whenever that changes. */
    function draw() {
      const boxes = new Map(order.map((stop) => [stop, boxOf(stop)]));
      const join = ([from, to]) => path(boxes.get(from), boxes.get(to));
      const drawn = [around(boxes.get("cls_token"), boxes.get("embed")), join(["pos_embed", "embed"])];
      for (const stop of order.slice(1)) if (stop !== "embed" && cameFrom(stop)) drawn.push(join([cameFrom(stop), stop]));
      if (boxes.has("norm1")) {
        const [v, mixed] = ["attn.v", "attn.mixed"].map((stop) => boxes.get(stop));
        drawn.push(join(["attn.k", "attn.scores"]), `M${v.right} ${v.y} H${mixed.x} V${mixed.bottom}`);
        for (const [norm, sum] of RESIDUAL) drawn.push(around(boxes.get(norm), boxes.get(sum), true));
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

    function travel(to, picture) {
      if (cameFrom(to) === null || matchMedia("(prefers-reduced-motion: reduce)").matches) return;
      const [a, b] = [cameFrom(to), to].map(boxOf);
      const c = traveller.getContext("2d");
      c.clearRect(0, 0, 32, 32);
      c.drawImage(picture, 0, 0, 32, 32);
      traveller.hidden = false;
      traveller.style.offsetPath = `path("${to === "embed" ? around(a, b) : path(a, b)}")`;
      const journey = traveller.animate([{ offsetDistance: "0%" }, { offsetDistance: "100%" }], { duration: TRAVEL, easing: "ease-in-out" });
      journey.onfinish = () => { traveller.hidden = true; };
    }

    function show({ stops, stop, block, picture }) {
      const names = new Map(stops);
      const changed = String(order) !== String([...names.keys()]);
      order = [...names.keys()];
      opened.value = block;
      for (const [name, button] of nodes) {
        button.hidden = !names.has(name);
        button.tabIndex = name === stop ? 0 : -1;
        if (name === stop) button.setAttribute("aria-current", "step");
        else button.removeAttribute("aria-current");
        if (names.has(name)) button.setAttribute("aria-label", names.get(name));
      }
      for (const name of ["earlier", "later"]) if (names.has(name)) nodes.get(name).textContent = names.get(name).replace(/^\d+\. /, "").toLowerCase();
      if (changed) draw();
      const { x } = boxOf(stop);
      element.scrollTo({ left: x - element.clientWidth / 2, behavior: here === null ? "instant" : "smooth" });
      if (here !== null && order.indexOf(stop) === order.indexOf(here) + 1) travel(stop, picture);
      here = stop;
    }

    return { element, show };
  }

  Object.assign(lab, { spine });
})();
