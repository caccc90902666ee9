// The photograph stage: a real ViT looks at a photograph, and the reader asks, compares and takes things away.

import { el, html } from "../../shared/elements.js";
import { inWords, placeAt } from "../../shared/grid.js";
import { capital } from "../../shared/numbers.js";
import { challengeCard } from "../parts/challenges.js";
import { attribute, button, hide, labelled, makeAnnouncer, makeChoice, percent } from "../parts/dom.js";
import { inOrder, uniqueId, write } from "../parts/dom.js";
import { addressKeeper, keepingButtons } from "../parts/keeping.js";
import { toPatches } from "../parts/maps.js";
import { colouring, context, grey, penOf } from "../parts/paint.js";
import { directions, paintDirections, similaritiesTo } from "../photograph/directions.js";
import { makeToast } from "../parts/toast.js";
import { PHOTOGRAPH_FAREWELL, photographBets } from "./bets.js";
import { PICTURE_SIDE, paintPhotograph, photographBoard, tokenNameOf } from "./board.js";
import { bestMatch, lightOf, lightOfMatches, markedShares, meanCosine, middleAndMost } from "./facts.js";
import { near, saliencyOf } from "./facts.js";
import { makings, otherPhotograph } from "./makings.js";
import { photographMaps, toggleSwitch } from "./maps.js";
import { makeAlbum, takeFiles } from "./pictures.js";
import { photographSession } from "./session.js";
import { PHOTOS, VIEWS, changesInWords, changingInWords, headName, offInWords } from "./state.js";
import { isUntouched, lookOptions, photographForm } from "./state.js";

/** @import { Attributes } from "../../shared/elements.js" */
/** @import { Directions, Facts, Look, Looker, Match, Numbers } from "../parts/types.d.ts" */
/** @import { Picture, PhotographState, SeenElsewhere, SeenPhotograph, ShownPhotograph } from "../parts/types.d.ts" */
/** @import { SmallPicture, View, Views } from "../parts/types.d.ts" */

const HEADER = 48; // pixels, which stays above the page
const PINNED = 45; // pixels: what stays in sight begins above it, once it does
const PATIENCE = 250; // milliseconds from which the stage says what the model is about to show
const PAINT = "Paint over the photograph: the model does not see the patches that you hide.";
const NO_PATCH = "The class token is no patch. Press a patch, and its token is compared with all others.";
/** @type {[string, number][]} */
const FRAME = [["#000", 24], ["#ffe600", 12]];
const INVITATION = "Press another patch, and it asks instead.";

/**
 * @param {Looker} model
 * chosen(): returns the photograph that the reader has chosen meanwhile, or null.
 * @param {{ photos: Record<string, string>, common: Directions, chosen(): string | null }} given
 */
