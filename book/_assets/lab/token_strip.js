// Shows all tokens that enter block 0, one row each.
(() => {
  "use strict";
  const lab = (globalThis.vitLab ??= {});
  const STRIP = 208; // width of the picture

  /** Makes {element, show(embed, token)}: embed holds the tokens (T, D), token is the framed one. */
  function tokenStrip(T, D) {
    const { el } = lab;
    const strip = el("canvas", { class: "vl-strip", role: "img", "aria-label": `The ${T} tokens` }); // extended when painted
    const scale = lab.colourBar(lab.diverging);
    const tokens = el("div", {}, strip, scale.element);
    let embed, token;
    const paint = lab.whenSeen(tokens, () => {
      const c = lab.context(strip, STRIP, 3 * T);
      const colours = lab.colouring(embed);
      c.drawImage(lab.pixels(embed, T, D, colours), 0, 0, STRIP, 3 * T);
      lab.frame(c, 1, 3 * token, STRIP - 2, 3);
      const high = colours.high.toFixed(1);
      scale.show(`−${high}`, high);
      strip.setAttribute("aria-label", `The ${T} tokens as ${T} rows of ${D} numbers, from −${high} in blue to ${high} in red. Framed: ${lab.tokenName(token)}.`);
    });
    const element = el("div", { class: "vl-panel vl-below" }, tokens,
      el("div", {}, el("h3", {}, "All the tokens"),
        el("p", {}, `What enters block 0: ${T} rows of ${D} numbers each, the class token’s first. The row of the token that looks is framed.`)));
    return {
      element,
      show(...shown) {
        [embed, token] = shown;
        paint();
      },
    };
  }

  Object.assign(lab, { tokenStrip });
})();
