// The pictures that the model looks at: one of the six, or a file of the reader's own, cut square.

import { el } from "../../shared/elements.js";
import { penOf } from "../parts/paint.js";

/** @import { Picture } from "../parts/types.d.ts" */

const DETAIL = 896; // pixels on a side that are kept for showing a picture

/**
 * Returns a square canvas with the picture, scaled to its shorter side and cut to the middle.
 * @type {(image: CanvasImageSource & { width: number, height: number }, side: number) => HTMLCanvasElement}
 */
function square(image, side) {
  const canvas = el("canvas");
  canvas.width = canvas.height = side;
  const c = penOf(canvas, { willReadFrequently: true });
  const cut = Math.min(image.width, image.height);
  c.imageSmoothingQuality = "high";
  c.fillStyle = "#fff"; // behind a picture with transparent parts
  c.fillRect(0, 0, side, side);
  c.drawImage(image, (image.width - cut) / 2, (image.height - cut) / 2, cut, cut, 0, 0, side, side);
  return canvas;
}

/** @type {(canvas: HTMLCanvasElement) => HTMLCanvasElement} */
function upsideDown(canvas) {
  const out = el("canvas");
  [out.width, out.height] = [canvas.width, canvas.height];
  const c = penOf(out, { willReadFrequently: true });
  c.translate(out.width, out.height);
  c.rotate(Math.PI);
  c.drawImage(canvas, 0, 0);
  return out;
}

/**
 * Makes the album: it gives pictures by name, {shown: canvas, pixels(turned): ImageData}, and takes one more.
 * @param {Record<string, string>} photos
 * @param {number} size
 */
export function makeAlbum(photos, size) {
  /** @type {Map<string, Picture>} */
  const made = new Map();

  /** @type {(image: HTMLImageElement | ImageBitmap) => Picture} */
  function picture(image) {
    const shown = square(image, Math.min(DETAIL, Math.max(size, image.width, image.height)));
    const small = square(image, size);
    /** @type {HTMLCanvasElement | null} */
    let turnedOver = null;
    /** @type {(canvas: HTMLCanvasElement) => ImageData} */
    const read = (canvas) => penOf(canvas).getImageData(0, 0, size, size);
    return {
      shown: (turned) => (turned ? (turnedOver ??= upsideDown(shown)) : shown),
      pixels: (turned) => read(turned ? upsideDown(small) : small),
    };
  }

  return {
    /** @type {(name: string) => Promise<Picture>} */
    async get(name) {
      const known = made.get(name);
      if (known) return known;
      const image = new Image();
      image.src = photos[name];
      await image.decode();
      const found = made.get(name) ?? picture(image); // another call may have made it meanwhile
      made.set(name, found);
      return found;
    },

    /**
     * Reads a file as the reader's own picture. Throws an Error with a sentence for the reader if it is none.
     * @type {(file: Blob & { name?: string }) => Promise<void>}
     */
    async add(file) {
      const what = file.name ? `“${file.name}”` : "What you gave";
      if (!/^image\//.test(file.type))
        throw new Error(`${what} is not a picture. A JPEG, PNG, WebP, GIF or AVIF file would do.`);
      let image;
      try {
        image = await createImageBitmap(file, { imageOrientation: "from-image" });
      } catch {
        throw new Error(
          `${what} could not be read as a picture: it may be damaged, or of a kind that this browser does not know. ` +
          "A JPEG or PNG file would do.");
      }
      made.set("own", picture(image));
      image.close();
    },

    /** @type {(name: string) => boolean} */
    has: (name) => name !== "own" || made.has("own"),
  };
}

/**
 * Calls take(file) for each file that is chosen, dropped on the element or pasted while it is in sight.
 * @type {(element: HTMLElement, input: HTMLInputElement, take: (file: File) => void) => void}
 */
export function takeFiles(element, input, take) {
  /** @type {(files: FileList | null | undefined) => void} */
  const first = (files) => files?.[0] && take(files[0]);
  input.addEventListener("change", () => {
    first(input.files);
    input.value = ""; // so that the same file can be chosen again
  });
  element.addEventListener("dragover", (event) => {
    if (!event.dataTransfer?.types.includes("Files")) return;
    event.preventDefault();
    element.classList.add("vp-drop");
  });
  element.addEventListener("dragleave", ({ relatedTarget }) => {
    if (!(relatedTarget instanceof Node && element.contains(relatedTarget))) element.classList.remove("vp-drop");
  });
  element.addEventListener("drop", (event) => {
    element.classList.remove("vp-drop");
    if (!event.dataTransfer?.files.length) return;
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
