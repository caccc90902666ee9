// Runs the model once for a state of the stage; the maps are then read from that run.
(() => {
  "use strict";
  const lab = (globalThis.vitLab ??= {});

  /**
   * Makes an object that runs the model and compares each run with the one before. It holds answer; said, the answer
   * after each block; room, the arrays of the run; mapOf(name, token); change, in words; before, the answer that it is
   * compared with, or null; and dragged, whether the change is one of many in a row.
   */
  function runs(source) {
    const { heads: h, depth, gridSize: [rows, columns] } = lab.model("trained");
    const T = rows * columns + 1;
    const rooms = {}; // one for each model
    const means = Array.from({ length: depth }, () => new Float64Array(T * T)); // over each block's heads that are on
    const run = { answer: null, said: [], room: null, change: "", before: null, dragged: false };
    let last = null; // {state, key} of the last run
    let kind = null; // kind of the last change

    const keyOf = (state) => lab.formatAddress({ ...state, head: null, asks: 0, votes: false });

    return Object.assign(run, {
      isOf: (state) => last?.key === keyOf(state),

      /** Ends a drag; unless compared is true, the next run is not compared with this one. */
      rest({ compared }) {
        kind = null;
        if (!compared) last = null;
      },

      /** Runs the model for a state, and returns whether there was a run before it to compare it with. */
      compute(state) {
        const was = run.answer;
        const model = lab.model(state.weights);
        const room = (rooms[state.weights] ??= lab.roomFor(model));
        lab.forward(model, source.image(), { shuffled: state.shuffled, off: new Set(state.off), room });
        means.forEach((mean, block) => lab.averageHeads(room.weights[block], lab.headsOn(state.off, block, h), T, mean));
        const said = room.blocks.map(({ logits }) => lab.answerOf(logits)); // the last one is the model's answer
        Object.assign(run, { room, said, answer: said.at(-1), votes: null });
        const what = last && lab.whatChanged(last.state, state);
        if (!what) run.before = null;
        else if (!(what.goesOn && what.kind === kind)) run.before = was; // a whole drag is one change
        kind = what?.kind;
        run.dragged = what?.goesOn ?? false;
        run.change = run.before ? lab.changeInWords(what.words, run.before, run.answer) : "";
        const isFirst = last === null;
        last = { state, key: keyOf(state) };
        return !isFirst;
      },

      /** Returns a token's attention to the patches: of a head ("2.0"), a block's mean ("2.mean"), or the "rollout". */
      mapOf(name, token) {
        if (name === "rollout") return lab.toPatches(lab.rollout(means, token, T));
        const [block, index] = name.split(".");
        const table = index === "mean" ? means[block] : run.room.weights[block];
        return lab.toPatches(lab.row(table, index === "mean" ? 0 : Number(index), token, T));
      },
    });
  }

  /** Returns the indices of a block's heads that are on. */
  function headsOn(off, block, heads) {
    const names = new Set(off);
    return Array.from({ length: heads }, (_, head) => head).filter((head) => !names.has(`${block}.${head}`));
  }

  Object.assign(lab, { runs, headsOn });
})();
