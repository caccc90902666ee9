// Opens the lab in its places on a page: <div class="vit-lab" data-panel="attention">. Its scripts and weights are
// loaded then. The weights are scripts too, because a page opened from a folder cannot read data files.
(() => {
  "use strict";
  const lab = (globalThis.vitLab ??= {});
  const here = new URL(".", document.currentScript.src).href;
  const IMAGE = ["dom", "paint", "weights", "simd", "kernels", "model", "sizes", "scene", "source", "board", "strokes", "drawing_pad", "toolbar"];
  const MODULES = {
    attention: [...IMAGE, "toast", "maps", "head_maps", "answer", "changes", "address", "challenges", "keeping", "inside_head", "votes", "run", "arriving", "token_strip", "attention_panel"],
    walk: [...IMAGE, "tensor_picture", "spine", "walk_panel"],
  };
  const DATA = { attention: ["trained", "pictures"], walk: ["trained", "pictures"] };

  /** Loads a script of the lab once. */
  lab.fetch = loaderOf(here);

  async function open(place) {
    const panel = place.dataset.panel;
    place.setAttribute("aria-busy", "true");
    try {
      await Promise.all([...MODULES[panel], ...DATA[panel]].map(lab.fetch));
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
