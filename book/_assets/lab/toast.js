// A sentence that stays in sight wherever the reader scrolls.
(() => {
  "use strict";
  const lab = (globalThis.vitLab ??= {});
  const BRIEFLY = 6000; // milliseconds

  /** Makes {element, say(words, {briefly}), clear()}; the words stay for a while, or until they are cleared. */
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
