// Runs the model once for a state of the stage; the maps are then read from that run.

import { formatAddress } from "./address.js";
import { answerOf, changeInWords } from "./answer.js";
import { whatChanged } from "./changes.js";
import { averageHeads, rollout, toPatches, tokenRow } from "./maps.js";
import { forward, roomFor } from "./model.js";
import { modelOf } from "./weights.js";

/** @import { Answer, LabState, Numbers, Room, Source, Votes } from "./types.d.ts" */

/**
 * Makes an object that runs the model and compares each run with the one before. It holds answer; said, the answer
 * after each block; room, the arrays of the run; mapOf(name, token); change, in words; before, the answer that it is
 * compared with, or null; and dragged, whether the change is one of many in a row.
 * @param {Source} source
 */
export function runs(source) {
  const { heads: h, depth, gridSize: [rows, columns] } = modelOf("trained");
  const T = rows * columns + 1;
  /** @type {Record<string, Room>} */
  const rooms = {}; // one for each model
  const means = Array.from({ length: depth }, () => new Float64Array(T * T)); // over each block's heads that are on
  /**
   * @type {{
   *   answer: Answer | null, said: Answer[], room: Room | null, change: string, before: Answer | null,
   *   dragged: boolean,
   *   votes: Votes | null,
   * }}
   */
  const run = { answer: null, said: [], room: null, change: "", before: null, dragged: false, votes: null };
  /** @type {{ state: LabState, key: string } | null} */
  let last = null; // the last run
  /** @type {string | null | undefined} */
  let kind = null; // kind of the last change

  /** @type {(state: LabState) => string} */
  const keyOf = (state) => formatAddress({ ...state, head: null, asks: 0, votes: false });

  return Object.assign(run, {
    /** @type {(state: LabState) => boolean} */
    isOf: (state) => last?.key === keyOf(state),

    /**
     * Ends a drag; unless compared is true, the next run is not compared with this one.
     * @type {(how: { compared: boolean }) => void}
     */
    rest({ compared }) {
      kind = null;
      if (!compared) last = null;
    },

    /**
     * Runs the model for a state, and returns whether there was a run before it to compare it with.
     * @type {(state: LabState) => boolean}
     */
    compute(state) {
      const was = run.answer;
      const model = modelOf(state.weights);
      const room = (rooms[state.weights] ??= roomFor(model));
      forward(model, source.image(), { shuffled: state.shuffled, off: new Set(state.off), room });
      means.forEach((mean, block) => averageHeads(room.weights[block], headsOn(state.off, block, h), T, mean));
      const said = room.blocks.map(({ logits }) => answerOf(logits)); // the last one is the model's answer
      Object.assign(run, { room, said, answer: said[depth - 1], votes: null });
      const what = last && whatChanged(last.state, state);
      if (!what) run.before = null;
      else if (!(what.goesOn && what.kind === kind)) run.before = was; // a whole drag is one change
      kind = what?.kind;
      run.dragged = what?.goesOn ?? false;
      run.change = run.before && what ? changeInWords(what.words, run.before, said[depth - 1]) : "";
      const isFirst = last === null;
      last = { state, key: keyOf(state) };
      return !isFirst;
    },

    /**
     * Returns a token's attention to the patches: of a head ("2.0"), a block's mean ("2.mean"), or the "rollout".
     * @type {(name: string, token: number) => Numbers}
     */
    mapOf(name, token) {
      if (name === "rollout") return toPatches(rollout(means, token, T));
      const [block, index] = name.split(".");
      if (!run.room) throw new Error("mapOf: got no run, expected one");
      const table = index === "mean" ? means[Number(block)] : run.room.weights[Number(block)];
      return toPatches(tokenRow(table, index === "mean" ? 0 : Number(index), token, T));
    },
  });
}

/**
 * Returns the indices of a block's heads that are on.
 * @type {(off: Iterable<string>, block: number, heads: number) => number[]}
 */
export function headsOn(off, block, heads) {
  const names = new Set(off);
  return Array.from({ length: heads }, (_, head) => head).filter((head) => !names.has(`${block}.${head}`));
}
