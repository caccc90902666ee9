// Fetches the lab's data when a reader first needs them. They are scripts, because a page opened from a folder cannot
// read other files; each puts its content into globalThis.vitData, under its name.
import { loaderOf } from "../../loading/on_demand.js";

const script = /** @type {HTMLScriptElement | null | undefined} */ (globalThis.document?.currentScript);

/** The folder that the running script came from; in Node there is none, nor for a script without an address. */
export const HERE = script?.src || "file:///book/lab/none.js";

/** The folder of the lab's data and styles. */
export const DATA = new URL("../../lab/", HERE).href;

const load = loaderOf(DATA);

/** Loads the data of a name, unless they are there. @type {(name: string) => Promise<void>} */
export const fetchData = (name) => (Object.hasOwn(globalThis.vitData ?? {}, name) ? Promise.resolve() : load(name));
