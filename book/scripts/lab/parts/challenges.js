// Bets: the lab sets a scene, the reader predicts the effect of a change, the lab makes the change and explains it.
// A 1, and the same 1 crossed out, drawn on the pad.

import { el, html } from "../../shared/elements.js";
import { button, percent } from "./dom.js";

/** @import { Bet, LabState, Looked, Measured } from "./types.d.ts" */

const ONE = "00000000000ff000000ff000000ff000000ff000000ff000000ff00000000000";
const CROSSED = "d307703d3e3883e303ebbe30003ff300003ff30003ebbe303e3883e3d307703d";
/** @type {(levels: string) => Float64Array} */
const drawing = (levels) => Float64Array.from(levels, (level) => parseInt(level, 17) / 16);

/** @type {(seen: { before: Looked, after: Looked }) => string} */
const stays = ({ before, after }) => (before.best === after.best ? "stays" : "changes");
/** @type {Bet<LabState, Looked>["bets"]} */
const STAYS = [["stays", "It stays"], ["changes", "It changes"]];
/** @type {(value: number) => string} */
const share = (value) => `${(100 * value).toFixed(1)}\u00a0%`;

const LOOKING = ["head", "asks", "votes", "view", "common", "other"]; // change what is looked at, and no answer
const PATIENCE = 250; // milliseconds from which a bet says that it is being settled

const FAREWELL = "Now set a scene yourself: choose a digit, say what you expect, and only then throw a switch.";

/**
 * scene: the difference from the lab's first state; without it, the bet is about the image that the reader has set.
 * change: the change that the bet is about.
 * outcome({before, after}): returns the right bet, or a promise of it. why({before, after}): returns two sentences.
 * @type {(measured: Measured) => Bet<LabState, Looked>[]}
 */
export const digitBets = (measured) => [
  {
    title: "Shuffle the positions",
    question:
      "The positions are about to be shuffled among the patches. All the patches are still there, and each still " +
      "sees every other. Does the answer stay the same?",
    change: { shuffled: true },
    bets: STAYS,
    outcome: stays,
    why: () =>
      "The strokes are all there, but the model no longer knows how they hang together, as in a jigsaw puzzle that " +
      `has been tipped out. On ${measured.images.toLocaleString("en")} test images it is right in ` +
      `${share(measured.shuffled)} this way, instead of ${share(measured.trained)}.`,
  },
  {
    title: "Into the corner",
    question:
      "The digit is about to move into the corner, where quite different patches hold it. Does the answer survive " +
      "the move?",
    change: { top: 0, left: 0 },
    bets: STAYS,
    outcome: stays,
    why: () =>
      "In training the digit could be anywhere, so the model had to learn to find it. Look at the maps of blocks 1 " +
      "and 2: their heads have followed the digit into its corner.",
  },
  {
    title: "One head less",
    scene: { digit: 2 },
    question:
      "The model has sixteen heads. One of them, head 1 of block 3, is about to be switched off. Will it be missed?",
    change: { off: ["3.1"], head: "3.1" },
    bets: STAYS,
    outcome: stays,
    why: () =>
      `For this 2 it was the head that tipped the balance. On ${measured.images.toLocaleString("en")} test images, ` +
      `however, one head costs little: without this one, the accuracy falls from ${share(measured.trained)} to ` +
      `${share(measured.headOff[3][1])}, and no other head costs more.`,
  },
  {
    title: "A whole block of heads",
    question:
      "All four heads of the last block are about to be switched off, so that the class token cannot collect " +
      "anything there. Does the answer stay the same?",
    change: { off: ["3.0", "3.1", "3.2", "3.3"] },
    bets: STAYS,
    outcome: stays,
    why: ({ before, after }) =>
      "The residual connection carries what the class token has collected in blocks 0 to 2 past the silent heads. " +
      (before.best === after.best ? "It isn’t always enough, though: press the 2 and see." : "Here it isn’t enough."),
  },
  {
    title: "A black background",
    scene: { digit: 8, example: 2 },
    question:
      "The grass is about to turn black. That is easier for you, but no training image had such a background. What " +
      "will the model be?",
    change: { ground: "none" },
    bets: [["surer", "Surer"], ["same", "About as sure"], ["less", "Less sure"]],
    outcome: ({ before, after }) =>
      Math.abs(after.sure - before.sure) < 0.03 ? "same" : after.sure > before.sure ? "surer" : "less",
    why: () =>
      "Training had no such black patches, so anything can happen: this 8 even becomes a 9. For most digits, though, " +
      "hardly anything changes: set the background back to grass, choose another digit, and turn it black again.",
  },
  {
    title: "The head that looks away",
    scene: { digit: 3, top: 0, left: 16 },
    question:
      "The three distractors are about to go. One of these heads will look beside the digit even when nothing else " +
      "is there. Which?",
    change: { scraps: 0 },
    bets: [["0.2", "Block 0, head 2"], ["2.1", "Block 2, head 1"], ["3.3", "Block 3, head 3"]],
    outcome: ({ after }) =>
      Object.keys(after.inside).reduce((least, name) => (after.inside[name] < after.inside[least] ? name : least)),
    why: ({ after }) =>
      `Only ${percent(after.inside["0.2"])} of what block 0’s head 2 looks at is inside the box, hardly more than ` +
      "the 25\u00a0% of looking anywhere. No token of block 0 knows of another yet, so a head goes by single " +
      "patches and their positions. What this one looks for, we don’t know.",
  },
  {
    title: "An empty box",
    question:
      "The digit is about to disappear, and only background and distractors remain. What does a model say that has " +
      "no answer for “nothing”?",
    change: { drawn: drawing("0".repeat(64)) },
    bets: [["spread", "All ten are about alike"], ["names", "It names one digit"]],
    outcome: ({ after }) => (after.sure > 0.5 ? "names" : "spread"),
    why: ({ after }) =>
      "The softmax always shares out 100\u00a0% among the ten, and in training one of them was right every time. So " +
      `one of them gets most of it, here the ${after.best}. Look where the maps fall when there is nothing in the ` +
      "box.",
  },
  {
    title: "Crossed out",
    scene: { drawn: drawing(ONE) },
    question: "This 1 was drawn on the pad, and is about to be crossed out with an X. What does the model make of it?",
    change: { drawn: drawing(CROSSED) },
    bets: [["stays", "Still a 1"], ["changes", "Another digit"]],
    outcome: stays,
    why: ({ after }) =>
      "You see a digit that doesn’t count, because you know what crossing out means. For the model the strokes make " +
      `a new shape, and of the ten that it knows it takes this one for ${after.best === 8 ? "an" : "a"} ` +
      `${after.best}.`,
  },
  {
    title: "Before training",
    question:
      "The trained weights are about to be replaced by those that training began with. What does a model say before " +
      "it has learned anything?",
    change: { weights: "untrained" },
    bets: [["one", "One digit, by chance"], ["alike", "All ten alike"]],
    outcome: ({ after }) => (after.level ? "alike" : "one"),
    why: () =>
      "The classifier, the model’s last layer, begins with zeros, so all ten logits are 0 and each digit gets " +
      "10\u00a0%. Look at the numbers under the maps as well: nothing draws the heads to the digit yet.",
  },
];

