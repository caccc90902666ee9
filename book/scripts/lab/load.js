// Loads the lab's scripts when one of its places on the page comes near: digits.js or photograph.js, which open them.

import { loaderOf } from "../loading/on_demand.js";
import { HERE, fetchData } from "./parts/fetching.js";
import { openPlace, whenNear } from "./parts/places.js";

const SCRIPTS = [
  { script: "digits", panels: ["attention", "walk"], data: ["trained", "pictures"] },
  { script: "photograph", panels: ["photograph"], data: ["photographs"] },
];
// Stills are for paper, and printing does not wait for lazy pictures. So those of the panels that are not hidden come
// when all else is there. The other stage's comes with it.
for (const event of ["load", "hashchange"]) {
  addEventListener(event, () => {
    const printed = ".vit-lab:not([hidden]) + .lab-still img";
    const stills = /** @type {NodeListOf<HTMLImageElement>} */ (document.querySelectorAll(printed));
    for (const still of stills) still.loading = "eager";
  });
}
const load = loaderOf(new URL(".", HERE).href);

for (const { script, panels, data } of SCRIPTS) {
  whenNear(panels, (place) => {
    // The data come beside the script, and run before it. It asks again for those that do not come.
    for (const name of data) fetchData(name).catch(() => {});
    load(script).catch((error) => openPlace(place, () => Promise.reject(error)));
  });
}
