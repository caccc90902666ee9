// A sentence that stays in sight wherever the reader scrolls.

import { el } from "../../shared/elements.js";
import { write } from "./dom.js";

/** @import { Tell } from "./types.d.ts" */

const BRIEFLY = 6000; // milliseconds

/** Makes {element, say(words, {briefly}), clear()}; the words stay for a while, or until they are cleared. */
export function makeToast() {
  const words = el("p", { class: "vl-told", role: "status" });
  let timer = 0;
  /** @type {Tell} */
  function say(text, { briefly = false } = {}) {
    clearTimeout(timer);
    write(words, text);
    if (briefly) timer = window.setTimeout(say, BRIEFLY, "");
  }
  return { element: el("div", { class: "vl-toast" }, words), say, clear: () => say("") };
}
