// Five bets on the photograph stage; see challenges.js.

import { placeAt, upTo } from "../../shared/grid.js";
import { percent } from "../parts/dom.js";
import { similaritiesTo } from "../photograph/directions.js";
import { bestMatch, markedShares, meanCosine, near, patchAt, saliencyOf } from "./facts.js";
import { lookOptions } from "./state.js";

/** @import { Bet, Box, Facts, LookSizes, Match, Numbers, PhotographState } from "../parts/types.d.ts" */

const OTHER_EYE = { top: 0.32, left: 0.68, bottom: 0.56, right: 0.95 }; // shares of the cat's picture
/** @type {Record<string, Box>} */
const ASTRONAUT = { // the parts of her picture that one can bet on
  face: { top: 0.05, left: 0.3, bottom: 0.32, right: 0.6 },
  badge: { top: 0.64, left: 0.26, bottom: 0.82, right: 0.44 },
  helmet: { top: 0.62, left: 0.56, bottom: 1, right: 1 },
};
const COFFEE = { top: 0.3, left: 0.44, bottom: 0.42, right: 0.56 };
const KEPT = 0.7; // cosine from which a token counts as kept

/** @type {(place: Box, patch: number, grid: number) => boolean} */
const contains = ({ top, left, bottom, right }, patch, grid) => {
  const [y, x] = placeAt(patch, grid).map((index) => (index + 0.5) / grid);
  return y > top && y < bottom && x > left && x < right;
};
/** @type {(place: Box, grid: number) => number[]} */
const patchesOf = (place, grid) =>
  upTo(grid * grid).filter((patch) => contains(place, patch, grid));
/** @type {(place: Box) => Box} */
const turnedPlace = ({ top, left, bottom, right }) =>
  ({ top: 1 - bottom, left: 1 - right, bottom: 1 - top, right: 1 - left });

/** Returns the best match of the patch that asks. @type {(facts: Facts) => Match} */
function match({ now, blocks, state, grid }) {
  const patch = state.asks - 1;
  return bestMatch(similaritiesTo(now.tokens(blocks), patch, now.tokens(blocks)), grid, patch);
}

/** Returns the correlation of two runs' saliency. @type {(one: Numbers, other: Numbers) => number} */
function alike(one, other) {
  /** @type {(values: Numbers) => number} */
  const mean = (values) => Array.from(values).reduce((sum, value) => sum + value, 0) / values.length;
  const [a, b] = [mean(one), mean(other)];
  let [ab, aa, bb] = [0, 0, 0];
  one.forEach((value, i) => {
    ab += (value - a) * (other[i] - b);
    aa += (value - a) ** 2;
    bb += (other[i] - b) ** 2;
  });
  return ab / Math.sqrt(aa * bb);
}

/** @type {(facts: Facts) => { share: number, kept: number | null }} */
const marked = ({ now, before, grid }) => markedShares(saliencyOf(now, grid), saliencyOf(before, grid));

/** Returns the mean cosine between the hidden patches' tokens now and before. @type {(facts: Facts) => number} */
const kept = ({ now, before, blocks, dim, state }) =>
  meanCosine(now.tokens(blocks), before.tokens(blocks), dim, state.hidden);

