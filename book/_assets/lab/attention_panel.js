// The stage: the image, what each head of each block looks at, and what the model answers.
(() => {
  "use strict";
  const lab = (globalThis.vitLab ??= {});
  const OF_A_PATCH = "1.mean"; // falls on the board while a patch asks and no map is chosen
  const STRIP = 208; // units of the picture of the tokens

  /**
   * show: "all", or "heads" without the rollout and the switches for weights and positions.
   * whole: the lab's own page, with bets, votes and an address that carries the state.
   */
  async function attentionPanel(source, { show = "all", whole = false } = {}) {
    const { el, labelled, choice, button, percent } = lab;
    const { heads: h, depth, classes, measured, gridSize: [rows, columns], width: D } = lab.model("trained");
    const T = rows * columns + 1;
    const switches = { weights: "trained", shuffled: false, off: new Set(), head: null, asks: 0, votes: false };
    const wanted = { weights: "trained", votes: false }; // what may still be on its way
    const pointed = { head: null, token: null }; // at, just now
    const rooms = {}; // of each model, in which it computes
    const means = Array.from({ length: depth }, () => new Float64Array(T * T)); // of each block's heads that are on
    let result = null;
    let ran = null; // the state that the result is of
    let before = null; // the answer before the last change, and the kind of that change
    let changes = null;
    let change = "";
    let dragged = false; // the last change is one of many in a row: the bars go there at once
    let voting = null; // the model whose patches vote, once it is there

    const announcer = lab.announcer();
    const token = () => pointed.token ?? switches.asks;
    const head = () => pointed.head ?? switches.head ?? (token() === 0 ? null : OF_A_PATCH);
    const state = () => ({ ...source.state, ...switches, off: [...switches.off].sort() });
    const headsOn = (block) => Array.from({ length: h }, (_, index) => index).filter((index) => !switches.off.has(`${block}.${index}`));
    const isOff = (name) => switches.off.has(name) || (name.endsWith(".mean") && headsOn(name[0]).length === 0);

    const board = lab.board(source, {
      asked: {
        token: () => switches.asks,
        pick: (picked) => {
          pointed.token = null;
          switches.asks = picked === switches.asks ? 0 : picked;
          refresh();
          announcer.say(`${capital(lab.tokenName(switches.asks))} asks. ${looksInWords()}`);
        },
        point: (at) => {
          if (at === pointed.token) return;
          pointed.token = at;
          refresh();
        },
      },
      shown: boardShows,
    });
    const looks = el("p", { class: "vl-looks" });
    const verdict = lab.verdict();
    const bars = lab.answerBars(classes);
    const changed = el("p", { class: "vl-change" });
    const accuracy = lab.accuracyBar(measured);
    const toast = lab.toast();

    const maps = lab.headMaps({
      withRollout: show !== "heads",
      look: (name) => {
        if (name === pointed.head) return;
        pointed.head = name;
        refresh();
      },
      choose: (name) => {
        const letGo = name === null || name === switches.head;
        switches.head = letGo ? null : name;
        if (letGo) pointed.head = null; // or the focus would hold it
        refresh();
        announcer.say(letGo ? "The map is released." : looksInWords());
      },
      toggle: (name) => {
        if (!switches.off.delete(name)) switches.off.add(name);
        run();
      },
    });

    const shuffled = el("input", { type: "checkbox", onchange: () => {
      switches.shuffled = shuffled.checked;
      run();
    } });
    const weights = choice([["trained", "trained"], ["untrained", "untrained"]], (name) => changeWeights(name).then(run));
    const offCount = el("span");
    const allOn = el("div", { class: "vl-row vl-all-on" }, offCount, button("All heads on", () => {
      const [one] = switches.off;
      switches.off.clear();
      run();
      maps.focus(one); // the button has gone
    }));

    const inside = lab.insidePanel();
    const strip = el("canvas", { class: "vl-strip", role: "img", "aria-label": `The ${T} tokens` }); // more, once it is seen
    const stripScale = lab.colourBar(lab.diverging);
    const tokens = el("div", {}, strip, stripScale.element);
    const showStrip = lab.whenSeen(tokens, paintStrip);
    const showGrid = el("input", { type: "checkbox", checked: true, onchange: refresh });
    const showBox = el("input", { type: "checkbox", checked: true, onchange: refresh });
    const showVotes = el("input", { type: "checkbox", onchange: async () => {
      if (!(await changeVotes(showVotes.checked))) return;
      refresh();
      announcer.say(looksInWords());
    } });

    /** Fetches what is not there yet; says so, and keeps what was, if it does not come. */
    async function changeWeights(name) {
      wanted.weights = name;
      try {
        await lab.fetch(name);
        if (wanted.weights !== name) return false; // something else by now
        switches.weights = name;
        return true;
      } catch (error) {
        wanted.weights = weights.value = switches.weights;
        toast.say(`${error.message}. Choose again to try again.`);
        return false;
      }
    }

    /** The same, for the model whose patches vote. */
    async function changeVotes(isOn) {
      wanted.votes = isOn;
      try {
        if (isOn) voting ??= await lab.voting();
        if (wanted.votes !== isOn) return false;
        switches.votes = isOn;
        return true;
      } catch (error) {
        wanted.votes = showVotes.checked = switches.votes;
        toast.say(`${error.message}. Press again to try again.`);
        return false;
      }
    }

    /** Shows a whole state. Gives what is then to be seen, or null where weights do not come. */
    async function showState({ weights: name, shuffled: isShuffled, off, head: chosen, asks, votes, ...scene }, { compared = false } = {}) {
      if (!(await changeWeights(name)) || !(await changeVotes(votes))) return null;
      Object.assign(switches, { shuffled: isShuffled, off: new Set(off), head: chosen, asks });
      Object.assign(pointed, { head: null, token: null });
      source.set(scene);
      changes = null; // not the last drag going on
      if (!compared) ran = null;
      run();
      const inside = {};
      for (let block = 0; block < depth; block++)
        for (let i = 0; i < h; i++) inside[`${block}.${i}`] = inBox(mapOf(`${block}.${i}`));
      return { ...result.answer, inside };
    }

    function run() {
      const now = state();
      if (ran?.key === keyOf(now)) return refresh();
      compute(now);
      const words = refresh();
      announcer.say([change || words, source.where()].join(" "));
    }

    /** What the result depends on. */
    function keyOf(now) {
      return lab.formatAddress({ ...now, head: null, asks: 0, votes: false });
    }

    function compute(now) {
      const was = result?.answer;
      const model = lab.model(switches.weights);
      const room = (rooms[switches.weights] ??= lab.roomFor(model));
      lab.forward(model, source.image(), { shuffled: switches.shuffled, off: switches.off, room });
      means.forEach((mean, block) => lab.averageHeads(room.weights[block], headsOn(block), T, mean));
      const said = room.blocks.map(({ logits }) => lab.answerOf(logits)); // the last block's is the answer
      result = { room, said, answer: said.at(-1) };
      const what = ran ? lab.whatChanged(ran.state, now) : null;
      if (!what) before = null;
      else if (!(what.goesOn && what.kind === changes)) before = was; // a drag is one change
      changes = what?.kind;
      dragged = what?.goesOn ?? false;
      if (ran) toast.clear();
      ran = { key: keyOf(now), state: now };
      change = before ? lab.changeInWords(what.words, before, result.answer) : "";
    }

    function mapOf(name) {
      if (name === "rollout") return lab.toPatches(lab.rollout(means, token(), T));
      const [block, index] = name.split(".");
      return lab.toPatches(index === "mean"
        ? lab.row(means[block], 0, token(), T) : lab.row(result.room.weights[block], Number(index), token(), T));
    }

    function inBox(shares) {
      return lab.massInside(shares, source.box(), lab.model("trained"));
    }

    /** What the patches vote for, unless a map is looked at; of the same image no more than once. */
    function votes() {
      if (!switches.votes || pointed.head || switches.head) return null;
      result.votes ??= voting.run(source.image());
      return result.votes;
    }

    function boardShows() {
      const voted = result && votes();
      return {
        shares: result && head() && !voted ? mapOf(head()) : null, votes: voted,
        token: token(), showGrid: showGrid.checked, showBox: showBox.checked,
      };
    }

    function looksInWords(hint = true) {
      const point = matchMedia("(hover: none)").matches ? "Touch" : "Point at";
      if (votes()) return lab.votesInWords(votes(), token());
      if (!head()) return `${point} a map: it falls on the image as light. ${point} a patch to see where that patch looks.`;
      if (isOff(head()) && !lab.isHead(head())) return `${capital(lab.mapName(head()))}: all its heads are off.`;
      const shares = mapOf(head());
      const below = hint && lab.isHead(switches.head) && !pointed.head ? " Its numbers are below." : "";
      return `${capital(lab.mapName(head()))}: ${percent(inBox(shares))} inside the box, ${percent(Math.max(...shares))} on one patch.${below}`;
    }

    /** What stands under a picture that is taken along. */
    function pictureInWords() {
      const taken = lab.takenInWords(state());
      const asking = votes() ? looksInWords() : head() ? `${capital(lab.tokenName(token()))} asks. ${looksInWords(false)}` : "";
      const [answer, truth] = [result.answer, source.label];
      return [verdict.show(answer, truth), change, taken && `${capital(taken)}.`, asking].filter(Boolean);
    }

    function paintStrip() {
      const c = lab.context(strip, STRIP, 3 * T);
      const { embed } = result.room;
      const colours = lab.colouring(embed);
      c.drawImage(lab.pixels(embed, T, D, colours), 0, 0, STRIP, 3 * T);
      lab.frame(c, 1, 3 * token(), STRIP - 2, 3);
      const high = colours.high.toFixed(1);
      stripScale.show(`−${high}`, high);
      strip.setAttribute("aria-label", `The ${T} tokens as ${T} rows of ${D} numbers, from −${high} in blue to ${high} in red. Framed: ${lab.tokenName(token())}.`);
    }

    /** Everything that is seen, from the last result. Gives the answer in words. */
    function refresh() {
      if (!result) return "";
      board.paint();
      lab.write(looks, looksInWords());
      looks.classList.toggle("vl-hint", !head() && !votes());
      maps.paint({
        mapOf, inBox, box: source.box(), chosen: switches.head, shown: head(), isOff,
        title: `Where ${lab.tokenName(token())} looks (% in the box)`, said: result.said, truth: source.label,
      });
      const said = verdict.show(result.answer, source.label);
      bars.show(result.answer, source.label, before, { glide: !dragged });
      lab.write(changed, change);
      accuracy.show(switches);
      shuffled.checked = switches.shuffled;
      weights.value = wanted.weights;
      showVotes.checked = wanted.votes;
      lab.write(offCount, `${switches.off.size} of ${depth * h} heads off.`);
      lab.hide(allOn, switches.off.size === 0);
      showStrip();
      inside.show(switches.head, result.room, token(), source.image());
      keeper?.write();
      return said;
    }

    const says = el("div", { class: "vl-says" }, verdict.element,
      ...(show === "heads" ? [] : [el("div", { class: "vl-switches", role: "group", "aria-label": "Take something away" },
        labelled("shuffle the positions", shuffled), labelled("Weights", weights))]));
    const tools = lab.toolbar(source, el("div", { class: "vl-row" }, labelled("patches", showGrid), labelled("true box", showBox),
      ...(whole ? [labelled("votes", showVotes)] : [])));
    const bets = whole ? lab.challengeCard({ show: showState, measured }) : null;
    const keeping = whole ? lab.keepingButtons({
      state,
      reset: () => {
        toast.clear();
        showGrid.checked = showBox.checked = true;
        return bets.restart();
      },
      paint: () => lab.picture(source, boardShows(), result.answer, pictureInWords()),
      tell: toast.say,
    }) : "";
    const stage = el("div", { class: "vl-panel vl-attention" },
      bets?.element ?? "",
      el("div", { class: "vl-top" }, board.element, says),
      looks,
      el("div", { class: "vl-heads" }, maps.element),
      inside.element,
      el("div", { class: "vl-answers" }, bars.element, changed, allOn, accuracy.element),
      tools.element, tools.pad,
      keeping,
      announcer.element);
    const below = el("div", { class: "vl-panel vl-below" }, tokens,
      el("div", {}, el("h3", {}, "All the tokens"),
        el("p", {}, `What enters block 0: ${T} rows of ${D} numbers each, the class token’s first. The row of the token that looks is framed.`)));
    const element = el("div", {}, stage, toast.element, below);

    const keeper = whole ? lab.addressKeeper({ state, show: showState, tell: toast.say }) : null;
    source.onChange(lab.whenSeen(element, () => {
      if (ran.key !== keyOf(state())) run();
    }));
    await lab.pause(); // three short tasks in place of a long one
    compute(state());
    await lab.pause();
    run();
    if (location.hash) keeper?.read();
    return element;
  }

  function capital(words) {
    return words[0].toUpperCase() + words.slice(1);
  }

  Object.assign(lab, { attentionPanel });
})();
