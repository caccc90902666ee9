// The controls for the image's content: the digit, or a drawn one, the ground, and the scraps.
(() => {
  "use strict";
  const lab = (globalThis.vitLab ??= {});

  /** Makes {element, pad}: the controls, and the drawing pad that one of them opens. */
  function toolbar(source, ...more) {
    const { el, labelled, choice, button } = lab;
    const digits = Array.from({ length: 10 }, (_, label) =>
      button(String(label), () => source.choose(label), { "aria-label": `digit ${label}, press again for another one`, "aria-pressed": "false" }));
    const pad = lab.drawingPad(source);
    const draw = button("Draw", () => open(pad.hidden), { "aria-expanded": "false" });
    const ground = choice(
      [["brick", "brick"], ["grass", "grass"], ["gravel", "gravel"], ["none", "black"]],
      (name) => source.set({ ground: name }));
    const another = button("Another piece", () => source.set({ piece: source.state.piece + 1 }));
    const scraps = el("input", {
      type: "number", min: 0, max: lab.MOST_SCRAPS, inputmode: "numeric",
      onchange: () => {
        source.set({ scraps: lab.clamp(Math.round(Number(scraps.value)) || 0, 0, lab.MOST_SCRAPS) });
      },
    });

    function open(isOpen) {
      pad.hidden = !isOpen;
      draw.setAttribute("aria-expanded", String(isOpen));
      if (isOpen) pad.scrollIntoView({ block: "nearest" });
    }
    pad.addEventListener("keydown", (event) => {
      if (event.key !== "Escape") return;
      open(false);
      draw.focus();
    });

    function refresh() {
      digits.forEach((element, label) => lab.mark(element, "aria-pressed", source.label === label));
      ground.value = source.state.ground;
      another.disabled = source.state.ground === "none";
      scraps.value = source.state.scraps;
    }
    source.onChange(refresh);
    refresh();
    const element = el("div", { class: "vl-toolbar", role: "group", "aria-label": "The image" },
      el("div", { class: "vl-row vl-digits" }, ...digits, draw),
      el("div", { class: "vl-row" }, labelled("Background", ground), another),
      labelled("Distractors", scraps),
      ...more);
    return { element, pad };
  }

  Object.assign(lab, { toolbar });
})();
