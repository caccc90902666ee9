// Where am I, and how far have I come: the contents panel follows the reader, chapters that were read are marked, and a
// link leads back to the place where the reader stopped. All of it is kept in this browser alone (localStorage); where a
// browser keeps nothing, as in a private window, the page works as before.
(() => {
  "use strict";
  const READ = "vit-steps: read", PLACE = "vit-steps: place", TOLD = "vit-steps: told";
  const ALONE = "Kept in this browser alone.";
  const ON_THE_WAY = /^notebooks\//; // chapters, exercises and side roads
  const TO_READ = /^notebooks\/\d\d_/;
  const root = new URL(document.documentElement.dataset.content_root ?? "./", location.href);

  /** Returns the name of the page at an address, as "notebooks/01_why_patches"; none outside the book. */
  const pageAt = (address) => {
    const { origin, pathname } = new URL(address, location.href);
    if (origin !== root.origin || !pathname.startsWith(root.pathname)) return "";
    return pathname.slice(root.pathname.length).replace(/\.html$/, "");
  };
  const here = pageAt(location.href);

  const kept = (key, otherwise) => {
    try {
      return JSON.parse(localStorage.getItem(key)) ?? otherwise;
    } catch {
      return otherwise;
    }
  };
  /** Returns whether the browser has kept it. */
  const keep = (key, value) => {
    try {
      localStorage.setItem(key, JSON.stringify(value));
      return true;
    } catch {
      return false;
    }
  };

  const element = (name, attributes, ...children) => {
    const made = document.createElement(name);
    for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
    made.append(...children);
    return made;
  };

  // The contents panel

  const panel = document.querySelector(".bd-sidebar-secondary");
  const entryHere = () => [...(panel?.querySelectorAll("a.nav-link.active") ?? [])].findLast((link) => link.checkVisibility());

  const follow = () => {
    const entry = entryHere()?.getBoundingClientRect();
    if (!entry) return;
    const { top, bottom, height } = panel.getBoundingClientRect();
    const margin = Math.min(80, height / 4); // of this, 48 are the heading and 40 the fade
    if (entry.top < top + margin || entry.bottom > bottom - margin)
      panel.scrollBy({ top: entry.top - top - height / 2, behavior: "instant" });
  };
  addEventListener("activate.bs.scrollspy", follow);

  /** Begins the side bar at its top where that shows the page's own entry; the theme keeps its place from page to page. */
  const beginAtTop = () => {
    const side = document.querySelector(".bd-sidebar-primary");
    const entry = side?.querySelector(".bd-links a.current");
    if (!side || (entry && entry.getBoundingClientRect().bottom + side.scrollTop > 0.9 * side.clientHeight)) return;
    side.scrollTop = 0;
  };
  addEventListener("DOMContentLoaded", beginAtTop);

  // The place where the reader stopped

  const titleOf = (place) => {
    const heading = place?.querySelector("h1, h2, h3");
    return [...(heading?.childNodes ?? [])].filter((node) => !node.classList?.contains("headerlink"))
      .map((node) => node.textContent).join("").trim();
  };
  const remember = () => {
    const hash = entryHere()?.getAttribute("href") ?? "";
    const section = document.getElementById(decodeURIComponent(hash.slice(1)));
    keep(PLACE, { page: here, hash, title: titleOf(document.querySelector("article")), section: hash ? titleOf(section) : "" });
  };
  if (ON_THE_WAY.test(here)) {
    let timer;
    addEventListener("scroll", () => {
      clearTimeout(timer);
      timer = setTimeout(remember, 400);
    }, { passive: true });
  }

  const goOn = () => {
    const { page, hash, title, section } = kept(PLACE, {});
    if (!ON_THE_WAY.test(page) || page === here) return;
    const link = () => {
      const words = section ? `${title}, ${section}` : title;
      return element("a", { href: `${root.href}${page}.html${hash}` }, words);
    };
    const first = document.querySelector(".first-steps");
    if (first) {
      const forget = element("button", { type: "button", class: "btn btn-sm" }, "Forget it");
      const line = element("p", { class: "go-on" }, "Go on where you were: ", link(), ". ", element("span", {}, `${ALONE} `, forget));
      forget.addEventListener("click", () => {
        for (const key of [READ, PLACE, TOLD]) localStorage.removeItem(key);
        for (const old of document.querySelectorAll(".go-on")) old.remove();
        mark();
      });
      first.after(line);
    }
    const header = document.querySelector(".bd-sidebar-primary .book-header");
    header?.after(element("p", { class: "go-on" }, "Go on: ", link()));
  };

  // Chapters that were read

  const mark = () => {
    const read = new Set(kept(READ, []));
    for (const link of document.querySelectorAll(".bd-sidebar-primary .bd-links a.internal, .chapter-cards a"))
      link.classList.toggle("was-read", read.has(pageAt(link.href)));
  };

  const setRead = (isRead) => {
    const others = kept(READ, []).filter((page) => page !== here);
    const isKept = keep(READ, isRead ? [...others, here] : others);
    mark();
    return isKept;
  };

  /** Adds a box to tick at a chapter's end; who follows the link to the next page has read the chapter too. */
  const addBox = () => {
    const article = document.querySelector("article.bd-article");
    if (!article || !TO_READ.test(here)) return;
    const box = element("input", { type: "checkbox" });
    box.checked = kept(READ, []).includes(here);
    const note = element("span", { role: "status" });
    const label = element("label", {}, box, " I have read this chapter");
    box.addEventListener("change", () => {
      const isKept = setRead(box.checked);
      if (isKept && kept(TOLD, false)) return;
      note.textContent = isKept ? ALONE : "Your browser keeps nothing here, so the mark goes when you leave the page.";
      keep(TOLD, true);
    });
    document.querySelector(".right-next")?.addEventListener("click", () => setRead(true));
    article.append(element("p", { class: "read-mark d-print-none" }, label, " ", note));
  };

  mark();
  addBox();
  goOn();
})();
