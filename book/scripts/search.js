// Loads the search when a reader first uses it, because others need not fetch it: its scripts, the headings, terms and
// names of all sections, which give a first answer, and for the first letter their text, which is a megabyte. These are
// scripts too, because a page opened from a folder cannot read data files.
import { loaderOf } from "./loading/on_demand.js";
import { bytesOf } from "./shared/numbers.js";

const script = /** @type {HTMLScriptElement} */ (document.currentScript).src;
const load = loaderOf(new URL(".", script).href);

globalThis.bookSearch = {
  root: new URL("../../", script).href,
  load,
  content: {},
  receive(name, code) {
    const text = new Blob([bytesOf(code)]).stream().pipeThrough(new DecompressionStream("deflate"));
    bookSearch.content[name] = new Response(text).json();
  },
};

/** @param {HTMLFormElement} form */
async function begin(form) {
  if (form.dataset.search) return;
  form.dataset.search = "begun";
  await load("search_answers");
  bookSearch.answer?.(form);
}

/** @param {string} words */
async function mark(words) {
  await load("search_marks");
  bookSearch.mark?.(words);
}

/** @type {(selector: string) => HTMLFormElement[]} */
const forms = (selector) => [...document.querySelectorAll(selector)].filter((one) => one instanceof HTMLFormElement);

addEventListener("focusin", ({ target }) => {
  const form = target instanceof Element && target.closest("form.bd-search");
  if (form instanceof HTMLFormElement) begin(form);
});
forms("form.bd-search:has(input:focus), .bd-search-container form.bd-search").forEach(begin);
const words = new URLSearchParams(location.search).get("highlight");
if (words) mark(words);
