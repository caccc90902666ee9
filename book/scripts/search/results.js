// Shows results while the reader types, in the dialog on every page and on the search page.
import { el, html } from "../shared/elements.js";
import { marked } from "./excerpts.js";
import { askedBy, calledHere, definitionIn, messageIn } from "./finder.js";

/** @typedef {import("./finder.js").Finder} Finder */
/** @typedef {import("./finder.js").Found} Found */

const PAUSE = 120; // milliseconds without a key before it searches
const IN_DIALOG = { pages: 5, sections: 3 };
const ON_PAGE = { pages: 10, sections: 6 };
const FEW = 3; // words: a longer question is spelt like no term
const TO_TRY = [
  "logits", "why divide by √d", "loss is nan", "Target 10 is out of bounds", "x.transpose(-2, -1)", "86,567,656",
];

/** @type {(number: number, thing: string) => string} */
const count = (number, thing) => `${number.toLocaleString("en")} ${thing}${number === 1 ? "" : "s"}`;

/** @param {import("./excerpts.js").Piece[]} pieces */
const wordsOf = (pieces) => pieces.map(({ text, marked: isMarked }) => (isMarked ? el("mark", {}, text) : text));

/** @type {(finder: Finder, one: Found) => HTMLElement} */
function excerptOf(finder, one) {
  const { kind, pieces } = finder.excerpt(one);
  const words = wordsOf(pieces);
  if (kind === "pictures") words.unshift("Picture: ");
  return el(kind === "code" ? "code" : "span", { class: "search-excerpt" }, ...words);
}

/** @param {Found[]} found */
function groupsOf(found) {
  const groups = new Map();
  for (const one of found) groups.set(one.section.page, [...(groups.get(one.section.page) ?? []), one]);
  return /** @type {[Found["section"]["page"], Found[]][]} */ ([...groups]);
}

export class Answers {
  /**
   * @param {HTMLFormElement} form the field, in the dialog or on the search page
   * @param {string} root the book's address
   * @param {{ begun(): Promise<Finder>, ready(): Promise<Finder> }} finders of headings and terms, and of all text
   */
  constructor(form, root, { begun, ready }) {
    this.form = form;
    this.root = root;
    this.begun = begun;
    this.ready = ready;
    this.input = /** @type {HTMLInputElement} */ (form.querySelector("input"));
    this.dialog = form.closest(".search-button__search-container");
    this.most = this.dialog ? IN_DIALOG : ON_PAGE;
    this.status = el("p", { class: "search-status", role: "status" });
    this.above = el("div", {});
    this.list = el("ul", { class: "search-groups" });
    this.place = el("div", { class: "search-answers" }, this.status, this.above, this.list);
    this.timer = 0;
    this.isReady = false;
    this.question = "";
    this.shown = "";
    form.after(this.place);
    this.input.addEventListener("input", () => {
      clearTimeout(this.timer);
      this.timer = setTimeout(() => this.answer(), this.isReady ? PAUSE : 0); // the first letter fetches the text
    });
    for (const place of [this.input, this.place]) place.addEventListener("keydown", (event) => this.walk(event));
    if (this.dialog) this.beDialog(this.dialog);
    else this.bePage();
  }

