// Where am I, and how far have I come: the contents panel follows the reader, chapters that were read are marked, and
// a link leads back to the place where the reader stopped. All of it is kept in this browser alone (localStorage);
// where a browser keeps nothing, as in a private window, the page works as before.

import { el } from "./shared/elements.js";

/** @typedef {{ page: string, hash: string, title: string, section: string }} Place */

const READ = "vit-steps: read";
const PLACE = "vit-steps: place";
const TOLD = "vit-steps: told";
const ALONE = "Kept in this browser alone.";
const ON_THE_WAY = /^notebooks\//; // chapters, exercises and side roads
const TO_READ = /^notebooks\/\d\d_/;
const root = new URL(document.documentElement.dataset.content_root ?? "./", location.href);
const here = pageAt(location.href);

/**
 * Returns the name of the page at an address, as "notebooks/01_why_patches"; "" for a page of another site.
 * @param {string} address
 */
function pageAt(address) {
  const { origin, pathname } = new URL(address, location.href);
  if (origin !== root.origin || !pathname.startsWith(root.pathname)) return "";
  return pathname.slice(root.pathname.length).replace(/\.html$/, "");
}

/**
 * Returns what the browser has kept.
 * @template T
 * @param {string} key
 * @param {T} otherwise
 * @returns {T}
 */
function kept(key, otherwise) {
  try {
    return JSON.parse(localStorage.getItem(key) ?? "null") ?? otherwise;
  } catch {
    return otherwise;
  }
}

/**
 * Returns whether the browser has kept it.
 * @param {string} key
 * @param {unknown} value
 */
function keep(key, value) {
  try {
    localStorage.setItem(key, JSON.stringify(value));
    return true;
  } catch {
    return false;
  }
}

// The contents panel

const LINE = 180; // below the page's head: a heading that is nearer to the top is that of the section being read
const panel = document.querySelector(".bd-sidebar-secondary");
const entries = /** @type {HTMLAnchorElement[]} */ ([...(panel?.querySelectorAll("a.nav-link") ?? [])]);
const sections = entries.map(({ hash }) => document.getElementById(decodeURIComponent(hash.slice(1))));

/** Returns the panel's entry for the section that is read; at the page's end that is the last one. */
function entryHere() {
  const isAtEnd = scrollY + innerHeight > document.documentElement.scrollHeight - 2;
  const line = isAtEnd ? innerHeight : LINE;
  return entries.filter((_, at) => (sections[at]?.getBoundingClientRect().top ?? Infinity) < line).at(-1);
}

/** Marks the entry of the section that is read and those around it, and keeps it in sight. */
function follow() {
  const entry = entryHere();
  for (const link of entries) {
    const isAround = Boolean(entry && link.parentElement?.contains(entry));
    for (const one of [link, link.parentElement]) one?.classList.toggle("active", isAround);
  }
  if (!panel || !entry?.checkVisibility()) return;
  const { top, bottom } = entry.getBoundingClientRect();
  const around = panel.getBoundingClientRect();
  const margin = Math.min(80, around.height / 4); // of this, 48 are the heading and 40 the fade
  if (top < around.top + margin || bottom > around.bottom - margin)
    panel.scrollBy({ top: top - around.top - around.height / 2, behavior: "instant" });
}

/** Shows the page's own entry in the side bar, from the top if it can: the theme keeps the place of the last page. */
function showOwnEntry() {
  const side = document.querySelector(".bd-sidebar-primary");
  if (!side) return;
  const entry = side.querySelector(".bd-links a.current")?.getBoundingClientRect();
  const room = 0.9 * side.clientHeight;
  if (!entry || entry.bottom + side.scrollTop < room) side.scrollTop = 0;
  else if (entry.top < side.clientHeight - room || entry.bottom > room) side.scrollTop += entry.top - room / 2;
}

// The place where the reader stopped

/** Returns the title of a section, without the sign that links to it. @param {Element | null} place */
function titleOf(place) {
  const parts = [...(place?.querySelector("h1, h2, h3")?.childNodes ?? [])];
  const isSign = (/** @type {Node} */ node) => node instanceof Element && node.matches(".headerlink");
  return parts.filter((node) => !isSign(node)).map((node) => node.textContent).join("").trim();
}