export async function photographStage(model, { photos, common, chosen }) {
  const { grid, size, blocks, heads, dim } = model;
  const album = makeAlbum(photos, size);
  const session = photographSession(model, album);
  const form = photographForm(model);
  const state = form.first();
  /** @type {{ token: number | null, head: string | null }} */
  const pointed = { token: null, head: null };
  let doing = ""; // what the model is about to show, once that takes a while
  let isUntried = true; // whether no patch has been pressed yet
  const toast = makeToast();
  const announcer = makeAnnouncer();
  /** @type {(SeenPhotograph & { state: PhotographState }) | null} */
  let seen = null; // {now, before, picture} of the last look, and the state that it was of
  /** @type {SeenElsewhere | null} */
  let other = null; // the same of the other photograph
  /** @type {Picture | null} */
  let next = null; // another picture than that of the last look, until the model has looked at it
  /** @type {Directions | null} */
  let scale = null; // the directions of the shown picture's untouched tokens

  function looked() {
    if (!seen) throw new Error("the model has not looked yet");
    return seen;
  }

  const asks = () => pointed.token ?? state.asks;
  const head = () => pointed.head ?? (state.view === "head" ? state.head : null);
  const view = () => (pointed.head ? "head" : state.view);
  /** @type {(name: string) => boolean} */
  const isOff = (name) => state.off.includes(name) || state.off.includes(name.split(".")[0]);
  const isChanged = () => !isUntouched(looked().state);
  /** @type {(token: number) => string} */
  const nameOf = (token) => tokenNameOf(token, grid);

  // What is seen

  /** @type {(name: string) => Numbers} */
  const mapOf = (name) => {
    const [block, index] = name.split(".").map(Number);
    return toPatches(looked().now.attention(block, index, asks()));
  };
  /** @type {(run: Look, there?: Look) => Float32Array} */
  const similarTo = (run, there = run) => similaritiesTo(run.tokens(blocks), asks() - 1, there.tokens(blocks));

  /** @type {Map<string, unknown>} */
  const made = new Map(); // what is the same for each patch that asks, made once for a look

  /**
   * @template Made
   * @param {string} name
   * @param {Look} run
   * @param {() => Made} make
   * @returns {Made}
   */
  function once(name, run, make) {
    const key = `${name} ${run === looked().now}`;
    if (!made.has(key)) made.set(key, make());
    return /** @type {Made} */ (made.get(key));
  }

  /** @type {(run: Look) => Float32Array} */
  const salienceOf = (run) => once("saliency", run, () => saliencyOf(run, grid));
  /** @type {(run: Look) => Numbers} */
  const normsOf = (run) => once("norms", run, () => run.norms(blocks));
  /** @type {(run: Look) => { colours: Uint8ClampedArray }} */
  const directionsOf = (run) =>
    once(`directions ${state.common}`, run, () => ({
      colours: paintDirections(run.tokens(blocks), state.common || !scale ? common : scale),
    }));
  /** @type {(patches?: number[]) => number} */
  const keptOf = (patches) =>
    once(`kept ${patches}`, looked().now, () =>
      meanCosine(looked().now.tokens(blocks), looked().before.tokens(blocks), dim, patches),
    );

  /** Returns the four small pictures and their sentences. @type {() => Views} */
  function views() {
    const { now, before } = looked();
    const was = isChanged() ? before : null;
    const norms = [now, ...(was ? [was] : [])].map(normsOf);
    const most = Math.max(...norms.map((values) => middleAndMost(values).most));
    /** @type {(values: Numbers) => SmallPicture} */
    const withNorms = (values) => ({ values, colouring: { ...colouring(values), high: most } });
    /** @type {(run: Look) => SmallPicture} */
    const withSaliency = (run) => ({ values: salienceOf(run), colouring: { ...grey, low: 0, high: 1 } });
    return {
      directions: { now: directionsOf(now), before: was && directionsOf(was), words: directionsInWords() },
      matches: matchesShown(now, was),
      norms: { now: withNorms(norms[0]), before: was && withNorms(norms[1]), words: normsInWords(norms) },
      saliency: { now: withSaliency(now), before: was && withSaliency(was), words: saliencyInWords() },
    };
  }

  function directionsInWords() {
    const meaning = state.common ? "mean the same in all pictures" : "are chosen for this picture alone";
    const scaled = `The colours ${meaning}.`;
    if (!isChanged())
      return (
        `Each patch has a token, the ${dim} numbers that the model makes of it. Patches of one colour have similar ` +
        `tokens. ${scaled}`
      );
    const { hidden } = looked().state;
    const ofHidden = hidden.length ? ` Of what is hidden: ${near(keptOf(hidden))}.` : "";
    return `${scaled} A patch’s token now and before: cosine ${near(keptOf())} on average.${ofHidden}`;
  }

  /** @type {(run: Look) => Match & { similarities: Float32Array }} */
  function matchOf(run) {
    const similarities = similarTo(run);
    return { similarities, ...bestMatch(similarities, grid, asks() - 1) };
  }

  /** @type {(now: Look, was: Look | null) => View} */
  function matchesShown(now, was) {
    if (asks() === 0) return { now: null, before: null, words: NO_PATCH };
    const [is, had] = [matchOf(now), was && matchOf(was)];
    /** @type {(of: { similarities: Numbers }) => SmallPicture} */
    const picture = ({ similarities }) => ({ values: lightOfMatches(similarities) });
    const then = had
      ? had.patch === is.patch
        ? " It was the same before."
        : ` Before: ${placeInWords(had.patch)}, ${near(had.cosine)}.`
      : "";
    return {
      now: picture(is),
      before: had && picture(had),
      words:
        `The most similar patch that is not close by: ${placeInWords(is.patch)}, ` +
        `cosine ${near(is.cosine)}.${then}`,
    };
  }

  const photoInWords = () => (state.photo === "own" ? "your picture" : `the ${PHOTOS[state.photo]}`);
  /** @type {(patch: number) => string} */
  const placeInWords = (patch) => inWords(placeAt(patch, grid));

  /** @type {(norms: Numbers[]) => string} */
  function normsInWords([now, before]) {
    const { median, most } = middleAndMost(now);
    const stands = most > 2 * median ? "Some stand out." : "None stands out.";
    const was = before
      ? ` Before: ${middleAndMost(before).median.toFixed(0)} and ${middleAndMost(before).most.toFixed(0)}.`
      : "";
    const lengths = `the median is ${median.toFixed(0)}, the longest ${most.toFixed(0)}`;
    return `How long the tokens are: ${lengths}. ${stands}${was}${ofAsking(now, (norm) => norm.toFixed(0))}`;
  }

  /** Says what the patch that asks has of these values. @type {(values: Numbers, said: typeof near) => string} */
  const ofAsking = (values, said) => (asks() > 0 ? ` This patch: ${said(values[asks() - 1])}.` : "");

  function saliencyInWords() {
    const now = salienceOf(looked().now);
    const { share, kept } = markedShares(now, isChanged() ? salienceOf(looked().before) : null);
    return `The model’s answer: it marks ${percent(share)} of the ` +
      `picture${kept === null ? "." : `, and ${percent(kept)} of what it marked before.`}${ofAsking(now, near)}`;
  }

  /** Returns what lies on the large photograph. @type {() => ShownPhotograph} */
  function boardShows() {
    const shown = {
      picture: next?.shown(state.turned) ?? looked().picture.shown(looked().state.turned),
      hidden: new Set(state.hidden),
      asks: asks(),
    };
    if (next) return shown;
    const map = head();
    if (map) return { ...shown, light: lightOf(mapOf(map).map(Math.sqrt)) };
    if (view() === "directions") return { ...shown, ...directionsOf(looked().now) };
    if (view() === "matches" && asks() > 0) {
      const { similarities, patch } = matchOf(looked().now);
      return { ...shown, light: lightOfMatches(similarities), match: patch };
    }
    if (view() === "norms") return { ...shown, light: lightOf(normsOf(looked().now)) };
    if (view() === "saliency") return { ...shown, light: salienceOf(looked().now) };
    return shown;
  }

  /** @type {(shownViews?: Views) => string} */
  function looksInWords(shownViews = views()) {
    if (next) return `The model is looking at ${photoInWords()} …`;
    const shown = head();
    if (shown && isOff(shown)) return `${capital(headName(shown))} is switched off: what it sees goes nowhere.`;
    if (shown) {
      const shares = mapOf(shown);
      const most = shares.indexOf(Math.max(...shares));
      return `${capital(headName(shown))}: ${nameOf(asks())} looks most at ${placeInWords(most)}, with ` +
        `${percent(shares[most])} of its attention to patches.`;
    }
    if (view() === "plain") return "The photograph as the model gets it.";
    return shownViews[view()]?.words ?? "Press a map to lay it on the photograph.";
  }

  // The parts of the stage

  const onPhoto = makeChoice(Object.entries(VIEWS), (name) => chooseView(name));
  const inCommon = el("input", { type: "checkbox", onchange: () => {
    state.common = inCommon.checked;
    refresh();
  } });
  const board = photographBoard({
    grid,
    asked: {
      token: () => state.asks,
      point(token) {
        if (token === pointed.token) return;
        pointed.token = token;
        refresh();
      },
      pick(token) {
        isUntried = false;
        pointed.token = null;
        state.asks = token;
        refresh();
        announcer.say(`${capital(nameOf(token))} asks. ${looksInWords()}`);
      },
    },
    brush: {
      isOn: () => hiding.checked,
      isHidden: (patch) => state.hidden.includes(patch),
      hide(patch, isHidden) {
        if (state.hidden.includes(patch) === isHidden) return;
        state.hidden = isHidden ? [...state.hidden, patch] : state.hidden.filter((one) => one !== patch);
        board.paint();
      },
      done: update,
    },
    shown: boardShows,
    beside: [labelled("Lit by", onPhoto)],
  });
  const maps = photographMaps({
    blocks, heads, grid,
    look(name) {
      if (name === pointed.head) return;
      pointed.head = name;
      refresh();
    },
    choose(name) {
      const letGo = name === null || (state.view === "head" && name === state.head);
      if (letGo) {
        pointed.head = null;
        state.view = "plain";
      } else Object.assign(state, { head: name, view: "head" });
      refresh();
      announcer.say(letGo ? "The map is released." : looksInWords());
    },
    toggle,
  });
  const headSwitch = toggleSwitch("head", () => state.head && toggle(state.head));
  const headLabel = el("span", { class: "vp-switch-name", "aria-hidden": "true" });
  const headField = html`<span class="vl-field vp-off">${headSwitch.element}${headLabel}</span>`;
  const allOn = () => change({ off: [] });
  const small = makings({
    grid,
    choose: chooseView,
    allOn,
    back() {
      toBoard();
      board.focus();
    },
  });

  /** Brings the photograph into sight, if it is not there. */
  function toBoard() {
    const { top, bottom } = board.element.getBoundingClientRect();
    const calm = matchMedia("(prefers-reduced-motion: reduce)").matches;
    if (top < HEADER || bottom > innerHeight)
      board.element.scrollIntoView({ block: "center", behavior: calm ? "instant" : "smooth" });
  }

  const elsewhere = otherPhotograph({ grid, choose: (name) => {
    state.other = name;
    other = null;
    refresh();
    lookElsewhere();
  } });
  const shuffled = el("input", { type: "checkbox", onchange: () => change({ shuffled: shuffled.checked }) });
  const turned = el("input", { type: "checkbox", onchange: () => change({ turned: turned.checked }) });
  const hiding = el("input", { type: "checkbox", onchange: () => {
    board.paint();
    paintControls();
    if (hiding.checked) {
      if (left.nextElementSibling === bets.element) left.after(takeAway); // on a phone it stays at the photograph
      hiding.focus({ preventScroll: true });
      toBoard();
    }
    announcer.say(
      hiding.checked ? `${PAINT} On the keyboard, the space bar hides the patch that asks.` : "Patches ask again.",
    );
  } });
  const showAll = button("Show all", () => change({ hidden: [] }));
  const onAgain = button("", allOn);
  const taken = el("p", { class: "vl-note vp-taken" });
  const meant = "The photograph with its patches where their positions say that they are";
  const believed = el("canvas", { class: "vp-believed", role: "img", "aria-label": meant });
  const believes = html`
    <figure class="vp-believes" hidden>${believed}<figcaption>as the positions have it</figcaption></figure>`;

  /** @type {(name: string) => void} */
  function toggle(name) {
    change({ off: state.off.includes(name) ? state.off.filter((one) => one !== name) : [...state.off, name].sort() });
  }

  /** @type {(some: Partial<PhotographState>) => void} */
  function change(some) {
    Object.assign(state, some);
    update();
  }

  /** @type {(name: string) => void} */
  function chooseView(name) {
    state.view = name === "head" && !state.head ? "head" : name;
    if (name === "head") state.head ??= `${blocks - 1}.0`;
    pointed.head = null;
    refresh();
    announcer.say(looksInWords());
  }

  // The picture

  const file = el("input", { type: "file", accept: "image/*", id: uniqueId("file"), class: "vp-file" });
  const ownThumb = el("img", { alt: "", hidden: true });
  /** @type {(name: string, picture: Node, attributes: Attributes) => HTMLButtonElement} */
  const thumb = (name, picture, attributes) =>
    button(picture, () => choosePicture(name), { class: "vp-thumb", "aria-pressed": "false", ...attributes });
  const own = thumb("own", ownThumb, { "aria-label": "your picture", hidden: true });
  const thumbs = Object.entries(PHOTOS).map(([name, word]) => {
    const picture = el("img", { src: photos[name], alt: "", width: 52, height: 52 });
    return { name, press: thumb(name, picture, { "aria-label": word, title: word }) };
  });
  const fileLabel = el("label", { for: file.id, class: "vp-file-label" },
    el("span", { class: "vp-long" }, "Your own\u00a0picture\u00a0…"), el("span", { class: "vp-short" }, "Own photo"));
  const pictures = html`
    <div class="vl-toolbar vp-pictures" role="group" aria-label="The picture">
      <div class="vl-row">
        ${thumbs.map(({ press }) => press)}${own}<span class="vp-own">${file}${fileLabel}</span>
      </div>
      <span class="vl-note"><span class="vp-with-mouse">or drop or paste one. </span>It stays on this page.</span>
    </div>`;
  const settings = html`
    <div class="vl-toolbar vp-settings" role="group" aria-label="How it is shown">
      ${labelled("upside down", turned)}
      ${labelled("one colour scale for all pictures", inCommon)}
    </div>`;

  /** @type {(name: string) => void} */
  function choosePicture(name) {
    hiding.checked = false;
    change({ photo: name, hidden: [] });
  }

  /** @type {(given: File) => Promise<void>} */
  async function take(given) {
    try {
      await album.add(given);
    } catch (error) {
      return toast.say(/** @type {Error} */ (error).message);
    }
    toast.clear();
    session.forget("own");
    ownThumb.src = (await album.get("own")).shown(false).toDataURL("image/jpeg", 0.7);
    own.hidden = ownThumb.hidden = false;
    choosePicture("own");
    toBoard();
  }

  // Running and painting

  /**
   * Looks again with the present state, and shows it; resolves to false if another look overtook this one.
   * @type {(how?: { quietly?: boolean }) => Promise<boolean>}
   */
  async function update({ quietly = false } = {}) {
    paintControls();
    bets.compare();
    element.classList.add("vp-working");
    const waiting = setTimeout(() => {
      if (!seen) return;
      doing = changingInWords(state, seen.state);
      announcer.say(doing);
      refresh();
    }, PATIENCE);
    const looking = session.look({ ...state });
    showNext(state.photo);
    let found;
    try {
      found = await looking;
    } catch (error) {
      doing = "";
      refresh();
      element.classList.remove("vp-working");
      toast.say(`The model could not look at it: ${/** @type {Error} */ (error).message}.`);
      return false;
    } finally {
      clearTimeout(waiting);
    }
    if (!found) return false;
    element.classList.remove("vp-working");
    if (doing) announcer.say("");
    doing = "";
    const isNew = seen?.before !== found.before;
    next = null;
    seen = { ...found, state: { ...state } };
    made.clear();
    if (isNew) scale = directions([Float32Array.from(untouchedTokens())]);
    refresh();
    if (!quietly) {
      const changes = changesInWords(state);
      const said = changes ? `${capital(changes)}.` : "Nothing is changed.";
      announcer.say([said, saliencyInWords(), changes && directionsInWords()].filter(Boolean).join(" "));
    }
    lookElsewhere();
    return true;
  }

  /** Shows the chosen picture at once, without what the model made of the last one. @param {string} photo */
  async function showNext(photo) {
    const picture = await album.get(photo).catch(() => null);
    const wanted = picture === seen?.picture ? null : picture;
    if (!seen || state.photo !== photo || next === wanted) return;
    next = wanted;
    refresh();
  }

  const untouchedTokens = () => looked().before.tokens(blocks);

  async function lookElsewhere() {
    if (!state.other) return;
    const found = await session.elsewhere({ ...state }, state.other);
    if (!found || !state.other) return;
    other = found;
    refresh();
  }

  function otherShown() {
    if (!state.other) return null;
    if (!other) return { words: `The model is looking at the ${PHOTOS[state.other]} …` };
    const picture = other.picture.shown(false);
    if (asks() === 0) return { picture, words: NO_PATCH };
    const similarities = similarTo(looked().now, other.now);
    const { patch, cosine } = bestMatch(similarities, grid);
    const words = `The most similar patch: ${placeInWords(patch)}, cosine ${near(cosine)}.`;
    return { picture, light: lightOfMatches(similarities), match: patch, words };
  }

  function paintControls() {
    for (const { name, press } of thumbs) attribute(press, "aria-pressed", name === state.photo);
    attribute(own, "aria-pressed", state.photo === "own");
    shuffled.checked = state.shuffled;
    turned.checked = state.turned;
    inCommon.checked = state.common;
    onPhoto.value = state.view;
    hide(showAll, !state.hidden.length);
    for (const press of [onAgain, small.onAgain]) {
      hide(press, !state.off.length);
      write(press, `${offInWords(state)} · switch on`);
    }
    hide(headField, !state.head);
    if (state.head) {
      headSwitch.show(!state.off.includes(state.head), headName(state.head));
      write(headLabel, capital(headName(state.head)));
    }
    const changes = changesInWords(seen?.state ?? state); // of what is drawn, until the next look is
    write(taken, next || doing ? ""
      : changes ? `Changed: ${changes}. Dashed frames show what was before.`
      : hiding.checked ? PAINT : "Nothing is changed. Switch something off, and what was before stays below it.");
    keeper.write();
  }

  let waits = false;

  /** Paints at the next frame what the last look and the state say. */
  function refresh() {
    if (!seen || waits) return;
    waits = true;
    requestAnimationFrame(() => {
      waits = false;
      paintAll();
    });
  }

  function paintAll() {
    paintControls();
    board.paint();
    element.classList.toggle("vp-next", next !== null);
    element.classList.toggle("vp-waits", doing !== "");
    if (next) return write(small.said, looksInWords());
    const chosen = state.view === "head" ? state.head : null;
    maps.paint({ mapOf, isOff, chosen, shown: head(), title: `Where ${nameOf(asks())} looks` });
    const shown = views();
    if (isUntried) shown.matches.words += ` ${INVITATION}`;
    small.paint(shown, view(), boardShows());
    elsewhere.paint(state.other, otherShown());
    write(small.said, doing || looksInWords(shown));
    const drawn = looked().state;
    hide(believes, !drawn.shuffled);
    if (drawn.shuffled) {
      const side = PICTURE_SIDE;
      const [shownThere, hidden] = [looked().picture.shown(drawn.turned), new Set(drawn.hidden)];
      const { shuffled: places } = lookOptions(drawn, model);
      paintPhotograph(context(believed, side, side, 0.5), { picture: shownThere, grid, hidden, places });
    }
  }

  /** Shows a state; resolves to what bets are about. @type {(wanted: PhotographState) => Promise<Facts | null>} */
  async function showState(wanted) {
    Object.assign(state, form.first(), wanted);
    if (!album.has(state.photo)) state.photo = "cat";
    Object.assign(pointed, { token: null, head: null });
    other = null;
    if (!(await update({ quietly: true }))) return null;
    const { now, before } = looked();
    const changes = changesInWords(state);
    const change = changes && `${capital(changes)}.`;
    return { grid, state: { ...state }, now, before, blocks, dim, model, session, album, change };
  }

  /** Returns a small copy of the photograph that a bet was about: the other one, or what is on the board. */
  function glance() {
    const found = otherShown();
    const label = found ? `The ${PHOTOS[state.other ?? ""]}. ${found.words}` : looksInWords();
    const canvas = el("canvas", { role: "img", "aria-label": label, class: found ? "vp-of-other" : "" });
    const shown = { ...boardShows(), ...(found && { hidden: undefined, asks: undefined, ...found }) };
    paintPhotograph(context(canvas, PICTURE_SIDE, PICTURE_SIDE, 0.5), { grid, ...shown });
    return canvas;
  }

  /** Returns a small copy of the photograph that a bet is about to begin with. @param {PhotographState} scene */
  function glanceAt({ photo, turned, asks }) {
    const label = `The ${PHOTOS[photo]}, which this bet begins with`;
    const canvas = el("canvas", { role: "img", "aria-label": label, title: label, class: "vp-of-other vp-of-bet" });
    album.get(photo).then((found) => {
      const c = context(canvas, PICTURE_SIDE, PICTURE_SIDE, 0.5);
      paintPhotograph(c, { grid, picture: found.shown(turned) });
      if (asks === 0) return;
      const [y, x] = placeAt(asks - 1, grid).map((index) => ((index + 0.5) / grid) * PICTURE_SIDE - 35);
      for (const [colour, width] of FRAME) { // larger than the patch, so that it is seen
        Object.assign(c, { strokeStyle: colour, lineWidth: width });
        c.strokeRect(x, y, 70, 70);
      }
    });
    return canvas;
  }

  const bets = challengeCard({
    show: showState, bets: photographBets(model), first: form.first, state: () => state,
    imageOf: ({ photo }) => ({ photo }), end: PHOTOGRAPH_FAREWELL, glance, glanceAt,
  });
  const keeper = addressKeeper({ state: () => state, form, stage: "photograph", tell: toast.say, show: showState });
  const keeping = keepingButtons({
    state: () => state,
    form,
    tell: (text, options) =>
      toast.say(state.photo === "own" && /link/.test(text) ? `${text} Your own picture is not in it.` : text, options),
    reset: () => {
      hiding.checked = false;
      toBoard();
      return bets.restart();
    },
    paint: picture,
  });

  /** Draws the photograph, as it is shown, and the words below it. */
  function picture() {
    const side = PICTURE_SIDE;
    const canvas = el("canvas");
    [canvas.width, canvas.height] = [2 * side, 2 * side + 110];
    const c = penOf(canvas);
    c.fillStyle = "#fff";
    c.fillRect(0, 0, canvas.width, canvas.height);
    c.scale(2, 2);
    paintPhotograph(c, { grid, ...boardShows() });
    c.fillStyle = "#1b2733";
    c.font = `13px ${getComputedStyle(document.body).fontFamily}`;
    const changes = changesInWords(state);
    [looksInWords(), changes && `${capital(changes)}.`].filter(Boolean)
      .forEach((line, i) => c.fillText(line, 10, side + 22 + 20 * i, side - 20));
    return canvas;
  }

  const left = html`<div class="vp-left">${board.element}</div>`;
  const takeAway = html`
    <div class="vl-toolbar vp-take" role="group" aria-label="Take something away">
      ${labelled("shuffle the positions", shuffled)}${labelled("hide patches", hiding)}
      ${showAll}${onAgain}${taken}
    </div>`;
  const right = html`<div class="vp-right">${small.element}${elsewhere.element}${believes}</div>`;
  const ofHeads = html`<div class="vp-heads">${maps.element}${headField}</div>`;
  const stage = html`<div class="vl-panel vp-stage">${announcer.element}</div>`;
  const element = html`<div class="vp-whole">${stage}${toast.element}</div>`;
  inOrder(stage, {
    narrow: [pictures, left, bets.element, right, takeAway, settings, ofHeads, keeping],
    turned: [left, bets.element, pictures, right, takeAway, settings, ofHeads, keeping],
    upright: [keeping, bets.element, pictures, left, right, ofHeads, takeAway, settings],
    middle: [keeping, bets.element, pictures, settings, left, takeAway, right, ofHeads],
    wide: [keeping, bets.element, pictures, left, settings, takeAway, right, ofHeads],
  });
  takeFiles(element, file, take);
  new IntersectionObserver(([{ boundingClientRect: { top } }]) => {
    element.classList.toggle("vp-pinned", top < PINNED && getComputedStyle(small.element).position === "sticky");
    refresh();
  }, { rootMargin: `${-PINNED}px 0px 9999px`, threshold: [0, 0.97, 1] }).observe(small.element);
  const found = form.parse(location.hash);
  if (found) Object.assign(state, found.state);
  if (found?.faults.length) toast.say([...found.faults, "The rest of the link is shown."].join(" "));
  let photo;
  do {
    photo = chosen();
    if (photo) Object.assign(state, { photo, hidden: [] });
    await update({ quietly: true });
  } while (photo !== chosen());
  paintAll(); // so that no empty map is seen until the next frame
  return element;
}
