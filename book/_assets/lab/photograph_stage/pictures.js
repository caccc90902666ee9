// The pictures that the model looks at: one of the six, or a file of the reader's own, cut square.
(() => {
  "use strict";
  const lab = (globalThis.vitLab ??= {});
  const DETAIL = 896; // pixels on a side that are kept for showing a picture

  /** Returns a square canvas with the picture, scaled to its shorter side and cut to the middle. */
  function square(image, side) {
    const canvas = lab.el("canvas");
    canvas.width = canvas.height = side;
    const c = canvas.getContext("2d", { willReadFrequently: true });
    const cut = Math.min(image.width, image.height);
    c.imageSmoothingQuality = "high";
    c.fillStyle = "#fff"; // behind a picture with transparent parts
    c.fillRect(0, 0, side, side);
    c.drawImage(image, (image.width - cut) / 2, (image.height - cut) / 2, cut, cut, 0, 0, side, side);
    return canvas;
  }

  function upsideDown(canvas) {
    const out = lab.el("canvas");
    [out.width, out.height] = [canvas.width, canvas.height];
    const c = out.getContext("2d", { willReadFrequently: true });
    c.translate(out.width, out.height);
    c.rotate(Math.PI);
    c.drawImage(canvas, 0, 0);
    return out;
  }

  /** Makes the album: it gives pictures by name, {shown: canvas, pixels(turned): ImageData}, and takes one more. */
  function album(photos, size) {
    const made = new Map();

    function picture(image) {
      const shown = square(image, Math.min(DETAIL, Math.max(size, image.width, image.height)));
      const small = square(image, size);
      const views = { false: shown };
      const read = (canvas) => canvas.getContext("2d").getImageData(0, 0, size, size);
      return {
        shown: (turned) => (views[turned] ??= upsideDown(shown)),
        pixels: (turned) => read(turned ? upsideDown(small) : small),
      };
    }

    return {
      async get(name) {
        if (!made.has(name)) {
          const image = new Image();
          image.src = photos[name];
          await image.decode();
          made.set(name, picture(image));
        }
        return made.get(name);
      },

      /** Reads a file as the reader's own picture. Throws an Error with a sentence for the reader if it is none. */
      async add(file) {
        const what = file.name ? `“${file.name}”` : "What you gave";
        if (!/^image\//.test(file.type)) throw new Error(`${what} is not a picture. A JPEG, PNG, WebP, GIF or AVIF file would do.`);
        let image;
        try {
          image = await createImageBitmap(file, { imageOrientation: "from-image" });
        } catch {
          throw new Error(`${what} could not be read as a picture: it may be damaged, or of a kind that this browser does not know. A JPEG or PNG file would do.`);
        }
        made.set("own", picture(image));
        image.close();
      },

      has: (name) => name !== "own" || made.has("own"),
    };
  }

  /** Calls take(file) for each file that is chosen, dropped on the element or pasted while it is in sight. */
  function takeFiles(element, input, take) {
    const first = (files) => files?.[0] && take(files[0]);
    input.addEventListener("change", () => {
      first(input.files);
      input.value = ""; // so that the same file can be chosen again
    });
    element.addEventListener("dragover", (event) => {
      if (![...event.dataTransfer.types].includes("Files")) return;
      event.preventDefault();
      element.classList.add("vp-drop");
    });
    for (const kind of ["dragleave", "drop"]) {
      element.addEventListener(kind, (event) => {
        if (kind === "dragleave" && element.contains(event.relatedTarget)) return;
        element.classList.remove("vp-drop");
      });
    }
    element.addEventListener("drop", (event) => {
      if (!event.dataTransfer.files.length) return;
      event.preventDefault();
      first(event.dataTransfer.files);
    });
    document.addEventListener("paste", (event) => {
      if (element.checkVisibility() && event.clipboardData?.files.length) {
        event.preventDefault();
        first(event.clipboardData.files);
      }
    });
  }

  Object.assign(lab, { album, takeFiles });
})();
