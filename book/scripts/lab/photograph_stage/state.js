// The photograph stage's state, and its links: "#stage=photograph&photo=coffee&asks=10.12&off=7.3,9".

import { placeAt, upTo } from "../../shared/grid.js";
import { capital } from "../../shared/numbers.js";
import { addressForm, headNames, oneOf, readPair, readWhole, same, someOf, yes } from "../parts/address.js";
import { seededRandom } from "../parts/scene.js";
import { patchAt } from "./facts.js";

/** @import { Form, LookOptions, LookSizes, Pair, PhotographState, Taken } from "../parts/types.d.ts" */

/** @type {Record<string, string>} */
export const PHOTOS = {
  cat: "cat", flower: "dahlia", astronaut: "astronaut", china: "temple", coffee: "coffee", rocket: "rocket",
};
/** @type {Record<string, string>} */
export const VIEWS = {
  plain: "nothing", head: "a head", directions: "directions", matches: "matches", norms: "norms", saliency: "saliency",
};
/** @type {Pair} */
const EYE = [0.4, 0.31]; // of the cat, as shares of the picture's height and width

/** Writes whole numbers as "3-5,9". @type {(numbers: number[]) => string} */
function writeRanges(numbers) {
  const sorted = [...numbers].sort((a, b) => a - b);
  /** @type {(string | number)[]} */
  const parts = [];
  for (let i = 0; i < sorted.length; ) {
    let j = i;
    while (sorted[j + 1] === sorted[j] + 1) j++;
    parts.push(i === j ? sorted[i] : `${sorted[i]}-${sorted[j]}`);
    i = j + 1;
  }
  return parts.join(",");
}

/** @type {(text: string, high: number) => number[] | undefined} */
function readRanges(text, high) {
  /** @type {number[]} */
  const found = [];
  for (const part of text.split(",")) {
    const [start, end = start] = part.split("-").map((number) => readWhole(number, high));
    if (start === undefined || end === undefined || end < start) return undefined;
    for (let number = start; number <= end; number++) found.push(number);
  }
  return found;
}

/**
 * Makes the form of the links for a model's sizes; see addressForm.
 * @type {(sizes: Pick<LookSizes, "grid" | "blocks" | "heads">) => Form<PhotographState>}
 */
export function photographForm({ grid, blocks, heads }) {
  const names = headNames(blocks, heads);
  const form = addressForm({
    /** @type {() => PhotographState} */
    first: () => ({
      photo: "cat", turned: false, asks: 1 + patchAt(...EYE, grid), head: null, view: "matches", common: false,
      other: null, off: [], shuffled: false, hidden: [],
    }),
    parts: () => ({
      photo: {
        ...same,
        of: ({ photo }) => (photo === "own" ? null : photo),
        read: (text) => oneOf(text, Object.keys(PHOTOS)),
      },
      turned: yes,
      asks: {
        read: (text) => {
          if (text === "class") return 0;
          const [row, column] = readPair(text, ".", grid - 1) ?? [];
          return row === undefined ? undefined : 1 + grid * row + column;
        },
        write: (/** @type {number} */ token) => (token ? placeAt(token - 1, grid).join(".") : "class"),
      },
      head: { ...same, read: (text) => oneOf(text, names) },
      view: { ...same, read: (text) => oneOf(text, Object.keys(VIEWS)) },
      common: yes,
      other: { ...same, read: (text) => oneOf(text, Object.keys(PHOTOS)) },
      off: someOf([...names, ...upTo(blocks).map(String)]),
      shuffled: yes,
      hidden: { read: (text) => readRanges(text, grid * grid - 1), write: writeRanges },
    }),
  });
  return { ...form, format: (state) => ["stage=photograph", form.format(state)].filter(Boolean).join("&") };
}

/**
 * Returns the look's options: what is switched off, shuffled and hidden.
 * @type {(taken: Taken, sizes: Pick<LookSizes, "grid">) => Required<LookOptions>}
 */
export function lookOptions({ off, shuffled, hidden }, { grid }) {
  return {
    headsOff: off.filter((name) => name.includes(".")).map((name) => name.split(".").map(Number)),
    blocksOff: off.filter((name) => !name.includes(".")).map(Number),
    shuffled: shuffled ? shuffle(grid * grid) : null,
    hidden: [...hidden],
  };
}

/**
 * Returns an order of N things, always the same one: place i gets the position of place shuffle(N)[i].
 * @type {(count: number) => number[]}
 */
export function shuffle(count) {
  const order = upTo(count);
  const random = seededRandom(count);
  for (let i = count - 1; i > 0; i--) {
    const j = Math.floor(random() * (i + 1));
    [order[i], order[j]] = [order[j], order[i]];
  }
  return order;
}

/** @type {(taken: Taken & { turned: boolean }) => boolean} */
export const isUntouched = ({ off, shuffled, hidden, turned }) => !off.length && !shuffled && !hidden.length && !turned;

/** Returns the heads that are off, and the blocks. @type {(off: string[]) => string[][]} */
const headsAndBlocks = (off) => [true, false].map((ofHeads) => off.filter((name) => name.includes(".") === ofHeads));

/** Says what is off, if something is. @type {(taken: Pick<Taken, "off">) => string} */
export function offInWords({ off }) {
  const [heads, blocks] = headsAndBlocks(off);
  if (off.length === 1) return capital(`${heads.length ? headName(off[0]) : `block ${off[0]}`} is off`);
  return heads.length && blocks.length ? `${off.length} parts are off`
    : heads.length ? `${heads.length} heads are off` : `Blocks ${blocks.join(", ")} are off`;
}

/** Returns in words what is taken away or changed, or "". @type {(taken: Taken & { turned: boolean }) => string} */
export function changesInWords({ off, shuffled, hidden, turned }) {
  const [heads, blocks] = headsAndBlocks(off);
  const said = [];
  if (turned) said.push("upside down");
  if (blocks.length) said.push(`${blocks.length > 1 ? "blocks" : "block"} ${blocks.join(", ")} off`);
  if (heads.length)
    said.push(heads.length > 3 ? `${heads.length} heads off` : heads.map((name) => `${headName(name)} off`).join("; "));
  if (shuffled) said.push("positions shuffled");
  if (hidden.length) said.push(hidden.length === 1 ? "one patch hidden" : `${hidden.length} patches hidden`);
  return said.join(", ");
}

/** Says what the model is about to show. @type {(next: PhotographState, shown: PhotographState) => string} */
export function changingInWords(next, shown) {
  const doing = [];
  if (next.turned !== shown.turned) doing.push("turning the picture");
  if (String(next.off) !== String(shown.off)) doing.push("switching heads");
  if (next.shuffled !== shown.shuffled) doing.push(`${next.shuffled ? "shuffling" : "restoring"} the positions`);
  if (String(next.hidden) !== String(shown.hidden))
    doing.push(next.hidden.length > shown.hidden.length ? "hiding patches" : "showing patches");
  return `${capital(doing.join(", ") || "looking")} …`;
}

/** @type {(name: string) => string} */
export const headName = (name) => `block ${name.split(".")[0]}, head ${name.split(".")[1]}`;
