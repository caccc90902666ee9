// The image: choose or draw a digit, drag it, change what is behind and around it.
(() => {
  "use strict";
  const lab = (globalThis.vitLab ??= {});
  const SIDE = 320; // CSS pixels of the board
  const PAD = 48; // cells of the drawing pad
  const START = { row: PAD / 4, column: PAD / 2, down: false }; // where its pen is

  /** What is in the image, shared by all panels of a page; they are told when it changes. */
  function createScene() {
    const { digits, labels, grounds, textureSize } = lab.pictures();
    const random = lab.seededRandom(1);
    const listeners = [];
    const scene = {
      digit: digits[labels.indexOf(3)],
      label: 3,
      top: 4,
      left: 12,
      ground: null,
      groundName: "grass",
      scraps: [],
    };

    const api = {
      scene,
      onChange(listener) {
        listeners.push(listener);
      },
      changed() {
        for (const listener of listeners) listener(scene);
      },
      image: () => lab.compose(scene),
      box: () => ({ top: scene.top, left: scene.left, bottom: scene.top + lab.DIGIT, right: scene.left + lab.DIGIT }),
      where: () => `The box begins in row ${scene.top}, column ${scene.left} of the pixels.`,
      choose(label) {
        const same = labels.flatMap((other, i) => (other === label ? [i] : []));
        const now = digits.indexOf(scene.digit);
        const next = same[(same.indexOf(now) + 1) % same.length];
        scene.digit = digits[next];
        scene.label = label;
        api.changed();
      },
      draw(digit) {
        scene.digit = digit;
        scene.label = null;
        api.changed();
      },
      move(top, left) {
        const snap = (value) => lab.STEP * Math.round(lab.clamp(value, 0, lab.IMAGE - lab.DIGIT) / lab.STEP);
        [top, left] = [snap(top), snap(left)];
        if (top === scene.top && left === scene.left) return;
        scene.top = top;
        scene.left = left;
        for (const scrap of scene.scraps) {
          const others = scene.scraps.filter((other) => other !== scrap);
          if (!lab.isClear(scrap, top, left)) lab.placeScrap(scrap, top, left, random, others);
        }
        api.changed();
      },
      cutGround(name) {
        scene.groundName = name;
        const [rows, columns] = textureSize;
        const place = (length) => Math.floor(random() * (length - lab.IMAGE));
        scene.ground = name === "none" ? null
          : { pixels: grounds[name], rows, columns, top: place(rows), left: place(columns) };
        api.changed();
      },
      setScraps(count) {
        count = lab.clamp(count, 0, 8);
        while (scene.scraps.length > count) scene.scraps.pop();
        while (scene.scraps.length < count) {
          scene.scraps.push(lab.makeScrap(digits, scene.top, scene.left, random, scene.scraps));
        }
        api.changed();
      },
    };
    api.cutGround(scene.groundName);
    api.setScraps(3);
    return api;
  }

  /**
   * The board and its controls.
   *
   * overlay(): a share for each patch, to lay over the image, or null.
   * below: what stands under the board.
   */
  function stage(source, overlay = null, below = "") {
    const { el, labelled, choice, button } = lab;
    const { scene } = source;
    const [rows, columns] = lab.model("trained").gridSize;
    const canvas = el("canvas", { class: "vl-board" });
    const handle = el("div", { class: "vl-handle" });
    const board = el("div", {
      class: "vl-focus",
      tabindex: 0,
      role: "application",
      "aria-roledescription": "image",
      "aria-label": "The image. Arrow keys move the digit; with a mouse or finger, drag it.",
    }, canvas, handle);
    const showGrid = el("input", { type: "checkbox", checked: true, onchange: paint });
    const showBox = el("input", { type: "checkbox", checked: true, onchange: paint });
    const showMap = el("input", { type: "checkbox", onchange: paint });

    // A mouse may press anywhere; a finger takes the digit, and beside it scrolls the page.
    let grip = null; // where in the box the pointer holds it, in image pixels
    const at = (event) => {
      const area = canvas.getBoundingClientRect();
      return [((event.clientY - area.top) / area.height) * lab.IMAGE, ((event.clientX - area.left) / area.width) * lab.IMAGE];
    };
    board.addEventListener("pointerdown", (event) => {
      if (event.target !== handle && event.pointerType === "touch") return;
      const [y, x] = at(event);
      grip = event.target === handle ? [y - scene.top, x - scene.left] : [lab.DIGIT / 2, lab.DIGIT / 2];
      board.setPointerCapture(event.pointerId);
      source.move(y - grip[0], x - grip[1]);
    });
    board.addEventListener("pointermove", (event) => {
      if (!grip) return;
      const [y, x] = at(event);
      source.move(y - grip[0], x - grip[1]);
    });
    for (const end of ["pointerup", "pointercancel"]) board.addEventListener(end, () => { grip = null; });
    board.addEventListener("keydown", (event) => {
      const step = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] }[event.key];
      if (!step) return;
      event.preventDefault();
      source.move(scene.top + lab.STEP * step[0], scene.left + lab.STEP * step[1]);
    });

    const digitButtons = Array.from({ length: 10 }, (_, label) =>
      button(String(label), () => source.choose(label), { "aria-label": `digit ${label}, press again for another one`, "aria-pressed": "false" }));
    const pad = drawingPad(source);
    const drawButton = button("Draw one", () => {
      pad.hidden = !pad.hidden;
      drawButton.setAttribute("aria-expanded", String(!pad.hidden));
    }, { "aria-expanded": "false" });
    const ground = choice(
      [["brick", "brick"], ["grass", "grass"], ["gravel", "gravel"], ["none", "black"]],
      (name) => source.cutGround(name));
    const anotherPiece = button("Cut another piece", () => source.cutGround(scene.groundName));
    const scraps = el("input", {
      type: "number", min: 0, max: 8, inputmode: "numeric",
      onchange: () => source.setScraps(Math.round(Number(scraps.value)) || 0),
    });

    function paint() {
      const c = lab.context(canvas, SIDE, SIDE);
      c.drawImage(lab.pixels(source.image(), lab.IMAGE, lab.IMAGE, lab.grey), 0, 0, SIDE, SIDE);
      const shares = showMap.checked && overlay();
      if (shares) {
        const { colour } = lab.colouring(shares);
        c.globalAlpha = 0.6;
        c.drawImage(lab.pixels(shares, rows, columns, colour), 0, 0, SIDE, SIDE);
        c.globalAlpha = 1;
      }
      if (showGrid.checked) lab.gridLines(c, SIDE, rows);
      const unit = SIDE / lab.IMAGE;
      handle.style.top = `${(100 * scene.top) / lab.IMAGE}%`;
      handle.style.left = `${(100 * scene.left) / lab.IMAGE}%`;
      if (showBox.checked) lab.frame(c, scene.left * unit, scene.top * unit, lab.DIGIT * unit, lab.DIGIT * unit, lab.TRUE_BOX);
    }

    function refresh() {
      paint();
      digitButtons.forEach((element, label) => element.setAttribute("aria-pressed", String(scene.label === label)));
      ground.value = scene.groundName;
      anotherPiece.disabled = scene.ground === null;
      scraps.value = scene.scraps.length;
    }
    source.onChange(refresh);
    refresh();

    const element = el("div", { class: "vl-stage" },
      el("div", {}, board, below),
      el("div", { class: "vl-controls" },
        el("fieldset", {}, el("legend", {}, "Digit"), el("div", { class: "vl-row" }, ...digitButtons, drawButton), pad),
        el("fieldset", {}, el("legend", {}, "Around it"),
          el("div", { class: "vl-row" },
            labelled("Background", ground),
            anotherPiece),
          el("div", { class: "vl-row" }, labelled("Distractors", scraps))),
        el("fieldset", {}, el("legend", {}, "Show"), el("div", { class: "vl-row" },
          labelled("patches", showGrid), labelled("true box", showBox),
          overlay ? labelled("chosen map", showMap) : ""))));
    return { element, paint };
  }

  function drawingPad(source) {
    const { el, button } = lab;
    const side = 144;
    const drawn = new Uint8Array(PAD * PAD);
    const pen = { ...START };
    const canvas = el("canvas", { class: "vl-pad" });
    const board = el("div", {
      class: "vl-focus",
      tabindex: 0,
      role: "application",
      "aria-roledescription": "drawing pad",
      "aria-label": "Drawing pad. Arrow keys move the pen, the space bar lowers and lifts it.",
    }, canvas);

    function ink(row, column) {
      const radius = 2.6;
      for (let y = Math.floor(row - radius); y <= row + radius; y++)
        for (let x = Math.floor(column - radius); x <= column + radius; x++) {
          const inside = y >= 0 && y < PAD && x >= 0 && x < PAD;
          if (inside && (y - row) ** 2 + (x - column) ** 2 <= radius ** 2) drawn[y * PAD + x] = 1;
        }
    }

    function stroke(row, column) {
      const steps = Math.ceil(Math.hypot(row - pen.row, column - pen.column)) || 1;
      for (let i = 0; i <= steps; i++) {
        ink(pen.row + ((row - pen.row) * i) / steps, pen.column + ((column - pen.column) * i) / steps);
      }
      [pen.row, pen.column] = [row, column];
    }

    function show() {
      const c = lab.context(canvas, side, side);
      c.drawImage(lab.pixels(drawn, PAD, PAD, (value) => lab.grey(value)), 0, 0, side, side);
      const unit = side / PAD;
      c.strokeStyle = "#ffe800";
      c.lineWidth = pen.down ? 3 : 1;
      c.strokeRect((pen.column - 2) * unit, (pen.row - 2) * unit, 4 * unit, 4 * unit);
      const digit = lab.digitFromDrawing(drawn, PAD);
      if (digit) source.draw(digit);
    }

    const at = (event) => {
      const area = canvas.getBoundingClientRect();
      return [((event.clientY - area.top) / area.height) * PAD, ((event.clientX - area.left) / area.width) * PAD];
    };
    let drawing = false;
    canvas.addEventListener("pointerdown", (event) => {
      drawing = true;
      canvas.setPointerCapture(event.pointerId);
      [pen.row, pen.column] = at(event);
      stroke(pen.row, pen.column);
      show();
    });
    canvas.addEventListener("pointermove", (event) => {
      if (!drawing) return;
      stroke(...at(event));
      show();
    });
    for (const end of ["pointerup", "pointercancel"]) canvas.addEventListener(end, () => { drawing = false; });
    board.addEventListener("keydown", (event) => {
      const step = { ArrowUp: [-2, 0], ArrowDown: [2, 0], ArrowLeft: [0, -2], ArrowRight: [0, 2] }[event.key];
      if (event.key === " ") {
        pen.down = !pen.down;
        if (pen.down) stroke(pen.row, pen.column);
      } else if (step) {
        const [row, column] = [lab.clamp(pen.row + step[0], 2, PAD - 3), lab.clamp(pen.column + step[1], 2, PAD - 3)];
        if (pen.down) stroke(row, column);
        else [pen.row, pen.column] = [row, column];
      } else return;
      event.preventDefault();
      show();
    });
    const wipe = button("Wipe", () => {
      drawn.fill(0);
      Object.assign(pen, START);
      show();
      source.draw(new Float64Array(64));
    });
    const pad = el("div", { class: "vl-row", hidden: true }, board,
      el("div", { class: "vl-beside" }, wipe,
        el("p", { class: "vl-note" }, "Any size will do: it is scaled to the box. Keys: arrows move the pen, space lowers it.")));
    show();
    return pad;
  }

  Object.assign(lab, { createScene, stage });
})();
