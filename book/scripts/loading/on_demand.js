// Fetches scripts when a reader first needs them.
import { el } from "../shared/elements.js";

/**
 * Returns a loader for a folder's scripts; it fetches each once, and again only after a failure.
 * @param {string} folder
 */
export function loaderOf(folder) {
  /** @type {Map<string, Promise<void>>} */
  const loading = new Map();
  return (/** @type {string} */ name) => {
    const known = loading.get(name);
    if (known) return known;
    const loaded = new Promise((/** @type {(value: void) => void} */ resolve, reject) => {
      const script = el("script", { src: `${folder}${name}.js`, onload: () => resolve(), onerror: () => {
        loading.delete(name);
        reject(new Error(`${name}.js could not be loaded`));
      } });
      script.async = false; // requested together, scripts load in parallel and run in order
      document.head.append(script);
    });
    loading.set(name, loaded);
    return loaded;
  };
}
