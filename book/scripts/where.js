// Where am I, and how far have I come: the contents panel follows the reader, chapters that were read are marked, and
// a link leads back to the line where the reader stopped. All of it is kept in this browser alone (localStorage);
// where a browser keeps nothing, as in a private window, the page works as before.

import { el } from "./shared/elements.js";
import { keep, kept } from "./shared/storage.js";

/** @typedef {{ page: string, hash: string, title: string, section: string }} Place */

const READ = "vit-steps: read";
const PLACE = "vit-steps: place";
const TOLD = "vit-steps: told";
const FOLDED = "vit-steps: folded"; // the next page reads it before it is drawn (toggle-primary-sidebar.html)
const ALONE = "Kept in this browser alone.";
const ON_THE_WAY = /^notebooks\//; // chapters, exercises and side roads
const TO_READ = /^notebooks\/\d\d_/;
const root = new URL(document.documentElement.dataset.content_root ?? "./", location.href);
const here = pageAt(location.href);

/** Returns the name of the page at an address, as "book/lab"; "" for one of another site. @param {string} address */
function pageAt(address) {
  const { origin, pathname } = new URL(address, location.href);
  if (origin !== root.origin || !pathname.startsWith(root.pathname)) return "";
  return pathname.slice(root.pathname.length).replace(/\.html$/, "");
}

// The contents panel

const LINE = 180; // below the page's head: a heading that is nearer to the top is that of the section being read
const panel = document.querySelector(".bd-sidebar-secondary");
const entries = /** @type {HTMLAnchorElement[]} */ ([...(panel?.querySelectorAll("a.nav-link") ?? [])]);
const sectionAt = (/** @type {string} */ hash) => document.getElementById(decodeURIComponent(hash.slice(1)));
const sections = entries.map(({ hash }) => sectionAt(hash));
const side = document.querySelector(".bd-sidebar-primary");
const own = /** @type {HTMLElement[]} */ ([...(side?.querySelectorAll(".bd-links a.current") ?? [])]); // chapter, page
const article = document.querySelector("article");
const timeLeft = el("span", { class: "time-left" });
panel?.querySelector(".onthispage")?.append(timeLeft);

/** Returns the panel's entry for the section that is read; at the page's end that is the last one. */
function entryHere() {
  const isAtEnd = scrollY + innerHeight > document.documentElement.scrollHeight - 2;
  const line = isAtEnd ? innerHeight : LINE;
  return entries.filter((_, at) => (sections[at]?.getBoundingClientRect().top ?? Infinity) < line).at(-1);
}

/** Marks the entry of the section that is read and those around it, keeps it in sight, and tells the time left. */
function follow() {
  const { bottom: end = 0, height = 1 } = article?.getBoundingClientRect() ?? {};
  const left = Math.ceil((Number(own.at(-1)?.dataset.minutes ?? 0) * Math.max(0, end - innerHeight)) / height / 5) * 5;
  timeLeft.textContent = left ? ` · ${left} min left` : "";
  const entry = entryHere();
  for (const link of entries) {
    const isAround = Boolean(entry && link.parentElement?.contains(entry));
    for (const one of [link, link.parentElement]) one?.classList.toggle("active", isAround);
  }
  if (!panel || !entry?.checkVisibility() || panel.querySelector(":focus-visible")) return; // the focus stays in sight
  const { top, bottom } = entry.getBoundingClientRect();
  const around = panel.getBoundingClientRect();
  const margin = Math.min(80, around.height / 4); // of this, 48 are the heading and 40 the fade
  if (top < around.top + margin || bottom > around.bottom - margin)
    panel.scrollBy({ top: top - around.top - around.height / 2, behavior: "instant" });
}

/** Shows the page's chapter in the side bar with all below it, from the top if it can; above all the page's entry. */
function showOwnEntry() {
  const [family, entry] = [own[0]?.closest("li"), own.at(-1)].map((one) => one?.getBoundingClientRect());
  if (!side) return;
  const room = 0.88 * side.clientHeight; // so that what follows is seen too
  const by = family && entry ? Math.max(Math.min(family.bottom - room, family.top - 80), entry.bottom - room) : 0;
  side.scrollTop = entry ? side.scrollTop + by : 0;
}

// The place where the reader stopped

/** Returns the last of some blocks that is shown: a cell of code may not be. @param {Element[]} blocks */
const lastShown = (blocks) => blocks.filter((block) => block.getClientRects().length).at(-1);

/** Keeps the place: the section, and in it, as 5.4, the block at the line below the head and how much is above that. */
function remember() {
  const entry = entryHere();
  const blocks = [...(sectionAt(entry?.hash ?? "")?.children ?? [])];
  const block = lastShown(blocks.filter((one) => one.getBoundingClientRect().top < LINE));
  const at = block ? blocks.indexOf(block) : -1;
  const { top, height } = (block ?? document.body).getBoundingClientRect();
  const exact = at < 0 ? "" : `:${(at + Math.min(0.99, (LINE - top) / height)).toFixed(2)}`;
  const hash = entry ? entry.hash + exact : "";
  keep(PLACE, { page: here, hash, title: document.title.split(" \u2014 ")[0], section: entry?.textContent ?? "" });
}

let [wanted, put] = ["", 0];

