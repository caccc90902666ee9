// Shows the model's answer in words and as bars, with the previous answer as their ghosts, and the model's accuracy.

import { el, html } from "../../shared/elements.js";
import { upTo } from "../../shared/grid.js";
import { attribute, hide, percent, write } from "./dom.js";
import { softmaxRows } from "./kernels.js";

/** @import { Answer, Measured, Numbers, Switches } from "./types.d.ts" */

/**
 * Turns logits into {probabilities, best, sure, level}; level is true if all probabilities are equal.
 * @type {(logits: Numbers) => Answer}
 */
export function answerOf(logits) {
  const probabilities = softmaxRows(logits, 1, logits.length);
  const sure = Math.max(...probabilities);
  return { probabilities, sure, best: probabilities.indexOf(sure), level: sure - Math.min(...probabilities) < 1e-9 };
}

/**
 * Returns whether an answer is wrong; truth is null where it is not known.
 * @type {(answer: Answer, truth: number | null) => boolean}
 */
export function isWrong({ best, level }, truth) {
  return !level && truth !== null && truth !== best;
}

/** @type {(answer: Answer) => string} */
function inWords({ best, sure, level }) {
  return level ? "all ten alike" : `${best} with ${percent(sure)}`;
}

/**
 * Returns one sentence about the effect of a change.
 * @type {(what: string, before: Answer, after: Answer) => string}
 */
export function changeInWords(what, before, after) {
  const [was, is] = [inWords(before), inWords(after)];
  if (before.level && after.level) return `${what}: nothing changes, all ten stay alike.`;
  if (before.level || after.level || before.best !== after.best) return `${what}: ${was} becomes ${is}.`;
  if (was === is) return `${what}: it stays ${is}.`;
  return `${what}: it stays ${after.best}, but with ${percent(after.sure)} instead of ${percent(before.sure)}.`;
}

/** Makes a bar with the ghost of its former length: {element, show(share, ghost or null)}. */
function ghostBar() {
  const bar = el("span", { class: "vl-bar" });
  const ghost = el("span", { class: "vl-ghost", hidden: true });
  return {
    element: el("span", { class: "vl-track" }, bar, ghost),
    /** @type {(share: number, was?: number | null) => void} */
    show(share, was = null) {
      bar.style.transform = `scaleX(${share})`;
      hide(ghost, was === null);
      if (was !== null) ghost.style.width = `${100 * was}%`;
    },
  };
}

/** @param {number} classes */
export function answerBars(classes) {
  const rows = upTo(classes).map((k) => {
    const bar = ghostBar();
    const mark = el("span", { class: "vl-mark" });
    const value = el("span", { class: "vl-value" });
    const row = html`<li><span class="vl-name">${k}</span>${mark}${bar.element}<span>${value}</span></li>`;
    return { bar, mark, value, row };
  });
  const element = html`<ol class="vl-bars">${rows.map(({ row }) => row)}</ol>`;
  return {
    element,
    /** Shows no answer: empty bars without numbers. */
    clear() {
      for (const { bar, mark, value, row } of rows) {
        bar.show(0);
        write(value, "");
        write(mark, "");
        row.classList.remove("vl-best", "vl-wrong");
      }
    },
    /** @type {(answer: Answer, truth: number | null, before: Answer | null, options?: { glide?: boolean }) => void} */
    show(answer, truth, before, { glide = true } = {}) {
      element.classList.toggle("vl-gliding", glide);
      const { probabilities, best, level } = answer;
      rows.forEach(({ bar, mark, value, row }, k) => {
        bar.show(probabilities[k], before ? before.probabilities[k] : null);
        write(value, percent(probabilities[k]));
        row.classList.toggle("vl-best", !level && k === best);
        row.classList.toggle("vl-wrong", k === best && isWrong(answer, truth));
        write(mark, k === truth ? "✓" : "");
        attribute(mark, "title", k === truth ? "the digit in the image" : "");
      });
    },
  };
}

const ASK = "Draw: the model says what it sees.";

/** Makes the answer in large letters, and the verdict below it. */
export function makeVerdict() {
  const said = el("p", { class: "vl-answer" });
  const judged = el("p", { class: "vl-verdict" });
  return {
    element: el("div", {}, said, judged),
    /** Asks for strokes, in place of an answer. */
    ask() {
      write(said, ASK);
      write(judged, "");
      said.classList.remove("vl-wrong");
      return ASK;
    },
    /** @type {(answer: Answer, truth: number | null) => string} */
    show(answer, truth) {
      const { best, sure, level, probabilities } = answer;
      write(said, level ? `It says nothing: all ${probabilities.length} digits are equally likely.`
        : `It says ${best}, with ${percent(sure)}.`);
      const wrong = isWrong(answer, truth);
      said.classList.toggle("vl-wrong", wrong);
      judged.classList.toggle("vl-wrong", wrong);
      const verdict = `${wrong ? "✗ Wrong" : "✓ Right"}: it is ${truth === 8 ? "an" : "a"} ${truth}.`;
      write(judged, truth === null || level ? "" : verdict);
      return [said.textContent, judged.textContent.slice(2)].filter(Boolean).join(" ");
    },
  };
}

/**
 * Returns the model's accuracy with these switches; null if it was not measured.
 * @type {(
 *   switches: Pick<Switches, "weights" | "shuffled"> & { off: Set<string> }, measured: Measured,
 * ) => number | null}
 */
export function accuracyOf({ weights, shuffled, off }, measured) {
  if (weights === "untrained") return shuffled || off.size ? null : measured.untrained;
  if (shuffled) return off.size ? null : measured.shuffled;
  if (off.size > 1) return null;
  const [block, head] = [...off].join().split(".").map(Number);
  return off.size ? measured.headOff[block][head] : measured.trained;
}

/** @param {Measured} measured */
export function accuracyBar(measured) {
  const bar = ghostBar();
  const value = el("span", { class: "vl-value-of-many" });
  const words = el("p", { class: "vl-note" });
  /** @type {(share: number) => string} */
  const show1 = (share) => `${(100 * share).toFixed(1)}\u00a0%`;
  return {
    element: html`<div class="vl-accuracy"><div class="vl-accuracy-row">${bar.element}${value}</div>${words}</div>`,
    /** @type {(switches: Parameters<typeof accuracyOf>[0]) => void} */
    show(switches) {
      const share = accuracyOf(switches, measured);
      const whole = share === measured.trained;
      bar.show(share ?? 0, whole ? null : measured.trained);
      write(value, share === null ? "–" : show1(share));
      const start = `right on ${measured.images.toLocaleString("en")} test images`;
      write(words, share === null ? `${start}: not measured for this combination`
        : whole ? start : `${start} with this change, instead of ${show1(measured.trained)}`);
    },
  };
}
