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

const SAME = "The same steps as in the open block, with learned numbers of their own. This is what comes out.";
/**
 * The stop to go to instead of one that no longer exists because another block was opened.
 * @type {Record<string, string>}
 */
const INSTEAD = { earlier: "embed", later: "block" };
/**
 * Returns each step's title, shape in letters and text, and the number of the chapter that builds it.
 * @type {(model: Model) => Record<string, [title: string, letters: string, what: string, chapter: number]>}
 */
function stepsOf({ imageSize: [H, W], gridSize: [rows, columns], patchSize: [p, q], tensors, ...sizes }) {
  const { width: D, heads: h, classes: K } = sizes;
  const [N, pixels, d] = [rows * columns, p * q, D / h];
  const [[, [M]]] = tensors.filter(([name]) => name === "blocks.0.mlp.fc1.bias");
  const [TOKENS, VECTORS, PAIRS] = ["(B, T, D)", "(B, h, T, d)", "(B, h, T, T)"];
  const cut =
    "The training images' mean is subtracted, and the rest divided by their spread. Then the image is cut into " +
    `${rows} × ${columns} patches. Each row is one of them: ${p} × ${q} pixels, ${pixels} numbers.`;
  const embedded =
    `One matrix makes each patch's ${pixels} numbers a vector of ${D}. Each row is a patch; the strongly coloured ` +
    "ones have ink in them.";
  const put = `A learned vector is put in front, the same for every image. ${N} patches are ${N + 1} tokens.`;
  const placed =
    "A learned vector for each place. They are the same for every image. The first row is the class token's.";
  const normed = "Every token brought to mean 0 and spread 1, then scaled and shifted by learned numbers.";
  const scored =
    `Each query times each key, divided by √${d}. A row is the token that asks, a column the one that is asked.`;
  const mixed =
    `Each token gets the values of all tokens, its own too, mixed by its weights; the ${h} heads stand side by side, ` +
    `${h} × ${d} = ${D}.`;
  const wide = `Each token by itself: ${D} numbers become ${M}, and GELU silences most of those below zero.`;
  const goesOn =
    "The second residual connection. This goes on, into the next block or, from the last, to the final norm.";
  return {
    image: ["The image", "(B, C, H, W)", `One channel, ${H} × ${W} pixels. Every number is a grey from 0 to 1.`, 1],
    patches: ["Cut into patches", "(B, N, C·P·P)", cut, 2],
    patch_embed: ["Patch embedding", "(B, N, D)", embedded, 2],
    cls_token: ["Class token in front", TOKENS, put, 3],
    pos_embed: ["Positions", "(1, T, D)", placed, 3],
    embed: ["Tokens with positions", TOKENS, "The sum of the two. This goes into the first block.", 3],
    norm1: ["LayerNorm", TOKENS, normed, 6],
    "attn.q": ["Queries", VECTORS, `What each token asks for, ${d} numbers in each of ${h} heads.`, 5],
    "attn.k": ["Keys", VECTORS, "What each token is found by.", 5],
    "attn.v": ["Values", VECTORS, "What each token hands over.", 5],
    "attn.scores": ["Scores", PAIRS, scored, 4],
    "attn.weights": ["Attention weights, by softmax", PAIRS, "A softmax makes each row sum to 1.", 4],
    "attn.mixed": ["Values, mixed", TOKENS, mixed, 4],
    "attn.proj": ["Projection", TOKENS, "One more matrix mixes what the heads brought.", 5],
    residual1: ["Added", TOKENS, "The residual connection: what attention found is added to what was there.", 6],
    norm2: ["LayerNorm", TOKENS, "Every token brought to mean 0 and spread 1 again.", 6],
    "mlp.fc1": ["MLP, wide", "(B, T, M)", wide, 6],
    "mlp.fc2": ["MLP, narrow", TOKENS, `${M} numbers become ${D} again.`, 6],
    block: ["Added again", TOKENS, goesOn, 6],
    earlier: ["", TOKENS, SAME, 6],
    later: ["", TOKENS, SAME, 6],
    norm: ["Final norm", TOKENS, "A last LayerNorm.", 7],
    class_token: ["The class token alone", "(B, D)", `Its ${D} numbers are all that the classifier gets to see.`, 7],
    head: ["Logits", "(B, K)", `One number a class, 0 to ${K - 1}.`, 7],
    probabilities: ["Probabilities", "(B, K)", "A softmax makes them sum to 1.", 7],
  };
}

const CHAPTERS = [
  "00_before_you_start",
  "01_why_patches",
  "02_patch_embedding",
  "03_class_token_and_position",
  "04_scaled_dot_product_attention",
  "05_multi_head_attention",
  "06_encoder_block",
  "07_vision_transformer",
];
const ABOVE = 100; // pixels, which the header and, on a phone, the buttons cover
const SHUFFLED = "Shuffled among the patches; the class token keeps its own.";

/**
 * Makes the panel. until: the last step that is shown; chapters: the address of the chapters' folder.
 * @type {(source: Source, options?: { until?: string, chapters?: string }) => HTMLElement}
 */
