// Cuts the texts of results, and says which of their words are to be marked.
import { isFoundUnder, wordsIn } from "./words.js";

/** @typedef {{ text: string, marked: boolean }} Piece */

export const LONGEST = 240; // characters of an excerpt

/**
 * Moves the beginning of a piece in front of the bracket that it would begin in.
 * @param {string} text
 * @param {number} begin
 */
function outsideBrackets(text, begin) {
  const opened = [];
  for (let at = 0; at < begin; at++)
    if (text[at] === "(") opened.push(at);
    else if (text[at] === ")") opened.pop();
  return begin - opened[0] < LONGEST / 4 ? opened[0] : begin;
}

/**
 * Cuts a text into pieces, marked or not; a text that is too long is cut around its first mark.
 * @param {string} text
 * @param {Set<string>[]} terms
 */
export function marked(text, terms, longest = Infinity) {
  const marks = wordsIn(text).filter(({ word }) => terms.some((one) => isFoundUnder(word, one)));
  let begin = 0;
  let end = text.length;
  if (end > longest) {
    const middle = marks[0]?.start ?? 0;
    const cut = text.indexOf(" ", middle - longest / 2) + 1;
    begin = middle < longest * 0.7 ? 0 : outsideBrackets(text, cut);
    if (begin + longest < end) end = Math.max(text.lastIndexOf(" ", begin + longest), marks[0]?.end ?? 0);
  }
  /** @type {Piece[]} */
  const pieces = [];
  let at = begin;
  const add = (/** @type {number} */ to, /** @type {boolean} */ isMarked) => {
    if (to > at) pieces.push({ text: text.slice(at, to), marked: isMarked });
    at = to;
  };
  for (const { start, end: stop } of marks.filter((mark) => mark.start >= begin && mark.end <= end)) {
    add(start, false);
    add(stop, true);
  }
  add(end, false);
  if (begin > 0) pieces.unshift({ text: "… ", marked: false });
  if (end < text.length) pieces.push({ text: " …", marked: false });
  return pieces;
}
