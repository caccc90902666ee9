// Walks through the whole model with one image: shows each step's tensor, its shape and its values.

import { el, html } from "../../shared/elements.js";
import { clamp } from "../../shared/grid.js";
import { makeBoard } from "./board.js";
import { button, hide, labelled, makeAnnouncer, whenSeen } from "./dom.js";
import { forward, roomFor } from "./model.js";
import { makeSpine } from "./spine.js";
import { tensorPicture } from "./tensor_picture.js";
import { makeToolbar } from "./toolbar.js";
import { modelOf } from "./weights.js";

/** @import { Model, Source, Tensor } from "./types.d.ts" */

/** @type {Record<string, string>} */
const LETTERS = {
  image: "(B, C, H, W)",
  patches: "(B, N, C·P·P)",
  patch_embed: "(B, N, D)",
  cls_token: "(B, T, D)",
  pos_embed: "(1, T, D)",
  embed: "(B, T, D)",
  norm1: "(B, T, D)",
  "attn.q": "(B, h, T, d)",
  "attn.k": "(B, h, T, d)",
  "attn.v": "(B, h, T, d)",
  "attn.scores": "(B, h, T, T)",
  "attn.weights": "(B, h, T, T)",
  "attn.mixed": "(B, T, D)",
  "attn.proj": "(B, T, D)",
  residual1: "(B, T, D)",
  norm2: "(B, T, D)",
  "mlp.fc1": "(B, T, M)",
  "mlp.fc2": "(B, T, D)",
  block: "(B, T, D)",
  earlier: "(B, T, D)",
  later: "(B, T, D)",
  norm: "(B, T, D)",
  class_token: "(B, D)",
  head: "(B, K)",
  probabilities: "(B, K)",
};
const SAME = "The same steps as in the open block, with learned numbers of their own. This is what comes out.";
/**
 * The stop to go to instead of one that no longer exists because another block was opened.
 * @type {Record<string, string>}
 */
const INSTEAD = { earlier: "embed", later: "block" };
/**
 * Returns the title and text of each step, and the chapter that builds it.
 * @type {(model: Model) => Record<string, [title: string, what: string, chapter: string]>}
 */
const stepsOf = ({
  imageSize: [H, W],
  gridSize: [rows, columns],
  patchSize: [p, q],
  width: D,
  heads: h,
  classes: K,
  tensors,
}) => {
  const [N, pixels, d] = [rows * columns, p * q, D / h];
  const [[, [M]]] = tensors.filter(([name]) => name === "blocks.0.mlp.fc1.bias");
  return {
    image: ["The image", `One channel, ${H} × ${W} pixels. Every number is a grey from 0 to 1.`, "01_why_patches"],
    patches: [
      "Cut into patches",
      "The training images' mean is subtracted, and the rest divided by their spread. Then the image is cut into " +
        `${rows} rows of ${columns} patches. A patch of ${p} × ${q} pixels is a row of ${pixels} numbers.`,
      "02_patch_embedding",
    ],
    patch_embed: [
      "Patch embedding",
      `One matrix makes each patch's ${pixels} numbers a vector of ${D}. Each row is a patch; the strongly coloured ` +
        "ones have ink in them.",
      "02_patch_embedding",
    ],
    cls_token: [
      "Class token in front",
      `A learned vector is put in front, the same for every image. ${N} patches are ${N + 1} tokens.`,
      "03_class_token_and_position",
    ],
    pos_embed: [
      "Positions",
      "A learned vector for each place. They are the same for every image. The first row is the class token's.",
      "03_class_token_and_position",
    ],
    embed: [
      "Tokens with positions",
      "The sum of the two. This goes into the first block.",
      "03_class_token_and_position",
    ],
    norm1: [
      "LayerNorm",
      "Every token brought to mean 0 and spread 1, then scaled and shifted by learned numbers.",
      "06_encoder_block",
    ],
    "attn.q": ["Queries", `What each token asks for, ${d} numbers in each of ${h} heads.`, "05_multi_head_attention"],
    "attn.k": ["Keys", "What each token is found by.", "05_multi_head_attention"],
    "attn.v": ["Values", "What each token hands over.", "05_multi_head_attention"],
    "attn.scores": [
      "Scores",
      `Each query times each key, divided by √${d}. A row is the token that asks, a column the one that is asked.`,
      "04_scaled_dot_product_attention",
    ],
    "attn.weights": [
      "Attention weights, by softmax",
      "A softmax makes each row sum to 1.",
      "04_scaled_dot_product_attention",
    ],
    "attn.mixed": [
      "Values, mixed",
      `Each token gets the values of all tokens, its own too, mixed by its weights; the ${h} heads stand side by ` +
        `side, ${h} × ${d} = ${D}.`,
      "04_scaled_dot_product_attention",
    ],
    "attn.proj": ["Projection", "One more matrix mixes what the heads brought.", "05_multi_head_attention"],
    residual1: [
      "Added",
      "The residual connection: what attention found is added to what was there.",
      "06_encoder_block",
    ],
    norm2: ["LayerNorm", "Every token brought to mean 0 and spread 1 again.", "06_encoder_block"],
    "mlp.fc1": [
      "MLP, wide",
      `Each token by itself: ${D} numbers become ${M}, and GELU silences most of those below zero.`,
      "06_encoder_block",
    ],
    "mlp.fc2": ["MLP, narrow", `${M} numbers become ${D} again.`, "06_encoder_block"],
    block: [
      "Added again",
      "The second residual connection. This goes on, into the next block or, from the last, to the final norm.",
      "06_encoder_block",
    ],
    earlier: ["", SAME, "06_encoder_block"],
    later: ["", SAME, "06_encoder_block"],
    norm: ["Final norm", "A last LayerNorm.", "07_vision_transformer"],
    class_token: [
      "The class token alone",
      `Its ${D} numbers are all that the classifier gets to see.`,
      "07_vision_transformer",
    ],
    head: ["Logits", `One number a class, 0 to ${K - 1}.`, "07_vision_transformer"],
    probabilities: ["Probabilities", "A softmax makes them sum to 1.", "07_vision_transformer"],
  };
};

