// The stage: the image, the attention maps of all heads, and the model's answer.

import { el, html } from "../../shared/elements.js";
import { capital } from "../../shared/numbers.js";
import { accuracyBar, answerBars, makeVerdict } from "./answer.js";
import { arriving } from "./arriving.js";
import { makeBoard, tokenName } from "./board.js";
import { digitForm, firstState } from "./address.js";
import { challengeCard, digitBets } from "./challenges.js";
import { takenInWords } from "./changes.js";
import { button, hide, inOrder, labelled, makeAnnouncer, makeChoice, pause } from "./dom.js";
import { percent, whenSeen, write } from "./dom.js";
import { fetchData } from "./fetching.js";
import { headMaps, mapName } from "./head_maps.js";
import { insidePanel } from "./inside_head.js";
import { addressKeeper, keepingButtons, paintPicture } from "./keeping.js";
import { isHead } from "./map_table.js";
import { massInside } from "./maps.js";
import { headsOn, runs } from "./run.js";
import { makeToast } from "./toast.js";
import { tokenStrip } from "./token_strip.js";
import { makeToolbar } from "./toolbar.js";
import { SPLIT, votesInWords, voting } from "./votes.js";
import { modelOf } from "./weights.js";

/** @import { Answer, LabState, Looked, Numbers, Shown, Source, Switches, Votes } from "./types.d.ts" */

// The windows in which the styles put the maps below the image.
const MAPS_BELOW = "(max-width: 651px), (max-width: 1032px) and (max-height: 500px)";
const OF_A_PATCH = "1.mean"; // the map on the board if a patch asks and no map is chosen

/**
 * show: "all", or "heads" to leave out the rollout and the switches for weights and positions.
 * whole: the lab's own page, with bets, votes and an address that carries the state.
 * @type {(source: Source, options?: { show?: string, whole?: boolean }) => Promise<HTMLElement>}
 */
