// Marks the words of a search in the section that it led to. The text itself stays as it is: the browser paints them.
(() => {
  "use strict";
  const search = globalThis.bookSearch;
  const NO_TEXT = "script, style, svg, button, .math, mjx-container, .headerlink, .vit-lab, .toctree-wrapper, .search-note";

  const marksIn = (place, terms) => {
    const texts = document.createTreeWalker(place, NodeFilter.SHOW_TEXT, (node) =>
      node.parentElement.closest(NO_TEXT) ? NodeFilter.FILTER_REJECT : NodeFilter.FILTER_ACCEPT);
    const marks = [];
    for (let node = texts.nextNode(); node; node = texts.nextNode())
      for (const { word, start, end } of search.words(node.data))
        if (search.isFoundUnder(word, terms)) {
          const mark = document.createRange();
          mark.setStart(node, start);
          mark.setEnd(node, end);
          marks.push(mark);
        }
    return marks;
  };

  /** What is folded opens if no mark can be seen elsewhere. */
  const unfold = (marks) => {
    const places = marks.map((mark) => mark.startContainer.parentElement);
    if (places.some((place) => place.checkVisibility())) return;
    for (let fold = places[0].closest("details"); fold; fold = fold.parentElement.closest("details")) fold.open = true;
    places[0].closest(".folded")?.dispatchEvent(new Event("beforematch", { bubbles: true })); // as the browser's own search
  };

  /** Says that there are marks, and takes them away. */
  const noteOf = (marks) => {
    const note = document.createElement("p");
    note.className = "search-note";
    const button = document.createElement("button");
    button.type = "button";
    button.className = "btn btn-sm";
    button.textContent = "Hide the marks";
    const hide = () => {
      CSS.highlights.delete("search");
      note.remove();
      removeEventListener("keydown", onKey);
      const address = new URL(location.href);
      address.searchParams.delete("highlight");
      try {
        history.replaceState(null, "", address);
      } catch {
        // some browsers keep the address of a file as it is
      }
    };
    const onKey = (event) => {
      if (event.key === "Escape" && !document.querySelector(".search-button__wrapper.show")) hide();
    };
    button.addEventListener("click", hide);
    addEventListener("keydown", onKey);
    note.append(`What you searched for is marked ${marks.length === 1 ? "once" : `${marks.length} times`} in this section. `, button);
    return note;
  };

  /** What comes late may move what is below it: back to the section, unless the reader has moved on. */
  const stay = async (target) => {
    let isLeft = false;
    for (const kind of ["wheel", "touchstart", "keydown", "pointerdown"])
      addEventListener(kind, () => (isLeft = true), { once: true, passive: true });
    await new Promise((resolve) => (document.readyState === "complete" ? resolve() : addEventListener("load", resolve)));
    if (!isLeft) target.scrollIntoView();
  };

  search.mark = (words) => {
    const article = document.querySelector("article.bd-article");
    if (!article || !globalThis.Highlight) return;
    const target = document.getElementById(decodeURIComponent(location.hash.slice(1))) ?? article;
    const place = target.matches("dt") ? target.parentElement : target;
    const marks = marksIn(place, new Set(words.split(/\s+/)));
    if (!marks.length) return;
    CSS.highlights.set("search", new Highlight(...marks));
    unfold(marks);
    const heading = place.querySelector(":scope > :is(h1, h2, h3, h4, h5, h6)");
    const text = target.matches("dt") && place.querySelector(":scope > dd");
    if (text) text.prepend(noteOf(marks));
    else if (heading) heading.after(noteOf(marks));
    else place.before(noteOf(marks));
    stay(target);
  };
})();
