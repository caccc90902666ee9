// What the model says of the image, and what each head of each block looks at.
(() => {
  "use strict";
  const lab = (globalThis.vitLab ??= {});
  const MAP = 56; // CSS pixels of a small map
  const CUT = 208; // of the picture of the patches

  /** show: "all", or "heads" without the rollout and the switches for weights and positions. */
  function attentionPanel(source, { show = "all" } = {}) {
    const { el, labelled, choice, button, percent } = lab;
    const { heads: h, depth, classes, measured, gridSize: [rows, columns], patchSize: [height, width], width: D } = lab.model("trained");
    const N = rows * columns;
    const T = N + 1;
    const state = { weights: "trained", shuffled: false, off: new Set(), token: 0, shown: { block: 2, head: "mean" } };
    let result = null;

    const answer = el("p", { class: "vl-answer" });
    const board = lab.stage(source, () => result && shownMap(), answer);
    const announcer = lab.announcer();

    // What it says
    const bars = Array.from({ length: classes }, (_, k) => {
      const bar = el("span", { class: "vl-bar" });
      const value = el("span", { class: "vl-value" });
      return { bar, value, row: el("li", {}, el("span", { class: "vl-name" }, String(k)), el("span", { class: "vl-track" }, bar), value) };
    });

    // Which token asks
    const cut = el("canvas", { class: "vl-cut" });
    const picker = el("div", {
      class: "vl-focus", tabindex: 0, role: "application", "aria-roledescription": "token picker",
    }, cut);
    const classButton = button("Class token", () => ask(0), { "aria-pressed": "true" });
    cut.addEventListener("pointerdown", (event) => {
      const area = cut.getBoundingClientRect();
      const place = (start, length, at, count) => lab.clamp(Math.floor(((at - start) / length) * count), 0, count - 1);
      ask(1 + columns * place(area.top, area.height, event.clientY, rows) + place(area.left, area.width, event.clientX, columns));
    });
    picker.addEventListener("keydown", (event) => {
      const step = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] }[event.key];
      if (event.key === "Home" || event.key === "Escape") ask(0);
      else if (step && state.token === 0) ask(1);
      else if (step) {
        const [row, column] = placeOf(state.token).map((at, axis) => at + step[axis]);
        if (row >= 0 && row < rows && column >= 0 && column < columns) ask(1 + columns * row + column);
      } else return;
      event.preventDefault();
    });

    const strip = el("canvas", { class: "vl-strip", role: "img" });
    const stripScale = lab.colourBar(lab.diverging);
    strip.addEventListener("pointerdown", (event) => {
      const area = strip.getBoundingClientRect();
      ask(lab.clamp(Math.floor(((event.clientY - area.top) / area.height) * T), 0, N));
    });

    // The maps
    const cells = [];
    const table = el("table", { class: "vl-maps" });
    const names = [...Array.from({ length: h }, (_, head) => head), "mean"];
    table.append(el("caption", {}), el("thead", {}, el("tr", {}, el("td", {}), ...names.map((name) =>
      el("th", { scope: "col" }, name === "mean" ? "mean" : `head ${name}`)))));
    const body = el("tbody");
    for (let block = 0; block < depth; block++) {
      const row = el("tr", {}, el("th", { scope: "row" }, `block ${block}`));
      for (const head of names) {
        const canvas = el("canvas", {});
        const mass = el("span", { class: "vl-mass" });
        const press = button(canvas, () => select(block, head), { class: "vl-map", "aria-pressed": "false" });
        press.append(mass);
        cells.push({ block, head, canvas, mass, press });
        row.append(el("td", {}, press));
      }
      body.append(row);
    }
    table.append(body);
    const rolloutCanvas = el("canvas", {});
    const rolloutMass = el("span", { class: "vl-mass" });
    const rolloutButton = button(rolloutCanvas, () => select("rollout", "mean"), { class: "vl-map", "aria-pressed": "false" });
    rolloutButton.append(rolloutMass);

    const detail = el("canvas", { class: "vl-detail" });
    const detailScale = lab.colourBar(lab.sequential);
    const detailWords = el("p");
    const offSwitch = el("input", { type: "checkbox", onchange: () => {
      const key = `${state.shown.block}.${state.shown.head}`;
      if (offSwitch.checked) state.off.add(key);
      else state.off.delete(key);
      run();
    } });
    const offField = labelled("switch this head off", offSwitch);
    const offHint = el("p", { class: "vl-note" });
    const offCount = el("span");
    const allOn = el("div", { class: "vl-row" }, offCount, button("All heads on", () => {
      state.off.clear();
      run();
      table.querySelector("[aria-pressed=true]").focus(); // the button has gone
    }));

    // The switches
    const weights = choice([["trained", "trained"], ["untrained", "untrained"]], async (name) => {
      try {
        await lab.fetch(name);
        state.weights = name;
        run();
      } catch (error) {
        weights.value = state.weights;
        accuracy.textContent = `${error.message}. Choose again to try again.`;
        announcer.say(accuracy.textContent);
      }
    });
    const shuffled = el("input", { type: "checkbox", onchange: () => {
      state.shuffled = shuffled.checked;
      run();
    } });
    const accuracy = el("p", { class: "vl-note" });

    function ask(token) {
      state.token = token;
      refresh();
    }

    function select(block, head) {
      state.shown = { block, head };
      refresh();
    }

    function run() {
      let tokens;
      result = lab.forward(lab.model(state.weights), source.image(), {
        shuffled: state.shuffled,
        off: state.off,
        watch: (name, _, values) => { if (name === "embed") tokens = values; },
      });
      result.tokens = tokens;
      result.probabilities = lab.softmaxRows(result.logits, 1, classes);
      result.means = result.weights.map((block) => lab.averageHeads(block, h, T));
      result.rollout = lab.rollout(result.weights, h, T);
      refresh();
    }

    function mapOf(block, head) {
      if (block === "rollout") return lab.toPatches(lab.row(result.rollout, 0, state.token, T));
      const [from, index] = head === "mean" ? [result.means[block], 0] : [result.weights[block], head];
      return lab.toPatches(lab.row(from, index, state.token, T));
    }

    function shownMap() {
      return mapOf(state.shown.block, state.shown.head);
    }

    function inBox(shares) {
      return lab.massInside(shares, source.box(), lab.model("trained"));
    }

    /** Row and column of a patch's token. */
    function placeOf(token) {
      return [Math.floor((token - 1) / columns), (token - 1) % columns];
    }

    function tokenName() {
      if (state.token === 0) return "the class token";
      const [row, column] = placeOf(state.token);
      return `the patch in row ${row}, column ${column}`;
    }

    function paintMap({ canvas, mass, press, block, head }) {
      const shares = mapOf(block, head);
      const { colour } = lab.colouring(shares);
      const c = lab.context(canvas, MAP, MAP);
      c.drawImage(lab.pixels(shares, rows, columns, colour), 0, 0, MAP, MAP);
      const box = source.box();
      const unit = MAP / lab.IMAGE;
      c.strokeStyle = "#fff";
      c.lineWidth = 1;
      c.strokeRect(box.left * unit + 0.5, box.top * unit + 0.5, lab.DIGIT * unit - 1, lab.DIGIT * unit - 1);
      const off = state.off.has(`${block}.${head}`);
      press.classList.toggle("vl-off", off);
      mass.textContent = percent(inBox(shares));
      const name = block === "rollout" ? "rollout" : `block ${block}, ${head === "mean" ? "mean of the heads" : `head ${head}`}`;
      press.setAttribute("aria-label", `${name}: ${percent(inBox(shares))} inside the box${off ? ", switched off" : ""}`);
      press.setAttribute("aria-pressed", String(block === state.shown.block && head === state.shown.head));
    }

    function paintCut() {
      const image = source.image();
      const c = lab.context(cut, CUT, CUT);
      c.clearRect(0, 0, CUT, CUT);
      const small = lab.pixels(image, lab.IMAGE, lab.IMAGE, lab.grey);
      const pitch = CUT / columns;
      for (let row = 0; row < rows; row++)
        for (let column = 0; column < columns; column++) {
          c.drawImage(small, width * column, height * row, width, height, column * pitch + 2, row * pitch + 2, pitch - 4, pitch - 4);
        }
      if (state.token > 0) {
        const [row, column] = placeOf(state.token);
        lab.frame(c, column * pitch + 2, row * pitch + 2, pitch - 4, pitch - 4);
      }
    }

    function paintStrip() {
      const c = lab.context(strip, CUT, 3 * T);
      const { colour, high } = lab.colouring(result.tokens);
      c.drawImage(lab.pixels(result.tokens, T, result.tokens.length / T, colour), 0, 0, CUT, 3 * T);
      lab.frame(c, 1, 3 * state.token, CUT - 2, 3);
      stripScale.show(`−${high.toFixed(1)}`, high.toFixed(1));
      strip.setAttribute("aria-label", `The ${T} tokens as ${T} rows of ${D} numbers, from ${(-high).toFixed(1)} in blue to ${high.toFixed(1)} in red. Framed: ${tokenName()}.`);
    }

    function refresh() {
      if (!result) return;
      const best = result.probabilities.indexOf(Math.max(...result.probabilities));
      const level = Math.max(...result.probabilities) - Math.min(...result.probabilities) < 1e-9;
      bars.forEach(({ bar, value, row }, k) => {
        bar.style.transform = `scaleX(${result.probabilities[k]})`;
        value.textContent = percent(result.probabilities[k]);
        row.classList.toggle("vl-best", !level && k === best);
      });
      const said = level ? `It says nothing: all ${classes} digits are equally likely.`
        : `It says ${best}, with ${percent(result.probabilities[best])}.`;
      answer.textContent = said;

      paintCut();
      paintStrip();
      classButton.setAttribute("aria-pressed", String(state.token === 0));
      picker.setAttribute("aria-label", `The patches. Arrow keys choose the one that asks, Home the class token. Now asks ${tokenName()}.`);
      table.caption.textContent = `What ${tokenName()} attends to, and how much of it is inside the true box`;
      for (const cell of cells) paintMap(cell);
      paintMap({ canvas: rolloutCanvas, mass: rolloutMass, press: rolloutButton, block: "rollout", head: "mean" });

      const shares = shownMap();
      const { colour, high } = lab.colouring(shares);
      const c = lab.context(detail, CUT, CUT);
      c.drawImage(lab.pixels(shares, rows, columns, colour), 0, 0, CUT, CUT);
      const unit = CUT / lab.IMAGE;
      const box = source.box();
      lab.frame(c, box.left * unit, box.top * unit, lab.DIGIT * unit, lab.DIGIT * unit, lab.TRUE_BOX);
      const { block, head } = state.shown;
      const isHead = typeof head === "number";
      const title = block === "rollout" ? "Rollout, all blocks" : isHead ? `Block ${block}, head ${head}` : `Block ${block}, mean of its heads`;
      const words = `${title}: ${percent(inBox(shares))} of what ${tokenName()} pays to patches is inside the box. The brightest patch alone gets ${percent(high)}.`;
      detailWords.textContent = words;
      detailScale.show("0", percent(high));
      const off = state.off.size === 0 ? "" : `${state.off.size} of ${depth * h} heads off.`;
      offField.hidden = !isHead;
      offSwitch.checked = state.off.has(`${block}.${head}`);
      offHint.textContent = isHead ? `The head in the blue frame: ${title.toLowerCase()}. A head that is off still has a map, but hands nothing on.`
        : "To switch a head off, press its map.";
      offCount.textContent = off;
      allOn.hidden = off === "";
      accuracy.textContent = accuracyWords();
      board.paint();
      announcer.say([said, words, off, source.where()].filter(Boolean).join(" "));
    }

    function accuracyWords() {
      const start = `On ${measured.images.toLocaleString("en")} test images the trained model is right in ${(100 * measured.trained).toFixed(1)}\u00a0%`;
      const [off] = state.off;
      if (state.weights === "untrained") {
        return state.shuffled || state.off.size ? `${start}.` : `${start}, this one, before its first step, in ${(100 * measured.untrained).toFixed(1)}\u00a0%.`;
      }
      if (state.shuffled && state.off.size === 0) return `${start}, with shuffled positions in ${(100 * measured.shuffled).toFixed(1)}\u00a0%.`;
      if (!state.shuffled && state.off.size === 1) {
        const [block, head] = off.split(".").map(Number);
        return `${start}, without block ${block}'s head ${head} in ${(100 * measured.headOff[block][head]).toFixed(1)}\u00a0%.`;
      }
      return `${start}.`;
    }

    const isWhole = show !== "heads";
    if (isWhole) {
      body.append(el("tr", {}, el("th", { scope: "row" }, "rollout"), el("td", {}, rolloutButton),
        el("td", { colspan: h }, el("p", { class: "vl-note vl-narrow" }, "All blocks’ mean maps, each mixed half and half with the token itself, multiplied."))));
    }
    const switches = el("fieldset", {}, el("legend", {}, "Take something away"),
      ...(isWhole ? [el("div", { class: "vl-row" }, labelled("Weights", weights)), el("div", { class: "vl-row" }, labelled("shuffle the positions", shuffled))] : []),
      el("div", { class: "vl-row" }, offField), offHint, allOn, accuracy);
    const element = el("div", { class: "vl-panel" },
      board.element,
      el("div", { class: "vl-looks" },
        el("section", {}, el("h3", {}, "What it looks at"),
          el("p", {}, "A map for each head: dark is little, yellow the most of that map. Press one to enlarge it."),
          table),
        el("section", {}, el("h3", {}, "What it says"), el("ol", { class: "vl-bars" }, ...bars.map(({ row }) => row)), switches)),
      el("div", { class: "vl-columns" },
        el("section", {}, el("h3", {}, "The chosen map"), detail, detailScale.element, detailWords),
        el("section", {}, el("h3", {}, "Which token asks"), picker, el("div", { class: "vl-row" }, classButton),
          el("p", {}, "The maps show the attention of one token. Press a patch to see its own; the class token is the one that the answer is read from.")),
        el("section", {}, el("h3", {}, "All the tokens"), strip, stripScale.element,
          el("p", {}, `As they enter block 0: ${T} rows of ${D} numbers, the class token’s first. The asking one is framed; press another.`))),
      announcer.element);

    source.onChange(lab.whenSeen(element, run));
    run();
    return element;
  }

  Object.assign(lab, { attentionPanel });
})();
