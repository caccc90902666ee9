// Puts the difference between two states of the lab into words.

import { mapName } from "./head_maps.js";

/** @import { LabState, Switches } from "./types.d.ts" */

/** @type {(drawn: Float64Array | null) => boolean} */
const isBlank = (drawn) => !drawn || drawn.every((ink) => ink === 0);

/**
 * Returns {kind, words, goesOn}, or null if comparing the answers makes no sense, as after another digit.
 * @type {(was: LabState, is: LabState) => { kind: string, words: string, goesOn: boolean } | null}
 */
export function whatChanged(was, is) {
  /** @type {(...keys: (keyof LabState)[]) => boolean} */
  const differs = (...keys) => keys.some((key) => String(was[key]) !== String(is[key]));
  const said = [];
  if (differs("shuffled")) said.push(is.shuffled ? "Positions shuffled" : "Positions put right");
  if (differs("weights")) said.push(`With ${is.weights} weights`);
  if (differs("off")) said.push(headsInWords(was.off, is.off));
  if (differs("ground", "piece"))
    said.push(is.ground === "none" ? "On black" : was.ground === is.ground ? "On another piece" : `On ${is.ground}`);
  if (differs("scraps")) said.push(is.scraps === 1 ? "With one distractor" : `With ${is.scraps || "no"} distractors`);
  const moved = differs("top", "left");
  const drawn = differs("drawn");
  if (moved) said.push("Moved");
  if (drawn) said.push("Drawn");
  if (said.length === 0 || differs("digit", "example") || (drawn && (isBlank(was.drawn) || isBlank(is.drawn))))
    return null;
  if (said.length > 1) return { kind: "several", words: "All changes together", goesOn: false };
  return { kind: said[0], words: said[0], goesOn: moved || drawn };
}

/** @type {(was: string[], is: string[]) => string} */
function headsInWords(was, is) {
  const gone = is.filter((name) => !was.includes(name));
  const back = was.filter((name) => !is.includes(name));
  /** @type {(one: string) => string} */
  const name = (one) => mapName(one).replace(/^b/, "B");
  if (gone.length === 1 && back.length === 0) return `${name(gone[0])} off`;
  if (back.length === 1 && gone.length === 0) return `${name(back[0])} on again`;
  return is.length ? `${is.length} heads off` : "All heads on again";
}

/**
 * Returns in words what is missing from the whole, trained model, or "".
 * @type {(switches: Pick<Switches, "weights" | "shuffled" | "off">) => string}
 */
export function takenInWords({ weights, shuffled, off }) {
  const said = [];
  if (weights !== "trained") said.push(`${weights} weights`);
  if (shuffled) said.push("positions shuffled");
  if (off.length) said.push(off.length > 4 ? `${off.length} heads off` : `off: ${off.map(mapName).join("; ")}`);
  return said.join(", ");
}
