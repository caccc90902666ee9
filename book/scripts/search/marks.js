// Marks the words of a search in the found section. The browser paints the marks; the page's text is not changed.
import { el } from "../shared/elements.js";
import { isFoundUnder, wordsIn } from "./words.js";

const NO_TEXT = "script, style, svg, button, .math, .headerlink, .vit-lab, .toctree-wrapper, .search-note";

/**
 * @param {Element} place
 * @param {Set<string>} terms
 */
function marksIn(place, terms) {
  const texts = document.createTreeWalker(place, NodeFilter.SHOW_TEXT, (node) =>
    node.parentElement?.closest(NO_TEXT) ? NodeFilter.FILTER_REJECT : NodeFilter.FILTER_ACCEPT);
  const marks = [];
  for (let node = texts.nextNode(); node; node = texts.nextNode())
    for (const { word, start, end } of wordsIn(node.textContent ?? ""))
      if (isFoundUnder(word, terms)) {
        const mark = document.createRange();
        mark.setStart(node, start);
        mark.setEnd(node, end);
        marks.push(mark);
      }
  return marks;
}

/** Opens the fold of the first mark if all marks are in folds. @param {Range[]} marks */
function unfold(marks) {
  const places = marks.flatMap((mark) => mark.startContainer.parentElement ?? []);
  if (places.some((place) => place.checkVisibility())) return;
  for (let fold = places[0].closest("details"); fold; fold = fold.parentElement?.closest("details") ?? null)
    fold.open = true;
  places[0].closest(".folded")?.dispatchEvent(new Event("beforematch", { bubbles: true })); // like the browser's search
}

/** Makes a note with the number of marks and a button that removes them. @param {number} times */
function noteOf(times) {
  const hide = () => {
    CSS.highlights.delete("search");
    note.remove();
    removeEventListener("keydown", onKey);
    const address = new URL(location.href);
    address.searchParams.delete("highlight");
    try {
      history.replaceState(null, "", address);
    } catch {
      // some browsers do not let a script change the address of a local file
    }
  };
  const onKey = (/** @type {KeyboardEvent} */ event) => {
    if (event.key === "Escape" && !document.querySelector(".search-button__wrapper.show")) hide();
  };
  addEventListener("keydown", onKey);
  const words = `What you searched for is marked ${times === 1 ? "once" : `${times} times`} in this section. `;
  const button = el("button", { type: "button", class: "btn btn-sm", onclick: hide }, "Hide the marks");
  const note = el("p", { class: "search-note" }, words, button);
  return note;
}

/**
 * Scrolls back to the section once the page is loaded, since late content moves it, unless the reader has acted.
 * @param {Element} target
 */
async function stay(target) {
  let isLeft = false;
  for (const kind of ["wheel", "touchstart", "keydown", "pointerdown"])
    addEventListener(kind, () => (isLeft = true), { once: true, passive: true });
  if (document.readyState !== "complete") await new Promise((resolve) => addEventListener("load", resolve));
  if (!isLeft) target.scrollIntoView();
}

/** @param {string} words */
export function mark(words) {
  const article = document.querySelector("article.bd-article");
  if (!article || !globalThis.Highlight) return;
  const target = document.getElementById(decodeURIComponent(location.hash.slice(1))) ?? article;
  const place = (target.matches("dt") && target.parentElement) || target;
  const marks = marksIn(place, new Set(words.split(/\s+/)));
  if (!marks.length) return;
  CSS.highlights.set("search", new Highlight(...marks));
  unfold(marks);
  const heading = place.querySelector(":scope > :is(h1, h2, h3, h4, h5, h6)");
  const text = target.matches("dt") && place.querySelector(":scope > dd");
  if (text) text.prepend(noteOf(marks.length));
  else if (heading) heading.after(noteOf(marks.length));
  else place.before(noteOf(marks.length));
  stay(target);
}
