// Chapter 9: opens the map of any head of a ViT's last block, and draws half of its attention on the photograph.

import { edgeAround, move, set, squares, toned, upTo } from "../moving/kit.js";
/** @import { Figure, Place } from "../moving/kit.js" */

/**
 * @typedef {object} Numbers
 * @property {{shares: number[], half: number[]}[]} maps of all heads together, and of each; the patches of one half
 * @property {number} side
 * @property {Place} photo
 * @property {Place} map
 * @property {Place} strip of the small maps
 * @property {number} size of a small map
 */

/** @param {Figure<Numbers>} figure */
function start(figure) {
  const { maps, side, photo, map, strip, size } = figure.numbers;
  const apart = (strip[2] - size) / (maps.length - 1);
  let chosen = 0;

  const shades = squares(map, side);
  figure.part("shades").replaceChildren(...shades);
  /** @param {number} index */
  const named = (index) => (index ? `head ${index - 1}` : "all heads together");

  /** @param {number} index */
  function choose(index) {
    chosen = index;
    const { shares, half } = maps[index];
    const most = Math.max(...shares);
    for (const patch of upTo(shares.length)) set(shades[patch], { fill: toned(shares[patch] / most) });
    for (const line of figure.part("half").children) set(line, { d: edgeAround(half, side, photo) });
    figure.shift("chosen", index * apart);
    figure.write("title", index ? `where head ${index - 1} looks` : "where the ViT looks");
    const words = index ? "Would this map have convinced you, too?" : "Press the map of a single head.";
    figure.say(
      `The map of ${named(index)}: ${half.length} of the ${shares.length} patches, inside the white line, ` +
        `share half of the attention. ${words}`,
    );
  }

  figure.places("handle-maps", {
    grid: [strip[0] - (apart - size) / 2, strip[1], apart * maps.length, strip[3]],
    size: () => [1, maps.length],
    label: "map that is shown",
    value: () => [0, chosen],
    says: ([, index]) => named(index),
    choose: ([, index]) => choose(index),
  });
  figure.button("Next map", () => choose((chosen + 1) % maps.length));
  choose(chosen);
}

move("where_it_looks", start);