function remember() {
  const hash = entryHere()?.hash ?? "";
  const section = hash && titleOf(document.getElementById(decodeURIComponent(hash.slice(1))));
  keep(PLACE, { page: here, hash, title: titleOf(document.querySelector("article")), section });
}

function followScrolling() {
  let timer = 0;
  addEventListener("scroll", () => {
    clearTimeout(timer);
    timer = setTimeout(remember, 400);
  }, { passive: true });
}

/** Shows the way back, on the first page and in the side bar; a side road's own way back leads to where it was left. */
function goOn() {
  for (const old of document.querySelectorAll(".go-on")) old.remove();
  const { page, hash, title, section } = kept(PLACE, /** @type {Place} */ ({ page: "" }));
  const isHere = page === here;
  if (!ON_THE_WAY.test(page) || (isHere && (!section || location.hash))) return;
  const up = document.querySelector(".page-up");
  if (up instanceof HTMLAnchorElement && pageAt(up.href) === page) up.hash = hash;
  const words = [isHere ? "" : title, section].filter(Boolean).join(", ");
  const link = () => el("a", { href: `${root.href}${page}.html${hash}` }, words);
  const forget = el("button", { type: "button", class: "btn btn-sm" }, "Forget it");
  const note = el("span", {}, `${ALONE} `, forget);
  forget.addEventListener("click", () => {
    for (const key of [READ, PLACE, TOLD]) localStorage.removeItem(key);
    show();
  });
  const first = document.querySelector(".first-steps");
  first?.after(el("p", { class: "go-on" }, "Go on where you were: ", link(), ". ", note));
  const header = document.querySelector(".bd-sidebar-primary .book-header");
  header?.append(el("p", { class: "go-on" }, "Go on: ", link())); // inside a landmark
}

// Chapters that were read

/** @returns {string[]} */
const chaptersRead = () => kept(READ, /** @type {string[]} */ ([]));

function markChapters() {
  const read = new Set(chaptersRead());
  const places = ".bd-sidebar-primary .bd-links a.internal, .chapter-cards a";
  for (const link of /** @type {NodeListOf<HTMLAnchorElement>} */ (document.querySelectorAll(places)))
    link.classList.toggle("was-read", read.has(pageAt(link.href)));
}

/** @param {boolean} isRead */
function setRead(isRead) {
  const others = chaptersRead().filter((page) => page !== here);
  const isKept = keep(READ, isRead ? [...others, here] : others);
  markChapters();
  return isKept;
}

/** Adds a box to tick at a chapter's end; who follows the link to the next page has read the chapter too. */
function addBox() {
  const box = el("input", { type: "checkbox", id: "chapter-read" });
  const label = el("label", {}, box, " I have read this chapter");
  const note = el("span", { role: "status" });
  box.checked = chaptersRead().includes(here);
  box.addEventListener("change", () => {
    const isKept = setRead(box.checked);
    if (isKept && kept(TOLD, false)) return;
    note.textContent = isKept ? ALONE : "Your browser keeps nothing here, so the mark goes when you leave the page.";
    keep(TOLD, true);
  });
  for (const on of document.querySelectorAll(".right-next, .to-next-chapter"))
    on.addEventListener("click", () => setRead(true));
  document.querySelector("article")?.append(el("p", { class: "read-mark d-print-none" }, label, " ", note));
}

/** Shows all that is kept. */
function show() {
  markChapters();
  goOn();
  const box = document.getElementById("chapter-read");
  if (box instanceof HTMLInputElement) box.checked = chaptersRead().includes(here);
}

document.body.removeAttribute("data-bs-spy"); // Bootstrap's marks nothing while a section's margin is at its line
for (const event of ["scroll", "load"]) addEventListener(event, follow, { passive: true });
addEventListener("DOMContentLoaded", showOwnEntry);
if (ON_THE_WAY.test(here)) followScrolling();
if (TO_READ.test(here)) addBox();
show();
// What another tab keeps is shown at once, and so is what the page before kept in its last moment: a browser may write
// that down only after this page has begun, and from a folder it does not always say so.
addEventListener("load", show);
addEventListener("storage", ({ key }) => {
  if (key === READ || key === PLACE || key === null) show();
});
