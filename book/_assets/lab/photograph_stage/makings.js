// What the model makes of a photograph: four small pictures, now and before, each with a sentence; and the other photograph.
(() => {
  "use strict";
  const lab = (globalThis.vitLab ??= {});
  const TITLES = { directions: "Directions", matches: "Matches", norms: "Norms", saliency: "Saliency" };

  /** Makes {element, paint(views)}; choose(view) is called when a picture is pressed. */
  function makings({ grid, choose }) {
    const { el, button } = lab;
    const rows = Object.entries(TITLES).map(([view, title]) => {
      const [now, before] = [0, 1].map(() => el("canvas", { class: "vp-small", "aria-hidden": "true" }));
      const press = button("", () => choose(view), { class: "vp-view", "aria-pressed": "false" });
      press.append(now, el("span", { class: "vp-view-name" }, title));
      const ghost = el("figure", { class: "vp-before", hidden: true }, before, el("figcaption", {}, "before"));
      const words = el("p", { class: "vp-fact" });
      return { view, now, before, press, ghost, words, row: el("div", { class: "vp-making" }, press, ghost, words) };
    });
    const element = el("section", { class: "vp-makings", "aria-label": "What the model makes of it" }, ...rows.map(({ row }) => row));

    /** views: for each view {now, before or null, words}; a picture is {colours} or {values, colouring}, or null. */
    function paint(views, pressed) {
      for (const { view, now, before, press, ghost, words } of rows) {
        const shown = views[view];
        fill(now, shown.now);
        fill(before, shown.before);
        lab.hide(ghost, !shown.before);
        lab.mark(press, "aria-pressed", view === pressed);
        lab.write(words, shown.words);
      }
    }

    function fill(canvas, picture) {
      canvas.classList.toggle("vp-empty", !picture);
      if (!picture) return;
      if (picture.colours) lab.paintColours(canvas, picture.colours, grid);
      else lab.paintPixels(canvas, picture.values, grid, grid, picture.colouring ?? lab.colouring(picture.values));
    }

    return { element, paint };
  }

  /** Makes the other photograph: {element, paint({picture, light, match, words})}; choose(name or null) is called. */
  function otherPhotograph({ grid, choose }) {
    const { el } = lab;
    const select = lab.choice([["", "none"], ...Object.entries(lab.PHOTOS)], (name) => choose(name || null));
    const canvas = el("canvas", { class: "vp-other-picture", role: "img" });
    const words = el("p", { class: "vp-fact" });
    const beside = el("div", { class: "vp-other-shown", hidden: true }, canvas, words);
    const element = el("section", { class: "vp-other", "aria-label": "In another photograph" },
      el("div", { class: "vl-row" }, lab.labelled("Find it also in", select),
        el("p", { class: "vl-note vp-what" }, el("a", { href: "#your-own-photograph" }, "What are tokens, and what do these show?"))), beside);
    return {
      element,
      paint(name, shown) {
        select.value = name ?? "";
        lab.hide(beside, !shown);
        if (!shown) return;
        lab.write(words, shown.words);
        canvas.setAttribute("aria-label", `The ${lab.PHOTOS[name]}. ${shown.words}`);
        const { PICTURE_SIDE: side } = lab;
        if (shown.picture) lab.paintPhotograph(lab.context(canvas, side, side, 1), { ...shown, grid });
      },
    };
  }

  Object.assign(lab, { makings, otherPhotograph });
})();
