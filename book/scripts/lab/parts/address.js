// Writes the lab's state as the end of a link, "#digit=5&shuffle=1&head=2.1", and reads it back.

import { upTo } from "../../shared/grid.js";
import { placeOf } from "./board.js";
import { DIGIT, IMAGE, STEP } from "./scene.js";
import { MOST_SCRAPS, START } from "./source.js";
import { modelOf } from "./weights.js";

/** @import { Form, LabState, Pair, Part, Switches } from "./types.d.ts" */

const LEVELS = "0123456789abcdefg"; // levels of ink in a drawing, in sixteenths
/** @type {Switches} */
const SWITCHES = { weights: "trained", shuffled: false, off: [], head: null, asks: 0, votes: false };

/** @type {(text: string, high: number) => number | undefined} */
export const readWhole = (text, high) => (/^\d+$/.test(text) && Number(text) <= high ? Number(text) : undefined);
/** @type {(text: string, separator: string, high: number) => number[] | undefined} */
export const readPair = (text, separator, high) => {
  const both = text.split(separator).map((part) => readWhole(part, high));
  const read = both.filter((one) => one !== undefined);
  return both.length === 2 && read.length === 2 ? read : undefined;
};
/** @type {(text: string, values: string[]) => string | undefined} */
export const oneOf = (text, values) => (values.includes(text) ? text : undefined);

/** A part of a link that is written as it is. */
export const same = { write: String };
/** A part of a link that is a switch. */
export const yes = {
  /** @param {string} text */
  read: (text) => (text === "0" || text === "1" ? text === "1" : undefined),
  write: Number,
};
/** A part of a link that lists some of these names. @param {string[]} names */
export const someOf = (names) => ({
  /** @param {string} text */
  read: (text) => {
    const some = text.split(",");
    return some.every((name) => names.includes(name)) ? [...new Set(some)].sort() : undefined;
  },
  write: String, // a list is written with commas
});
/** Returns the names of all heads, block by block. @type {(depth: number, heads: number) => string[]} */
export const headNames = (depth, heads) =>
  upTo(depth).flatMap((block) => upTo(heads).map((head) => `${block}.${head}`));

/**
 * The parts of a link: of(state) returns a value, read(text) parses it or returns undefined, write(value) formats.
 * @type {() => Record<string, Part<LabState>>}
 */
function parts() {
  const { depth, heads, gridSize: [rows, columns] } = modelOf("trained");
  const names = headNames(depth, heads);
  const maps = [...names, ...upTo(depth).map((block) => `${block}.mean`), "rollout"];
  return {
    digit: { ...same, read: (text) => readWhole(text, 9) },
    example: { ...same, read: (text) => readWhole(text, 2) },
    drawn: {
      read: (text) =>
        /^[0-9a-g]{64}$/.test(text) ? Float64Array.from(text, (level) => LEVELS.indexOf(level) / 16) : undefined,
      write: (/** @type {Float64Array} */ drawn) => Array.from(drawn, (ink) => LEVELS[Math.round(16 * ink)]).join(""),
    },
    at: {
      of: ({ top, left }) => [top, left],
      to: (/** @type {Pair} */ [top, left]) => ({ top, left }),
      read: (text) => {
        const place = readPair(text, ".", IMAGE - DIGIT);
        return place?.every((pixel) => pixel % STEP === 0) ? place : undefined;
      },
      write: (/** @type {Pair} */ place) => place.join("."),
    },
    ground: { ...same, read: (text) => oneOf(text, ["brick", "grass", "gravel", "none"]) },
    piece: { ...same, read: (text) => readWhole(text, 9999) },
    scraps: { ...same, read: (text) => readWhole(text, MOST_SCRAPS) },
    shuffle: {
      ...yes,
      of: ({ shuffled }) => shuffled,
      to: (/** @type {boolean} */ shuffled) => ({ shuffled }),
    },
    weights: { ...same, read: (text) => oneOf(text, ["trained", "untrained"]) },
    off: someOf(names),
    head: { ...same, read: (text) => oneOf(text, maps) },
    asks: {
      read: (text) => {
        const [row, column] = readPair(text, ".", Math.max(rows, columns) - 1) ?? [rows, columns];
        return row < rows && column < columns ? 1 + columns * row + column : undefined;
      },
      write: (/** @type {number} */ token) => placeOf(token).join("."),
    },
    votes: yes,
  };
}

/**
 * Makes the form of a stage's links: {first(), format(state), parse(hash)}, of its parts() and first() state.
 * @template {object} State
 * @param {{ parts: () => Record<string, Part<State>>, first: () => State }} form
 * @returns {Form<State>}
 */
export function addressForm({ parts, first }) {
  return {
    first,

    /** Formats the difference from the first state: "" or "digit=5&shuffle=1". */
    format(state) {
      const written = [];
      for (const [key, part] of Object.entries(parts())) {
        /** @type {(all: State) => unknown} */
        const valueIn = (all) => (part.of ? part.of(all) : Reflect.get(all, key));
        const value = valueIn(state);
        if (value === null || String(value) === String(valueIn(first()))) continue;
        written.push(`${key}=${part.write(value)}`);
      }
      return written.join("&");
    },

    /**
     * Parses a link. Returns {state, faults}: the first state changed by the link, and a sentence for each part that
     * cannot be read; null if the hash is that of a heading.
     */
    parse(hash) {
      const text = hash.replace(/^#/, "");
      if (text && !text.includes("=")) return null;
      const known = parts();
      const state = first();
      /** @type {string[]} */
      const faults = [];
      for (const [key, value] of new URLSearchParams(text)) {
        if (key === "stage") continue;
        const part = Object.hasOwn(known, key) ? known[key] : null;
        const found = part?.read(value);
        if (!part) faults.push(`The link sets “${key}”, which the lab does not have.`);
        else if (found === undefined) faults.push(`The link asks for ${key} “${value}”, which the lab does not have.`);
        else Object.assign(state, part.to ? part.to(found) : { [key]: found });
      }
      return { state, faults };
    },
  };
}

export const digitForm = addressForm({ parts, first: () => ({ ...START, ...SWITCHES }) });

export const { format: formatAddress, parse: parseAddress, first: firstState } = digitForm;
