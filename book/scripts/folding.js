// Folds lines of code behind a button, and shows all code at once where a reader wants to see it. The script is in
// the head and not deferred, so that nothing jumps.

import { el } from "./shared/elements.js";
import { keep, kept } from "./shared/storage.js";

const ALL = "vit-steps: all code"; // kept, so that the next page opens alike
const root = document.documentElement;

/** @type {(button: Element, open: boolean) => void} */
function set(button, open) {
  const lines = button.parentElement?.nextElementSibling;
  button.setAttribute("aria-expanded", `${open}`);
  lines?.classList.toggle("open", open);
  if (open) lines?.removeAttribute("hidden");
  else lines?.setAttribute("hidden", "until-found"); // the browser's own search opens them
}

/** @param {boolean} open */
function allCode(open) {
  root.classList.toggle("all-code", open);
  for (const button of document.querySelectorAll(".unfold")) set(button, open);
  for (const fold of document.querySelectorAll("div.cell > details.hide")) fold.toggleAttribute("open", open);
  document.querySelector(".all-code-button")?.setAttribute("aria-pressed", `${open}`);
}

/**
 * Returns what the reader looks at: the first of the words, pictures and lines of code that are seen with and without
 * all code, from a third of the window's height on. Above it there is room for code that opens.
 */
function lookedAt() {
  const all = document.querySelectorAll(".bd-article :is(p, li, h2, h3, .math, img, svg, table, .vit-lab, pre .line)");
  return [...all].find((one) =>
    one.getBoundingClientRect().bottom > innerHeight / 3
    && one.checkVisibility() && !one.closest("details.hide, .folded"));
}

/** Shows or hides all code, while what the reader looks at stays where it is. */
function toggle() {
  const open = !root.classList.contains("all-code");
  const place = lookedAt();
  const top = () => place?.getBoundingClientRect().top ?? 0;
  const before = open ? top() : Math.min(top(), innerHeight / 2); // what follows takes the place of code that goes
  allCode(open);
  scrollBy({ top: top() - before, behavior: "instant" });
  keep(ALL, open);
}

function addButton() {
  const title = "Show all code, and the checks of what the text says (Alt+C)";
  const names = { title, "aria-label": "Show all code", "aria-keyshortcuts": "Alt+C" };
  const button = el("button", { type: "button", class: "btn all-code-button", onclick: toggle, ...names }, "</>");
  document.querySelector(".more-buttons")?.prepend(button); // CSS writes a word beside it if there is room
}

root.classList.add("folds");
addEventListener("DOMContentLoaded", () => {
  addButton();
  allCode(kept(ALL, false));
});
addEventListener("keydown", (event) => {
  if (!event.altKey || event.ctrlKey || event.metaKey || event.code !== "KeyC") return;
  event.preventDefault(); // on a Mac the keys write a letter
  toggle();
});
addEventListener("click", ({ target }) => {
  const button = target instanceof Element && target.closest(".unfold");
  if (button) set(button, button.getAttribute("aria-expanded") === "false");
});
addEventListener("beforematch", ({ target }) => {
  const lines = target instanceof Element && target.closest(".folded");
  const button = lines && lines.previousElementSibling?.querySelector(".unfold");
  if (button) set(button, true);
});
