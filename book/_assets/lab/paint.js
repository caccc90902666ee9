// Numbers to pixels. A canvas is as fine as the screen; sizes are CSS pixels.
(() => {
  "use strict";
  const lab = (globalThis.vitLab ??= {});

  // matplotlib's viridis and RdBu at equal steps: light rises with the value, white is zero.
  const VIRIDIS = ["440154", "482878", "3e4989", "31688e", "26828e", "1f9e89", "35b779", "6ece58", "b5de2b", "fde725"];
  const BLUE_RED = ["053061", "2166ac", "4393c3", "92c5de", "d1e5f0", "f7f7f7", "fddbc7", "f4a582", "d6604d", "b2182b", "67001f"];
  const sequential = scale(VIRIDIS);
  const diverging = scale(BLUE_RED);

  function scale(colours) {
    const stops = colours.map((hex) => [0, 2, 4].map((i) => parseInt(hex.slice(i, i + 2), 16)));
    return (share) => {
      const place = Math.min(Math.max(share, 0), 1) * (stops.length - 1);
      const i = Math.min(Math.floor(place), stops.length - 2);
      return stops[i].map((value, channel) => value + (place - i) * (stops[i + 1][channel] - value));
    };
  }

  const grey = (share) => [255 * share, 255 * share, 255 * share];

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

  const sheets = new Map(); // one of each size, painted over and over

  /** A picture of rows × columns numbers, each shown as one pixel of it; good until the next of that size. */
  function pixels(values, rows, columns, colour) {
    const size = `${rows} × ${columns}`;
    if (!sheets.has(size)) {
      const canvas = document.createElement("canvas");
      [canvas.width, canvas.height] = [columns, rows];
      const c = canvas.getContext("2d");
      sheets.set(size, { canvas, c, data: c.createImageData(columns, rows) });
    }
    const { canvas, c, data } = sheets.get(size);
    for (let i = 0; i < rows * columns; i++) {
      const [r, g, b] = colour(values[i]);
      data.data[4 * i] = r;
      data.data[4 * i + 1] = g;
      data.data[4 * i + 2] = b;
      data.data[4 * i + 3] = 255;
    }
    c.putImageData(data, 0, 0);
    return canvas;
  }

  /** Colours for numbers of both signs (white is 0), or from 0 up. Returns {colour, low, high}. */
  function colouring(values) {
    let low = Infinity;
    let high = -Infinity;
    for (const value of values) {
      low = Math.min(low, value);
      high = Math.max(high, value);
    }
    if (low >= 0) return { colour: (value) => sequential(high ? value / high : 0), low: 0, high };
    const most = Math.max(-low, high);
    return { colour: (value) => diverging(0.5 + value / (2 * most)), low: -most, high: most };
  }

  /** A scale with its ends' words: {element, show(low, high)}. */
  function colourBar(scale) {
    const ends = [0, 1].map(() => lab.el("span"));
    const steps = Array.from({ length: 11 }, (_, i) => `rgb(${scale(i / 10).map(Math.round).join(" ")})`);
    const ramp = lab.el("span", { class: "vl-ramp", style: `background: linear-gradient(to right, ${steps.join(", ")})` });
    return {
      element: lab.el("p", { class: "vl-scale" }, ends[0], ramp, ends[1]),
      show(low, high) {
        ends[0].textContent = low;
        ends[1].textContent = high;
      },
    };
  }

  // As in the chapters' figures.
  const ASKING = "#ffe800";
  const TRUE_BOX = "#e69f00";

  /** A frame on black, to be seen on any picture: in yellow around the patch that asks. */
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

  Object.assign(lab, { sequential, diverging, grey, context, pixels, colouring, colourBar, frame, gridLines, ASKING, TRUE_BOX });
})();
