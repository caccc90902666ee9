// A pad on which a digit is drawn, with the mouse, a finger or the arrow keys.
(() => {
  "use strict";
  const lab = (globalThis.vitLab ??= {});
  const CELLS = 48;
  const SIDE = 144; // CSS pixels
  const START = { row: CELLS / 4, column: CELLS / 2, down: false }; // where the pen is

  function drawingPad(source) {
    const { el, button } = lab;
    const drawn = new Uint8Array(CELLS * CELLS);
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
          const inside = y >= 0 && y < CELLS && x >= 0 && x < CELLS;
          if (inside && (y - row) ** 2 + (x - column) ** 2 <= radius ** 2) drawn[y * CELLS + x] = 1;
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
      const c = lab.context(canvas, SIDE, SIDE);
      c.drawImage(lab.pixels(drawn, CELLS, CELLS, (value) => lab.grey(value)), 0, 0, SIDE, SIDE);
      const unit = SIDE / CELLS;
      c.strokeStyle = "#ffe800";
      c.lineWidth = pen.down ? 3 : 1;
      c.strokeRect((pen.column - 2) * unit, (pen.row - 2) * unit, 4 * unit, 4 * unit);
      const digit = lab.digitFromDrawing(drawn, CELLS);
      if (digit) source.set({ drawn: digit });
    }

    const at = (event) => {
      const area = canvas.getBoundingClientRect();
      return [((event.clientY - area.top) / area.height) * CELLS, ((event.clientX - area.left) / area.width) * CELLS];
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
        const [row, column] = [lab.clamp(pen.row + step[0], 2, CELLS - 3), lab.clamp(pen.column + step[1], 2, CELLS - 3)];
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
      source.set({ drawn: new Float64Array(64) });
    });
    const pad = el("div", { class: "vl-row", hidden: true }, board,
      el("div", { class: "vl-beside" }, wipe,
        el("p", { class: "vl-note" }, "Any size will do: it is scaled to the box. Keys: arrows move the pen, space lowers it.")));
    show();
    return pad;
  }

  Object.assign(lab, { drawingPad });
})();
