// Opens the lab in its places on a page: <div class="vit-lab" data-panel="attention">. Its scripts and weights are
// loaded then. The weights are scripts too, because a page opened from a folder cannot read data files.
(() => {
  "use strict";
  const lab = (globalThis.vitLab ??= {});
  const here = new URL(".", document.currentScript.src).href;
  const IMAGE = ["dom", "paint", "weights", "simd", "kernels", "model", "sizes", "scene", "source", "board", "strokes", "drawing_pad", "toolbar"];
  const ENGINE = ["simd", "kernels", ...["simd", "parts", "run", "directions", "worker", "gpu", "model"].map((name) => `photograph/${name}`), "../photograph/manifest"];
  const MODULES = {
    attention: [...IMAGE, "toast", "maps", "head_maps", "answer", "changes", "address", "challenges", "keeping", "inside_head", "votes", "run", "arriving", "token_strip", "attention_panel"],
    walk: [...IMAGE, "tensor_picture", "spine", "walk_panel"],
    photograph: ["dom", "paint", "weights", "sizes", "scene", "maps", "toast", "address", "challenges", "keeping",
      ...ENGINE, ...["facts", "state", "pictures", "board", "maps", "makings", "session", "bets", "panel", "gate"].map((name) => `photograph_stage/${name}`)],
  };
  const DATA = { attention: ["trained", "pictures"], walk: ["trained", "pictures"], photograph: ["photographs"] };

  /** Loads a script of the lab once. */
  lab.fetch = loaderOf(here);

  async function open(place) {
    const panel = place.dataset.panel;
    place.setAttribute("aria-busy", "true");
    try {
      await Promise.all([...MODULES[panel], ...DATA[panel]].map(lab.fetch));
      if (panel === "photograph") return await openPhotograph(place);
      const chapters = new URL("../../notebooks/", here).href;
      lab.source ??= lab.createSource();
      await warmUp();
      const element =
        panel === "walk" ? lab.walkPanel(lab.source, { until: place.dataset.until, chapters })
        : await lab.attentionPanel(lab.source, { show: place.dataset.show, whole: place.dataset.whole !== undefined });
      await lab.pause();
      place.replaceChildren(element);
      place.dataset.state = "open";
    } catch (error) {
      const words = document.createElement("p");
      words.setAttribute("role", "alert");
      words.textContent = `The lab could not be opened: ${error.message}. Reload the page to try again.`;
      place.replaceChildren(words);
      place.dataset.state = "failed";
    } finally {
      place.removeAttribute("aria-busy");
    }
  }

  async function openPhotograph(place) {
    const style = document.createElement("link");
    const styled = new Promise((resolve) => { style.onload = style.onerror = resolve; });
    Object.assign(style, { rel: "stylesheet", href: `${here}photograph_stage/photograph.css` });
    document.head.append(style);
    await styled;
    place.replaceChildren(await lab.photographPanel());
    place.dataset.state = "open";
  }

  /** Makes the first pass in small steps, because it is slow until the browser has compiled the code. */
  async function warmUp() {
    await lab.pause();
    const model = lab.model("trained");
    for (const _ of lab.inParts(model, lab.source.image())) await lab.pause();
  }

  /** Opens a panel when it comes near. */
  const watcher = new IntersectionObserver((entries) => {
    for (const { isIntersecting, target } of entries) {
      if (!isIntersecting) continue;
      watcher.unobserve(target);
      open(target);
    }
  }, { rootMargin: "400px" });
  for (const place of document.querySelectorAll(".vit-lab")) watcher.observe(place);
})();
