// The photograph stage: a real ViT looks at a photograph, and the reader asks, compares and takes things away.
(() => {
  "use strict";
  const lab = (globalThis.vitLab ??= {});
  const percent = (share) => lab.percent(share);
  const capital = (words) => words[0].toUpperCase() + words.slice(1);
  const near = (cosine) => cosine.toFixed(2);

  async function photographStage(model, { photos, common }) {
    const { el, button, labelled } = lab;
    const { grid, size, blocks, heads, dim } = model;
    const album = lab.album(photos, size);
    const session = lab.photographSession(model, album);
    const form = lab.photographForm(model);
    const state = form.first();
    const pointed = { token: null, head: null };
    const toast = lab.toast();
    const announcer = lab.announcer();
    let seen = null; // {now, before, picture} of the last look, and the state that it was of
    let other = null; // the same of the other photograph
    let scale = null; // the directions of the shown picture's untouched tokens

    const asks = () => pointed.token ?? state.asks;
    const head = () => pointed.head ?? (state.view === "head" ? state.head : null);
    const view = () => (pointed.head ? "head" : state.view);
    const options = () => lab.lookOptions(state, model);
    const isOff = (name) => state.off.includes(name) || state.off.includes(name.split(".")[0]);
    const isChanged = () => !lab.isUntouched(seen.state);
    const nameOf = (token) => lab.tokenNameOf(token, grid);

    // What is seen

    const mapOf = (name) => {
      const [block, index] = name.split(".").map(Number);
      return lab.toPatches(seen.now.attention(block, index, asks()));
    };
    const similarTo = (run, there = run) => lab.similarities(run.tokens(blocks), asks() - 1, there.tokens(blocks));

    const made = new Map(); // what is the same for each patch that asks, made once for a look

    function once(name, run, make) {
      const key = `${name} ${run === seen.now}`;
      if (!made.has(key)) made.set(key, make());
      return made.get(key);
    }

    const saliencyOf = (run) => once("saliency", run, () => lab.saliencyOf(run, grid));
    const normsOf = (run) => once("norms", run, () => run.norms(blocks));
    const directionsOf = (run) => once(`directions ${state.common}`, run, () => ({ colours: lab.paint(run.tokens(blocks), state.common ? common : scale) }));
    const keptOf = (patches) => once(`kept ${patches}`, seen.now, () => lab.meanCosine(seen.now.tokens(blocks), seen.before.tokens(blocks), dim, patches));

    /** Returns the four small pictures and their sentences. */
    function views() {
      const { now, before } = seen;
      const was = isChanged() ? before : null;
      const norms = [now, ...(was ? [was] : [])].map(normsOf);
      const most = Math.max(...norms.map((values) => lab.middleAndMost(values).most));
      const withNorms = (values) => ({ values, colouring: { ...lab.colouring(values), high: most } });
      const withSaliency = (run) => ({ values: saliencyOf(run), colouring: { ...lab.grey, low: 0, high: 1 } });
      return {
        directions: { now: directionsOf(now), before: was && directionsOf(was), words: directionsInWords() },
        matches: matchesShown(now, was),
        norms: { now: withNorms(norms[0]), before: was && withNorms(norms[1]), words: normsInWords(norms) },
        saliency: { now: withSaliency(now), before: was && withSaliency(was), words: saliencyInWords() },
      };
    }

    function directionsInWords() {
      const scaled = state.common ? "The colours mean the same in all pictures." : "The colours are chosen for this picture alone.";
      if (!isChanged()) return `Each patch has a token, the ${dim} numbers that the model makes of it. Patches of one colour have similar tokens. ${scaled}`;
      const { hidden } = seen.state;
      const ofHidden = hidden.length ? ` Of what is hidden: ${near(keptOf(hidden))}.` : "";
      return `${scaled} A patch’s token now and before: cosine ${near(keptOf())} on average.${ofHidden}`;
    }

    function matchOf(run) {
      const similarities = similarTo(run);
      return { similarities, ...lab.bestMatch(similarities, grid, asks() - 1) };
    }

    function matchesShown(now, was) {
      if (asks() === 0) return { now: null, before: null, words: "The class token is no patch. Press a patch, and its token is compared with all others." };
      const [is, had] = [matchOf(now), was && matchOf(was)];
      const picture = ({ similarities }) => ({ values: lab.lightOfMatches(similarities) });
      const then = had ? (had.patch === is.patch ? " It was the same before." : ` Before: ${placeInWords(had.patch)}, ${near(had.cosine)}.`) : "";
      return {
        now: picture(is), before: had && picture(had),
        words: `The most similar patch that is not close by: ${placeInWords(is.patch)}, cosine ${near(is.cosine)}.${then}`,
      };
    }

    const placeInWords = (patch) => `row ${Math.floor(patch / grid)}, column ${patch % grid}`;

    function normsInWords([now, before]) {
      const { median, most } = lab.middleAndMost(now);
      const stands = most > 2 * median ? "Some stand out." : "None stands out.";
      const was = before ? ` Before: ${lab.middleAndMost(before).median.toFixed(0)} and ${lab.middleAndMost(before).most.toFixed(0)}.` : "";
      return `How long the tokens are: the median is ${median.toFixed(0)}, the longest ${most.toFixed(0)}. ${stands}${was}`;
    }

    function saliencyInWords() {
      const { share, kept } = lab.marked(saliencyOf(seen.now), isChanged() ? saliencyOf(seen.before) : null);
      return `The model’s answer: it marks ${percent(share)} of the picture${kept === null ? "." : `, and ${percent(kept)} of what it marked before.`}`;
    }

    /** Returns what lies on the large photograph. */
    function boardShows() {
      const shown = { picture: seen.picture.shown(seen.state.turned), hidden: new Set(state.hidden), asks: asks() };
      if (head()) return { ...shown, light: lab.lightOf(mapOf(head()).map(Math.sqrt)) };
      if (view() === "directions") return { ...shown, ...directionsOf(seen.now) };
      if (view() === "matches" && asks() > 0) {
        const { similarities, patch } = matchOf(seen.now);
        return { ...shown, light: lab.lightOfMatches(similarities), match: patch };
      }
      if (view() === "norms") return { ...shown, light: lab.lightOf(normsOf(seen.now)) };
      if (view() === "saliency") return { ...shown, light: saliencyOf(seen.now) };
      return shown;
    }

    function looksInWords(shownViews = views()) {
      const shown = head();
      if (shown && isOff(shown)) return `${capital(lab.headName(shown))} is switched off: what it sees goes nowhere.`;
      if (shown) {
        const shares = mapOf(shown);
        const most = shares.indexOf(Math.max(...shares));
        return `${capital(lab.headName(shown))}: ${nameOf(asks())} looks most at ${placeInWords(most)}, with ${percent(shares[most])} of its attention to patches.`;
      }
      if (view() === "plain") return "The photograph as the model gets it.";
      return shownViews[view()]?.words ?? "Press a map to lay it on the photograph.";
    }

    // The parts of the stage

    const onPhoto = lab.choice(Object.entries(lab.VIEWS), (name) => chooseView(name));
    const inCommon = el("input", { type: "checkbox", onchange: () => {
      state.common = inCommon.checked;
      refresh();
    } });
    const board = lab.photographBoard({
      grid,
      asked: {
        token: () => state.asks,
        point(token) {
          if (token === pointed.token) return;
          pointed.token = token;
          refresh();
        },
        pick(token) {
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
    const looks = el("p", { class: "vl-looks vp-looks" });
    const maps = lab.photographMaps({
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
    const headSwitch = lab.toggleSwitch("head", () => toggle(state.head));
    const headName = el("span", { class: "vp-switch-name", "aria-hidden": "true" });
    const headField = el("span", { class: "vl-field" }, headSwitch.element, headName);
    const small = lab.makings({ grid, choose: chooseView });
    const elsewhere = lab.otherPhotograph({ grid, choose: (name) => {
      state.other = name;
      other = null;
      refresh();
      lookElsewhere();
    } });
    const shuffled = el("input", { type: "checkbox", onchange: () => change({ shuffled: shuffled.checked }) });
    const turned = el("input", { type: "checkbox", onchange: () => change({ turned: turned.checked }) });
    const hiding = el("input", { type: "checkbox", onchange: () => {
      board.paint();
      announcer.say(hiding.checked ? "Paint over patches to hide them. On the keyboard, the space bar hides the patch that asks." : "Patches ask again.");
    } });
    const showAll = button("Show all patches", () => change({ hidden: [] }));
    const allOn = button("Switch all on", () => change({ off: [] }));
    const taken = el("p", { class: "vl-note vp-taken" });
    const believed = el("canvas", { class: "vp-believed", role: "img", "aria-label": "The photograph with its patches where their positions say that they are" });
    const believes = el("figure", { class: "vp-believes", hidden: true }, believed, el("figcaption", {}, "as the positions have it"));

    function toggle(name) {
      change({ off: state.off.includes(name) ? state.off.filter((one) => one !== name) : [...state.off, name].sort() });
    }

    function change(some) {
      Object.assign(state, some);
      update();
    }

    function chooseView(name) {
      state.view = name === "head" && !state.head ? "head" : name;
      if (name === "head") state.head ??= `${blocks - 1}.0`;
      pointed.head = null;
      refresh();
      announcer.say(looksInWords());
    }

    // The picture

    const file = el("input", { type: "file", accept: "image/*", id: lab.uniqueId("file"), class: "vp-file" });
    const ownThumb = el("img", { alt: "", hidden: true });
    const own = button("", () => choosePicture("own"), { class: "vp-thumb", "aria-label": "your picture", "aria-pressed": "false", hidden: true });
    own.append(ownThumb);
    const thumbs = Object.entries(lab.PHOTOS).map(([name, word]) => {
      const press = button("", () => choosePicture(name), { class: "vp-thumb", "aria-label": word, title: word, "aria-pressed": "false" });
      press.append(el("img", { src: photos[name], alt: "", width: 52, height: 52 }));
      return [name, press];
    });
    const pictures = el("div", { class: "vl-toolbar vp-pictures", role: "group", "aria-label": "The picture" },
      el("div", { class: "vl-row" }, ...thumbs.map(([, press]) => press), own,
        el("span", { class: "vp-own" }, file, el("label", { for: file.id, class: "vp-file-label" }, "Your own picture …"))),
      el("span", { class: "vl-note" }, el("span", { class: "vp-with-mouse" }, "or drop or paste one. "), "It stays on this page."),
      labelled("upside down", turned), labelled("one colour scale for all pictures", inCommon));

    function choosePicture(name) {
      hiding.checked = false;
      change({ photo: name, hidden: [] });
    }

    async function take(given) {
      try {
        await album.add(given);
      } catch (error) {
        return toast.say(error.message);
      }
      toast.clear();
      session.forget("own");
      ownThumb.src = (await album.get("own")).shown(false).toDataURL("image/jpeg", 0.7);
      own.hidden = ownThumb.hidden = false;
      choosePicture("own");
    }

    // Running and painting


    /** Looks again with the present state, and shows it; resolves to false if another look overtook this one. */
    async function update({ quietly = false } = {}) {
      paintControls();
      element.classList.add("vp-working");
      let found;
      try {
        found = await session.look({ ...state });
      } catch (error) {
        element.classList.remove("vp-working");
        toast.say(`The model could not look at it: ${error.message}.`);
        return false;
      }
      if (!found) return false;
      element.classList.remove("vp-working");
      const isNew = seen?.before !== found.before;
      seen = { ...found, state: { ...state } };
      made.clear();
      if (isNew) scale = lab.directions([untouchedTokens()]);
      refresh();
      if (!quietly) {
        const changes = lab.changesInWords(state);
        announcer.say(`${changes ? `${capital(changes)}. ${saliencyInWords()} ${directionsInWords()}` : `Nothing is changed. ${saliencyInWords()}`}`);
      }
      lookElsewhere();
      return true;
    }

    const untouchedTokens = () => seen.before.tokens(blocks);

    async function lookElsewhere() {
      if (!state.other) return;
      const found = await session.elsewhere({ ...state });
      if (!found || !state.other) return;
      other = found;
      refresh();
    }

    function otherShown() {
      if (!state.other) return null;
      if (!other) return { words: `The model is looking at the ${lab.PHOTOS[state.other]} …` };
      const picture = other.picture.shown(false);
      if (asks() === 0) return { picture, words: "The class token is no patch. Press a patch, and its token is compared with all others." };
      const similarities = similarTo(seen.now, other.now);
      const { patch, cosine } = lab.bestMatch(similarities, grid);
      return { picture, light: lab.lightOfMatches(similarities), match: patch, words: `The most similar patch: ${placeInWords(patch)}, cosine ${near(cosine)}.` };
    }

    function paintControls() {
      for (const [name, press] of thumbs) lab.mark(press, "aria-pressed", name === state.photo);
      lab.mark(own, "aria-pressed", state.photo === "own");
      shuffled.checked = state.shuffled;
      turned.checked = state.turned;
      inCommon.checked = state.common;
      onPhoto.value = state.view;
      lab.hide(showAll, !state.hidden.length);
      lab.hide(allOn, !state.off.length);
      lab.hide(headField, !state.head);
      if (state.head) {
        headSwitch.show(!state.off.includes(state.head), lab.headName(state.head));
        lab.write(headName, capital(lab.headName(state.head)));
      }
      const changes = lab.changesInWords(state);
      lab.write(taken, changes ? `Changed: ${changes}. The small pictures of before are those of the whole model.` : "Nothing is changed. Switch something off, and what was before stays beside it.");
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
      maps.paint({ mapOf, isOff, chosen: state.view === "head" ? state.head : null, shown: head(), title: `Where ${nameOf(asks())} looks` });
      const shown = views();
      small.paint(shown, view());
      elsewhere.paint(state.other, otherShown());
      lab.write(looks, looksInWords(shown));
      lab.hide(believes, !state.shuffled);
      if (state.shuffled) {
        const side = lab.PICTURE_SIDE;
        lab.paintPhotograph(lab.context(believed, side, side, 0.5), { picture: seen.picture.shown(seen.state.turned), grid, hidden: new Set(state.hidden), places: options().shuffled });
      }
    }

    /** Shows a state; resolves to what bets are about. */
    async function showState(wanted) {
      Object.assign(state, form.first(), wanted);
      if (!album.has(state.photo)) state.photo = "cat";
      Object.assign(pointed, { token: null, head: null });
      other = null;
      if (!(await update({ quietly: true }))) return null;
      return facts();
    }

    /** Returns what bets ask for. */
    function facts() {
      return { grid, state: { ...state }, now: seen.now, before: seen.before, blocks, dim, model, session, album };
    }

    const bets = lab.challengeCard({ show: showState, bets: lab.photographBets(model), first: form.first, end: lab.PHOTOGRAPH_FAREWELL });
    const keeper = lab.addressKeeper({ state: () => state, form, stage: "photograph", tell: toast.say, show: showState });
    const keeping = lab.keepingButtons({
      state: () => state, form,
      tell: (text, options) => toast.say(state.photo === "own" && /link/.test(text) ? `${text} Your own picture is not in it.` : text, options),
      reset: () => {
        hiding.checked = false;
        return bets.restart();
      },
      paint: picture,
    });

    /** Draws the photograph, as it is shown, and the words below it. */
    function picture() {
      const side = lab.PICTURE_SIDE;
      const canvas = el("canvas");
      [canvas.width, canvas.height] = [2 * side, 2 * side + 110];
      const c = canvas.getContext("2d");
      c.fillStyle = "#fff";
      c.fillRect(0, 0, canvas.width, canvas.height);
      c.scale(2, 2);
      lab.paintPhotograph(c, { grid, ...boardShows() });
      c.fillStyle = "#1b2733";
      c.font = `13px ${getComputedStyle(document.body).fontFamily}`;
      const changes = lab.changesInWords(state);
      [looksInWords(), changes && `${capital(changes)}.`].filter(Boolean).forEach((line, i) => c.fillText(line, 10, side + 22 + 20 * i, side - 20));
      return canvas;
    }

    const stage = el("div", { class: "vl-panel vp-stage" },
      bets.element, pictures,
      el("div", { class: "vp-left" }, board.element, looks),
      el("div", { class: "vp-right" }, small.element, elsewhere.element),
      el("div", { class: "vp-heads" }, maps.element),
      el("div", { class: "vl-toolbar vp-take", role: "group", "aria-label": "Take something away" },
        headField, allOn, labelled("shuffle the positions", shuffled), labelled("hide patches", hiding), showAll, believes, taken),
      keeping, announcer.element);
    const element = el("div", { class: "vp-whole" }, stage, toast.element);
    lab.takeFiles(element, file, take);
    const found = form.parse(location.hash);
    if (found) Object.assign(state, found.state);
    if (found?.faults.length) toast.say([...found.faults, "The rest of the link is shown."].join(" "));
    await update({ quietly: true });
    return element;
  }

  Object.assign(lab, { photographStage });
})();