export async function attentionPanel(source, { show = "all", whole = false } = {}) {
  const { heads: h, depth, classes, measured, gridSize: [rows, columns], width: D } = modelOf("trained");
  /** @type {Omit<Switches, "off"> & { off: Set<string> }} */
  const switches = { weights: "trained", shuffled: false, off: new Set(), head: null, asks: 0, votes: false };
  /** @type {{ head: string | null, token: number | null }} */
  const pointed = { head: null, token: null }; // under the pointer or focused
  const run = runs(source);
  let waited = false; // whether the pad's empty box was shown last
  /** @type {Awaited<ReturnType<typeof voting>> | null} */
  let voters = null; // the model whose patches vote, once it is loaded

  const announcer = makeAnnouncer();
  const token = () => pointed.token ?? switches.asks;
  const head = () => pointed.head ?? switches.head ?? (token() === 0 ? null : OF_A_PATCH);
  /** @type {() => LabState} */
  const state = () => ({ ...source.state, ...switches, off: [...switches.off].sort() });
  /** @type {(name: string) => boolean} */
  const isOff = (name) =>
    switches.off.has(name) || (name.endsWith(".mean") && headsOn(switches.off, Number(name[0]), h).length === 0);
  /** @type {(name: string) => Numbers} */
  const mapOf = (name) => run.mapOf(name, token());
  /** @type {(shares: Numbers) => number} */
  const inBox = (shares) => massInside(shares, source.box(), modelOf("trained"));

  const board = makeBoard(source, {
    asked: {
      token: () => switches.asks,
      pick: (picked) => {
        pointed.token = null;
        switches.asks = picked === switches.asks ? 0 : picked;
        refresh();
        announcer.say(`${capital(tokenName(switches.asks))} asks. ${looksInWords()}`);
      },
      point: (at) => {
        if (at === pointed.token) return;
        pointed.token = at;
        refresh();
      },
    },
    shown: boardShows,
  });
  const looks = el("p", { class: "vl-looks" });
  const verdict = makeVerdict();
  const bars = answerBars(classes);
  const changed = el("p", { class: "vl-change" });
  const accuracy = accuracyBar(measured);
  const toast = makeToast();

  const maps = headMaps({
    withRollout: show !== "heads",
    look: (name) => {
      if (name === pointed.head) return;
      pointed.head = name;
      refresh();
    },
    choose: (name) => {
      const letGo = name === null || name === switches.head;
      switches.head = letGo ? null : name;
      if (letGo) pointed.head = null; // otherwise the focused map would stay
      refresh();
      announcer.say(letGo ? "The map is released." : looksInWords());
    },
    toggle: (name) => {
      if (!switches.off.delete(name)) switches.off.add(name);
      update();
    },
  });

  const shuffled = el("input", { type: "checkbox", onchange: () => {
    switches.shuffled = shuffled.checked;
    update();
  } });
  const weights = makeChoice(
    [["trained", "trained"], ["untrained", "untrained"]],
    (name) => ofWeights.change(name).then(update),
  );
  const offCount = el("span");
  const allOn = el("div", { class: "vl-row vl-all-on" }, offCount, button("Switch on", () => {
    const [one] = switches.off;
    switches.off.clear();
    update();
    maps.focus(one); // the button has gone
  }));

  const split = button("Where they differ", () => {
    source.set(SPLIT);
    showVotes.focus({ preventScroll: true }); // the button goes
  }, { class: "vl-beside", hidden: true });
  const isSplit = () => String(Object.values({ ...source.state, ...SPLIT })) === String(Object.values(source.state));
  const inside = insidePanel();
  const toNumbers = button("Its numbers", () => {
    if (!isHead(switches.head)) switches.head = OF_A_PATCH.replace("mean", "0");
    refresh();
    inside.element.scrollIntoView({ block: "nearest" });
    inside.element.querySelector("button")?.focus({ preventScroll: true });
  }, { class: "vl-beside", hidden: true });
  const tokens = tokenStrip(rows * columns + 1, D);
  const showGrid = el("input", { type: "checkbox", checked: true, onchange: refresh });
  const showBox = el("input", { type: "checkbox", checked: true, onchange: refresh });
  const showVotes = el("input", { type: "checkbox", onchange: async () => {
    if (!(await ofVotes.change(showVotes.checked))) return;
    if (switches.votes) switches.head = null; // a map that was kept would hide the votes
    refresh();
    announcer.say(looksInWords());
  } });

  const ofWeights = arriving(switches.weights, {
    fetch: fetchData,
    set: (name) => (switches.weights = name),
    failed: (error) => {
      weights.value = switches.weights;
      toast.say(`${error.message}. Choose again to try again.`);
    },
  });
  const ofVotes = arriving(switches.votes, {
    fetch: async (isOn) => isOn && (voters ??= await voting()),
    set: (isOn) => (switches.votes = isOn),
    failed: (error) => {
      showVotes.checked = switches.votes;
      toast.say(`${error.message}. Press again to try again.`);
    },
  });

  /**
   * Shows a state; resolves to the answer and each head's share in the box, or to null if loading weights fails.
   * @type {(state: LabState, options?: { compared: boolean }) => Promise<Looked | null>}
   */
  async function showState(
    { weights: name, shuffled: isShuffled, off, head: chosen, asks, votes, ...scene },
    { compared } = { compared: false },
  ) {
    if (!(await ofWeights.change(name)) || !(await ofVotes.change(votes))) return null;
    Object.assign(switches, { shuffled: isShuffled, off: new Set(off), head: chosen, asks });
    Object.assign(pointed, { head: null, token: null });
    source.set(scene);
    run.rest({ compared });
    update();
    /** @type {Record<string, number>} */
    const inside = {};
    for (let block = 0; block < depth; block++)
      for (let i = 0; i < h; i++) inside[`${block}.${i}`] = inBox(mapOf(`${block}.${i}`));
    return run.answer && { ...run.answer, inside, change: run.change };
  }

  function update() {
    const now = state();
    if (run.isOf(now)) return refresh();
    if (run.compute(now)) toast.clear();
    bets?.compare();
    const words = refresh();
    announcer.say(source.waits ? words : [run.change || words, source.where()].join(" "));
  }

  /** Returns the patches' votes, computed once for each image; null while a map is shown. @type {() => Votes | null} */
  function votes() {
    if (!switches.votes || source.waits || pointed.head || switches.head) return null;
    return (run.votes ??= voters?.run(source.image()) ?? null);
  }

  /** @type {() => Shown & { shuffled: boolean }} */
  function boardShows() {
    const voted = run.answer && votes();
    const map = head();
    return {
      shares: run.answer && map && !voted ? mapOf(map) : null, votes: voted,
      token: token(), showGrid: showGrid.checked, showBox: showBox.checked, shuffled: switches.shuffled && !voted,
    };
  }

  function looksInWords() {
    const point = matchMedia("(hover: none)").matches ? "Touch" : "Point at";
    const voted = votes();
    const map = head();
    if (voted) return votesInWords(voted, token());
    if (!map && switches.shuffled) {
      return `Each patch lies where the model believes it to be. ${point} a map or a patch.`;
    }
    const what = matchMedia(MAPS_BELOW).matches ? "below" : "to see it on the image";
    if (!map) return `${point} a map ${what}, or a patch to see where it looks.`;
    if (isOff(map) && !isHead(map)) return `${capital(mapName(map))}: all its heads are off.`;
    const shares = mapOf(map);
    const [within, most] = [inBox(shares), Math.max(...shares)].map(percent);
    return `${capital(mapName(map))}: ${source.waits ? "" : `${within} inside the box, `}${most} on one patch.`;
  }

  /** Returns the lines of text below a saved picture. @type {(answer: Answer) => string[]} */
  function pictureInWords(answer) {
    const taken = takenInWords(state());
    const asking = votes()
      ? looksInWords()
      : head() ? `${capital(tokenName(token()))} asks. ${looksInWords()}` : "";
    return [verdict.show(answer, source.label), run.change, taken && `${capital(taken)}.`, asking].filter(Boolean);
  }

  /** Redraws the stage from the last run, and returns the answer in words. */
  function refresh() {
    if (!run.answer || !run.room) return "";
    board.paint();
    write(looks, looksInWords());
    hide(split, !votes() || token() > 0 || isSplit());
    hide(toNumbers, !isHead(switches.head) && switches.asks === 0);
    looks.classList.toggle("vl-hint", !head() && !votes());
    maps.paint({
      mapOf, inBox, box: source.box(), chosen: switches.head, shown: head(), isOff, said: run.said, truth: source.label,
      title: `Where ${tokenName(token())} looks${switches.shuffled ? ", as in the image" : ""}` +
        (source.waits ? "" : " (% in the box)"),
      waits: source.waits,
    });
    const said = source.waits ? verdict.ask() : verdict.show(run.answer, source.label);
    if (source.waits) bars.clear();
    else bars.show(run.answer, source.label, run.before, { glide: !run.dragged });
    write(changed, source.waits ? "" : run.change);
    waited = source.waits;
    accuracy.show(switches);
    shuffled.checked = switches.shuffled;
    weights.value = ofWeights.wanted;
    showVotes.checked = ofVotes.wanted;
    write(offCount, switches.off.size === 1
      ? `${capital(mapName([...switches.off][0]))} is off.` : `${switches.off.size} of ${depth * h} heads are off.`);
    hide(allOn, switches.off.size === 0);
    tokens.show(run.room.embed, token());
    inside.show(switches.head, run.room, token(), source.image());
    keeper?.write();
    return said;
  }

  const switched = show === "heads" ? "" : html`
    <div class="vl-switches" role="group" aria-label="Take something away">
      ${labelled("shuffle the positions", shuffled)}
      ${labelled("Weights", weights)}
    </div>`;
  const shownToo = [labelled("patches", showGrid), labelled("true box", showBox)];
  if (whole) shownToo.push(labelled("votes", showVotes));
  const tools = makeToolbar(source, board, html`<div class="vl-row">${shownToo}</div>`);
  const bets = whole
    ? challengeCard({
      show: (wanted, options) => showState(wanted, options).finally(() => announcer.say("")), // the bet speaks
      bets: digitBets(measured), first: firstState, state,
      imageOf: ({ digit, example, drawn, top, left, ground, piece, scraps }) =>
        ({ digit, example, drawn, top, left, ground, piece, scraps }),
    })
    : null;
  const keeping = whole ? keepingButtons({
    state, form: digitForm,
    reset: () => {
      toast.clear();
      showGrid.checked = showBox.checked = true;
      return bets?.restart();
    },
    paint: () => source.waits
      ? null
      : paintPicture(source, boardShows(), run.said[depth - 1], pictureInWords(run.said[depth - 1])),
    tell: toast.say,
  }) : "";
  const top = html`
    <div class="vl-top">
      ${board.element}
      <div class="vl-says">${verdict.element}${bars.element}${changed}</div>
      <div class="vl-looks-place">${looks}${split}${toNumbers}</div>
    </div>`;
  const heads = html`<div class="vl-heads">${maps.element}</div>`;
  const answers = html`<div class="vl-answers">${allOn}${accuracy.element}</div>`;
  const stage = html`<div class="vl-panel vl-attention">${announcer.element}</div>`;
  const element = html`<div>${stage}${toast.element}${tokens.element}</div>`;
  inOrder(stage, {
    narrow: [top, bets?.element ?? "", tools.element, switched, heads, inside.element, answers, keeping],
    wide: bets
      ? [keeping, bets.element, top, heads, switched, answers, tools.element, inside.element]
      : [tools.element, top, heads, switched, answers, inside.element],
  });

  const keeper = whole
    ? addressKeeper({ state, show: showState, tell: toast.say, form: digitForm, stage: "digits" })
    : null;
  source.onChange(whenSeen(element, () => {
    if (!run.isOf(state()) || waited !== source.waits) update();
  }));
  await pause(); // three short tasks keep the page responsive
  run.compute(state());
  await pause();
  update();
  if (location.hash) keeper?.read();
  return element;
}
