// What the browser keeps from page to page; nothing, and no fault, where it refuses, as in a private window.

/** Returns what was kept. @type {<T>(key: string, otherwise: T) => T} */
export function kept(key, otherwise) {
  try {
    return JSON.parse(localStorage.getItem(key) ?? "null") ?? otherwise;
  } catch {
    return otherwise;
  }
}

/** Returns whether it could be kept. @type {(key: string, value: unknown) => boolean} */
export function keep(key, value) {
  try {
    localStorage.setItem(key, JSON.stringify(value));
    return true;
  } catch {
    return false;
  }
}
