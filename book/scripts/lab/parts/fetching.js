// Fetches scripts when a reader first needs them. The lab's data are scripts, because a page opened from a folder
// cannot read other files; each puts its content into globalThis.vitData, under its name.

/**
 * Returns a loader for a folder's scripts; it fetches each once, and again only after a failure.
 * @type {(folder: string) => (name: string) => Promise<void>}
 */
export function loaderOf(folder) {
  /** @type {Map<string, Promise<void>>} */
  const loading = new Map();
  return (name) => {
    const begun = loading.get(name) ?? new Promise((resolve, reject) => {
      const script = document.createElement("script");
      script.src = `${folder}${name}.js`;
      script.async = false; // requested together, scripts load in parallel and run in order
      script.onload = () => resolve();
      script.onerror = () => {
        loading.delete(name);
        reject(new Error(`${name}.js could not be loaded`));
      };
      document.head.append(script);
    });
    loading.set(name, begun);
    return begun;
  };
}

const script = /** @type {HTMLScriptElement | null | undefined} */ (globalThis.document?.currentScript);

/** The folder that the running script came from; in Node there is none, nor for a script without an address. */
export const HERE = script?.src || "file:///book/lab/none.js";

/** The folder of the lab's data and styles. */
export const DATA = new URL("../../lab/", HERE).href;

const load = loaderOf(DATA);

/**
 * Loads the data of a name, unless they are there.
 * @type {(name: string) => Promise<void>}
 */
export const fetchData = (name) => (Object.hasOwn(globalThis.vitData ?? {}, name) ? Promise.resolve() : load(name));
