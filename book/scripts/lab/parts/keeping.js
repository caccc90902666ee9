// Lets a reader copy a link to the lab's state, save a picture of it, and reset it.

import { el } from "../../shared/elements.js";
import { boardSize, paintBoard } from "./board.js";
import { button, percent } from "./dom.js";
import { context, penOf } from "./paint.js";

/** @import { Answer, Form, Shown, Source, Tell } from "./types.d.ts" */

const WAIT = 300; // milliseconds without a change before the address is written

/**
 * Keeps the address and the state the same: {read(), write()}. state() returns a state, show(state) shows one. The
 * stage is the one that must be shown; its plain address, "#digits", leaves the state as it is.
 * @template {object} State
 * @param {{
 *   state(): State, show(state: State): unknown, tell: Tell, form: Form<State>, stage: string,
 * }} hands
 */
export function addressKeeper({ state, show, tell, form, stage }) {
  let timer = 0;
  /** @type {string | null} */
  let written = "";
  const place = /** @type {HTMLElement | null} */ (document.querySelector(`[data-stage="${stage}"]`));
  const isShown = () => !place?.hidden;
  function read() {
    if (!isShown()) return;
    if (location.hash === `#${stage}` && written !== "") {
      written = null;
      return keeper.write();
    }
    const found = form.parse(location.hash);
    if (!found) return clearTimeout(timer); // the hash of a heading stays until the state changes
    if (found.faults.length) tell([...found.faults, "The rest of the link is shown."].join(" "));
    written = null; // the shown state replaces the requested one in the address
    show(found.state);
  }
  addEventListener("hashchange", read);
  const keeper = {
    read,
    write() {
      const text = form.format(state());
      if (text === written) return;
      written = text;
      clearTimeout(timer);
      timer = window.setTimeout(() => {
        const isHeading = location.hash !== "" && !location.hash.includes("=");
        if (!isShown()) return;
        if (text === location.hash.slice(1) || (text === "" && isHeading)) return;
        history.replaceState(history.state, "", text ? `#${text}` : location.pathname + location.search);
      }, WAIT);
    },
  };
  return keeper;
}

/**
 * @template State
 * @param {State} state
 * @param {Form<State>} form
 */
function link(state, form) {
  const text = form.format(state);
  return location.href.replace(/#.*/, "") + (text && `#${text}`);
}

/**
 * Draws the board and the bars beside it, in the colours of paper.
 * @type {(source: Source, shown: Shown & { shuffled?: boolean }, answer: Answer, words: string[]) => HTMLCanvasElement}
 */
export function paintPicture(source, shown, { probabilities, best }, words) {
  const [width, height] = boardSize();
  const canvas = el("canvas");
  canvas.width = 2 * (width + 320);
  canvas.height = 2 * (height + 24 + 20 * words.length);
  const c = penOf(canvas);
  c.scale(2, 2);
  c.fillStyle = "#fff";
  c.fillRect(0, 0, canvas.width, canvas.height);
  const board = el("canvas");
  paintBoard(context(board, width, height, 2), source, { ...shown, moved: Number(shown.shuffled ?? false) });
  c.drawImage(board, 20, 0, width, height);
  const family = getComputedStyle(document.body).fontFamily;
  c.fillStyle = "#1b2733";
  c.textBaseline = "middle";
  c.font = `13px ${family}`;
  if (shown.shares && shown.token === 0) c.fillText("class token", 46, 18);
  if (shown.shuffled) c.fillText("the image", width - 88, 18);
  probabilities.forEach((share, k) => {
    const y = 52 + 29 * k;
    c.font = `${k === best ? "bold " : ""}15px ${family}`;
    c.fillStyle = "#1b2733";
    c.fillText(String(k), width + 44, y);
    c.fillText(percent(share), width + 240, y);
    c.fillStyle = "#d8e2fb";
    c.fillRect(width + 64, y - 9, 160, 18);
    c.fillStyle = k === best ? "#2350b8" : "#55626f";
    c.fillRect(width + 64, y - 9, 160 * share, 18);
  });
  c.fillStyle = "#1b2733";
  c.font = `13px ${family}`;
  words.forEach((line, i) => c.fillText(line, 20, height + 18 + 20 * i, width + 280));
  return canvas;
}

/**
 * Makes the buttons that reset the lab, copy the link and save the picture. paint() returns null if there is none yet.
 * @template State
 * @param {{
 *   state(): State, form: Form<State>, reset(): unknown, paint(): HTMLCanvasElement | null, tell: Tell,
 * }} hands
 */
export function keepingButtons({ state, reset, paint, tell, form }) {
  const about = { "aria-label": "Link to what the lab shows" };
  const field = el("input", { class: "vl-link", readonly: true, hidden: true, ...about });
  const copy = button("Copy link", async () => {
    const address = link(state(), form);
    try {
      await navigator.clipboard.writeText(address);
      tell("The link is copied.", { briefly: true });
      copy.textContent = "Copied";
      setTimeout(() => { copy.textContent = "Copy link"; }, 2000);
    } catch {
      field.hidden = false; // copying is not allowed here: the reader copies the link by hand
      field.value = address;
      field.focus();
      field.select();
      tell("Copy the link from the field.");
    }
  });
  const save = button("Save picture", () => {
    const picture = paint();
    if (!picture) return tell("There is no answer to save yet. Draw a digit first.", { briefly: true });
    picture.toBlob((blob) => {
      if (!blob) return;
      const anchor = el("a", { download: "vit-lab.png", href: URL.createObjectURL(blob) });
      anchor.click();
      setTimeout(() => URL.revokeObjectURL(anchor.href), 1000);
      tell("The picture is saved as vit-lab.png.", { briefly: true });
    });
  });
  return el("div", { class: "vl-row vl-keep" }, button("Reset", reset), copy, save, field);
}
