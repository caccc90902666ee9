// The stage: the image, what each head of each block looks at, and what the model answers.
(() => {
  "use strict";
  const lab = (globalThis.vitLab ??= {});
  const OF_A_PATCH = "1.mean"; // falls on the board while a patch asks and no map is chosen
  const STRIP = 208; // units of the picture of the tokens

  /**
   * show: "all", or "heads" without the rollout and the switches for weights and positions.
   * whole: the lab's own page, with bets and an address that carries the state.
   */
  function attentionPanel(source, { show = "all", whole = false } = {}) {
    const { el, labelled, choice, button, percent } = lab;
    const { heads: h, depth, classes, measured, gridSize: [rows, columns], width: D } = lab.model("trained");
    const T = rows * columns + 1;
    const switches = { weights: "trained", shuffled: false, off: new Set(), head: null, asks: 0 };
    const pointed = { head: null, token: null }; // at, just now
    let result = null;
    let ran = null; // the state that the result is of
    let before = null; // the answer before the last change, and the kind of that change
    let changes = null;
    let change = "";

    const announcer = lab.announcer();
    const token = () => pointed.token ?? switches.asks;
    const head = () => pointed.head ?? switches.head ?? (token() === 0 ? null : OF_A_PATCH);
    const state = () => ({ ...source.state, ...switches, off: [...switches.off].sort() });

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
    const told = el("p", { class: "vl-told vl-note", role: "status" });
    const tell = (words) => { told.textContent = words; };

    const maps = lab.headMaps({
      withRollout: show !== "heads",
      look: (name) => {
        if (name === pointed.head) return;
        pointed.head = name;
        refresh();
      },
      choose: (name) => {
        switches.head = name === switches.head ? null : name;
        refresh();
        announcer.say(looksInWords());
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
    const strip = el("canvas", { class: "vl-strip", role: "img" });
    const stripScale = lab.colourBar(lab.diverging);
    const showGrid = el("input", { type: "checkbox", checked: true, onchange: refresh });
    const showBox = el("input", { type: "checkbox", checked: true, onchange: refresh });

    /** Fetches what is not there yet; says so, and keeps what was, if it does not come. */
    async function changeWeights(name) {
      try {
        await lab.fetch(name);
        switches.weights = name;
        return true;
      } catch (error) {
        weights.value = switches.weights;
        tell(`${error.message}. Choose again to try again.`);
        return false;
      }
    }

    /** Shows a whole state. Gives what is then to be seen, or null where weights do not come. */
    async function showState({ weights: name, shuffled: isShuffled, off, head: chosen, asks, ...scene }, { compared = false } = {}) {
      if (!(await changeWeights(name))) return null;
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
      const key = lab.formatAddress({ ...now, head: null, asks: 0 });
      if (ran?.key === key) return refresh();
      const was = result?.answer;
      const steps = {};
      result = lab.forward(lab.model(switches.weights), source.image(), {
        shuffled: switches.shuffled,
        off: switches.off,
        watch: (name, _, values) => { steps[name] = values; },
      });
      result.steps = steps;
      result.tokens = steps.embed;
      result.answer = lab.answerOf(result.logits);
      result.means = result.weights.map((block) => lab.averageHeads(block, h, T));
      result.rollout = lab.rollout(result.weights, h, T);
      const what = ran ? lab.whatChanged(ran.state, now) : null;
      if (!what) before = null;
      else if (!(what.goesOn && what.kind === changes)) before = was; // a drag is one change
      changes = what?.kind;
      ran = { key, state: now };
      change = before ? lab.changeInWords(what.words, before, result.answer) : "";
      const said = refresh();
      announcer.say([change || said, source.where()].join(" "));
    }

    function mapOf(name) {
      if (name === "rollout") return lab.toPatches(lab.row(result.rollout, 0, token(), T));
      const [block, index] = name.split(".");
      return lab.toPatches(index === "mean"
        ? lab.row(result.means[block], 0, token(), T) : lab.row(result.weights[block], Number(index), token(), T));
    }

    /** What a head's block has computed. */
    function insideOf(name) {
      const [q, k, v, scores, weights] = ["q", "k", "v", "scores", "weights"].map((step) => result.steps[`blocks.${name?.[0]}.attn.${step}`]);
      return { q, k, v, scores, weights, T };
    }

    function inBox(shares) {
      return lab.massInside(shares, source.box(), lab.model("trained"));
    }

    function boardShows() {
      return {
        shares: result && head() ? mapOf(head()) : null,
        token: token(), showGrid: showGrid.checked, showBox: showBox.checked,
      };
    }

    function looksInWords(hint = true) {
      const point = matchMedia("(hover: none)").matches ? "Touch" : "Point at";
      if (!head()) return `${point} a map: it falls on the image as light. ${point} a patch to see where that patch looks.`;
      const shares = mapOf(head());
      const below = hint && lab.isHead(switches.head) && !pointed.head ? " Its numbers are below." : "";
      return `${capital(lab.mapName(head()))}: ${percent(inBox(shares))} inside the box, ${percent(Math.max(...shares))} on one patch.${below}`;
    }

    function paintStrip() {
      const c = lab.context(strip, STRIP, 3 * T);
      const { colour, high } = lab.colouring(result.tokens);
      c.drawImage(lab.pixels(result.tokens, T, result.tokens.length / T, colour), 0, 0, STRIP, 3 * T);
      lab.frame(c, 1, 3 * token(), STRIP - 2, 3);
      stripScale.show(`−${high.toFixed(1)}`, high.toFixed(1));
      strip.setAttribute("aria-label", `The ${T} tokens as ${T} rows of ${D} numbers, from ${(-high).toFixed(1)} in blue to ${high.toFixed(1)} in red. Framed: ${lab.tokenName(token())}.`);
    }

    /** Everything that is seen, from the last result. Gives the answer in words. */
    function refresh() {
      if (!result) return "";
      board.paint();
      looks.textContent = looksInWords();
      looks.classList.toggle("vl-hint", !head());
      maps.paint({
        mapOf, inBox, box: source.box(), chosen: switches.head, shown: head(), off: switches.off,
        title: `Where ${lab.tokenName(token())} looks (% in the box)`,
      });
      const said = verdict.show(result.answer, source.label);
      bars.show(result.answer, source.label, before);
      changed.textContent = change;
      accuracy.show(switches);
      shuffled.checked = switches.shuffled;
      weights.value = switches.weights;
      offCount.textContent = `${switches.off.size} of ${depth * h} heads off.`;
      allOn.hidden = switches.off.size === 0;
      paintStrip();
      inside.show(switches.head, insideOf(switches.head), token(), source.image());
      keeper?.write();
      return said;
    }

    const says = el("div", { class: "vl-says" }, verdict.element,
      ...(show === "heads" ? [] : [el("div", { class: "vl-switches", role: "group", "aria-label": "Take something away" },
        labelled("shuffle the positions", shuffled), labelled("Weights", weights))]));
    const bets = whole ? lab.challengeCard({ show: showState, measured }) : null;
    const keeping = whole ? lab.keepingButtons({
      state,
      reset: () => {
        tell("");
        showGrid.checked = showBox.checked = true;
        return bets.open(0);
      },
      paint: () => lab.picture(source, boardShows(), result.answer, [refresh(), change, head() ? looksInWords(false) : ""].filter(Boolean)),
      tell,
    }) : "";
    const stage = el("div", { class: "vl-panel vl-attention" },
      bets?.element ?? "",
      el("div", { class: "vl-top" }, board.element, says),
      looks,
      el("div", { class: "vl-heads" }, maps.element),
      el("div", { class: "vl-answers" }, bars.element, changed, allOn, accuracy.element),
      lab.toolbar(source, el("div", { class: "vl-row" }, labelled("patches", showGrid), labelled("true box", showBox))),
      keeping,
      told,
      announcer.element);
    const below = el("div", { class: "vl-panel vl-below" }, inside.element,
      el("div", {}, strip, stripScale.element),
      el("div", {}, el("h3", {}, "All the tokens"),
        el("p", {}, `What enters block 0: ${T} rows of ${D} numbers each, the class token’s first. The row of the token that looks is framed.`)));
    const element = el("div", {}, stage, below);

    const keeper = whole ? lab.addressKeeper({ state, show: showState, tell }) : null;
    source.onChange(lab.whenSeen(element, run));
    run();
    keeper?.read();
    return element;
  }

  function capital(words) {
    return words[0].toUpperCase() + words.slice(1);
  }

  Object.assign(lab, { attentionPanel });
})();
