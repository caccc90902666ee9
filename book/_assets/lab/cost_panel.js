// What an image costs, by its size and its patches'.
(() => {
  "use strict";
  const lab = (globalThis.vitLab ??= {});
  const IMAGE_SIZES = [32, 64, 96, 128, 160, 192, 224, 256, 288, 320, 384, 448, 512, 768, 1024];
  const PATCH_SIZES = [1, 2, 4, 8, 16, 32];
  const SIDE = 320;

  function costPanel({ photo }) {
    const { el, labelled, choice } = lab;
    const announcer = lab.announcer();
    const sizes = el("input", { type: "range", min: 0, max: IMAGE_SIZES.length - 1, value: IMAGE_SIZES.indexOf(224), oninput: refresh });
    const patches = el("input", { type: "range", min: 0, max: PATCH_SIZES.length - 1, value: PATCH_SIZES.indexOf(16), oninput: refresh });
    const model = choice(Object.keys(lab.MODELS).map((name) => [name, name]), refresh);
    model.value = "ViT-B";
    const sizeWords = el("output");
    const patchWords = el("output");
    const canvas = el("canvas", { class: "vl-board", role: "img" });
    const picture = el("img", { src: photo, alt: "", onload: refresh });
    const numbers = el("dl", { class: "vl-numbers" });

    function refresh() {
      const [S, P] = [IMAGE_SIZES[sizes.value], PATCH_SIZES[patches.value]];
      const { tokens, attention, total } = lab.modelCost(model.value, S, P);
      const bytes = lab.matrixBytes(tokens);
      sizeWords.textContent = `${S} × ${S} pixels`;
      patchWords.textContent = P === 1 ? "1 pixel each" : `${P} × ${P} pixels`;
      sizes.setAttribute("aria-valuetext", sizeWords.textContent);
      patches.setAttribute("aria-valuetext", patchWords.textContent);
      const facts = [
        ["Patches (N)", tokens.toLocaleString("en")],
        ["One head's matrix, float32", memory(bytes)],
        [`Multiply-accumulates of ${model.value}`, large(total)],
        ["of them quadratic in the tokens", lab.percent(attention / total)],
      ];
      numbers.replaceChildren(...facts.flatMap(([name, value]) => [el("dt", {}, name), el("dd", {}, value)]));
      paint(S / P);
      const words = facts.map(([name, value]) => `${name}: ${value}`).join(". ");
      canvas.setAttribute("aria-label", `A photograph of a cat with the ${tokens.toLocaleString("en")} patches drawn on it.`);
      announcer.say(words);
    }

    function paint(count) {
      const c = lab.context(canvas, SIDE, SIDE);
      if (!picture.complete || !picture.naturalWidth) return;
      c.imageSmoothingEnabled = true;
      c.drawImage(picture, 0, 0, SIDE, SIDE);
      if (SIDE / count >= 3) lab.gridLines(c, SIDE, count, "rgba(255, 255, 255, 0.8)");
      else {
        c.fillStyle = "rgba(255, 255, 255, 0.45)"; // lines closer than the screen can show
        c.fillRect(0, 0, SIDE, SIDE);
      }
    }

    refresh();
    return el("div", { class: "vl-panel" },
      el("div", { class: "vl-stage" },
        el("div", {}, canvas),
        el("div", { class: "vl-controls" },
          el("div", { class: "vl-slider" }, labelled("Image", sizes), sizeWords),
          el("div", { class: "vl-slider" }, labelled("Patches", patches), patchWords),
          labelled("Model", model),
          numbers)),
      announcer.element);
  }

  function memory(bytes) {
    const [unit, name] = bytes >= 2 ** 40 ? [2 ** 40, "TiB"] : bytes >= 1e4 * 2 ** 20 ? [2 ** 30, "GiB"]
      : bytes >= 0.01 * 2 ** 20 ? [2 ** 20, "MiB"] : [1, "bytes"];
    const size = bytes / unit;
    return `${size.toLocaleString("en", { maximumSignificantDigits: size < 1 ? 2 : 4 })} ${name}`;
  }

  function large(count) {
    const [unit, name] = count >= 1e12 ? [1e12, "trillion"] : count >= 1e9 ? [1e9, "billion"] : [1e6, "million"];
    return `${(count / unit).toLocaleString("en", { maximumSignificantDigits: 3 })} ${name}`;
  }

  Object.assign(lab, { costPanel });
})();