/**
 * Makes the card: {element, restart(), compare()}; compare says on the card if the scene that was judged is changed.
 * show(state, {compared}) shows a state, compared with the one before if compared is true, and resolves to what bets
 * are about: with digits, the answer and each head's share in the box.
 * state() returns the present state, and imageOf(state) the part of it that is the reader's to choose: a bet with a
 * scene of its own gives it back. glance() returns a small copy of what the answer is seen in, which may be out of
 * sight, and glanceAt(scene) one of the image that a bet speaks of while the reader's stands there.
 * @template {object} State
 * @template {{ change: string }} Seen
 * @param {{
 *   show(state: State, options?: { compared: boolean }): Promise<Seen | null>, bets: Bet<State, Seen>[],
 *   first(): State, state(): State, imageOf(state: State): Partial<State>, end?: string, glance?(): HTMLElement,
 *   glanceAt?(scene: State): HTMLElement,
 * }} hands
 */
export function challengeCard({ show, bets, first, state, imageOf, end: farewell = FAREWELL, glance, glanceAt }) {
  const title = el("h2");
  const words = el("p", { "aria-live": "polite" });
  const glanced = el("div", { class: "vl-glance" });
  const choices = el("div", { class: "vl-row" });
  const place = el("span", { class: "vl-note" });
  const back = button("Back", () => back.ariaDisabled !== "true" && open(index - 1));
  const next = button("Next", () => next.ariaDisabled !== "true" && open(index + 1));
  /** @type {Map<number, boolean>} */
  const won = new Map(); // challenge -> whether the first bet on it was right
  const image = () => String(Object.values(imageOf(state())));
  let shown = String(Object.values(imageOf(first()))); // the image that a bet has put there
  /** @type {Partial<State> | null} */
  let readers = null; // the image that the reader has set
  let index = 0;
  /** @type {string | null} */
  let judged = null; // the scene that the words are about
  let turns = 0; // of the card: an answer that comes after a restart or another bet is dropped
  const standing = () => JSON.stringify(state(), (name, value) => (LOOKING.includes(name) ? undefined : value));

  function compare() {
    element.classList.toggle("vl-past", judged !== null && judged !== standing());
    if (judged !== null && element.ariaBusy !== "true") tally();
    if (judged !== null || !glanceAt || !bets[index]?.scene) return;
    const isOfAnother = image() !== String(Object.values(imageOf(setting())));
    if (isOfAnother !== glanced.hasChildNodes()) glanced.replaceChildren(...(isOfAnother ? [glanceAt(setting())] : []));
  }

  /** Says which scene the words are about from now on. @type {(about: string | null) => void} */
  function judge(about) {
    judged = about;
    compare();
  }

  /** Keeps the reader's image if one stands there; returns whether it does. */
  function keep() {
    const isTheirs = image() !== shown;
    if (isTheirs) readers = imageOf(state());
    return isTheirs;
  }

  /** @type {typeof show} */
  async function put(wanted, options) {
    const seen = await show(wanted, options);
    shown = image();
    return seen;
  }

  const setting = () => ({ ...first(), ...(bets[index].scene ?? readers) });
  const giveBack = () =>
    readers && bets[index]?.scene ? [button("Back to your image", () => put({ ...first(), ...readers }))] : [];

  /** @type {(to: number) => Promise<void>} */
  async function open(to) {
    turns += 1;
    element.ariaBusy = "false";
    keep();
    index = to;
    glanced.replaceChildren();
    if (index === bets.length) return end();
    ask();
    await put(setting());
  }

  /** Marks Back and Next at the ends with aria-disabled; "disabled" would drop the focus. */
  function turn() {
    back.ariaDisabled = String(index === 0);
    next.ariaDisabled = String(index === bets.length);
  }

  const count = () => [...won.values()].filter(Boolean).length;

  function restart() {
    won.clear();
    shown = image();
    readers = null;
    return open(0);
  }

  function end() {
    judge(null);
    title.textContent = "That was the last one";
    place.textContent = "";
    const tallied = won.size ? `You made ${won.size} of the ${bets.length} bets and won ${count() || "none"}. ` : "";
    words.textContent = `${tallied}${farewell}`;
    choices.replaceChildren(button("From the start", restart));
    turn();
  }

  function tally() {
    const past = element.classList.contains("vl-past") ? ". You have changed the scene since." : "";
    place.textContent = `Bet ${index + 1} of ${bets.length}${won.size ? `, ${count()} right so far` : ""}${past}`;
  }

  function ask() {
    const challenge = bets[index];
    judge(null);
    title.textContent = challenge.title;
    tally();
    const theirs = readers && challenge.scene ? " This bet has an image of its own; you get yours back." : "";
    words.textContent = challenge.question + theirs;
    const held = choices.contains(document.activeElement);
    choices.replaceChildren(
      ...challenge.bets.map(([bet, text]) => button(text, () => reveal(bet), { class: "vl-bet" })),
    );
    if (held && choices.firstChild instanceof HTMLElement) choices.firstChild.focus({ preventScroll: true });
    turn();
  }

  /** @type {(bet: string) => Promise<void>} */
  async function reveal(bet) {
    turns += 1;
    const mine = turns;
    const isPast = () => mine !== turns;
    place.ariaLive = "polite";
    back.ariaDisabled = next.ariaDisabled = "true"; // no answer is lost
    const waiting = setTimeout(() => {
      if (isPast()) return;
      element.ariaBusy = "true";
      place.textContent = "Looking …";
    }, PATIENCE);
    try {
      await settle(bet, isPast);
    } finally {
      clearTimeout(waiting);
      place.ariaLive = "off";
      if (!isPast()) {
        element.ariaBusy = "false";
        turn();
      }
      if (index < bets.length && element.ariaBusy !== "true") tally();
    }
  }

  /** @type {(bet: string, isPast: () => boolean) => Promise<void>} */
  async function settle(bet, isPast) {
    const challenge = bets[index];
    judge(null);
    const isOfAnother = keep() && challenge.scene;
    const scene = setting();
    const before = await put(scene);
    if (isPast()) return;
    const after = await put({ ...scene, ...challenge.change }, { compared: true });
    if (!before || !after) return; // the weights failed to load, and a message was shown
    const right = await challenge.outcome({ before, after });
    if (isPast()) return;
    const [, text] = challenge.bets.find(([name]) => name === right) ?? ["", "none of these"];
    if (!won.has(index)) won.set(index, bet === right);
    const verdict = bet === right
      ? el("strong", { class: "vl-right" }, "✓ You were right. ")
      : el("strong", { class: "vl-wrong" }, `✗ Not this time: ${text[0].toLowerCase()}${text.slice(1)}. `);
    const whose = isOfAnother ? "This bet has an image of its own, which you see now. " : "";
    const change = after.change && el("span", { class: "vl-said" }, `${after.change} `); // it is seen in the stage
    words.replaceChildren(verdict, change, whose, challenge.why({ before, after }));
    judge(standing());
    if (glance) glanced.replaceChildren(glance());
    const { top, bottom } = choices.getBoundingClientRect();
    if (bottom > 0 && top < innerHeight) verdict.scrollIntoView({ block: "nearest" }); // else the reader has gone on
    const again = button("Again", () => open(index));
    choices.replaceChildren(again, ...giveBack());
    again.focus({ preventScroll: true }); // the buttons with the bets are gone
  }

  const element = html`
    <section class="vl-challenge" aria-label="Make a bet">
      <div class="vl-challenge-words">${glanced}<div class="vl-row">${place}${title}</div>${words}</div>
      <div class="vl-challenge-hands">${choices}<div class="vl-row vl-turn">${back}${next}</div></div>
    </section>`;
  ask();
  return { element, restart, compare };
}
