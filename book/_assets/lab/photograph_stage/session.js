// Looks at photographs with the model: the untouched model first, then with what is taken away. One look at a time.
(() => {
  "use strict";
  const lab = (globalThis.vitLab ??= {});
  const MOST_KEPT = 3; // runs: each holds the tokens, queries and keys of all blocks, 57 MB

  /**
   * Makes {look(state), elsewhere(state)}. look resolves to {now, before, picture} with runs turned alike, or to null
   * if another look was asked for in the meantime; before is now if nothing is changed. elsewhere resolves likewise to
   * the run on the other photograph, by the model as the switches leave it.
   */
  function photographSession(model, album) {
    const kept = new Map(); // picture -> its untouched run
    let turn = Promise.resolve();
    let asked = 0;
    let last = null; // {key, run} of the last touched run
    let other = null; // the same for the other photograph

    /** Queues work; it is skipped, and null returned, if isOld() when its turn comes. */
    function queue(work, isOld) {
      const done = turn.then(() => (isOld() ? null : work()));
      turn = done.catch(() => {});
      return done;
    }

    async function untouched(name, picture) {
      const run = kept.get(name) ?? await model.look(picture.pixels(false), lab.lookOptions(NOTHING, model));
      kept.delete(name);
      kept.set(name, run); // the last one used is the last one to go
      if (kept.size > MOST_KEPT) kept.delete(kept.keys().next().value);
      return run;
    }

    const NOTHING = { off: [], shuffled: false, hidden: [] };
    const keyOf = (state) => JSON.stringify([state.photo, state.turned, lab.lookOptions(state, model)]);

    function look(state) {
      const mine = ++asked;
      return queue(async () => {
        const picture = await album.get(state.photo);
        const before = await untouched(state.photo, picture);
        if (lab.isUntouched(state)) return { now: before, before, picture };
        if (last?.key !== keyOf(state)) {
          if (mine !== asked) return null;
          const sameImage = last?.photo === state.photo && last.turned === state.turned ? last.run : state.turned ? undefined : before;
          const run = await model.look(picture.pixels(state.turned), lab.lookOptions(state, model), sameImage);
          last = { key: keyOf(state), run, photo: state.photo, turned: state.turned };
        }
        return { now: last.run, before: state.turned ? turnedRun(before) : before, picture };
      }, () => mine !== asked);
    }

    function elsewhere(state) {
      const mine = asked;
      const seen = { ...state, photo: state.other, turned: false, hidden: [] };
      return queue(async () => {
        const picture = await album.get(seen.photo);
        if (lab.isUntouched(seen)) return { now: await untouched(seen.photo, picture), picture };
        if (other?.key !== keyOf(seen)) {
          const run = await model.look(picture.pixels(false), lab.lookOptions(seen, model), kept.get(seen.photo));
          other = { key: keyOf(seen), run };
        }
        return { now: other.run, picture };
      }, () => mine !== asked);
    }

    /** Returns a run's tokens, norms and saliency turned upside down. */
    function turnedRun(run) {
      const made = {};
      return {
        tokens: (block) => (made[block] ??= lab.turned(run.tokens(block), model.dim, 1)),
        norms: (block) => lab.turned(run.norms(block)),
        saliency: lab.turned(run.saliency), // row by row, so turning all of it turns the picture
      };
    }

    return {
      look, elsewhere,
      forget(name) {
        kept.delete(name);
        if (last?.photo === name) last = null;
      },
    };
  }

  Object.assign(lab, { photographSession });
})();
