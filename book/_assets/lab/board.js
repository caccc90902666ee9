// The board: the image, with the chosen map as light on it, and lines from the token whose query it is.
(() => {
  "use strict";
  const lab = (globalThis.vitLab ??= {});
  const SIDE = 320; // units of the image; above it is the class token, one patch high
  const FLOOR = 0.5; // share of its light that a patch without attention keeps
  const THICK = 26; // thickness of a line with all of the attention

  /** Returns the height of the class token's row above the image. */
  const rowHeight = () => SIDE / lab.model("trained").gridSize[0];
  const boardSize = (above = rowHeight()) => [SIDE, SIDE + above];

  /** Returns the middle of a token's place on the board; token 0, the class token, is above the patches. */
  function middle(token) {
    const { gridSize: [rows, columns] } = lab.model("trained");
    if (token === 0) return [SIDE / 5, rowHeight() * 0.8];
    const patch = token - 1;
    return [((patch % columns) + 0.5) * (SIDE / columns), (Math.floor(patch / columns) + 0.5) * (SIDE / rows) + rowHeight()];
  }

  /**
   * Paints the board into a context that counts in its units.
   *
   * shares: the attention that the token gives to each patch, or null for the plain image.
   * votes: the patches' votes, or null.
   * above: the height of the class token's row, or 0 if it is not shown.
   */
  function paintBoard(c, source, { shares = null, votes = null, token = 0, showGrid = true, showBox = true, above = rowHeight() } = {}) {
    const { gridSize: [rows, columns] } = lab.model("trained");
    const unit = SIDE / lab.IMAGE;
    c.clearRect(0, 0, ...boardSize(above));
    c.drawImage(lab.pixels(source.image(), lab.IMAGE, lab.IMAGE, lab.grey), 0, above, SIDE, SIDE);
    if (shares) dim(c, shares, rows, columns);
    if (votes) lab.paintVotes(c, votes, middle, SIDE / columns);
    c.save();
    c.translate(0, above);
    if (showGrid) lab.gridLines(c, SIDE, rows, "rgba(255, 255, 255, 0.35)");
    const box = source.box();
    if (showBox) lab.frame(c, box.left * unit, box.top * unit, lab.DIGIT * unit, lab.DIGIT * unit, lab.TRUE_BOX);
    c.restore();
    if (shares) lines(c, shares, token);
    if (token > 0) {
      const [x, y] = middle(token);
      lab.frame(c, x - SIDE / columns / 2, y - SIDE / rows / 2, SIDE / columns, SIDE / rows, lab.ASKING);
    }
  }

  /** Darkens patches with little attention; with the square root, a tenth of the largest share still shows. */
  function dim(c, shares, rows, columns) {
    const most = Math.max(...shares) || 1;
    shares.forEach((share, patch) => {
      c.fillStyle = `rgba(0, 0, 0, ${(1 - FLOOR) * (1 - Math.sqrt(share / most))})`;
      const [x, y] = middle(patch + 1);
      c.fillRect(x - SIDE / columns / 2, y - SIDE / rows / 2, SIDE / columns, SIDE / rows);
    });
  }

  /** Draws a line from the token to each patch, as thick as the patch's share. */
  function lines(c, shares, token) {
    const from = middle(token);
    c.save();
    c.lineCap = "round";
    for (const [style, more] of [["rgba(0, 0, 0, 0.65)", 2], [lab.ASKING, 0]]) {
      c.strokeStyle = style;
      shares.forEach((share, patch) => {
        const width = THICK * share;
        if (width < 0.4) return;
        c.lineWidth = width + more;
        c.beginPath();
        const to = middle(patch + 1);
        if (patch + 1 === token) c.arc(...to, 8, 0, 2 * Math.PI); // the token's own share
        else {
          c.moveTo(...from);
          c.lineTo(...to);
        }
        c.stroke();
      });
    }
    c.restore();
  }

  /**
   * asked: {pick(token), point(token or null), token()} if patches can be chosen, else null.
   * shown(): returns the options of paintBoard.
   */
  function board(source, { asked = null, shown = () => ({}) } = {}) {
    const { el } = lab;
    const { gridSize: [rows, columns] } = lab.model("trained");
    const canvas = el("canvas", { class: "vl-board", "aria-hidden": "true" });
    const handle = el("div", {
      class: "vl-handle", tabindex: 0, role: "application", "aria-roledescription": "digit",
      "aria-label": "The digit in its box. Arrow keys move it.",
    }, el("span", { class: "vl-drag" }, "drag me"));
    const square = el("div", { class: "vl-square" }, handle);
    const place = el("div", { class: asked ? "vl-board-place" : "vl-board-place vl-alone" }, canvas, square);
    const above = asked ? rowHeight() : 0;

    const patchAt = (event) => {
      const area = square.getBoundingClientRect();
      const index = (start, length, at, count) => lab.clamp(Math.floor(((at - start) / length) * count), 0, count - 1);
      return 1 + columns * index(area.top, area.height, event.clientY, rows) + index(area.left, area.width, event.clientX, columns);
    };
    const pixelAt = (event) => {
      const area = square.getBoundingClientRect();
      return [((event.clientY - area.top) / area.height) * lab.IMAGE, ((event.clientX - area.left) / area.width) * lab.IMAGE];
    };

    // The digit is dragged by its box. A press without a move chooses the patch under it.
    let pressed = null;
    square.addEventListener("pointerdown", (event) => {
      if (event.button > 0) return;
      const [y, x] = pixelAt(event);
      pressed = { x: event.clientX, y: event.clientY, grip: handle.contains(event.target) ? [y - source.state.top, x - source.state.left] : null, moved: false };
      if (pressed.grip) square.setPointerCapture(event.pointerId);
    });
    square.addEventListener("pointermove", (event) => {
      if (pressed) {
        pressed.moved ||= Math.hypot(event.clientX - pressed.x, event.clientY - pressed.y) > 4;
        if (!pressed.grip || !pressed.moved) return;
        asked?.point(null); // no patch is pointed at during a drag
        moveTo(...pixelAt(event).map((at, axis) => at - pressed.grip[axis]));
      } else if (event.pointerType !== "touch") asked?.point(patchAt(event));
    });
    square.addEventListener("pointerup", (event) => {
      if (pressed && !pressed.moved) asked?.pick(patchAt(event));
      pressed = null;
    });
    square.addEventListener("pointercancel", () => { pressed = null; });
    square.addEventListener("pointerleave", () => {
      if (!pressed?.grip) pressed = null; // the pointer is released elsewhere
      asked?.point(null);
    });

    const STEPS = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] };
    handle.addEventListener("keydown", (event) => {
      const step = STEPS[event.key];
      if (!step) return;
      event.preventDefault();
      event.stopPropagation();
      moveTo(source.state.top + lab.STEP * step[0], source.state.left + lab.STEP * step[1]);
    });

    function moveTo(top, left) {
      place.classList.add("vl-moved");
      source.move(top, left);
    }

    let classButton = null;
    let patches = null;
    if (asked) {
      patches = el("div", { class: "vl-patches", tabindex: 0, role: "application", "aria-roledescription": "patches" });
      square.prepend(patches);
      patches.addEventListener("keydown", (event) => {
        const step = STEPS[event.key];
        const token = asked.token();
        if (event.key === "Home" || event.key === "Escape") asked.pick(0);
        else if (step && token === 0) asked.pick(1);
        else if (step) {
          const [row, column] = lab.placeOf(token).map((at, axis) => at + step[axis]);
          if (row >= 0 && row < rows && column >= 0 && column < columns) asked.pick(1 + columns * row + column);
        } else return;
        event.preventDefault();
      });
      classButton = lab.button("class token", () => asked.pick(0), { class: "vl-class-token", "aria-pressed": "true" });
      place.append(classButton);
    }

    function paint() {
      const { top, left } = source.state;
      handle.style.transform = `translate(${(100 * left) / lab.DIGIT}%, ${(100 * top) / lab.DIGIT}%)`;
      handle.classList.toggle("vl-low", top + lab.DIGIT > lab.IMAGE - 4); // no room for words below it
      const seen = { ...shown(), above };
      paintBoard(lab.context(canvas, ...boardSize(above)), source, seen);
      if (!asked) return;
      lab.mark(classButton, "aria-pressed", seen.token === 0);
      lab.mark(patches, "aria-label", `The image in patches. Arrow keys choose the patch that asks, Home the class token. Now asks ${lab.tokenName(asked.token())}.`);
    }

    return { element: place, paint };
  }

  /** Returns row and column of a patch's token. */
  function placeOf(token) {
    const { gridSize: [, columns] } = lab.model("trained");
    return [Math.floor((token - 1) / columns), (token - 1) % columns];
  }

  function tokenName(token) {
    if (token === 0) return "the class token";
    const [row, column] = placeOf(token);
    return `the patch in row ${row}, column ${column}`;
  }

  Object.assign(lab, { board, boardSize, paintBoard, placeOf, tokenName });
})();