/** Returns the bets for a model's sizes. @type {(sizes: Pick<LookSizes, "grid">) => Bet<PhotographState, Facts>[]} */
export function photographBets({ grid }) {
  const upsideDown = grid * grid - patchAt(0.4, 0.31, grid);
  return [
    {
      title: "The cat’s eye elsewhere",
      scene: {},
      question:
        "In the cat’s picture, the framed patch lies on an eye and finds the other one. Where in the astronaut’s " +
        "will the most similar patch lie?",
      change: { other: "astronaut" },
      bets: [["badge", "On the round badge"], ["helmet", "On the helmet"], ["face", "On her face"]],
      outcome: async ({ after }) => {
        const there = await after.session.elsewhere(after.state, "astronaut");
        if (!there) return "elsewhere";
        const [tokens, theirs] = [after.now, there.now].map((run) => run.tokens(after.blocks));
        const found = bestMatch(similaritiesTo(tokens, after.state.asks - 1, theirs), grid);
        after.found = found;
        return Object.keys(ASTRONAUT).find((part) => contains(ASTRONAUT[part], found.patch, grid)) ?? "elsewhere";
      },
      why: ({ after }) =>
        `Its cosine with the framed one is ${near(after.found?.cosine ?? 0)}. A cat’s eye and a woman’s face look ` +
        "little alike, and yet the model finds no patch of hers more similar. Now ask with the nose, with an ear and " +
        "with the background.",
    },
    {
      title: "Upside down",
      scene: {},
      question: "The cat is about to be turned upside down. Will the same eye still find the other one?",
      change: { turned: true, asks: upsideDown },
      bets: [["else", "It will not"], ["eye", "It will"]],
      outcome: ({ after }) => (contains(turnedPlace(OTHER_EYE), match(after).patch, grid) ? "eye" : "else"),
      why: ({ after }) =>
        "The two eyes have changed together. A patch’s token and the one it had before have a mean cosine of only " +
        `${near(meanCosine(after.now.tokens(after.blocks), after.before.tokens(after.blocks), after.dim))}. But the ` +
        "eyes are compared with each other, not with what they were.",
    },
    {
      title: "Shuffle the positions",
      scene: { photo: "rocket", view: "saliency", asks: 0 },
      question:
        "The model marks the rocket. Its patches are about to get each other’s positions. Each patch is still " +
        "there. Will the model still mark the rocket?",
      change: { shuffled: true },
      bets: [["yes", "Most of it"], ["no", "Hardly any of it"]],
      outcome: ({ after }) => ((marked(after).kept ?? 0) > 0.5 ? "yes" : "no"),
      why: ({ after }) =>
        `Of what it marked, ${percent(marked(after).kept ?? 0)} is still marked. As far as the model can tell, the ` +
        "patches of the narrow rocket now lie anywhere. How much of the other photographs stays marked differs a " +
        "great deal: try them.",
    },
    {
      title: "The block that is needed most",
      scene: { photo: "coffee", view: "saliency" },
      question:
        "One block after the other is about to be left out: the first, one in the middle, and the last. Without " +
        "which of them does the saliency change most?",
      change: { off: ["0"] },
      bets: [["0", "Block 0"], ["5", "Block 5"], ["11", "Block 11"]],
      outcome: async ({ before, after }) => {
        /** @type {Record<string, number>} */
        const alikeWithout = { 0: alike(before.now.saliency, after.now.saliency) };
        const pixels = (await after.album.get("coffee")).pixels(false);
        for (const block of [5, 11]) {
          const run = await after.model.look(
            pixels,
            lookOptions({ off: [String(block)], shuffled: false, hidden: [] }, after.model),
            before.now,
          );
          alikeWithout[block] = alike(before.now.saliency, run.saliency);
        }
        return Object.keys(alikeWithout).reduce((least, block) =>
          alikeWithout[block] < alikeWithout[least] ? block : least,
        );
      },
      why: ({ before, after }) =>
        "Without block 0, the saliency and that of the whole model have a correlation of only " +
        `${near(alike(before.now.saliency, after.now.saliency))}: all that follows builds on this block. Over the ` +
        "six photographs, too, no other costs as much. Now switch off block 11 instead, and see what stays.",
    },
    {
      title: "A hole in the coffee",
      scene: { photo: "coffee", view: "directions", asks: 1 + patchAt(0.36, 0.5, grid) },
      question:
        "A few patches in the middle of the coffee are about to be hidden: the model gets plain grey in their " +
        "place. Will their tokens, and so their colours, be about what they were?",
      change: { hidden: patchesOf(COFFEE, grid) },
      bets: [["lost", "Quite different"], ["kept", "About the same"]],
      outcome: ({ after }) => (kept(after) > KEPT ? "kept" : "lost"),
      why: ({ after }) =>
        `Their tokens now and before have a mean cosine of ${near(kept(after))}. Through attention a patch gets what ` +
        "its neighbours hold, and they hold coffee. It does not always go so well: hide the astronaut’s face.",
    },
  ];
}

export const PHOTOGRAPH_FAREWELL =
  "Now take a photograph of your own, say what you expect, and only then take something away.";
