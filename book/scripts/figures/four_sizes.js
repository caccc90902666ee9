// Chapter 11: shows one after the other how long an attention layer takes for a photograph at four sizes.

import { move, upTo } from "../moving/kit.js";
/** @import { Figure, Place } from "../moving/kit.js" */

/**
 * @typedef {object} Numbers
 * @property {number[]} tokens at each size
 * @property {string[]} times of the layer
 * @property {{[name: string]: string[]}} factors by which tokens, work and time grow
 * @property {Place} photos from the middle of the first photograph to that of the last
 */

/** @param {Figure<Numbers>} figure */
function start(figure) {
  const { tokens, times, factors, photos } = figure.numbers;
  /** @param {number} index */
  const counted = (index) => `${tokens[index].toLocaleString("en")} ${index ? "tokens" : "token"}`;

  /** @param {number} now */
  function show(now) {
    for (const index of upTo(tokens.length)) figure.seen(`point-${index}`, index <= now);
    for (const index of upTo(tokens.length - 1)) {
      figure.seen(`time-${index}`, index < now);
      figure.seen(`ask-${index}`, index >= now);
    }
    const [more, work, time] = [factors.tokens, factors.work, factors.time].map((row) => row[now - 1]?.slice(2));
    figure.say(
      now === 0
        ? `${counted(0)} takes ${times[0]}. How many times as long do ${counted(1)} take? Guess, and press Next.`
        : `${counted(now)} take ${times[now]}: with ${more} times the tokens the layer has ${work} times the work, ` +
            `and takes ${time} times as long.`,
    );
  }

  figure.steps({ count: tokens.length, label: "number of tokens", says: counted, show, scrub: { chart: photos } });
}

move("four_sizes", start);
