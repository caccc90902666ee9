// Opens the photograph stage in its place, with a model that looks.

import { DATA, fetchData } from "../parts/fetching.js";
import { openPlace, whenNear } from "../parts/places.js";
import { photographPanel } from "./gate.js";

/** @import { LookerClass } from "../parts/types.d.ts" */

/** Loads a style sheet; resolves also if it does not come. @type {(href: string) => Promise<unknown>} */
function style(href) {
  return new Promise((resolve) => {
    const link = document.createElement("link");
    link.onload = link.onerror = resolve;
    Object.assign(link, { rel: "stylesheet", href });
    document.head.append(link);
  });
}

/** @type {(Model: LookerClass) => void} */
export function openStage(Model) {
  whenNear(["photograph"], (place) =>
    openPlace(place, async () => {
      const data = ["photographs", "../photograph/manifest"].map(fetchData);
      await Promise.all([...data, style(`${DATA}photograph.css`)]);
      return photographPanel(Model);
    }),
  );
}
