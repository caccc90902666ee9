// Finds sections of the book. MiniSearch weighs single words; this file adds the order of the book and readers' words.
(() => {
  "use strict";
  const search = (globalThis.bookSearch ??= {});
  const WEIGHTS = { title: 8, names: 4, introduced: 3, page: 2, prose: 1, pictures: 0.5, code: 0.3 };
  const SAYS_LITTLE = new Set(
    `a an and are as at be but by can could did do does for from get has have how i if in into is it its many me much my not of on
    or out should so than that the their then there these they this to use used using was we were what when where which who why
    will with you your`.split(/\s+/),
  );
  // Terms that readers may use, and the book's own term for the same thing.
  const CALLED_HERE = [
    [/\bposition(al)? (encoding|embedding)s?\b/i, "position"],
    [/\bsinusoid(al|s)?\b/i, "sines and cosines"],
    [/\bro-?pe\b/i, "rotary positions"],
    [/\bbatch-?norm\b/i, "batch norm"],
    [/\bknowledge distillation\b/i, "distillation"],
    [/\badam vs\.? sgd\b/i, "AdamW instead of plain steps"],
    [/\bflash[- ]?attention\b/i, "fused attention"],
    [/\bout of memory\b|\boom\b/i, "activation memory"],
    [/\b(cls|\[cls\])(?= token)/i, "class"],
    [/\bskip connection/i, "residual connection"],
    [/\bdrop ?path\b/i, "stochastic depth"],
    [/\bfeed[- ]?forward( network)?\b/i, "MLP"],
    [/\b(half|mixed) precision\b|\bfp16\b|\bamp\b/i, "autocast"],
    [/\bquanti[sz]ation\b/i, "eight bits"],
    [/\btransfer learning\b/i, "fine-tuning"],
    [/\bsaliency( maps?)?\b|\bheat ?maps?\b/i, "attention maps"],
    [/\b(cosine|learning rate) (schedule|decay)\b/i, "warm-up cosine"],
    [/\bhow many parameters\b|\bparameter count\b|\bnumber of parameters\b/i, "every parameter counted"],
    [/\b(photos?|pictures)\b/i, "photographs"],
    [/\beinsum\b/i, "einops"],
    [/\bmulti[- ]?gpu\b/i, "DDP"],
    [/\b(not|n['’]t) (learn|train|converge)\b/i, "loss stays at ln K"],
    [/\bhow many (heads|blocks|layers)\b/i, "depth width and heads for my images"],
    [/\b(load|use) (timm|torchvision|hugging ?face)('s)? (weights|models?)\b/i, "load weights"],
    [/\bexplainability\b|\binterpretability\b/i, "what attention maps do not tell"],
  ];
  // Sections that answer a question best although other sections contain more of its words.
  const TOLD_AT = [
    [/^(install(ation|ing)?|set ?up|colab|kaggle|binder|download|pdf|licen[cs]es?)$/i, "book/intro.html#take-it-with-you"],
    [/^((how to )?cit(e|ing|ation)|bibtex)( (this|the) book)?$/i, "book/intro.html#how-to-cite"],
    [/^(exercise )?(solutions?|answers)$/i, "book/intro.html#how-a-chapter-goes"],
    [/^(prerequisites?|requirements|what (do|should) i (need|know))$/i, "notebooks/00_before_you_start.html#a-ten-minute-self-test"],
    [/^(demo|interactive|playground|in the browser|transformers\.?js)$/i, "book/lab.html#the-vit-lab"],
    [/\bmat1 and mat2\b/i, "notebooks/00_before_you_start.html#a-linear-layer"],
    [/\bto have \d+ channels\b/i, "notebooks/side_roads/when_it_does_not_work.html#images-with-1-4-or-10-channels"],
    [/\bexpected scalar type\b|\bcast to the desired output type\b/i, "notebooks/11_speed.html#by-hand-bfloat16-and-autocast"],
    [/^(self[- ]?)?attention( mechanism)?$/i, "notebooks/04_scaled_dot_product_attention.html#scaled-dot-product-attention"],
  ];
  const LEADS_IN = /^(\d+\. |By hand: |Proof: |The module: |What breaks: |The picture: )/;
  const COMES_AFTER = /^(Recap|Further reading|Exercises|What breaks|The bug|Case \d)/; // ranked below explanations
  const ENOUGH = 5; // if fewer sections have every word, sections that lack one word follow them
  const LONGEST = 240; // characters of an excerpt

  const UNLIKE = 0.4; // of a word's letters: with more mistakes it is another word

  /** Returns what a pasted text asks: of an error, its last message without shapes and numbers. */
  const askedBy = (text) => {
    const [, message] = text.match(/.*\b\w*(?:Error|Exception): (.+)/s) ?? [];
    return message?.replace(/torch\.Size|\[[\d, -]*\]|\b\d+(\s*[x×]\s*\d+)*\b/g, " ") ?? text;
  };

  /** Returns how many letters have to be changed, added, left out or swapped with the next to make one word of another. */
  const mistakes = (one, other) => {
    let before = [], last = Array.from({ length: other.length + 1 }, (_, at) => at);
    for (let row = 1; row <= one.length; row++) {
      const now = [row];
      for (let at = 1; at <= other.length; at++) {
        now[at] = Math.min(last[at] + 1, now[at - 1] + 1, last[at - 1] + (one[row - 1] !== other[at - 1]));
        if (row > 1 && at > 1 && one[row - 1] === other[at - 2] && one[row - 2] === other[at - 1])
          now[at] = Math.min(now[at], before[at - 2] + 1);
      }
      [before, last] = [last, now];
    }
    return last[other.length];
  };

  const textOf = (section, field) => {
    if (field === "id") return section.id;
    if (field === "title") return section.title;
    if (field === "page") return section.page.title;
    return section[field].join("\n");
  };
  const wordsOf = (text) => search.words(text).map(({ word }) => word);
  const telling = (text) => wordsOf(text).filter((word) => !SAYS_LITTLE.has(word.toLowerCase()));
  const stems = (text) => ` ${search.words(text).map(({ word }) => search.forms(word).stem).join(" ")} `;

  const INDEXED_BY = {
    fields: Object.keys(WEIGHTS),
    extractField: textOf,
    tokenize: wordsOf,
    processTerm: (word) => [...search.forms(word).all],
  };

  const rowsOf = ({ pages, sections }) =>
    sections.page.map((page, id) => {
      const row = Object.entries(sections).map(([name, column]) => [name, column[id]]);
      return { id, ...Object.fromEntries(row), page: pages[page] };
    });

  /** Turns MiniSearch's index into columns, with each section as its distance to the one before, which compress well. */
  const packed = ({ index, ...rest }) => {
    const fields = Object.values(rest.fieldIds).map((field) => {
      const found = index.map(([, places]) => Object.entries(places[field] ?? {}));
      return {
        counts: found.map((places) => places.length),
        steps: found.flatMap((places) => places.map(([id], at) => id - (at ? places[at - 1][0] : 0))),
        times: found.flatMap((places) => places.map(([, times]) => times)),
      };
    });
    return { ...rest, terms: index.map(([term]) => term), fields };
  };

  const unpacked = ({ terms, fields, ...rest }) => {
    const index = terms.map((term) => [term, {}]);
    fields.forEach(({ counts, steps, times }, field) => {
      let at = 0;
      counts.forEach((count, row) => {
        if (!count) return;
        const places = (index[row][1][field] = {});
        let id = 0;
        for (const end = at + count; at < end; at++) places[(id += steps[at])] = times[at];
      });
    });
    return { ...rest, index };
  };

  /** Makes the index of the sections when the book is built, because a phone needs seconds for it. */
  search.indexOf = (content) => {
    const index = new globalThis.MiniSearch(INDEXED_BY);
    index.addAll(rowsOf(content));
    return packed(index.toJSON());
  };

  search.Finder = class {
    /** Takes the pages, each with those that rank before it if they have the words too, the sections' columns, and their index. */
    constructor({ pages, sections, index }) {
      this.pages = pages;
      this.sections = rowsOf({ pages, sections });
      for (const section of this.sections)
        section.rank = [section, this.sections[section.parent]].some((one) => COMES_AFTER.test(one?.title)) ? 0.65 : 1;
      this.terms = this.sections.filter((one) => one.explained_at !== null);
      this.vocabulary = new Map(index.terms.map((term, row) =>
        [term, index.fields.reduce((sum, { counts }) => sum + counts[row], 0)])); // how often a term occurs
      this.index = globalThis.MiniSearch.loadJS(unpacked(index), INDEXED_BY);
    }

    /** Returns the queries that a word of a question may stand for, each with its weight. */
    meanings(word, isLast) {
      const { whole, stem, parts } = search.forms(word);
      const all = (queries) => ({ combineWith: "AND", queries });
      const found = [[1, whole], [0.8, stem]];
      if (parts.length && !(this.vocabulary.has(whole) && parts.some((part) => part.whole.length < 2)))
        found.push([0.4, all(parts.map((part) => part.stem))]);
      const isKnown = this.vocabulary.has(whole) || this.vocabulary.has(stem);
      if (whole.length > 2 && (isLast || !isKnown)) found.push([1, { queries: [whole], prefix: true }]);
      if (!isKnown) for (const halves of this.halves(whole)) found.push([0.8, all(halves)]);
      return found;
    }

    /** Returns the pairs of known words of which a word is made, as batch and norm. */
    halves(word) {
      const cuts = Array.from({ length: Math.max(0, word.length - 5) }, (_, at) => at + 3);
      return cuts.map((at) => [word.slice(0, at), word.slice(at)]).filter((both) => both.every((half) => this.vocabulary.has(half)));
    }

    /** Returns a question with each word that the book has not, and that is one mistake away from one that it has, mended. */
    spelt(question) {
      let mended = question;
      for (const { word } of search.words(question)) {
        const { whole, stem, parts } = search.forms(word);
        if (parts.length || !/^[a-z]{5,}$/.test(whole) || this.vocabulary.has(stem) || this.halves(whole).length) continue;
        const terms = [...this.vocabulary.keys()];
        if (terms.some((term) => term.startsWith(whole))) continue; // half a word
        const like = terms.filter((term) => Math.abs(term.length - whole.length) < 2 && mistakes(whole, term) < 2);
        const [best] = like.sort((one, other) => this.vocabulary.get(other) - this.vocabulary.get(one));
        if (best) mended = mended.replace(word, best);
      }
      return mended;
    }

    /** Returns the sections that have a word, with its weight, the matching terms and the fields that have them. */
    having(word, isLast) {
      const having = new Map();
      const options = { boost: WEIGHTS, tokenize: (term) => [term], processTerm: (term) => term };
      for (const [weight, query] of this.meanings(word, isLast)) {
        const isGuess = Boolean(query.prefix);
        for (const { id, score, queryTerms, match } of this.index.search(query, options)) {
          const one = having.get(id) ?? { score: 0, terms: new Set(), fields: new Set() };
          one.score = Math.max(one.score, (weight * score) / queryTerms.length ** 2);
          if (!isGuess || !one.isSure) for (const term of Object.keys(match)) one.terms.add(term);
          for (const field of Object.values(match).flat()) one.fields.add(field);
          one.isSure ||= !isGuess;
          having.set(id, one);
        }
      }
      return having;
    }

    /** Returns the sections that answer a question, the best first: { section, score, terms }. */
    find(text) {
      const question = this.spelt(askedBy(text));
      const [pattern, here] = CALLED_HERE.find(([pattern]) => pattern.test(question)) ?? [];
      let found = this.answer(question);
      if (pattern) {
        const inOurWords = this.answer(question.replace(pattern, here));
        const sections = new Set(inOurWords.map(({ section }) => section));
        const others = found.filter(({ section }) => !sections.has(section));
        found = [...inOurWords, ...others.map((one) => ({ ...one, score: one.score / 2 }))];
      }
      found.sort((one, other) => other.score - one.score);
      const [, address] = TOLD_AT.find(([pattern]) => pattern.test(question.trim())) ?? [];
      if (!address) return found;
      const section = this.sections.find(({ page, anchor }) => `${page.address}#${anchor}` === address);
      const one = found.find((one) => one.section === section) ?? { section, score: 0, terms: [] };
      return [one, ...found.filter((other) => other !== one)];
    }

    /** Returns the book's terms that are spelt most like a question: those of its index, and words of headings. */
    nearest(question, most = 5) {
      const spelt = (text) => wordsOf(text).map((word) => search.forms(word).whole);
      const isTelling = (word) => word.length > 3 && !SAYS_LITTLE.has(word);
      this.offered ??= [
        ...this.terms.map(({ title }) => title.replace(/ \(.*?\)/g, "")),
        ...this.sections.flatMap(({ introduced }) => introduced),
        ...this.sections.flatMap(({ title }) => wordsOf(title).map((word) => word.toLowerCase()).filter(isTelling)),
      ].map((term) => ({ term, parts: [...new Set([spelt(term).join(""), ...spelt(term).filter(isTelling)])] }));
      const asked = [...new Set([spelt(question).join(""), ...spelt(question).filter(isTelling)])];
      const best = new Map();
      for (const { term, parts } of this.offered) {
        const shares = asked.flatMap((word) => parts.map((part, at) => {
          const longest = Math.max(word.length, part.length);
          if (Math.abs(word.length - part.length) > UNLIKE * longest) return 1;
          return mistakes(word, part) / longest + (at && 0.1); // a term that is like it only in part comes later
        }));
        const key = parts[0];
        const share = Math.min(...shares);
        if (share <= UNLIKE && !best.has(key)) best.set(key, { term, share });
      }
      return [...best.values()].sort((one, other) => one.share - other.share).slice(0, most).map(({ term }) => term);
    }

    answer(question) {
      const asked = wordsOf(question);
      const words = telling(question).length ? telling(question) : asked;
      const having = words.map((word) => this.having(word, word === asked.at(-1)));
      const phrases = [stems(asked.join(" ")), stems(words.join(" "))];
      let found = [];
      for (const id of new Set(having.flatMap((one) => [...one.keys()]))) {
        const section = this.sections[id];
        const matches = having.map((one) => one.get(id)).filter(Boolean);
        if (matches.every(({ fields }) => fields.size === 1 && fields.has("page"))) continue;
        const score = matches.reduce((sum, one) => sum + one.score, 0);
        const terms = matches.map((one) => one.terms);
        const missing = words.length - matches.length;
        found.push({ section, terms, missing, score: score * section.page.weight * section.rank * this.closeness(section, phrases) });
      }
      const least = Math.min(...found.map(({ missing }) => missing));
      const whole = found.filter(({ missing }) => missing === least);
      if (whole.length >= ENOUGH || least + 1 >= words.length) found = whole;
      else found = found.filter(({ missing }) => missing <= least + 1);
      for (const one of found) one.score *= 0.2 ** (one.missing - least);
      this.keepOrder(found);
      this.lift(found, phrases);
      return found;
    }

    /** Returns a factor for sections that define the term or have the words side by side, largest for titles. */
    closeness(section, phrases) {
      section.stems ??= {
        title: stems(section.title.replace(LEADS_IN, "")),
        names: section.names.map(stems),
        introduced: section.introduced.map(stems),
        prose: stems(section.prose.join("\n")),
      };
      const { title, names, introduced, prose } = section.stems;
      const isTop = section.title === section.page.title;
      let gain = phrases.some((phrase) => prose.includes(phrase)) ? 1.5 : 1;
      if (phrases.some((phrase) => introduced.includes(phrase))) gain = 3;
      if (phrases.some((phrase) => names.includes(phrase))) gain = 8;
      if (phrases.includes(title)) return Math.max(gain, isTop ? 6 : 4);
      if (phrases.some((phrase) => title.includes(phrase))) return Math.max(gain, isTop ? 4 : 2.5);
      return gain;
    }

    /** For a term of the glossary, puts first the page of that name or the section that explains it, then its entry. */
    lift(found, phrases) {
      const first = [], next = [];
      for (const term of this.terms) {
        if (!phrases.includes(stems(term.title.replace(/\(.*?\)/g, "")))) continue;
        const place = this.sections[term.explained_at];
        const tops = this.sections.filter(({ title, page }) => title === page.title && page.weight > 0.7);
        const title = (top) => stems(telling(top.title.replace(LEADS_IN, "")).join(" "));
        const top = tops.find((one) => phrases.includes(title(one)))
          ?? tops.find((one) => one.page === place.page && phrases.some((phrase) => title(one).includes(phrase)));
        first.push(top ?? place);
        next.push(term);
      }
      const best = Math.max(0, ...found.map(({ score }) => score));
      for (const [gain, sections] of [[1.1, next], [1.2, first]])
        for (const one of found) if (sections.includes(one.section)) one.score = best * gain;
    }

    /** Ranks exercises after their chapter, and the package's definitions after the chapters that build them. */
    keepOrder(found) {
      const best = new Map();
      for (const { section, score, missing } of found)
        if (!missing) best.set(section.page, Math.max(score, best.get(section.page) ?? 0));
      for (const one of found) {
        const before = one.section.page.after.map((page) => best.get(this.pages[page]) ?? 0);
        const limit = Math.max(0, ...before);
        if (limit) one.score = limit * (1 - 1 / (1 + one.score / limit)); // below the limit, in their own order
      }
    }

    /** Returns the best sentence, or else an alt text or a line of code: { kind, pieces: [{ text, marked }] }. */
    excerpt({ section, terms }) {
      const weigh = (line) => {
        const isSentence = line.length > 30 && !line.includes(" · ");
        const words = search.words(line);
        return terms.filter((one) => words.some(({ word }) => search.isFoundUnder(word, one))).length * (isSentence ? 1 : 0.8);
      };
      const { prose, pictures, code } = section;
      const below = prose.length ? [] : this.sections.filter(({ parent }) => parent === section.id).flatMap((one) => one.prose);
      for (const [kind, lines] of Object.entries({ prose, pictures, below, code })) {
        const weights = lines.map(weigh);
        const best = Math.max(0, ...weights);
        if (best) return { kind, pieces: search.marked(lines[weights.indexOf(best)], terms, LONGEST) };
      }
      return { kind: "prose", pieces: search.marked(prose[0] ?? below[0] ?? "", [], LONGEST) };
    }
  };

  /** Moves the beginning of a piece in front of the bracket that it would begin in. */
  const outsideBrackets = (text, begin) => {
    const opened = [];
    for (let at = 0; at < begin; at++)
      if (text[at] === "(") opened.push(at);
      else if (text[at] === ")") opened.pop();
    return begin - opened[0] < LONGEST / 4 ? opened[0] : begin;
  };

  /** Cuts a text into pieces, marked or not; a text that is too long is cut around its first mark. */
  search.marked = (text, terms, longest = Infinity) => {
    const marks = search.words(text).filter(({ word }) => terms.some((one) => search.isFoundUnder(word, one)));
    let begin = 0, end = text.length;
    if (end > longest) {
      const middle = marks[0]?.start ?? 0;
      begin = middle < longest * 0.7 ? 0 : outsideBrackets(text, text.indexOf(" ", middle - longest / 2) + 1);
      if (begin + longest < end) end = Math.max(text.lastIndexOf(" ", begin + longest), (marks[0]?.end ?? 0));
    }
    const pieces = [];
    let at = begin;
    const add = (to, marked) => { if (to > at) pieces.push({ text: text.slice(at, to), marked }); at = to; };
    for (const { start, end: stop } of marks.filter((mark) => mark.start >= begin && mark.end <= end)) {
      add(start, false);
      add(stop, true);
    }
    add(end, false);
    if (begin > 0) pieces.unshift({ text: "… ", marked: false });
    if (end < text.length) pieces.push({ text: " …", marked: false });
    return pieces;
  };
})();
