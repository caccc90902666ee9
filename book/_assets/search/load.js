// Loads the search when a reader first uses it: its scripts and the sections are a megabyte that others need not fetch.
// The sections are a script too, because a page opened from a folder cannot read data files.
(() => {
  "use strict";
  const search = (globalThis.bookSearch ??= {});
  const here = new URL(".", document.currentScript.src).href;
  const load = loaderOf(here);
  search.root = new URL("../../", here).href;

  /** Receives the sections, as book/_extensions/search.py compressed them, from sections.js. */
  search.receive = (code) => {
    const bytes = Uint8Array.from(atob(code), (letter) => letter.charCodeAt(0));
    const text = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
    search.sections = new Response(text).json();
  };

  /** Returns the finder when what it needs is loaded. */
  search.ready = async () => {
    for (const name of ["stemmer", "words", "minisearch", "finder", "sections"]) await load(name);
    return (search.finder ??= search.sections.then((content) => new search.Finder(content)));
  };

  const begin = async (form) => {
    if (form.dataset.search) return;
    form.dataset.search = "begun";
    await load("results");
    search.answer(form);
  };

  const mark = async (words) => {
    for (const name of ["stemmer", "words", "marks"]) await load(name);
    search.mark(words);
  };

  addEventListener("focusin", (event) => {
    const form = event.target.closest?.("form.bd-search");
    if (form) begin(form);
  });
  for (const form of document.querySelectorAll("form.bd-search:has(input:focus), .bd-search-container form.bd-search")) begin(form);
  const words = new URLSearchParams(location.search).get("highlight");
  if (words) mark(words);
})();