/** Goes to the line that "#section:5.4" names. A page that has lost the block shows the section. */
function goToLine(where = location.hash, moves = true) {
  const [, hash, at] = /^(#.+):([\d.]+)$/.exec(where) ?? [];
  if (!hash) return;
  wanted = where;
  if (document.readyState === "complete") history.replaceState(history.state, "", hash); // not before: it goes there
  const blocks = [...(sectionAt(hash)?.children ?? [])].slice(0, Math.floor(Number(at)) + 1);
  const block = blocks.length > Number(at) ? lastShown(blocks) : null;
  const { top, height } = (block ?? sectionAt(hash) ?? document.body).getBoundingClientRect();
  const share = block === blocks.at(-1) ? Number(at) % 1 : 1;
  if (moves) scrollBy({ top: top + (block ? share * height : 0) - LINE, behavior: "instant" });
  put = scrollY;
}

/** Says how many chapters were read, and how long the others take; "" before the first. */
function howFar() {
  const chapters = /** @type {HTMLAnchorElement[]} */ ([...(side?.querySelectorAll("a[data-minutes]") ?? [])])
    .filter(({ href }) => TO_READ.test(pageAt(href)));
  const left = chapters.filter((link) => !link.matches(".was-read"));
  if (left.length === chapters.length) return "";
  const minutes = left.reduce((sum, link) => sum + Number(link.dataset.minutes), 0);
  const time = minutes > 90 ? `${Math.round(minutes / 60)} hours` : `${minutes} minutes`;
  return `${chapters.length - left.length} of ${chapters.length} chapters read${minutes ? `, about ${time} left` : ""}`;
}

/** Shows the way back, on the first page and in the side bar; a side road's own way back leads to where it was left. */
function goOn() {
  for (const old of document.querySelectorAll(".go-on")) old.remove();
  const { page, hash, title, section } = kept(PLACE, /** @type {Place} */ ({ page: "" }));
  const isHere = page === here;
  const [header, far] = [side?.querySelector(".book-header"), howFar()];
  if (far) header?.append(el("p", { class: "go-on how-far" }, far)); // inside a landmark
  if (!ON_THE_WAY.test(page) || (isHere && (!section || location.hash))) return;
  const up = document.querySelector(".page-up");
  if (up instanceof HTMLAnchorElement && pageAt(up.href) === page) up.hash = hash;
  const link = (/** @type {string} */ words) => el("a", { href: `${root.href}${page}.html${hash}` }, words);
  const forget = el("button", { type: "button", class: "btn btn-sm" }, "Forget it");
  const note = el("span", {}, `${ALONE} `, forget);
  forget.addEventListener("click", () => {
    for (const key of [READ, PLACE, TOLD]) localStorage.removeItem(key);
    show();
  });
  const whole = link([title, section].filter(Boolean).join(", "));
  const wholly = el("p", { class: "go-on" }, "Go on where you were: ", whole, ". ", far && `${far}. `, note);
  document.querySelector(".first-steps")?.after(wholly);
  header?.append(el("p", { class: "go-on" }, "Go on: ", link(isHere ? section : title)));
}

// Chapters that were read

const chaptersRead = () => kept(READ, /** @type {string[]} */ ([]));

function markChapters() {
  const read = chaptersRead();
  const places = ".bd-sidebar-primary .bd-links a.internal, .chapter-cards a";
  for (const link of /** @type {NodeListOf<HTMLAnchorElement>} */ (document.querySelectorAll(places)))
    link.classList.toggle("was-read", read.includes(pageAt(link.href)));
  goOn();
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
  article?.append(el("p", { class: "read-mark d-print-none" }, label, " ", note));
}

/** Shows all that is kept. */
function show() {
  markChapters();
  const box = document.getElementById("chapter-read");
  if (box instanceof HTMLInputElement) box.checked = chaptersRead().includes(here);
}

document.body.removeAttribute("data-bs-spy"); // Bootstrap's marks nothing while a section's margin is at its line
for (const event of ["scroll", "load"]) addEventListener(event, follow, { passive: true });
addEventListener("DOMContentLoaded", showOwnEntry);
addEventListener("hashchange", () => goToLine());
addEventListener("load", () => goToLine(wanted, scrollY === put)); // pictures above it have come
document.querySelector(".primary-toggle")?.addEventListener("click", () => setTimeout(() => {
  const isChecked = document.querySelector("#pst-primary-sidebar-checkbox:checked") !== null;
  if (innerWidth > 991 && here !== "book/lab") keep(FOLDED, isChecked); // the lab's is always folded at first
  else if (isChecked) own.at(-1)?.focus({ preventScroll: true }); // the theme's script takes 100 ms to focus the logo
  showOwnEntry();
}, 110));
// A drawer closes when it has led somewhere; else it would be open over the page when the reader comes back.
for (const [drawer, name] of /** @type {[Element | null, string][]} */ ([[side, "primary"], [panel, "secondary"]])) {
  const box = document.getElementById(`pst-${name}-sidebar-checkbox`) ?? {};
  drawer?.addEventListener("click", ({ target }) => {
    if (target instanceof Element && target.closest("a")) Object.assign(box, { checked: false });
  });
}
let timer = 0;
if (ON_THE_WAY.test(here)) for (const event of ["scroll", "load"]) addEventListener(event, () => {
  clearTimeout(timer);
  if (event === "scroll" || scrollY) timer = setTimeout(remember, 400); // before the load, nothing may have listened
}, { passive: true });
if (TO_READ.test(here)) addBox();
goToLine();
show();
// What another tab keeps is shown at once, and so is what the page before kept in its last moment: a browser may write
// that down only after this page has begun, and from a folder it does not always say so.
addEventListener("load", show);
addEventListener("storage", ({ key }) => {
  if (key === READ || key === PLACE || key === null) show();
});
