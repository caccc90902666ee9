// The cover: six photographs, and what a trained ViT makes of their patches. The patch under the pointer lights all
// that is similar to it, in each of the photographs. book/cover.py made the picture and the numbers.
(() => {
  const { grid, numbers: D, asking, names, tokens: written } = vitCover; // cover_data.js
  const [TILE, GAP, WIDTH, NARROW] = [222, 8, 1372, 560];
  const N = grid * grid, ALL = names.length * N;
  // milliseconds: the colours appear, the first patch asks, it stops asking, end
  const COLOURS = 1400, ASK = 1800, STOP = 4200, END = 4800;
  const DARK = 0.72; // how much darker the least similar patch is

  const tokens = Int8Array.from(atob(written), (byte) => byte.charCodeAt(0)); // (6·N, D)
  const product = (one, other) => {
    let sum = 0;
    for (let i = 0; i < D; i++) sum += tokens[one * D + i] * tokens[other * D + i];
    return sum;
  };
  const lengths = Float32Array.from({ length: ALL }, (_, k) => Math.sqrt(product(k, k)));
  const cosines = (asked) => Float32Array.from(lengths, (length, k) => product(asked, k) / length / lengths[asked]);

  /** Returns how bright each patch is: dark up to the median cosine. */
  function light(asked) {
    const found = cosines(asked);
    const median = found.slice().sort()[ALL >> 1];
    return found.map((cosine) => Math.max(0, (cosine - median) / (1 - median)));
  }
  Object.assign(vitCover, { cosines });

  const still = document.querySelector("figure.cover img");
  if (!still) return;
  const calm = matchMedia("(prefers-reduced-motion: reduce)");
  const canvas = document.createElement("canvas"), said = document.createElement("p");
  const first = asking[0] * N + asking[1];
  let asked = null, kept = first, lit = new Float32Array(ALL), wanted = 0, shine = 0;
  let began, now = Infinity, waiting = 0, shownAt = 0;

  /** Returns the places of photographs and colours, [x, y, side], and the height: in a row, or on a phone in two. */
  function places() {
    const isNarrow = canvas.clientWidth < NARROW, gap = isNarrow ? 2 * GAP : GAP;
    const columns = isNarrow ? 3 : names.length, side = (WIDTH - (columns - 1) * gap) / columns;
    const small = (WIDTH - (names.length - 1) * gap) / names.length;
    const below = (names.length / columns) * (side + gap);
    return {
      photos: names.map((_, i) => [(i % columns) * (side + gap), Math.floor(i / columns) * (side + gap), side]),
      colours: names.map((_, i) => [i * (small + gap), below, small]),
      height: below + small,
    };
  }

  const sheet = document.createElement("canvas");
  function shade() {
    [sheet.width, sheet.height] = [grid, ALL / grid];
    const pen = sheet.getContext("2d"), image = pen.createImageData(grid, ALL / grid);
    lit.forEach((bright, k) => { image.data[4 * k + 3] = 255 * DARK * shine * (1 - bright); });
    pen.putImageData(image, 0, 0);
  }

  function paint() {
    const { photos, colours, height } = places();
    const wide = Math.round(canvas.clientWidth * Math.max(2, devicePixelRatio)), high = Math.round((wide * height) / WIDTH);
    if (canvas.width !== wide || canvas.height !== high) [canvas.width, canvas.height] = [wide, high];
    const pen = canvas.getContext("2d"), scale = wide / WIDTH;
    pen.setTransform(scale, 0, 0, scale, 0, 0);
    pen.clearRect(0, 0, WIDTH, height);
    pen.imageSmoothingQuality = "high";
    shade();
    const seen = Math.min(1, Math.max(0, now / COLOURS)); // share of the colours
    photos.forEach(([x, y, side], i) => {
      const cut = i * (TILE + GAP), [left, top, small] = colours[i];
      pen.imageSmoothingEnabled = true;
      pen.drawImage(still, cut, 0, TILE, TILE, x, y, side, side);
      pen.drawImage(still, cut, 0, TILE, TILE, left, top, small, small);
      const part = Math.round(seen * 2 * grid) / (2 * grid);
      pen.imageSmoothingEnabled = false;
      if (part) pen.drawImage(still, cut, TILE + GAP, part * TILE, TILE, left, top, part * small, small);
      if (shine) pen.drawImage(sheet, 0, i * grid, grid, grid, x, y, side, side);
    });
    if (shine < 0.02) return;
    pen.globalAlpha = shine;
    for (const places of [photos, colours]) {
      const [x, y, side] = places[Math.floor(kept / N)], cell = side / grid, patch = kept % N;
      for (const [width, colour] of [[6, "#000"], [3, "#ffe800"]]) {
        [pen.lineWidth, pen.strokeStyle] = [width / Math.max(0.6, scale / 2), colour];
        pen.strokeRect(x + (patch % grid) * cell, y + Math.floor(patch / grid) * cell, cell, cell);
      }
    }
    pen.globalAlpha = 1;
  }

  function frame(time) {
    waiting = requestAnimationFrame(frame);
    if (time - shownAt < 30 && !calm.matches) return; // 30 frames a second are enough
    shownAt = time;
    if (now < END) {
      now = time - (began ??= time);
      wanted = now > ASK && now < STOP ? 1 : 0;
    }
    const t = calm.matches ? 1 : 0.25, goal = light(kept);
    lit = shine < 0.02 ? goal : lit.map((bright, k) => bright + t * (goal[k] - bright));
    shine += t * (wanted - shine);
    if (Math.abs(shine - wanted) < 0.01) shine = wanted;
    paint();
    const settled = shine === wanted && lit.every((bright, k) => Math.abs(bright - goal[k]) < 0.01);
    if (now >= END && settled) waiting = cancelAnimationFrame(waiting) ?? 0;
  }
  const draw = () => { waiting ||= requestAnimationFrame(frame); };
  function play() {
    [asked, kept, shine, wanted, began, now] = [null, first, 0, 0, undefined, 0];
    draw();
  }
  function look(patch) {
    asked = patch;
    if (patch !== null) kept = patch;
    [wanted, now] = [patch === null ? 0 : 1, Infinity];
    draw();
  }

  const placeOf = (k) => `row ${Math.floor((k % N) / grid)}, column ${k % grid}`;
  let later;
  function say() {
    const found = cosines(asked), photo = Math.floor(asked / N);
    const near = (k) => Math.abs(Math.floor((k % N) / grid) - Math.floor((asked % N) / grid)) < 3 && Math.abs((k % grid) - (asked % grid)) < 3;
    const best = (isMeant) => found.reduce((best, cosine, k) => (isMeant(k) && (best < 0 || cosine > found[best]) ? k : best), -1);
    const here = best((k) => Math.floor(k / N) === photo && !near(k)), there = best((k) => Math.floor(k / N) !== photo);
    clearTimeout(later);
    later = setTimeout(() => {
      said.textContent = `The patch in ${placeOf(asked)} of the ${names[photo]}. Most similar farther away: ${placeOf(here)}; in the other photographs: ${placeOf(there)} of the ${names[Math.floor(there / N)]}.`;
    }, 300);
  }
  function point(event) {
    if (now < ASK && event.type === "pointermove") return; // the pointer only crosses the film
    const box = canvas.getBoundingClientRect(), scale = WIDTH / box.width;
    const x = (event.clientX - box.left) * scale, y = (event.clientY - box.top) * scale;
    const { photos, colours } = places();
    for (const some of [photos, colours]) {
      for (const [i, [left, top, side]] of some.entries()) {
        const row = Math.floor(((y - top) / side) * grid), column = Math.floor(((x - left) / side) * grid);
        if (row < 0 || row >= grid || column < 0 || column >= grid) continue;
        const hit = i * N + row * grid + column;
        if (hit === asked) return;
        look(hit);
        say();
        return;
      }
    }
  }
  function step(event) {
    const at = asked ?? kept, row = Math.floor((at % N) / grid), column = Math.floor(at / N) * grid + (at % grid);
    const inside = (index, end) => Math.min(end - 1, Math.max(0, index));
    const move = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0] }[event.key];
    if (event.key === "Escape") return look(null);
    if (!move) return;
    event.preventDefault();
    const [down, right] = asked === null ? [0, 0] : move;
    const to = inside(column + right, names.length * grid);
    look(Math.floor(to / grid) * N + inside(row + down, grid) * grid + (to % grid));
    say();
  }

  async function begin() {
    await still.decode();
    canvas.tabIndex = 0;
    canvas.setAttribute("role", "application");
    canvas.setAttribute("aria-roledescription", "picture");
    canvas.setAttribute("aria-label", "Six photographs in patches. Arrow keys choose a patch; all that is similar to it lights up.");
    said.className = "visually-hidden";
    said.setAttribute("role", "status");
    const again = document.createElement("button");
    again.className = "cover-again";
    again.type = "button";
    again.ariaLabel = again.title = "Play again";
    again.onclick = play;
    still.after(canvas, again, said);
    canvas.onpointermove = canvas.onpointerdown = point;
    canvas.onpointerleave = (event) => { if (event.pointerType === "mouse" && now >= END) look(null); };
    canvas.onkeydown = step;
    new ResizeObserver(() => {
      paint();
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
