// Looks at photographs with the model: the untouched model first, then with what is taken away. One look at a time.

import { turned } from "./facts.js";
import { isUntouched, lookOptions } from "./state.js";

/** @import { Album, Look, Looker, Numbers, PhotographState } from "../parts/types.d.ts" */
/** @import { Picture, Run, SeenElsewhere, SeenPhotograph, Taken } from "../parts/types.d.ts" */

const MOST_KEPT = 3; // runs: each holds the tokens, queries and keys of all blocks, 57 MB

/**
 * Makes {look(state), elsewhere(state)}. look resolves to {now, before, picture} with runs turned alike, or to null
 * if another look was asked for in the meantime; before is now if nothing is changed. elsewhere resolves likewise to
 * the run on the other photograph, by the model as the switches leave it.
 * @param {Looker} model
 * @param {Album} album
 */
export function photographSession(model, album) {
  /** @type {Map<string, Run>} */
  const kept = new Map(); // picture -> its untouched run
  /** @type {Promise<unknown>} */
  let turn = Promise.resolve();
  let asked = 0;
  /** @type {{ key: string, run: Run, photo: string, turned: boolean } | null} */
  let last = null; // {key, run} of the last touched run
  /** @type {{ key: string, run: Run } | null} */
  let other = null; // the same for the other photograph

  /**
   * Queues work; it is skipped, and null returned, if isOld() when its turn comes, or when it has failed.
   * @template Result
   * @param {() => Promise<Result>} work
   * @param {() => boolean} isOld
   * @returns {Promise<Result | null>}
   */
  function queue(work, isOld) {
    const done = turn.then(() => (isOld() ? null : work())).catch((error) => {
      if (!isOld()) throw error;
      return null;
    });
    turn = done.catch(() => {});
    return done;
  }

  /** @type {(name: string, picture: Picture, isOld: () => boolean) => Promise<Run>} */
  async function untouched(name, picture, isOld) {
    const run = kept.get(name) ??
      await model.look(picture.pixels(false), lookOptions(NOTHING, model), null, isOld);
    kept.delete(name);
    kept.set(name, run); // the last one used is the last one to go
    for (const oldest of kept.keys()) if (kept.size > MOST_KEPT) kept.delete(oldest);
    return run;
  }

  /** @type {Taken} */
  const NOTHING = { off: [], shuffled: false, hidden: [] };
  /** @type {(state: PhotographState) => string} */
  const keyOf = (state) => JSON.stringify([state.photo, state.turned, lookOptions(state, model)]);

  /** @type {(state: PhotographState) => Promise<SeenPhotograph | null>} */
  function look(state) {
    const mine = ++asked;
    const isOld = () => mine !== asked;
    return queue(async () => {
      const picture = await album.get(state.photo);
      const before = await untouched(state.photo, picture, isOld);
      if (isOld()) return null;
      if (isUntouched(state)) return { now: before, before, picture };
      if (last?.key !== keyOf(state)) {
        const sameImage =
          last?.photo === state.photo && last.turned === state.turned ? last.run : state.turned ? undefined : before;
        const run = await model.look(picture.pixels(state.turned), lookOptions(state, model), sameImage, isOld);
        last = { key: keyOf(state), run, photo: state.photo, turned: state.turned };
      }
      if (isOld()) return null;
      return { now: last.run, before: state.turned ? turnedRun(before) : before, picture };
    }, isOld);
  }

  /** @type {(state: PhotographState, name: string) => Promise<SeenElsewhere | null>} */
  function elsewhere(state, name) {
    const mine = asked;
    const isOld = () => mine !== asked;
    const seen = { ...state, photo: name, turned: false, hidden: [] };
    return queue(async () => {
      const picture = await album.get(seen.photo);
      if (isUntouched(seen)) return { now: await untouched(seen.photo, picture, isOld), picture };
      if (other?.key !== keyOf(seen)) {
        const run = await model.look(picture.pixels(false), lookOptions(seen, model), kept.get(seen.photo), isOld);
        other = { key: keyOf(seen), run };
      }
      return { now: other.run, picture };
    }, isOld);
  }

  /** Returns a run's tokens, norms and saliency turned upside down. @type {(run: Look) => Look} */
  function turnedRun(run) {
    /** @type {Map<number | undefined, Numbers>} */
    const made = new Map();
    return {
      tokens(block) {
        const tokens = made.get(block) ?? turned(run.tokens(block), model.dim, 1);
        made.set(block, tokens);
        return tokens;
      },
      norms: (block) => turned(run.norms(block)),
      saliency: turned(run.saliency), // row by row, so turning all of it turns the picture
    };
  }

  return {
    look, elsewhere,
    /** @type {(name: string) => void} */
    forget(name) {
      kept.delete(name);
      if (last?.photo === name) last = null;
    },
  };
}
