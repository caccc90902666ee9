// Draws the cover: a photograph opens into patches, the patches become tokens, and one of
// them attends to its own colour. book/cover.py saves the last frame as cover.webp.
(() => {
  const { asking, colours, tokens } = vitCover; // cover_data.js
  const [WIDTH, HEIGHT, GRID, SIDE, STRIP, CELL, ROW] = [1376, 520, 14, 32, 648, 8, 2.5];
  const TOP = (HEIGHT - GRID * SIDE) / 2, RIGHT = WIDTH - GRID * SIDE - 4;
  const STRIP_END = STRIP + tokens[0].length * CELL;
  const PALEST = 0.15;
  const BLUE = [0, 114, 178], PALE = [236, 240, 243], ORANGE = [230, 159, 0];
  // milliseconds: patches close, open, leave column by column, fly; lines appear; end
  const CLOSE = 700, OPEN = 900, LEAVE = 500, COLUMN = 90, FLIGHT = 700, LINES = 2500, END = 3300;

  const rgb = (colour) => `rgb(${colour.map(Math.round)})`;
  const ease = (t) => (t = Math.min(1, Math.max(0, t))) * t * (3 - 2 * t);
  const mix = (a, b, t) => a.map((number, i) => number + t * (b[i] - number));
  const rowTop = (token) => HEIGHT / 2 + (token - 98.5) * ROW - (token ? 0 : 8);
  const patches = colours.map((_, k) => {
    const row = Math.floor(k / GRID), column = k % GRID;
    const x = column * SIDE, y = TOP + row * SIDE;
    const way = Math.max(0, (column - 5.5) / 8.5) ** 2.2;
    const side = SIDE - Math.min(1, column / 4) - way * (SIDE - 13);
    const top = y + way * (rowTop(k + 1) - y) + ((SIDE - side) / 2) * (1 - way);
    return {
      row, column, cut: [x, row * SIDE, SIDE, SIDE],
      home: [x, y, SIDE], rest: [x + way * (614 - x), top, side],
      token: [STRIP - 8, rowTop(k + 1), 4], right: [RIGHT + x, y],
      leaves: LEAVE + (GRID - 1 - column) * COLUMN + row * 6,
    };
  });

  function attention(query) {
    const scores = colours.map((key) => key.reduce((sum, c, i) => sum + c * colours[query][i], 0) / 3 ** 0.5);
    const powers = scores.map(Math.exp); // no overflow: a score is 10 at most
    const total = powers.reduce((a, b) => a + b);
    return powers.map((power) => power / total);
  }
  function light(query) {
    const weights = attention(query), most = Math.max(...weights);
    return weights.map((weight) => (weight / most) ** 0.5);
  }

  const photo = new Image();
  photo.src = new URL("lab/cat.jpg", document.currentScript.src);
  const strip = document.createElement("canvas");
  [strip.width, strip.height] = [2 * (STRIP_END - STRIP), 2 * HEIGHT];
  const ink = strip.getContext("2d");
  ink.scale(2, 2);
  tokens.forEach((token, i) => token.forEach((number, j) => {
    ink.fillStyle = rgb(mix(PALE, number > 0 ? ORANGE : BLUE, Math.abs(number / 99) ** 0.7));
    ink.fillRect(j * CELL, rowTop(i), CELL - 0.5, i ? ROW : 6);
  }));

  // The photograph, the patches at rest and the pale picture are drawn once for each size
  // on the screen, so that a frame of the film is cheap.
  let layers = {};
  function layer(name, scale, draw) {
    if (layers.scale !== scale) layers = { scale };
    if (!layers[name]) {
      const canvas = layers[name] = document.createElement("canvas");
      [canvas.width, canvas.height] = [WIDTH * scale, HEIGHT * scale];
      const pen = canvas.getContext("2d");
      pen.imageSmoothingQuality = "high";
      pen.scale(scale, scale);
      draw(pen);
    }
    return layers[name];
  }

  // now: milliseconds since the patches opened (they close before 0); lit: brightness by patch
  function paint(canvas, now, lit, asked, from) {
    const pen = canvas.getContext("2d"), scale = canvas.width / WIDTH;
    const open = ease(now < 0 ? -now / CLOSE : now / OPEN);
    const shine = now < 0 ? open : ease((now - LINES) / (END - LINES));
    const small = layer("photo", scale, (pen) => pen.drawImage(photo, 0, 0, GRID * SIDE, GRID * SIDE));
    const cut = (on, patch, x, y, side, edge = 0) => {
      const [left, top] = patch.cut, part = SIDE - edge;
      on.drawImage(small, (left + edge) * scale, (top + edge) * scale, part * scale, part * scale, x + edge, y + edge, side - edge, side - edge);
    };
    const whole = (name, draw) => pen.drawImage(layer(name, scale, draw), 0, 0, WIDTH, HEIGHT);
    const rows = (first, high) => {
      const y = rowTop(first);
      pen.drawImage(strip, 0, 2 * y, strip.width, 2 * high, STRIP, y, STRIP_END - STRIP, high);
    };
    pen.setTransform(scale, 0, 0, scale, 0, 0);
    pen.globalAlpha = 1;
    pen.clearRect(0, 0, WIDTH, HEIGHT);
    if (open === 1) whole("rest", (on) => patches.forEach((patch) => cut(on, patch, ...patch.rest)));
    else for (const patch of patches) cut(pen, patch, ...mix(patch.home, patch.rest, open));
    if (now < 0) pen.globalAlpha = open;
    if (now < 0 || now >= LINES) rows(1, patches.length * ROW);
    else patches.forEach((patch, k) => {
      const flown = (now - patch.leaves) / FLIGHT;
      if (flown >= 1) rows(k + 1, ROW);
      else if (flown > 0) cut(pen, patch, ...mix(patch.rest, patch.token, ease(flown)));
    });
    pen.globalAlpha = now < 0 ? open : ease((now - LINES + 400) / 300);
    rows(0, 6);
    pen.strokeStyle = rgb(ORANGE);
    pen.lineWidth = 1.5;
    pen.strokeRect(STRIP - 1.5, rowTop(0) - 1.5, STRIP_END - STRIP + 2.5, 9);
    pen.lineWidth = 2;
    const start = [STRIP_END, from];
    patches.forEach(({ right: [x, y] }, k) => {
      pen.globalAlpha = 0.9 * lit[k] ** 2 * (now < 0 ? open : 1);
      if (pen.globalAlpha < 0.005 || !shine) return;
      pen.beginPath();
      pen.moveTo(...start);
      pen.lineTo(...mix(start, [x + SIDE / 2, y + SIDE / 2], shine));
      pen.stroke();
    });
    pen.globalAlpha = 1;
    whole("pale", (on) => {
      on.globalAlpha = PALEST;
      for (const patch of patches) cut(on, patch, ...patch.right, SIDE, 1);
    });
    patches.forEach((patch, k) => {
      pen.globalAlpha = lit[k] * shine;
      if (pen.globalAlpha > 0.005) cut(pen, patch, ...patch.right, SIDE, 1);
    });
    pen.globalAlpha = shine;
    const [x, y] = patches[asked].right;
    for (const [width, colour] of [[7, "#201400"], [4, rgb(ORANGE)]]) {
      [pen.lineWidth, pen.strokeStyle] = [width, colour];
      pen.strokeRect(x + 1, y + 1, SIDE - 1, SIDE - 1);
    }
  }
  const lineStart = (patch) => rowTop(patch + 1) + 1;
  vitCover.rest = (canvas) => photo.decode().then(() => paint(canvas, Infinity, light(asking), asking, lineStart(asking)));
  vitCover.attention = attention;

  const still = document.querySelector("figure.cover img");
  if (!still) return;
  const calm = matchMedia("(prefers-reduced-motion: reduce)");
  const canvas = document.createElement("canvas"), said = document.createElement("p");
  let asked = asking, lit = light(asked), wanted = lit, from = lineStart(asked);
  let began, now = Infinity, waiting = 0, shownAt = 0;

  function frame(time) {
    const t = calm.matches ? 1 : 0.4;
    waiting = requestAnimationFrame(frame);
    if (time - shownAt < 30 && !calm.matches) return; // 30 frames a second are enough
    shownAt = time;
    if (now < END) now = time - (began ??= time) - CLOSE;
    lit = mix(lit, wanted, t);
    from += t * (lineStart(asked) - from);
    paint(canvas, now, lit, asked, from);
    const settled = lit.every((number, k) => Math.abs(number - wanted[k]) < 0.004);
    if (now >= END && settled) waiting = cancelAnimationFrame(waiting) ?? 0;
  }
  const draw = () => { waiting ||= requestAnimationFrame(frame); };
  function play() {
    look(asking);
    [began, now] = [undefined, -CLOSE];
    draw();
  }
  function look(patch) {
    [asked, wanted, now] = [patch, light(patch), Infinity];
    draw();
  }

  const place = (k) => `row ${patches[k].row + 1}, column ${patches[k].column + 1}`;
  let later;
  function say() {
    const weights = attention(asked);
    const best = weights.map((_, k) => k).filter((k) => k !== asked).reduce((a, b) => (weights[b] > weights[a] ? b : a));
    clearTimeout(later);
    later = setTimeout(() => {
      said.textContent = `The patch in ${place(asked)} gives ${(100 * weights[best]).toFixed(0)} % of its attention to the one in ${place(best)}, the most of all others.`;
    }, 300);
  }
  function point(event) {
    if (now < END && event.type === "pointermove") return; // the pointer only crosses the film
    const box = canvas.getBoundingClientRect(), scale = WIDTH / box.width;
    const x = (event.clientX - box.left) * scale, y = (event.clientY - box.top) * scale;
    const inside = ([left, top], side) => x >= left && x < left + side && y >= top && y < top + side;
    const row = Math.floor((y - rowTop(1)) / ROW);
    const hit = x >= STRIP && x < STRIP_END ? row
      : patches.findIndex((patch) => inside(patch.right, SIDE) || inside(patch.rest, patch.rest[2]));
    if (!patches[hit] || hit === asked) return;
    look(hit);
    say();
  }
  function step(event) {
    const { row, column } = patches[asked], last = GRID - 1;
    const to = {
      ArrowLeft: [row, Math.max(0, column - 1)], ArrowRight: [row, Math.min(last, column + 1)],
      ArrowUp: [Math.max(0, row - 1), column], ArrowDown: [Math.min(last, row + 1), column],
    }[event.key];
    if (!to) return;
    event.preventDefault();
    look(to[0] * GRID + to[1]);
    say();
  }

  async function begin() {
    await photo.decode();
    canvas.tabIndex = 0;
    canvas.setAttribute("role", "application");
    canvas.setAttribute("aria-roledescription", "picture");
    canvas.setAttribute("aria-label", "The cat in patches. Arrow keys choose a patch, which then looks for its own colour.");
    said.className = "visually-hidden";
    said.setAttribute("role", "status");
    const again = document.createElement("button");
    again.className = "cover-again";
    again.type = "button";
    again.ariaLabel = again.title = "Play again";
    again.onclick = play;
    still.after(canvas, again, said);
    canvas.onpointermove = canvas.onpointerdown = point;
    canvas.onpointerleave = (event) => { if (event.pointerType === "mouse" && now >= END) look(asking); };
    canvas.onkeydown = step;
    new ResizeObserver(() => {
      canvas.width = Math.round(canvas.clientWidth * Math.max(2, devicePixelRatio));
      canvas.height = Math.round(canvas.width * HEIGHT / WIDTH);
      paint(canvas, now, lit, asked, from);
      still.style.opacity = 0;
    }).observe(canvas);
    new IntersectionObserver((entries, observer) => {
      if (!entries.some((entry) => entry.isIntersecting)) return;
      observer.disconnect();
      if (!calm.matches) play();
    }, { threshold: 0.6 }).observe(canvas);
  }
  if (document.readyState === "complete") begin();
  else addEventListener("load", begin);
})();
