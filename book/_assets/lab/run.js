// What the model makes of the image in one state of the stage: run once for it, then read map by map.
(() => {
  "use strict";
  const lab = (globalThis.vitLab ??= {});

  /**
   * Runs of the model, each compared with the one before:
   * answer; said, the answer of each block; room, in which it was computed; mapOf(name, token); change, in words;
   * before, the answer that it is compared with, or null; dragged, if the change is one of many in a row.
   */
  function runs(source) {
    const { heads: h, depth, gridSize: [rows, columns] } = lab.model("trained");
    const T = rows * columns + 1;
    const rooms = {}; // of each model
    const means = Array.from({ length: depth }, () => new Float64Array(T * T)); // of each block's heads that are on
    const run = { answer: null, said: [], room: null, change: "", before: null, dragged: false };
    let last = null; // {state, key} that it is of
    let kind = null; // of the last change

    const keyOf = (state) => lab.formatAddress({ ...state, head: null, asks: 0, votes: false });

    return Object.assign(run, {
      isOf: (state) => last?.key === keyOf(state),

      /** What comes next is compared with nothing, if not with this run; and it is no drag going on. */
      rest({ compared }) {
        kind = null;
        if (!compared) last = null;
      },

      /** Gives whether there was a run to compare it with. */
      compute(state) {
        const was = run.answer;
        const model = lab.model(state.weights);
        const room = (rooms[state.weights] ??= lab.roomFor(model));
        lab.forward(model, source.image(), { shuffled: state.shuffled, off: new Set(state.off), room });
        means.forEach((mean, block) => lab.averageHeads(room.weights[block], lab.headsOn(state.off, block, h), T, mean));
        const said = room.blocks.map(({ logits }) => lab.answerOf(logits)); // the last block's is the answer
        Object.assign(run, { room, said, answer: said.at(-1), votes: null });
        const what = last && lab.whatChanged(last.state, state);
        if (!what) run.before = null;
        else if (!(what.goesOn && what.kind === kind)) run.before = was; // a drag is one change
        kind = what?.kind;
        run.dragged = what?.goesOn ?? false;
        run.change = run.before ? lab.changeInWords(what.words, run.before, run.answer) : "";
        const isFirst = last === null;
        last = { state, key: keyOf(state) };
        return !isFirst;
      },

      /** Where a token looks, over the patches: in a head ("2.0"), the mean of a block ("2.mean"), or the "rollout". */
      mapOf(name, token) {
        if (name === "rollout") return lab.toPatches(lab.rollout(means, token, T));
        const [block, index] = name.split(".");
        const table = index === "mean" ? means[block] : run.room.weights[block];
        return lab.toPatches(lab.row(table, index === "mean" ? 0 : Number(index), token, T));
      },
    });
  }

  /** The numbers of those heads of a block that are not off. */
  function headsOn(off, block, heads) {
    const names = new Set(off);
    return Array.from({ length: heads }, (_, head) => head).filter((head) => !names.has(`${block}.${head}`));
  }

  Object.assign(lab, { runs, headsOn });
})();
