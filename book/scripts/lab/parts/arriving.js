// A switch whose model may have to be loaded first.

/**
 * Only the last change counts. If loading fails, the old value stays and failed(error) is called.
 * fetch(value) loads the value's model; set(value) uses it. Returns {wanted, change(value)}; change resolves to true
 * if the value was set.
 * @template Value
 * @param {Value} value
 * @param {{ fetch(value: Value): unknown, set(value: Value): void, failed(error: Error): void }} hands
 */
export function arriving(value, { fetch, set, failed }) {
  let is = value;
  const wish = { wanted: value, change };

  /** @type {(wanted: Value) => Promise<boolean>} */
  async function change(wanted) {
    wish.wanted = wanted;
    try {
      await fetch(wanted);
      if (wish.wanted !== wanted) return false; // changed again in the meantime
      set((is = wanted));
      return true;
    } catch (error) {
      wish.wanted = is;
      failed(/** @type {Error} */ (error));
      return false;
    }
  }

  return wish;
}
