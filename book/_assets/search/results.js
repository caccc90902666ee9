// Shows results while the reader types, in the dialog on every page and on the search page.
(() => {
  "use strict";
  const search = globalThis.bookSearch;
  const PAUSE = 120; // milliseconds without a key before it searches
  const IN_DIALOG = { pages: 5, sections: 3 };
  const ON_PAGE = { pages: 10, sections: 6 };

  const element = (name, attributes, ...children) => {
    const made = document.createElement(name);
    for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
    made.append(...children);
    return made;
  };
  const count = (number, thing) => `${number.toLocaleString("en")} ${thing}${number === 1 ? "" : "s"}`;

  /** Returns the address of a section, with the words that its page is to mark. */
  const address = ({ section, terms }) => {
    const words = [...new Set(terms.flatMap((one) => [...one]))].join(" ");
    return `${search.root}${section.page.address}?${new URLSearchParams({ highlight: words })}#${section.anchor}`;
  };
  const addressOfAll = (question) => `${search.root}search.html?${new URLSearchParams({ q: question })}`;

  const wordsOf = (pieces) => pieces.map(({ text, marked }) => (marked ? element("mark", {}, text) : text));

  const excerptOf = (finder, one) => {
    const { kind, pieces } = finder.excerpt(one);
    const words = wordsOf(pieces);
    if (kind === "pictures") words.unshift("Picture: ");
    return element(kind === "code" ? "code" : "span", { class: "search-excerpt" }, ...words);
  };

  const linkTo = (finder, one) => {
    const { section } = one;
    const above = finder.sections[section.parent]?.title;
    const isTop = section.title === section.page.title;
    const title = element("span", { class: isTop ? "search-page-title" : "search-title" }, above ? `${above} › ` : "", ...wordsOf(search.marked(section.title, one.terms)));
    return element("a", { href: address(one) }, title, excerptOf(finder, one));
  };

  const groupsOf = (found) => {
    const groups = new Map();
    for (const one of found) groups.set(one.section.page, [...(groups.get(one.section.page) ?? []), one]);
    return [...groups];
  };

  /** Lists the found sections of one page under its title; a found first section is that title itself. */
  const groupOf = (finder, page, found, most) => {
    const top = found.find(({ section }) => section.title === page.title);
    const shown = found.filter((one) => one !== top).slice(0, most);
    const head = top ? linkTo(finder, top) : element("span", { class: "search-page-title" }, page.title);
    const list = element("ul", {}, ...shown.map((one) => element("li", {}, linkTo(finder, one))));
    return element("li", { class: "search-group" }, head, ...(shown.length ? [list] : []));
  };

  class Answers {
    constructor(form) {
      this.form = form;
      this.input = form.querySelector("input");
      this.dialog = form.closest(".search-button__search-container");
      this.most = this.dialog ? IN_DIALOG : ON_PAGE;
      this.status = element("p", { class: "search-status", role: "status" });
      this.list = element("ul", { class: "search-groups" });
      this.nearest = element("div", { class: "search-nearest" });
      this.place = element("div", { class: "search-answers" }, this.status, this.nearest, this.list);
      form.after(this.place);
      this.input.addEventListener("input", () => {
        clearTimeout(this.timer);
        this.timer = setTimeout(() => this.answer(), PAUSE);
      });
      for (const place of [this.input, this.place]) place.addEventListener("keydown", (event) => this.walk(event));
      if (this.dialog) this.beDialog();
      else this.bePage();
    }

    beDialog() {
      this.dialog.setAttribute("role", "dialog");
      this.dialog.setAttribute("aria-label", "Search");
      this.wrapper = this.dialog.parentElement;
      document.addEventListener("keydown", (event) => {
        if (event.key === "Escape" && this.dialog.contains(event.target)) this.close();
      });
      this.dialog.addEventListener("focusout", ({ relatedTarget }) => {
        if (relatedTarget && !this.dialog.contains(relatedTarget)) this.wrapper.classList.remove("show");
      });
      this.answer();
    }

    close() {
      this.wrapper.classList.remove("show");
      [...document.querySelectorAll(".search-button__button")].find((button) => button.checkVisibility())?.focus();
    }

    bePage() {
      const asked = new URLSearchParams(location.search).get("q");
      if (asked && !this.input.value) this.input.value = asked;
      this.form.addEventListener("submit", (event) => {
        event.preventDefault();
        this.answer();
      });
      if (!this.input.value) this.input.focus();
      this.answer();
    }

    /** Moves the focus down and up through the field and the results. */
    walk(event) {
      const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
      if (!step || event.altKey || event.ctrlKey || event.metaKey || event.shiftKey) return;
      const stops = [this.input, ...this.place.querySelectorAll("a, button")];
      const next = stops[stops.indexOf(document.activeElement) + step];
      if (!next) return;
      event.preventDefault();
      next.focus();
      if (next === this.input) next.select();
    }

    async answer(pages = this.most.pages) {
      const question = this.input.value.trim();
      this.question = question;
      try {
        if (!search.isReady) this.status.textContent = question ? "Opening the index …" : "";
        const finder = await search.ready();
        search.isReady = true;
        const asked = `${pages} ${question}`;
        if (this.question !== question || this.shown === asked) return; // shown again, it would take the focus from a reader
        this.shown = asked;
        this.show(finder, question, pages);
      } catch (error) {
        this.status.textContent = `The search could not be opened: ${error.message}. Reload the page to try again.`;
      }
    }

    show(finder, question, pages) {
      const found = question ? finder.find(question) : [];
      const groups = groupsOf(found);
      const spelt = finder.spelt(question);
      const meant = spelt === question ? "" : ` for “${spelt}”`;
      const places = `${count(found.length, "section")} on ${count(groups.length, "page")}${meant}`;
      const isPart = found.length && found.every(({ missing }) => missing);
      this.status.textContent = !question ? ""
        : isPart ? `No section has all of these words. ${places} ${found.length === 1 ? "has" : "have"} some of them.`
        : found.length ? places
        : `The book has nothing on “${question}”.`;
      this.nearest.replaceChildren(...(question && !found.length ? this.waysOn(finder.nearest(question)) : []));
      this.list.replaceChildren(...groups.slice(0, pages).map(([page, ones]) => groupOf(finder, page, ones, this.most.sections)));
      if (groups.length > pages) this.list.append(element("li", { class: "search-more" }, this.more(question, pages)));
      if (!this.dialog) this.remember(question);
    }

    /** Returns what to press where nothing was found: terms that are spelt alike, the index, and the page by symptom. */
    waysOn(terms) {
      const buttons = terms.map((term) => {
        const button = element("button", { type: "button", class: "btn" }, term);
        button.addEventListener("click", () => {
          this.input.value = term;
          this.input.focus();
          this.answer();
        });
        return element("li", {}, button);
      });
      const link = (address, words) => element("a", { href: search.root + address }, words);
      const others = [
        link("book/glossary.html", "The index"), " has every term of the book, and ",
        link("notebooks/side_roads/when_it_does_not_work.html", "When it does not work"), " begins with what you see.",
      ];
      const near = [element("p", {}, "Terms that are spelt like it:"), element("ul", {}, ...buttons)];
      return [...(terms.length ? near : []), element("p", {}, ...others)];
    }

    more(question, pages) {
      if (this.dialog) return element("a", { href: addressOfAll(question) }, "Everything that was found");
      const button = element("button", { type: "button", class: "btn" }, "Show more pages");
      button.addEventListener("click", async () => {
        await this.answer(pages + ON_PAGE.pages);
        this.list.children[pages]?.querySelector("a")?.focus();
      });
      return button;
    }

    /** Writes the question into the page's address, for bookmarks and for the way back. */
    remember(question) {
      if (question === (new URLSearchParams(location.search).get("q") ?? "")) return;
      try {
        history.replaceState(null, "", question ? `?${new URLSearchParams({ q: question })}` : location.pathname);
      } catch {
        // some browsers do not let a script change the address of a local file
      }
    }
  }

  search.answer = (form) => new Answers(form);
})();
