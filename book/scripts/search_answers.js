// The search itself, which search.js loads when a reader first uses it.
import { Finder } from "./search/finder.js";
import { Answers } from "./search/results.js";

/** @type {Promise<Finder> | undefined} */
let soon;
/** @type {Promise<Finder> | undefined} */
let whole;

/** Returns the finder of headings, terms and names when these are loaded. */
async function begun() {
  await bookSearch.load("sections");
  const { sections } = bookSearch.content;
  if (!sections) throw new Error("sections.js held nothing");
  soon ??= sections.then((content) => new Finder(content));
  return soon;
}

/** Returns the finder of all text when this is loaded. */
async function ready() {
  await begun();
  await bookSearch.load("texts");
  const { sections, texts } = bookSearch.content;
  if (!sections || !texts) throw new Error("texts.js held nothing");
  whole ??= Promise.all([sections, texts]).then(
    ([{ pages, sections: named }, { sections: written, index }]) =>
      new Finder({ pages, sections: { ...named, ...written }, index }),
  );
  return whole;
}

bookSearch.ready = ready;
bookSearch.answer = (form) => new Answers(form, bookSearch.root, { begun, ready });
