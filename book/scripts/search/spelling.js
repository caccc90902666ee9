// Compares words by their letters.

/**
 * Returns how many letters have to be changed, added, left out or swapped with the next to make one word of another.
 * @param {string} one
 * @param {string} other
 */
export function mistakes(one, other) {
  /** @type {number[]} */
  let before = [];
  let last = Array.from({ length: other.length + 1 }, (_, at) => at);
  for (let row = 1; row <= one.length; row++) {
    const now = [row];
    for (let at = 1; at <= other.length; at++) {
      const isOther = one[row - 1] === other[at - 1] ? 0 : 1;
      now[at] = Math.min(last[at] + 1, now[at - 1] + 1, last[at - 1] + isOther);
      const isSwapped = row > 1 && at > 1 && one[row - 1] === other[at - 2] && one[row - 2] === other[at - 1];
      if (isSwapped) now[at] = Math.min(now[at], before[at - 2] + 1);
    }
    [before, last] = [last, now];
  }
  return last[other.length];
}
