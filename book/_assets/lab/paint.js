// Paints numbers as pixels. A canvas has the resolution of the screen; sizes are CSS pixels.
(() => {
  "use strict";
  const lab = (globalThis.vitLab ??= {});

  // matplotlib's viridis, whose lightness grows with the value, and RdBu, whose white is zero, at equal steps.
  const VIRIDIS = ["440154", "482878", "3e4989", "31688e", "26828e", "1f9e89", "35b779", "6ece58", "b5de2b", "fde725"];
  const BLUE_RED = ["053061", "2166ac", "4393c3", "92c5de", "d1e5f0", "f7f7f7", "fddbc7", "f4a582", "d6604d", "b2182b", "67001f"];
  const TONES = 256;
  const sequential = scale(VIRIDIS);
  const diverging = scale(BLUE_RED);
  const grey = { tones: scale(["000000", "ffffff"]), low: 0, high: 1 };

  /** Returns the tones from the first colour to the last, three bytes each. */
  function scale(colours) {
    const stops = colours.map((hex) => [0, 2, 4].map((i) => parseInt(hex.slice(i, i + 2), 16)));
    const tones = new Uint8Array(3 * TONES);
    for (let tone = 0; tone < TONES; tone++) {
      const place = (tone / (TONES - 1)) * (stops.length - 1);
      const i = Math.min(Math.floor(place), stops.length - 2);
      stops[i].forEach((value, channel) => {
        tones[3 * tone + channel] = Math.round(value + (place - i) * (stops[i + 1][channel] - value));
      });
    }
    return tones;
  }

  /** Sizes a canvas for the screen and returns a context that counts in CSS pixels. */
  function context(canvas, width, height, ratio = globalThis.devicePixelRatio || 1) {
    if (canvas.width !== Math.round(width * ratio) || canvas.height !== Math.round(height * ratio)) {
      canvas.width = Math.round(width * ratio);
      canvas.height = Math.round(height * ratio);
    }
    const c = canvas.getContext("2d");
    c.setTransform(canvas.width / width, 0, 0, canvas.height / height, 0, 0);
    c.imageSmoothingEnabled = false;
    return c;
  }

  const sheets = new Map(); // one for each size, painted again and again

  /** Returns a canvas with one pixel for each of rows × columns numbers; the next call with that size reuses it. */
  function pixels(values, rows, columns, colours) {
    const size = `${rows} × ${columns}`;
    if (!sheets.has(size)) sheets.set(size, document.createElement("canvas"));
    const canvas = sheets.get(size);
    paintPixels(canvas, values, rows, columns, colours);
    return canvas;
  }

  const contents = new WeakMap(); // canvas -> its context and its image data

  /** Paints rows × columns numbers on a canvas, one pixel each. */
  function paintPixels(canvas, values, rows, columns, { tones, low, high }) {
    if (!contents.has(canvas)) {
      [canvas.width, canvas.height] = [columns, rows];
      const c = canvas.getContext("2d");
      contents.set(canvas, { c, image: c.createImageData(columns, rows) });
    }
    const { c, image } = contents.get(canvas);
    const { data } = image;
    const step = high > low ? (TONES - 1) / (high - low) : 0;
    for (let i = 0; i < rows * columns; i++) {
      const tone = 3 * Math.min(Math.max(Math.round((values[i] - low) * step), 0), TONES - 1);
      data[4 * i] = tones[tone];
      data[4 * i + 1] = tones[tone + 1];
      data[4 * i + 2] = tones[tone + 2];
      data[4 * i + 3] = 255;
    }
    c.putImageData(image, 0, 0);
  }

  /** Returns colours for numbers of both signs (white is 0), or from 0 up: {tones, low, high}. */
  function colouring(values) {
    let low = Infinity;
    let high = -Infinity;
    for (let i = 0; i < values.length; i++) {
      if (values[i] < low) low = values[i];
      if (values[i] > high) high = values[i];
    }
    return low >= 0 ? { tones: sequential, low: 0, high } : bothSigns(Math.max(-low, high));
  }

  const bothSigns = (most) => ({ tones: diverging, low: -most, high: most });

  /** Makes a colour scale with a text at each end: {element, show(low, high)}. */
  function colourBar(tones) {
    const ends = [0, 1].map(() => lab.el("span"));
    const steps = Array.from({ length: 11 }, (_, i) => Math.round((i / 10) * (TONES - 1)))
      .map((tone) => `rgb(${tones.subarray(3 * tone, 3 * tone + 3).join(" ")})`);
    const ramp = lab.el("span", { class: "vl-ramp", style: `background: linear-gradient(to right, ${steps.join(", ")})` });
    return {
      element: lab.el("p", { class: "vl-scale" }, ends[0], ramp, ends[1]),
      show(low, high) {
        lab.write(ends[0], low);
        lab.write(ends[1], high);
      },
    };
  }

  // the same colours as in the chapters' figures
  const ASKING = "#ffe800";
  const TRUE_BOX = "#e69f00";

  /** Draws a frame on a black one, so that it shows on any picture; the default colour marks the query's patch. */
  function frame(c, x, y, width, height, colour = ASKING) {
    for (const [style, line] of [["#000", 4], [colour, 2]]) {
      c.strokeStyle = style;
      c.lineWidth = line;
      c.strokeRect(x, y, width, height);
    }
  }

  function gridLines(c, side, count, style = "rgba(255, 255, 255, 0.55)") {
    c.strokeStyle = style;
    c.lineWidth = 1;
    c.beginPath();
    for (let i = 1; i < count; i++) {
      const at = Math.round((i * side) / count) + 0.5;
      c.moveTo(at, 0);
      c.lineTo(at, side);
      c.moveTo(0, at);
      c.lineTo(side, at);
    }
    c.stroke();
  }

  Object.assign(lab, { diverging, grey, context, pixels, paintPixels, colouring, bothSigns, colourBar, frame, gridLines, ASKING, TRUE_BOX });
})();
