// Opens a figure over the page, as large as fits and never smaller than in the page. Escape, the back button, the
// cross and a tap beside it close it; the page keeps its place. Without scripts, the link leads to the picture's file.

import { el } from "./shared/elements.js";

const LINK = "a.image-reference";
const image = el("img");
const cross = el("button", { type: "button", "aria-label": "Close" }, "×");
const dialog = el("dialog", { class: "enlarged", "aria-label": "Figure, enlarged" }, cross, image);

for (const link of document.querySelectorAll(LINK)) link.setAttribute("aria-haspopup", "dialog");

/** @param {HTMLImageElement} seen the picture in the page */
function open(seen) {
  image.src = seen.src;
  image.alt = seen.alt;
  image.style.setProperty("--width", seen.getAttribute("width"));
  image.style.setProperty("--height", seen.getAttribute("height"));
  image.className = seen.className;
  document.body.append(dialog);
  dialog.showModal();
  dialog.scrollTo(0, 0);
  history.pushState({ enlarged: true }, "");
}

addEventListener("click", (event) => {
  const link = event.target instanceof Element && event.target.closest(LINK);
  if (!link || event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return;
  const seen = [...link.querySelectorAll("img")].find((one) => one.getClientRects().length);
  if (!seen) return;
  event.preventDefault();
  open(seen);
});
dialog.addEventListener("click", ({ target }) => target !== image && dialog.close());
dialog.addEventListener("close", () => history.state?.enlarged && history.back());
addEventListener("popstate", () => dialog.close());
