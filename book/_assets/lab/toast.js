// A sentence that is in sight wherever the reader has scrolled to.
(() => {
  "use strict";
  const lab = (globalThis.vitLab ??= {});
  const BRIEFLY = 6000; // milliseconds

  /** {element, say(words, {briefly}), clear()}: it stays until it is cleared, or for a while. */
  function toast() {
    const words = lab.el("p", { class: "vl-told", role: "status" });
    let timer;
    function say(text, { briefly = false } = {}) {
      clearTimeout(timer);
      lab.write(words, text);
      if (briefly) timer = setTimeout(say, BRIEFLY, "");
    }
    return { element: lab.el("div", { class: "vl-toast" }, words), say, clear: () => say("") };
  }

  Object.assign(lab, { toast });
})();
