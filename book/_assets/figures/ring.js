// Chapter 12: sends the pieces of four vectors round a ring, turn by turn, as it should be and with a known bug.
(() => {
  "use strict";
  const figures = (globalThis.vitFigures ??= {});

  /** Returns what each process holds at the start and after each turn, and what has just arrived there. */
  function turned(start, ownFirst) {
    const count = start.length;
    const found = [{ held: start, sent: [] }];
    for (const adds of [true, false]) {
      for (let turn = 0; turn < count - 1; turn++) {
        const { held } = found.at(-1);
        const after = held.map((own) => [...own]);
        const sent = held.map((_, rank) => {
          const left = (rank + count - 1) % count;
          const piece = (left - turn - (adds && !ownFirst ? 1 : 0) + 2 * count) % count;
          const [had, came] = [held[rank][piece], held[left][piece]];
          after[rank][piece] = adds ? had + came : came;
          return { left, piece, came, had, adds };
        });
        found.push({ held: after, sent });
      }
    }
    return found;
  }

  function start(figure) {
    const { start: begin, corners, room, row } = figure.numbers;
    const count = begin.length;
    const turns = count - 1; // of one trip
    const sums = begin[0].map((_, piece) => begin.reduce((sum, own) => sum + own[piece], 0));
    let [now, ownFirst, followed] = [0, false, null];
    let states = turned(begin, ownFirst);

    const place = (rank, piece) => [corners[rank][0] + room[0] / 2, corners[rank][1] + row[0] + piece * row[1] + 16];

    /** Writes all pieces; those that have just arrived say how they came about. */
    function write() {
      const { held, sent } = states[now];
      held.forEach((own, rank) => own.forEach((number, piece) => {
        const part = figure.part(`piece-${rank}-${piece}`);
        const news = sent[rank]?.piece === piece ? sent[rank] : null;
        figure.write(`piece-${rank}-${piece}`, news?.adds ? `${news.had} + ${news.came} = ${number}` : `${number}`);
        part.classList.toggle("ring-fresh", news !== null);
        part.classList.toggle("ring-full", number === sums[piece]);
        part.style.opacity = followed === null || followed === piece ? 1 : 0.4;
      }));
    }

    /** Draws the pieces on their way, from 0 to 1. */
    function travel(t) {
      states[now].sent.forEach(({ left, piece, came }, rank) => {
        const part = figure.part(`sent-${rank}`);
        const [[x1, y1], [x2, y2]] = [place(left, piece), place(rank, piece)];
        part.style.transform = `translate(${x1 - 27 + (x2 - x1) * t}px, ${y1 - 12 + (y2 - y1) * t}px)`;
        part.style.display = t < 1 && (followed === null || followed === piece) ? "" : "none";
        part.querySelector("text").textContent = came;
      });
      if (t === 1) write();
    }

    function sentence() {
      const { held, sent } = states[now];
      if (now === 0 && ownFirst) return "The bug: on the first trip, too, each process begins by sending its own piece.";
      if (now === 0) return "Each process has a vector in four pieces. In every turn each sends one piece to the next.";
      if (now === 2 * turns) {
        const right = held.every((own) => own.every((number, piece) => number === sums[piece]));
        return right ? "All four hold all four sums. Each process has sent six pieces, one and a half vectors."
          : `Done, and wrong: process 0 has ${figures.listed(held[0].map(String))}, because the second trip handed round sums that were not complete.`;
      }
      const rank = Math.max(0, sent.findIndex(({ piece }) => piece === (followed ?? 0)));
      const { left, piece, came, had, adds } = sent[rank];
      const end = now === turns ? ` Now each process holds the complete sum of one piece${ownFirst ? ", but not of its own" : ", its own"}.` : "";
      return adds ? `Process ${left} sends ${came}, its piece ${piece}, and process ${rank} adds its ${had}: ${had + came}.${end}`
        : `Process ${left} sends ${came}, and process ${rank} keeps it in place of its ${had}.`;
    }

    function go(turn) {
      const forward = turn === now + 1;
      figure.tween(() => {}, 0); // ends a motion that is still on its way
      now = turn;
      figure.write("trip", now === 0 ? "At the start" : now <= turns ? `First trip: add up, turn ${now}` : `Second trip: hand out, turn ${now - turns}`);
      figure.write("sent", `sent: ${now} of ${2 * turns} pieces`);
      figure.svg.setAttribute("aria-label", `An all-reduce in a ring of four processes, after turn ${now} of ${2 * turns}${ownFirst ? ", with the bug" : ""}.`);
      figure.say(sentence());
      if (forward) figure.tween(travel, 1100);
      else travel(1);
      if (now === 0) write();
    }

    for (let rank = 0; rank < count; rank++) figure.part(`sent-${rank}`).style.display = "none";
    const show = figure.steps({ count: 2 * turns + 1, show: go, seconds: 2.2 });
    const follow = figure.button("Follow piece 0", () => {
      followed = followed === null ? 0 : followed + 1 < count ? followed + 1 : null;
      follow.textContent = followed === null ? "Follow piece 0" : followed + 1 < count ? `Follow piece ${followed + 1}` : "Show all";
      write();
      figure.say(sentence());
    });
    const bug = figure.button("With a bug", () => {
      ownFirst = !ownFirst;
      states = turned(begin, ownFirst);
      bug.setAttribute("aria-pressed", ownFirst);
      show(0);
    });
    bug.setAttribute("aria-pressed", false);
  }

  Object.assign(figures, { turned, ring: start });
})();