export function walkPanel(source, { until = "probabilities", chapters = "../notebooks/" } = {}) {
  const model = modelOf("trained");
  const announcer = makeAnnouncer();
  const shuffled = el("input", { type: "checkbox", onchange: run });
  const believed = el("span", { class: "vl-note", hidden: true }, "Each patch lies where the model believes it to be.");
  const board = makeBoard(source, { shown: () => ({ shuffled: shuffled.checked }) });
  const about = stepsOf(model);
  const room = roomFor(model);
  const tools = makeToolbar(source, board, believed);
  let block = 0; // the open block
  /** @type {(Tensor & { stop: string, isInside: boolean })[]} */
  let steps = []; // isInside: in the open block
  let index = 0;

  const title = el("h3");
  const shape = el("p", { class: "vl-shape" });
  const words = el("p");
  const canvas = el("canvas", { class: "vl-tensor", role: "img" });
  const legend = el("p", { class: "vl-note" });
  const link = el("a");
  const back = button("Back", () => go(index - 1));
  const next = button("Next", () => go(index + 1));
  const at = el("input", {
    type: "range", min: 0, "aria-label": "step", oninput: () => go(Number(at.value)),
  });
  const map = makeSpine({
    whole: until === "probabilities",
    depth: model.depth,
    pick: (stop) => go(steps.findIndex((step) => step.stop === stop)),
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
      const [, of, part] = name.match(/^blocks\.(\d+)\.?(.*)$/) ?? [null, null, name];
      const isInside = Number(of ?? -1) === block;
      if (of === null || isInside) steps.push({ stop: part || "block", isInside, ...tensor });
      else if (!part && Number(of) === block - 1) steps.push({ stop: "earlier", isInside, ...tensor });
      else if (!part && Number(of) === model.depth - 1) steps.push({ stop: "later", isInside, ...tensor });
      if (name === until) break;
    }
    board.paint();
    hide(believed, !shuffled.checked);
    /** @type {(wanted: string) => number} */
    const placeOf = (wanted) => steps.findIndex((step) => step.stop === wanted);
    show(Math.max(0, placeOf(stop), placeOf(INSTEAD[stop])));
  }

  /** @type {(step: { stop: string, isInside: boolean }) => string} */
  function nameOf({ stop, isInside }) {
    /** @type {(from: number, to: number) => string} */
    const several = (from, to) =>
      from === to ? `Block ${from}` : `Blocks ${from} ${to === from + 1 ? "and" : "to"} ${to}`;
    if (stop === "earlier") return several(0, block - 1);
    if (stop === "later") return several(block + 1, model.depth - 1);
    return isInside ? `Block ${block}: ${about[stop][0]}` : about[stop][0];
  }

  /**
   * Shows a step, and brings it into sight if it begins above or its picture ends below what is seen: under the buttons
   * where those stay in sight, else with them.
   * @type {(to: number) => void}
   */
  function go(to) {
    show(to);
    const isAbove = title.getBoundingClientRect().top < ABOVE;
    const isBelow = canvas.getBoundingClientRect().bottom > innerHeight;
    const buttonsStay = getComputedStyle(hands).position === "sticky";
    if (isAbove || isBelow) (buttonsStay ? step : hands).scrollIntoView();
  }

  /** @type {(to: number) => void} */
  function show(to) {
    index = clamp(to, 0, steps.length - 1);
    const step = steps[index];
    const { stop } = step;
    const [, letters, what, chapter] = about[stop];
    const text = stop === "pos_embed" && shuffled.checked ? `${what} ${SHUFFLED}` : what;
    back.ariaDisabled = String(index === 0); // "disabled" would drop the focus
    next.ariaDisabled = String(index === steps.length - 1);
    at.max = String(steps.length - 1);
    at.value = String(index);
    title.textContent = `${index + 1}. ${nameOf(step)}`;
    at.ariaValueText = title.textContent;
    const shapes = `(${[1, ...step.dimensions].join(", ")})  ${letters}`;
    shape.textContent = shapes.replaceAll(", ", ",\u00a0"); // a line breaks between the two
    words.textContent = text;
    link.textContent = `Built in chapter ${chapter}`;
    link.href = `${chapters}${CHAPTERS[chapter]}.html`;
    const colours = tensorPicture(canvas, stop, step);
    legend.textContent = colours;
    canvas.setAttribute("aria-label", `A picture of the values after step ${index + 1}, ${nameOf(step)}. ${colours}`);
    map.show({ stops: steps.map((one, i) => [one.stop, `${i + 1}. ${nameOf(one)}`]), stop, block, picture: canvas });
    announcer.say(
      `Step ${index + 1} of ${steps.length}, ${nameOf(step)}. Shape ${[1, ...step.dimensions].join(", ")}. ${text}`,
    );
  }

  const label = labelled("shuffle the positions", shuffled);
  const hands = html`<div class="vl-row">${back}${next}${at}</div>`;
  const step = html`
    <div class="vl-step">
      <div class="vl-words">${title}${shape}${words}</div>
      <div class="vl-values">${canvas}${legend}<div class="vl-row">${link}${label}</div></div>
    </div>`;
  const element = html`
    <div class="vl-panel vl-walk">
      <div class="vl-walk-top">${board.element}${tools.element}</div>
      ${map.element}
      ${hands}
      ${step}
      ${announcer.element}
    </div>`;
  source.onChange(whenSeen(element, run));
  source.onChange(board.paint);
  run();
  return element;
}
