// Asks before the model of the photograph stage is loaded, and shows how much of it has come.

import { el, html } from "../../shared/elements.js";
import { attribute, button } from "../parts/dom.js";
import { photographStage } from "./panel.js";
import { PHOTOS } from "./state.js";

/** @import { LookerClass, Manifest, Model } from "../parts/types.d.ts" */

const YIELDS =
  "What you get: one eye of the cat finds the other. Four pictures show what the model makes of each patch, and 72 " +
  "maps where its heads look.";
const BASE64 = 4 / 3; // of the bytes come where a server does not compress
/** @type {(...bytes: number[]) => string} */
const size = (...bytes) => `${bytes.map((some) => (some / 1e6).toFixed(0)).join(" to ")}\u00a0MB`;

/** Returns whether the browser has kept all parts of the model. @type {(manifest: Manifest) => Promise<boolean>} */
async function isKept({ parts, digest }) {
  try {
    if (!(await caches.has("vit-photograph"))) return false;
    const kept = await (await caches.open("vit-photograph")).keys();
    return kept.filter(({ url }) => url.endsWith(digest)).length >= parts.length;
  } catch {
    return false; // from a folder, or without https
  }
}

/**
 * Returns the stage's place: a button that loads the model, which the stage then replaces.
 * @type {(Model: LookerClass) => Promise<HTMLElement>}
 */
export async function photographPanel(Model) {
  const { photographs, photograph: manifest } = globalThis.vitData;
  const bar = el("progress", { max: 1, value: 0, "aria-label": "Loading the model" });
  const said = el("p", { class: "vl-note", role: "status" });
  if (!manifest || !photographs) {
    const missing = "This copy of the book was built without the model that looks at photographs.";
    return html`<div class="vl-panel vp-gate"><p>${missing} The published pages have it.</p></div>`;
  }
  const { photos, common } = photographs;
  const whole = manifest.parts.reduce((sum, { bytes }) => sum + bytes, 0);
  let abort = new AbortController();
  let loads = false;
  /** @type {string | null} */
  let photo = null; // that the reader has chosen
  const load = button(`Load the model (${size(whole, BASE64 * whole)})`, begin, { class: "vl-bet" });
  const stop = button("Stop", () => abort.abort());
  const hands = el("div", { class: "vl-row" }, load);
  const six = Object.entries(PHOTOS).map(([name, about]) => {
    const picture = el("img", { src: photos[name], alt: "", width: 96, height: 96 });
    const attributes = { "aria-label": about, title: about, "aria-pressed": "false" };
    return { name, press: button(picture, () => choose(name), attributes) };
  });
  const { grid, width } = manifest;
  // The still for paper shows what one gets.
  const still = /** @type {HTMLImageElement | null} */ (document.querySelector('img[src*="/stills/photograph."]'));
  /** @type {(theme: string, file: string) => Node[]} */
  const preview = (theme, file) => (still ? [Object.assign(still.cloneNode(), { className: theme, src: file })] : []);
  const light = still?.src ?? "";
  const words =
    `A Vision Transformer with 22 million parameters turns each of a photograph’s ${grid} × ${grid} patches into ` +
    `${width} numbers, its token. Choose one of these six, or later your own, which never leaves this page.`;
  const element = html`
    <div class="vl-panel vp-gate">
      <figure class="vp-preview">
        <div class="vp-still">
          ${preview("only-light", light)}${preview("only-dark", light.replace("photograph.", "photograph-dark."))}
        </div>
        <figcaption>${YIELDS}</figcaption>
      </figure>
      <div class="vp-ask">
        ${hands}${said}
        <div class="vl-row vp-six" role="group" aria-label="The picture">${six.map(({ press }) => press)}</div>
        <p class="vp-gate-words">${words}</p>
      </div>
    </div>`;

  /** Keeps a photograph for the model, and loads that. @param {string} name */
  function choose(name) {
    photo = name;
    for (const one of six) attribute(one.press, "aria-pressed", one.name === name);
    if (loads) tell();
    else begin();
  }

  let told = "";
  /** Says how far the model is, and which photograph waits for it. */
  function tell(text = told) {
    told = text;
    said.textContent = photo ? `${text} It will begin with the ${PHOTOS[photo]}.` : text;
  }

  async function begin() {
    const held = hands.contains(document.activeElement);
    abort = new AbortController();
    loads = true;
    element.classList.add("vp-loads"); // from now on the page has the stage's room
    hands.replaceChildren(bar, stop);
    if (held) stop.focus();
    tell("The model is loading.");
    try {
      const model = await Model.load({ signal: abort.signal, onProgress });
      tell("The model is looking …");
      const stage = await photographStage(model, { photos, common, chosen: () => photo });
      const focused = element.contains(document.activeElement);
      element.replaceWith(stage);
      if (focused) stage.querySelector(/** @type {"div"} */ (".vp-patches"))?.focus({ preventScroll: true });
    } catch (error) {
      loads = false;
      element.classList.remove("vp-loads");
      hands.replaceChildren(load);
      if (held) load.focus();
      bar.value = 0;
      const { name, message } = /** @type {Error} */ (error);
      said.textContent = name === "AbortError" ? "Stopped." : `The model could not be loaded: ${message}. Try again.`;
    }
  }

  let spoken = 0;
  /** @type {(bytes: number, total?: number) => void} */
  function onProgress(bytes, total = whole) {
    bar.value = bytes / total;
    const quarter = Math.floor((4 * bytes) / total);
    if (quarter === spoken) return;
    spoken = quarter;
    tell(quarter === 4 ? "All of it is here." : `${size(bytes)} of ${size(total)} are here.`);
  }

  if (await isKept(manifest)) begin();
  return element;
}
