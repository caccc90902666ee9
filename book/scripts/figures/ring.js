// Chapter 12: sends the pieces of four vectors round a ring, turn by turn, as it should be and with a known bug.

import { listed, move, set, sumOf, upTo } from "../moving/kit.js";
/** @import { Figure, Pair } from "../moving/kit.js" */

/**
 * @typedef {object} Numbers
 * @property {number[][]} start the pieces of each process
 * @property {Pair[]} corners of the processes
 * @property {Pair} room width and height of a process
 * @property {Pair} badge width and height of a piece on its way
 * @property {number} high height of the drawing where it moves
 */
/** @typedef {{left: number, piece: number, came: number, had: number, adds: boolean}} Sent what came from the left */
/** @typedef {{held: number[][], sent: Sent[]}} State what each process holds, and what has just arrived there */

/**
 * Returns the state at the start and after each turn; with the bug both trips begin with a process's own piece.
 * @param {number[][]} start
 * @param {boolean} ownFirst
 */
function turned(start, ownFirst) {
  const count = start.length;
  /** @type {State[]} */
  const states = [{ held: start, sent: [] }];
  for (const adds of [true, false]) {
    for (let turn = 0; turn < count - 1; turn++) {
      const { held } = states[states.length - 1];
      const after = held.map((own) => [...own]);
      const sent = held.map((own, rank) => {
        const left = (rank + count - 1) % count;
        const piece = (left - turn - (adds && !ownFirst ? 1 : 0) + 2 * count) % count;
        const [had, came] = [own[piece], held[left][piece]];
        after[rank][piece] = adds ? had + came : came;
        return { left, piece, came, had, adds };
      });
      states.push({ held: after, sent });
    }
  }
  return states;
}

/** @param {Figure<Numbers>} figure */
function start(figure) {
  const { start: begin, corners, room, badge, high } = figure.numbers;
  const count = begin.length;
  const turns = count - 1; // of one trip
  const sums = begin[0].map((_, piece) => sumOf(begin.map((own) => own[piece])));
  let ownFirst = false;
  let states = turned(begin, ownFirst);
  let now = 0;
  let shown = 0; // the turn on the screen while pieces are on their way
  /** @type {number | null} */
  let followed = null;

  /**
   * Returns a badge's x or y on its way between two processes, where it covers no number.
   * @type {(axis: 0 | 1, from: number, to: number, t: number) => number}
   */
  const place = (axis, from, to, t) => {
    const [begins, way] = [corners[from][axis], corners[to][axis] - corners[from][axis]];
    const beside = way && (Math.sign(way) * (room[axis] + badge[axis])) / 2; // its room, on the side of the arrow
    return begins + (room[axis] - badge[axis]) / 2 + beside + (way - 2 * beside) * t;
  };
  /** @param {number} piece */
  const seen = (piece) => followed === null || followed === piece;

  /** Writes all pieces; those that have just arrived say how they came about. @param {number} turn */
  function write(turn) {
    shown = turn;
    const { held, sent } = states[turn];
    held.forEach((own, rank) => {
      own.forEach((number, piece) => {
        const name = `piece-${rank}-${piece}`;
        const news = sent[rank]?.piece === piece ? sent[rank] : null;
        figure.write(name, news?.adds ? `${news.had} + ${news.came} = ${number}` : String(number));
        const part = figure.part(name);
        part.classList.toggle("ring-fresh", news !== null);
        part.classList.toggle("ring-full", number === sums[piece]);
        part.style.opacity = seen(piece) ? "1" : "0.4";
      });
    });
  }

  /** Draws the pieces on their way, from 0 to 1. @param {number} t */
  function travel(t) {
    states[now].sent.forEach(({ left, piece, came }, rank) => {
      figure.shift(`sent-${rank}`, place(0, left, rank, t), place(1, left, rank, t));
      figure.part(`sent-${rank}`).style.display = t < 1 && seen(piece) ? "" : "none";
      figure.part(`piece-${left}-${piece}`).classList.toggle("ring-sends", t < 1 && seen(piece));
      figure.write(`sent-${rank}`, String(came));
    });
    if (t === 1) write(now);
  }

  /** Returns what happens in the present turn, which it names first. */
  function sentence() {
    const bug = ownFirst ? ", with the bug" : "";
    if (now === 0)
      return ownFirst
        ? "At the start, with the bug: on both trips process 0 begins with piece 0, process 1 with piece 1, and so on."
        : "At the start each process has a vector in four pieces. In every turn each sends one piece along its arrow.";
    const { held, sent } = states[now];
    const turn = `Turn ${now} of ${2 * turns}${bug}: `;
    if (now === 2 * turns)
      return ownFirst
        ? `${turn}all four hold ${listed(held[0].map(String))}, the same and wrong. ` +
            "No piece of the second trip was a sum."
        : `${turn}all four hold the same four sums. Each has sent six pieces, one and a half vectors.`;
    const rank = sent.findIndex(({ piece }) => piece === (followed ?? 0));
    const { left, piece, came, had, adds } = sent[rank];
    if (now === turns) {
      const [also, there] = [piece, rank].map((number) => (number + 1) % count);
      const whole = `Piece ${piece} is whole there, piece ${also} in process ${there}, and so on.`;
      return `${turn}process ${rank} adds ${came} to its ${had}. ${whole}`;
    }
    const sends = `${turn}process ${left} sends ${came} to process ${rank}, which`;
    return adds
      ? `${sends} adds it to its ${had} and now has ${had + came} as piece ${piece}.`
      : `${sends} keeps it as piece ${piece}, in place of its ${had}.`;
  }

  /** @param {number} turn */
  const named = (turn) =>
    turn === 0
      ? "At the start"
      : turn <= turns
        ? `First trip: add up, turn ${turn}`
        : `Second trip: hand out, turn ${turn - turns}`;

  /** @param {number} turn */
  function go(turn) {
    const forward = turn === now + 1;
    now = turn;
    figure.write("trip", named(turn));
    figure.write("sent", `each sent: ${turn} of ${2 * turns} pieces`);
    figure.say(sentence());
    for (const rank of upTo(count)) figure.part(`sent-${rank}`).style.display = "none";
    write(forward ? turn - 1 : turn);
    figure.tween(forward ? travel : () => {}, forward ? 1100 : 0); // ends a motion that is still on its way
  }

  const paper = matchMedia("print"); // where the still picture is higher
  const still = figure.svg.getAttribute("viewBox") ?? "";
  const fit = () => { set(figure.svg, { viewBox: paper.matches ? still : still.replace(/[^ ]+$/, String(high)) }); };
  paper.addEventListener("change", fit);
  fit();

  const show = figure.steps(
    { count: 2 * turns + 1, show: go, label: "turn of the ring", says: named },
    { seconds: 2.2 },
  );
  figure.newRow();
  const pieces = Object.fromEntries(upTo(count).map((piece) => [piece, `Follow piece ${piece}`]));
  figure.select("piece that is followed", { all: "Show all pieces", ...pieces }, "all", (piece) => {
    followed = piece === "all" ? null : Number(piece);
    write(shown);
    figure.say(sentence());
  });
  figure.toggle("With a bug", (pressed) => {
    ownFirst = pressed;
    states = turned(begin, ownFirst);
    show(0);
  });
}

move("ring", start);
