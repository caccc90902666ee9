// Shows the class that each patch votes for in a second model, which averages the votes of its patches.

import { answerOf } from "./answer.js";
import { tokenName } from "./board.js";
import { percent } from "./dom.js";
import { fetchData } from "./fetching.js";
import { forward, roomFor } from "./model.js";
import { ASKING } from "./paint.js";
import { modelOf } from "./weights.js";

/** @import { Numbers, Pair, Pen, Room, SceneState, Votes } from "./types.d.ts" */

const NAME = "averaging";
/** A scene in which many patches vote for another digit than their model says. @type {SceneState} */
export const SPLIT = { digit: 4, example: 1, drawn: null, top: 0, left: 16, ground: "brick", piece: 1, scraps: 3 };

/**
 * Returns each patch's answer, from the votes (N, K), and the model's answer, from its logits.
 * @type {(room: Pick<Room, "votes" | "logits">, classes: number) => Votes}
 */
export function votesOf({ votes, logits }, classes) {
  const patches = Array.from({ length: votes.length / classes }, (_, patch) =>
    answerOf(votes.subarray(patch * classes, (patch + 1) * classes)));
  return { patches, answer: answerOf(logits) };
}

/** Fetches the second model once; resolves to {run(image)}, which returns its votes. */
export async function voting() {
  await fetchData(NAME);
  const model = modelOf(NAME);
  const room = roomFor(model);
  return { run: (/** @type {Numbers} */ image) => votesOf(forward(model, image, { room }), model.classes) };
}

/**
 * Draws a digit on each patch, brighter if surer, yellow if it is the model's answer. middle(token): its centre.
 * @type {(c: Pen, votes: Votes, middle: (token: number) => Pair, side: number) => void}
 */
export function paintVotes(c, { patches, answer }, middle, side) {
  c.save();
  c.textAlign = "center";
  c.textBaseline = "middle";
  c.font = `bold ${side * 0.6}px ${getComputedStyle(document.body).fontFamily}`;
  patches.forEach(({ best, sure }, patch) => {
    const [x, y] = middle(patch + 1);
    c.fillStyle = `rgba(0, 0, 0, ${0.75 - 0.35 * sure})`;
    c.fillRect(x - side / 2, y - side / 2, side, side);
    c.globalAlpha = 0.35 + 0.65 * sure;
    c.fillStyle = best === answer.best ? ASKING : "#fff";
    c.fillText(String(best), x, y + side * 0.04);
    c.globalAlpha = 1;
  });
  c.restore();
}

/**
 * Puts the vote of one patch into words, or, for token 0, all votes.
 * @type {(votes: Votes, token: number) => string}
 */
export function votesInWords({ patches, answer }, token) {
  if (token > 0) {
    const { best, sure } = patches[token - 1];
    return `${tokenName(token).replace(/^t/, "T")} votes for ${best}, with ${percent(sure)}.`;
  }
  const agree = patches.filter(({ best }) => best === answer.best).length;
  return (
    `The second model says ${answer.best}, with ${percent(answer.sure)}. ${agree} of ${patches.length} patches ` +
    "(yellow) agree."
  );
}
