// Chapter 4: shows each patch of a photograph as bright as the attention that a chosen patch gives it.
(() => {
  "use strict";
  const figures = (globalThis.vitFigures ??= {});

  /** Returns the attention weights of one query: the softmax of q kᵀ / √d. */
  function attend(query, keys) {
    const exps = keys.map((key) => Math.exp(key.reduce((sum, k, i) => sum + query[i] * k, 0) / Math.sqrt(query.length)));
    const total = exps.reduce((sum, exp) => sum + exp, 0);
    return exps.map((exp) => exp / total);
  }

  /** Returns how many of the largest weights make up half of the attention. */
  function half(weights) {
    let sum = 0;
    return [...weights].sort((a, b) => b - a).findIndex((weight) => (sum += weight) >= 0.5) + 1;
  }

  function start(figure) {
    const { set, SVG } = figures;
    const { side, asks, colours, photo, lit, darkest } = figure.numbers;
    const size = photo[2] / side;
    let chosen = asks;
    let pointed = null; // the patch under the mouse

    const numberOf = ([row, column]) => row * side + column;
    const said = (patch) => `row ${Math.floor(patch / side)}, column ${patch % side}`;
    const shadows = colours.map((_, patch) => set(document.createElementNS(SVG, "rect"), { class: "vd-cover",
      x: lit[0] + (patch % side) * size, y: lit[1] + Math.floor(patch / side) * size, width: size, height: size }));
    figure.part("shades").replaceChildren(...shadows);

    function draw() {
      const place = pointed ?? chosen;
      const patch = numberOf(place);
      const weights = attend(colours[patch], colours);
      const most = Math.max(...weights);
      shadows.forEach((shadow, other) => set(shadow, { "fill-opacity": (darkest * (1 - weights[other] / most)).toFixed(3) }));
      for (const name of ["frame-photo", "frame-lit"])
        figure.part(name).style.transform = `translate(${(place[1] - asks[1]) * size}px, ${(place[0] - asks[0]) * size}px)`;
      figure.svg.classList.toggle("asking-preview", Boolean(pointed) && String(pointed) !== String(chosen));
      figure.write("asks", `patch ${patch} looks`);
      const best = weights.indexOf(most);
      for (const frame of figure.part("best").children)
        set(frame, { x: lit[0] + (best % side) * size, y: lit[1] + Math.floor(best / side) * size });
      figure.part("shoulder").style.visibility = patch === numberOf(asks) ? "visible" : "hidden";
      const [own, largest] = [weights[patch], most].map((weight) => weight.toFixed(4));
      figure.write("own", `its own weight ${own}`);
      figure.write("most", `largest weight ${largest}`);
      figure.say(`Patch ${patch} (${said(patch)}) gives itself a weight of ${own}`
        + (best === patch ? ", and no other patch more."
          : own === largest ? `, and ${said(best)}, a trace more.`
          : `. Its largest weight, ${largest}, goes to ${said(best)}.`)
        + ` The ${half(weights)} patches with the largest weights share half of its attention.`);
    }

    const choose = (place) => { [chosen, pointed] = [place, null]; draw(); };
    const tell = figure.places("handle-asks", { grid: photo, size: () => [side, side], label: "the patch that looks",
      value: () => chosen, says: (place) => said(numberOf(place)), choose, point: (place) => { pointed = place; draw(); } });
    for (const [name, place] of Object.entries({ Suit: asks, Face: [3, 5], Helmet: [12, 10], Backdrop: [0, 3] }))
      figure.button(name, () => { choose(place); tell(); });
    draw();
  }

  Object.assign(figures, { asking_patch: start });
})();