  /** @param {Element} dialog */
  beDialog(dialog) {
    dialog.setAttribute("role", "dialog");
    dialog.setAttribute("aria-label", "Search");
    const isInside = (/** @type {EventTarget | null} */ one) => one instanceof Node && dialog.contains(one);
    const hide = () => dialog.parentElement?.classList.remove("show");
    /** @type {CloseWatcher | undefined} */
    let back; // that of a phone, which then closes the dialog and leaves the page where it is
    const leave = () => {
      hide();
      back?.destroy();
      const buttons = /** @type {NodeListOf<HTMLElement>} */ (document.querySelectorAll(".search-button__button"));
      [...buttons].find((button) => button.checkVisibility())?.focus();
    };
    const watch = () => {
      back?.destroy();
      if (!("CloseWatcher" in window)) return;
      back = new CloseWatcher();
      back.onclose = leave;
    };
    watch();
    this.input.addEventListener("focus", watch);
    dialog.parentElement?.addEventListener("click", () => dialog.checkVisibility() || leave());
    document.addEventListener("keydown", ({ key, target }) => {
      if (key === "Escape" && isInside(target)) leave();
    });
    dialog.addEventListener("focusout", (event) => {
      const { relatedTarget } = /** @type {FocusEvent} */ (event);
      if (relatedTarget && !isInside(relatedTarget)) hide();
    });
    this.answer();
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

  /** Returns what the arrow keys go through: the field, then all that was found. */
  stops() {
    const links = /** @type {NodeListOf<HTMLElement>} */ (this.place.querySelectorAll("a, button"));
    return [this.input, ...links];
  }

  stopInFocus() {
    return this.stops().findIndex((stop) => stop === document.activeElement);
  }

  /** Moves the focus down and up through the field and the results. @param {KeyboardEvent} event */
  walk(event) {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (!step || event.altKey || event.ctrlKey || event.metaKey || event.shiftKey) return;
    const next = this.stops()[this.stopInFocus() + step];
    if (!next) return;
    event.preventDefault();
    next.focus();
    if (next === this.input) this.input.select();
  }

  async answer(pages = this.most.pages) {
    const question = this.input.value.trim();
    this.question = question;
    try {
      if (!this.isReady) {
        this.status.textContent = question ? "Opening the index …" : "";
        if (!question) this.showTries();
        const finder = await this.begun();
        if (!question || this.question !== question) return;
        if (!this.isReady) this.showFirst(finder, question, pages);
      }
      const finder = await this.ready();
      this.isReady = true;
      const asked = `${pages} ${question}`;
      if (this.question !== question || this.shown === asked) return; // shown again, it would take a reader's focus
      this.shown = asked;
      this.show(finder, question, pages);
    } catch (error) {
      const why = error instanceof Error ? error.message : error;
      this.status.textContent = `The search could not be opened: ${why}. Reload the page to try again.`;
    }
  }

  /**
   * Shows the sections whose headings, terms or names answer, until the text is there. Only then is it known which
   * words are misspelt.
   * @param {Finder} finder
   * @param {string} question
   * @param {number} pages the most that are shown
   */
  showFirst(finder, question, pages) {
    if (finder.spelt(question) !== question) return;
    const found = finder.find(question).filter(({ missing }) => !missing);
    this.status.textContent = "Found in headings and terms; the text is on its way …";
    this.replaceFound([], this.listed(finder, groupsOf(found), pages));
  }

  /** Shows what can be asked, before anything is. */
  showTries() {
    this.above.className = "search-nearest";
    this.replaceFound(this.buttons("Type a term, a question, code or a number, or paste an error. Try:", TO_TRY), []);
  }

  /** A link in focus gives its focus to what takes its place. @param {Element[]} above @param {Element[]} list */
  replaceFound(above, list) {
    const inFocus = this.stopInFocus();
    this.above.replaceChildren(...above);
    this.list.replaceChildren(...list);
    if (inFocus > 0) (this.stops()[inFocus] ?? this.input).focus();
  }

  /** @type {(finder: Finder, groups: ReturnType<typeof groupsOf>, pages: number) => Element[]} */
  listed(finder, groups, pages) {
    return groups.slice(0, pages).map(([page, ones]) => this.groupOf(finder, page, ones));
  }

  /**
   * @param {Finder} finder
   * @param {string} question
   * @param {number} pages the most that are shown
   */
  show(finder, question, pages) {
    if (!this.dialog) this.remember(question);
    if (!question) {
      this.status.textContent = "";
      return this.showTries();
    }
    const defined = finder.definitions(question);
    const found = finder.find(question);
    const groups = groupsOf(found.filter(({ section }) => !defined.includes(section)));
    const isUnknown = !found.length || (messageIn(question) && found[0].missing);
    const isLong = messageIn(question) || question.split(/\s+/).length > FEW;
    const listed = this.listed(finder, groups, pages);
    if (groups.length > pages) listed.push(el("li", { class: "search-more" }, this.more(question, pages)));
    this.status.textContent = this.told(finder, question, found);
    this.above.className = isUnknown ? "search-nearest" : "search-definitions";
    const others = isUnknown ? this.waysOn(isLong ? [] : finder.nearest(question)) : [];
    this.replaceFound([...others, ...defined.map((term) => this.definition(term))], listed);
  }

  /**
   * Says what was found, and for which words if some are misspelt, missing or called otherwise here.
   * @param {Finder} finder
   * @param {string} question
   * @param {Found[]} found
   */
  told(finder, question, found) {
    const isMessage = messageIn(question);
    const has = isMessage ? "does not have this message" : `has nothing on “${question}”`;
    if (!found.length) return `The book ${has}.`;
    const mended = finder.asked(question);
    const asked = new Set([mended, calledHere(mended)]);
    const meant = asked.size < 2 && mended === askedBy(question) ? "" : ` for “${[...asked].join("” or “")}”`;
    const places = `${count(found.length, "section")} on ${count(groupsOf(found).length, "page")}${meant}`;
    if (found.some(({ missing }) => !missing)) return places;
    const others = `${places} ${found.length === 1 ? "has" : "have"}`;
    if (isMessage) return `The book ${has}. ${others} some of its words.`;
    const unknown = finder.unknown(question).map((word) => `“${word}”`).join(" or ");
    if (unknown) return `The book has nothing on ${unknown}. ${others} other words of your question.`;
    return `No section has all of these words. ${others} some of them.`;
  }

  /** Says what a term is, above all places that have it. @param {Found["section"]} term */
  definition(term) {
    const href = `${this.root}${term.page.address}#${term.anchor}`;
    return el("a", { href }, el("dfn", {}, term.title), " ", definitionIn(term));
  }

  /**
   * Lists the found sections of one page under its title; a found first section is that title itself.
   * @param {Finder} finder
   * @param {Found["section"]["page"]} page
   * @param {Found[]} found
   */
  groupOf(finder, page, found) {
    const top = found.find(({ section }) => section.title === page.title);
    const shown = found.filter((one) => one !== top).slice(0, this.most.sections);
    const head = top ? this.linkTo(finder, top) : el("span", { class: "search-page-title" }, page.title);
    const list = el("ul", {}, ...shown.map((one) => el("li", {}, this.linkTo(finder, one))));
    return el("li", { class: "search-group" }, head, ...(shown.length ? [list] : []));
  }

  /**
   * Links to a section, with the words that its page is to mark.
   * @param {Finder} finder
   * @param {Found} one
   */
  linkTo(finder, one) {
    const { section, terms } = one;
    const words = [...new Set(terms.flatMap((term) => [...term]))].join(" ");
    const marks = new URLSearchParams({ highlight: words });
    const above = finder.sections[section.parent ?? -1]?.title;
    const kind = section.title === section.page.title ? "search-page-title" : "search-title";
    const title = wordsOf(marked(section.title, terms));
    return el(
      "a", { href: `${this.root}${section.page.address}?${marks}#${section.anchor}` },
      el("span", { class: kind }, above ? `${above} › ` : "", ...title), excerptOf(finder, one),
    );
  }

  /** Returns questions that are asked when they are pressed. @param {string} label @param {string[]} questions */
  buttons(label, questions) {
    const buttons = questions.map((question) => {
      const onclick = () => {
        this.input.value = question;
        this.input.focus();
        this.answer();
      };
      return html`<li>${el("button", { type: "button", class: "btn", onclick }, question)}</li>`;
    });
    return [html`<p>${label}</p>`, el("ul", { "aria-label": label }, ...buttons)];
  }

  /**
   * Returns what to press where nothing was found: terms that are spelt alike, the glossary, and the page by symptom.
   * @param {string[]} terms
   */
  waysOn(terms) {
    const glossary = el("a", { href: `${this.root}book/glossary.html` }, "The glossary");
    const symptoms = `${this.root}notebooks/side_roads/when_it_does_not_work.html`;
    const begins = el("a", { href: symptoms }, "When it does not work");
    const near = this.buttons("Terms that are spelt like it:", terms);
    const others = html`<p>${glossary} has every term of the book, and ${begins} begins with what you see.</p>`;
    return [...(terms.length ? near : []), others];
  }

  /**
   * @param {string} question
   * @param {number} pages
   */
  more(question, pages) {
    const address = `${this.root}search.html?${new URLSearchParams({ q: question })}`;
    if (this.dialog) return el("a", { href: address }, "Everything that was found");
    const onclick = async () => {
      await this.answer(pages + ON_PAGE.pages);
      this.list.children[pages]?.querySelector("a")?.focus();
    };
    return el("button", { type: "button", class: "btn", onclick }, "Show more pages");
  }

  /** Writes the question into the page's address, for bookmarks and for the way back. @param {string} question */
  remember(question) {
    if (question === (new URLSearchParams(location.search).get("q") ?? "")) return;
    try {
      history.replaceState(null, "", question ? `?${new URLSearchParams({ q: question })}` : location.pathname);
    } catch {
      // some browsers do not let a script change the address of a local file
    }
  }
}
