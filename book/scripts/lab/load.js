// Loads the lab's scripts when one of its places on the page comes near: digits.js or photograph.js, which open them.

import { HERE, loaderOf } from "./parts/fetching.js";
import { openPlace, whenNear } from "./parts/places.js";

const SCRIPTS = { attention: "digits", walk: "digits", photograph: "photograph" };
const load = loaderOf(new URL(".", HERE).href);

for (const [panel, script] of Object.entries(SCRIPTS)) {
  whenNear([panel], (place) =>
    load(script).catch((/** @type {Error} */ error) => openPlace(place, () => Promise.reject(error))),
  );
}