const IN_BLOCK = new Set([
  "norm1",
  "attn.q",
  "attn.k",
  "attn.v",
  "attn.scores",
  "attn.weights",
  "attn.mixed",
  "attn.proj",
  "residual1",
  "norm2",
  "mlp.fc1",
  "mlp.fc2",
  "block",
]);
const SHUFFLED = "Shuffled among the patches; the class token keeps its own.";

/**
 * Makes the panel. until: the last step that is shown; chapters: the address of the chapters' folder.
 * @type {(source: Source, options?: { until?: string, chapters?: string }) => HTMLElement}
 */
export function walkPanel(source, { until = "probabilities", chapters = "../notebooks/" } = {}) {
  const model = modelOf("trained");
  const announcer = makeAnnouncer();
  const board = makeBoard(source, { shown: () => ({ shuffled: shuffled.checked }) });
  const about = stepsOf(model);
  const room = roomFor(model);
  const tools = makeToolbar(source, board);
  let block = 0; // the open block
  /** @type {(Tensor & { stop: string })[]} */
  let steps = []; // [{stop, dimensions, values}]
  let index = 0;

  const shuffled = el("input", { type: "checkbox", onchange: run });
  const believed = el("span", { class: "vl-note", hidden: true }, "Each patch lies where the model believes it to be.");
  const title = el("h3");
  const shape = el("p", { class: "vl-shape" });
  const words = el("p");
  const canvas = el("canvas", { class: "vl-tensor", role: "img" });
  const legend = el("p", { class: "vl-note" });
  const link = el("a");
  const back = button("Back", () => show(index - 1));
  const next = button("Next", () => show(index + 1));
  const map = makeSpine({
    whole: until === "probabilities",
    depth: model.depth,
    pick: (stop) => show(steps.findIndex((step) => step.stop === stop)),
    open(which) {
      block = which;
      run();
    },
  });

  function run() {
    const stop = steps[index]?.stop ?? "";
    /** @type {Map<string, Tensor>} */
    const found = new Map();
    forward(model, source.image(), {
      shuffled: shuffled.checked, room, watch: (name, dimensions, values) => found.set(name, { dimensions, values }),
    });
    steps = [];
    for (const [name, tensor] of found) {
      /** @type {(as: string) => void} */
      const add = (as) => steps.push({ stop: as, ...tensor });
      const [, of, part] = name.match(/^blocks\.(\d+)\.?(.*)$/) ?? [null, null, name];
      if (of === null || Number(of) === block) add(part || "block");
      else if (!part && Number(of) === block - 1) add("earlier");
      else if (!part && Number(of) === model.depth - 1) add("later");
      if (name === until) break;
    }
    board.paint();
    hide(believed, !shuffled.checked);
    /** @type {(wanted: string) => number} */
    const placeOf = (wanted) => steps.findIndex((step) => step.stop === wanted);
    show(Math.max(0, placeOf(stop), placeOf(INSTEAD[stop])));
  }

  /** @type {(step: { stop: string }) => string} */
  function nameOf({ stop }) {
    /** @type {(from: number, to: number) => string} */
    const several = (from, to) =>
      from === to ? `Block ${from}` : `Blocks ${from} ${to === from + 1 ? "and" : "to"} ${to}`;
    if (stop === "earlier") return several(0, block - 1);
    if (stop === "later") return several(block + 1, model.depth - 1);
    return IN_BLOCK.has(stop) ? `Block ${block}: ${about[stop][0]}` : about[stop][0];
  }

  /** @type {(to: number) => void} */
  function show(to) {
    index = clamp(to, 0, steps.length - 1);
    const step = steps[index];
    const { stop } = step;
    const [, what, chapter] = about[stop];
    const text = stop === "pos_embed" && shuffled.checked ? `${what} ${SHUFFLED}` : what;
    back.ariaDisabled = String(index === 0); // "disabled" would drop the focus
    next.ariaDisabled = String(index === steps.length - 1);
    title.textContent = `${index + 1}. ${nameOf(step)}`;
    shape.textContent = `(${[1, ...step.dimensions].join(", ")})  ${LETTERS[stop]}`;
    words.textContent = text;
    link.textContent = `Built in chapter ${Number(chapter.slice(0, 2))}`;
    link.href = `${chapters}${chapter}.html`;
    const colours = tensorPicture(canvas, stop, step);
    legend.textContent = colours;
    canvas.setAttribute("aria-label", `A picture of the values after step ${index + 1}, ${nameOf(step)}. ${colours}`);
    map.show({ stops: steps.map((one, i) => [one.stop, `${i + 1}. ${nameOf(one)}`]), stop, block, picture: canvas });
    announcer.say(
      `Step ${index + 1} of ${steps.length}, ${nameOf(step)}. Shape ${[1, ...step.dimensions].join(", ")}. ${text}`,
    );
  }

  const element = html`
    <div class="vl-panel vl-walk">
      <div class="vl-walk-top">${board.element}${tools.element}</div>
      ${map.element}
      <div class="vl-row">${back}${next}${labelled("shuffle the positions", shuffled)}${believed}</div>
      <div class="vl-step">
        <div class="vl-words">${title}${shape}${words}<p>${link}</p></div>
        <div class="vl-values">${canvas}${legend}</div>
      </div>
      ${announcer.element}
    </div>`;
  source.onChange(whenSeen(element, run));
  source.onChange(board.paint);
  run();
  return element;
}
