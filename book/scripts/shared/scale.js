// Colours of numbers. matplotlib's viridis at equal steps, whose lightness grows with the number, is the scale of every
// map of attention: here for figures and lab, in vit_book/style.py for plots and drawings.

const VIRIDIS = ["440154", "482878", "3e4989", "31688e", "26828e", "1f9e89", "35b779", "6ece58", "b5de2b", "fde725"];
export const TONES = 256;
export const sequential = scale(VIRIDIS);

/** Returns the tones from the first colour to the last, three bytes each. @type {(colours: string[]) => Uint8Array} */
export function scale(colours) {
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

/** Returns the colour of a share of the largest number, from 0 to 1. @param {number} share */
export function toned(share) {
  const tone = 3 * Math.round(share * (TONES - 1));
  return `rgb(${sequential.subarray(tone, tone + 3).join(" ")})`;
}
