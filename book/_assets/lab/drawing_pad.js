// A pad on which a digit is drawn with the mouse, a finger or the arrow keys.
(() => {
  "use strict";
  const lab = (globalThis.vitLab ??= {});
  const SIDE = 144; // units; CSS pixels if there is room
  const PEN = 16; // units wide
  const KEY = 1 / 24; // share of the side that a key press moves
  const EDGE = 1 / 16; // share of the side at which the arrow keys stop
  const START = { row: 1 / 4, column: 1 / 2, down: false }; // the pen at the start

  function drawingPad(source) {
    const { el, button } = lab;
    const strokes = []; // lists of points [row, column], in shares of the pad
    const pen = { ...START };
    const canvas = el("canvas", { class: "vl-pad" });
    const board = el("div", {
      class: "vl-focus",
      tabindex: 0,
      role: "application",
      "aria-roledescription": "drawing pad",
      "aria-label": "Drawing pad. Arrow keys move the pen, the space bar lowers and lifts it.",
    }, canvas);

    function lower() {
      pen.down = true;
      strokes.push([[pen.row, pen.column]]);
    }

    function move(row, column) {
      [pen.row, pen.column] = [row, column];
      if (pen.down) strokes.at(-1).push([row, column]);
    }

    function show() {
      const c = lab.context(canvas, SIDE, SIDE);
      c.fillStyle = "#000";
      c.fillRect(0, 0, SIDE, SIDE);
      c.strokeStyle = "#fff";
      c.lineWidth = PEN;
      c.lineCap = c.lineJoin = "round";
      for (const stroke of strokes) {
        c.beginPath();
        for (const [row, column] of [stroke[0], ...stroke]) c.lineTo(column * SIDE, row * SIDE);
        c.stroke();
      }
      c.strokeStyle = "#ffe800";
      c.lineWidth = pen.down ? 3 : 1;
      c.strokeRect(pen.column * SIDE - 6, pen.row * SIDE - 6, 12, 12);
      const digit = lab.digitFromStrokes(strokes);
      if (digit) source.set({ drawn: digit });
    }

    const at = (event) => {
      const area = canvas.getBoundingClientRect();
      return [(event.clientY - area.top) / area.height, (event.clientX - area.left) / area.width].map((share) => lab.clamp(share, 0, 1));
    };
    canvas.addEventListener("pointerdown", (event) => {
      canvas.setPointerCapture(event.pointerId);
      [pen.row, pen.column] = at(event);
      lower();
      show();
    });
    canvas.addEventListener("pointermove", (event) => {
      if (!canvas.hasPointerCapture(event.pointerId)) return;
      move(...at(event));
      show();
    });
    for (const end of ["pointerup", "pointercancel"]) canvas.addEventListener(end, () => {
      pen.down = false;
      show();
    });
    board.addEventListener("keydown", (event) => {
      const step = { ArrowUp: [-KEY, 0], ArrowDown: [KEY, 0], ArrowLeft: [0, -KEY], ArrowRight: [0, KEY] }[event.key];
      if (event.key === " ") {
        if (pen.down) pen.down = false;
        else lower();
      } else if (step) move(...[pen.row + step[0], pen.column + step[1]].map((share) => lab.clamp(share, EDGE, 1 - EDGE)));
      else return;
      event.preventDefault();
      show();
    });
    const wipe = button("Wipe", () => {
      strokes.length = 0;
      Object.assign(pen, START);
      show();
      source.set({ drawn: new Float64Array(64) });
    });
    show();
    return el("div", { class: "vl-row vl-pad-card", hidden: true }, board,
      el("div", { class: "vl-beside" }, wipe,
        el("p", { class: "vl-note" }, "Any size will do: it is scaled to the box. Keys: arrows move the pen, space lowers it.")));
  }

  Object.assign(lab, { drawingPad });
})();
