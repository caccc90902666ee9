// The search itself, which search.js loads when a reader first uses it.
import { Finder } from "./search/finder.js";
import { Answers } from "./search/results.js";

/** @type {Promise<Finder> | undefined} */
let finder;

/** Returns the finder when the sections are loaded. */
async function ready() {
  await bookSearch.load("sections");
  finder ??= bookSearch.content?.then((content) => new Finder(content));
  if (!finder) throw new Error("sections.js held nothing");
  return finder;
}

bookSearch.ready = ready;
bookSearch.answer = (form) => new Answers(form, bookSearch.root, ready);
