// Opens the panels that show a digit: the stage and the walk.

import { attentionPanel } from "./parts/attention_panel.js";
import { pause } from "./parts/dom.js";
import { DATA, fetchData } from "./parts/fetching.js";
import { inParts } from "./parts/model.js";
import { openPlace, whenNear } from "./parts/places.js";
import { createSource } from "./parts/source.js";
import { walkPanel } from "./parts/walk_panel.js";
import { modelOf } from "./parts/weights.js";

/** @import { Source } from "./parts/types.d.ts" */

/** @type {Source | null} */
let shared = null; // the source of all panels of the page

/** @type {(place: HTMLElement) => Promise<HTMLElement>} */
async function make(place) {
  await Promise.all(["trained", "pictures"].map(fetchData));
  const source = (shared ??= createSource());
  await warmUp(source);
  const { panel, until, show, whole } = place.dataset;
  const element = panel === "walk"
    ? walkPanel(source, { until, chapters: new URL("../../notebooks/", DATA).href })
    : await attentionPanel(source, { show, whole: whole !== undefined });
  await pause();
  Object.assign(place, { source }); // a test reads what the panels show
  return element;
}

/**
 * Makes the first pass in small steps, because it is slow until the browser has compiled the code.
 * @type {(source: Source) => Promise<void>}
 */
async function warmUp(source) {
  await pause();
  const passing = inParts(modelOf("trained"), source.image());
  while (!passing.next().done) await pause();
}

whenNear(["attention", "walk"], (place) => openPlace(place, make));
