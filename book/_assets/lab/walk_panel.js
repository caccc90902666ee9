// One image through the whole model: each step's tensor, its shape and its values.
(() => {
  "use strict";
  const lab = (globalThis.vitLab ??= {});
  const LETTERS = {
    image: "(B, C, H, W)", patches: "(B, N, C·P·P)", patch_embed: "(B, N, D)", cls_token: "(B, T, D)",
    pos_embed: "(1, T, D)", embed: "(B, T, D)", norm1: "(B, T, D)", "attn.q": "(B, h, T, d)", "attn.k": "(B, h, T, d)",
    "attn.v": "(B, h, T, d)", "attn.scores": "(B, h, T, T)", "attn.weights": "(B, h, T, T)", "attn.mixed": "(B, T, D)",
    "attn.proj": "(B, T, D)", residual1: "(B, T, D)", norm2: "(B, T, D)", "mlp.fc1": "(B, T, M)", "mlp.fc2": "(B, T, D)",
    block: "(B, T, D)", norm: "(B, T, D)", class_token: "(B, D)", head: "(B, K)", probabilities: "(B, K)",
  };
  /** What happened in a step, and the chapter that builds it. */
  const stepsOf = ({ imageSize: [H, W], gridSize: [rows, columns], patchSize: [p, q], width: D, heads: h, classes: K, tensors }) => {
    const [N, pixels, d] = [rows * columns, p * q, D / h];
    const [[, [M]]] = tensors.filter(([name]) => name === "blocks.0.mlp.fc1.bias");
    return {
      image: ["The image", `One channel, ${H} × ${W} pixels. Every number is a grey from 0 to 1.`, "01_why_patches"],
      patches: ["Cut into patches", `The training images' mean is subtracted, and the rest divided by their spread. Then the image is cut into ${rows} rows of ${columns} patches. A patch of ${p} × ${q} pixels is a row of ${pixels} numbers.`, "02_patch_embedding"],
      patch_embed: ["Patch embedding", `One matrix makes each patch's ${pixels} numbers a vector of ${D}. Each row is a patch; the strongly coloured ones have ink in them.`, "02_patch_embedding"],
      cls_token: ["Class token in front", `A learned vector is put in front, the same for every image. ${N} patches are ${N + 1} tokens.`, "03_class_token_and_position"],
      pos_embed: ["Positions", "A learned vector for each place. They are the same for every image. The first row is the class token's.", "03_class_token_and_position"],
      embed: ["Tokens with positions", "The sum of the two. This goes into the first block.", "03_class_token_and_position"],
      norm1: ["LayerNorm", "Every token brought to mean 0 and spread 1, then scaled and shifted by learned numbers.", "06_encoder_block"],
      "attn.q": ["Queries", `What each token asks for, ${d} numbers in each of ${h} heads.`, "05_multi_head_attention"],
      "attn.k": ["Keys", "What each token is found by.", "05_multi_head_attention"],
      "attn.v": ["Values", "What each token hands over.", "05_multi_head_attention"],
      "attn.scores": ["Scores", `Each query times each key, divided by √${d}. A row is the token that asks, a column the one that is asked.`, "04_scaled_dot_product_attention"],
      "attn.weights": ["Attention weights", "A softmax makes each row sum to 1.", "04_scaled_dot_product_attention"],
      "attn.mixed": ["Values, mixed", `Each token gets the values of all tokens, its own too, mixed by its weights; the ${h} heads stand side by side, ${h} × ${d} = ${D}.`, "04_scaled_dot_product_attention"],
      "attn.proj": ["Projection", "One more matrix mixes what the heads brought.", "05_multi_head_attention"],
      residual1: ["Added", "The residual connection: what attention found is added to what was there.", "06_encoder_block"],
      norm2: ["LayerNorm", "Every token brought to mean 0 and spread 1 again.", "06_encoder_block"],
      "mlp.fc1": ["MLP, wide", `Each token by itself: ${D} numbers become ${M}, and GELU silences most of those below zero.`, "06_encoder_block"],
      "mlp.fc2": ["MLP, narrow", `${M} numbers become ${D} again.`, "06_encoder_block"],
      block: ["Added: the block's end", "The second residual connection. This goes into the next block.", "06_encoder_block"],
      norm: ["Final norm", "A last LayerNorm.", "07_vision_transformer"],
      class_token: ["The class token", `Its ${D} numbers are all that the classifier gets to see.`, "07_vision_transformer"],
      head: ["Logits", `One number a class, 0 to ${K - 1}.`, "07_vision_transformer"],
      probabilities: ["Probabilities", "A softmax makes them sum to 1.", "07_vision_transformer"],
    };
  };

  const SHUFFLED = "Shuffled among the patches; the class token keeps its own.";

  /** until: the last step that is shown; chapters: where the chapters' pages are. */
  function walkPanel(source, { until = "probabilities", chapters = "../notebooks/" } = {}) {
    const { el, labelled, button } = lab;
    const announcer = lab.announcer();
    const board = lab.board(source);
    const about = stepsOf(lab.model("trained"));
    const room = lab.roomFor(lab.model("trained"));
    const tools = lab.toolbar(source);
    let steps = [];
    let index = 0;

    const shuffled = el("input", { type: "checkbox", onchange: run });
    const slider = el("input", { type: "range", min: 0, step: 1, oninput: () => show(Number(slider.value)) });
    const select = el("select", { onchange: () => show(Number(select.value)) });
    const title = el("h3");
    const shape = el("p", { class: "vl-shape" });
    const words = el("p");
    const canvas = el("canvas", { class: "vl-tensor", role: "img" });
    const legend = el("p", { class: "vl-note" });
    const link = el("a");
    const back = button("Back", () => show(index - 1));
    const next = button("Next", () => show(index + 1));

    function run() {
      steps = [];
      let done = false;
      lab.forward(lab.model("trained"), source.image(), {
        shuffled: shuffled.checked,
        room,
        watch: (name, dimensions, values) => {
          if (!done) steps.push({ name, dimensions, values });
          done ||= name === until;
        },
      });
      if (select.options.length !== steps.length) {
        select.replaceChildren(...steps.map((step, i) => el("option", { value: i }, `${i + 1}. ${titleOf(step)}`)));
      }
      slider.max = steps.length - 1;
      show(index);
    }

    function split(name) {
      const [, block, part] = name.match(/^blocks\.(\d+)\.?(.*)$/) ?? [null, null, name];
      return { block, part: part || "block" };
    }

    function titleOf(step) {
      const { block, part } = split(step.name);
      return block === null ? about[part][0] : `Block ${block}: ${about[part][0].replace("the block's", "its")}`;
    }

    function show(to) {
      index = lab.clamp(to, 0, steps.length - 1);
      const step = steps[index];
      const { part } = split(step.name);
      const [, what, chapter] = about[part];
      const text = part === "pos_embed" && shuffled.checked ? `${what} ${SHUFFLED}` : what;
      slider.value = index;
      slider.setAttribute("aria-valuetext", `step ${index + 1} of ${steps.length}: ${titleOf(step)}`);
      select.value = index;
      back.setAttribute("aria-disabled", index === 0); // and not disabled, which would drop the focus
      next.setAttribute("aria-disabled", index === steps.length - 1);
      title.textContent = `${index + 1}. ${titleOf(step)}`;
      shape.textContent = `(${[1, ...step.dimensions].join(", ")})  ${LETTERS[part]}`;
      words.textContent = text;
      link.textContent = `Built in chapter ${Number(chapter.slice(0, 2))}`;
      link.href = `${chapters}${chapter}.html`;
      const colours = picture(canvas, part, step);
      legend.textContent = colours;
      canvas.setAttribute("aria-label", `A picture of the values after step ${index + 1}, ${titleOf(step)}. ${colours}`);
      announcer.say(`Step ${index + 1}, ${titleOf(step)}. Shape ${[1, ...step.dimensions].join(", ")}. ${text} ${source.where()}`);
    }

    const element = el("div", { class: "vl-panel" },
      el("div", { class: "vl-walk-top" }, board.element, tools.element), tools.pad,
      el("div", { class: "vl-row" }, back, next, labelled("Step", select), labelled("shuffle the positions", shuffled)),
      labelled("Walk through", slider),
      title, shape, words, canvas, legend, el("p", {}, link),
      announcer.element);
    source.onChange(lab.whenSeen(element, run));
    source.onChange(board.paint);
    board.paint();
    run();
    return element;
  }

  /** Draws a step's tensor as what it is. Returns the words that say what the colours mean. */
  function picture(canvas, part, { dimensions, values }) {
    const width = 320;
    if (part === "image") {
      const c = lab.context(canvas, width, width);
      c.drawImage(lab.pixels(values, dimensions[1], dimensions[2], lab.grey), 0, 0, width, width);
      size(canvas, width, width);
      return "Black is 0, white is 1.";
    }
    const colours = lab.colouring(values);
    const { low, high } = colours;
    const scale = low < 0
      ? `Blue is negative, white 0, red positive; the strongest colours are ±${high.toPrecision(2)}.`
      : `Dark is 0, yellow ${high.toPrecision(2)}.`;
    if (part === "patches") {
      const c = lab.context(canvas, width, width);
      c.clearRect(0, 0, width, width);
      const { gridSize: [, columns], patchSize: [p, q] } = lab.model("trained");
      const [count, numbers] = dimensions;
      const pitch = width / columns;
      for (let n = 0; n < count; n++) {
        const patch = lab.pixels(values.subarray(numbers * n, numbers * (n + 1)), p, q, colours);
        c.drawImage(patch, (n % columns) * pitch + 3, Math.floor(n / columns) * pitch + 3, pitch - 6, pitch - 6);
      }
      size(canvas, width, width);
      return `Each patch's ${numbers} numbers, in their place. ${scale}`;
    }
    if (dimensions.length === 1) {
      const [count] = dimensions;
      const few = count <= 10;
      const height = few ? 72 : 32;
      const c = lab.context(canvas, width, height);
      c.drawImage(lab.pixels(values, 1, count, colours), 0, 0, width, 32);
      if (few) {
        c.clearRect(0, 32, width, 40);
        const { color, fontFamily: family } = getComputedStyle(canvas);
        c.fillStyle = color;
        c.font = `13px ${family}`;
        c.textAlign = "center";
        for (let k = 0; k < count; k++) c.fillText(String(k), ((k + 0.5) * width) / count, 49);
        c.font = `10px ${family}`;
        for (let k = 0; k < count; k++) c.fillText(values[k].toFixed(2), ((k + 0.5) * width) / count, 66);
      }
      size(canvas, width, height);
      const most = few ? ` The largest is that of class ${values.indexOf(Math.max(...values))}.` : "";
      return `${count} numbers, side by side. ${scale}${most}`;
    }
    if (dimensions.length === 2) {
      const [rows, columns] = dimensions;
      const height = Math.round((width * rows) / columns);
      const c = lab.context(canvas, width, height);
      c.drawImage(lab.pixels(values, rows, columns, colours), 0, 0, width, height);
      size(canvas, width, height);
      const [down, across] = lab.model("trained").gridSize;
      return `${rows} rows, one ${rows === down * across ? "patch" : "token"} each, of ${columns} numbers. ${scale}`;
    }
    const [h, rows, columns] = dimensions;
    const gap = 8;
    const square = rows === columns;
    const across = square ? 2 : h;
    const side = (width - gap * (across - 1)) / across;
    const tall = square ? side : side * 3;
    const down = Math.ceil(h / across);
    const height = down * tall + gap * (down - 1);
    const c = lab.context(canvas, width, height);
    c.clearRect(0, 0, width, height);
    for (let head = 0; head < h; head++) {
      const tile = lab.pixels(values.subarray(head * rows * columns, (head + 1) * rows * columns), rows, columns, colours);
      c.drawImage(tile, (head % across) * (side + gap), Math.floor(head / across) * (tall + gap), side, tall);
    }
    size(canvas, width, height);
    const order = square ? "heads 0 and 1 above, 2 and 3 below" : "head 0 on the left";
    return `${h} heads, each ${rows} × ${columns}, ${order}. ${scale}`;
  }

  function size(canvas, width, height) {
    canvas.style.aspectRatio = `${width} / ${height}`;
  }

  Object.assign(lab, { walkPanel });
})();
