// Finds sections of the book. MiniSearch weighs single words; this adds the order of the book and readers' words.
import { CALLED_HERE, NOWHERE, THEIR_WORDS, TOLD_AT } from "./aliases.js";
import { LONGEST, marked } from "./excerpts.js";
import { WEIGHTS, opened, sectionsOf } from "./index.js";
import { mistakes } from "./spelling.js";
import { formsOf, isFoundUnder, wordsIn } from "./words.js";

/** @typedef {import("./index.js").Section} Section */
/** @typedef {import("minisearch").Query} Query */
/** @typedef {{ score: number, terms: Set<string>, fields: Set<string>, isSure: boolean }} Match of a word */
/**
 * @typedef {object} Found
 * @property {Section} section
 * @property {Set<string>[]} terms that matched, for each word of the question
 * @property {number} missing how many of its words the section has not
 * @property {number} score
 */

const SAYS_LITTLE = new Set(
  `a an and are as at be but by can could did do does for from get has have how i if in into is it its many me much my
  not of on or out should so than that the their then there these they this to use used using versus vs was we were what
  when where which who why will with you your`.split(/\s+/),
);
const LEADS_IN = /^(\d+\. |By hand: |Proof: |The module: |What breaks: |The picture: )/;
const COMES_AFTER = /^(Recap|Further reading|Exercises|What breaks|The bug|Case \d)/; // ranked below explanations
const ENOUGH = 5; // if fewer sections have every word, sections that lack one word follow them
const UNLIKE = 0.4; // of a word's letters: with more mistakes it is another word
const SHORT = 4; // letters of a word in which a mistake is mended only where that is likely
const LONG = 8; // letters of a word that may have two mistakes
const EVEN = 0.5; // below 1: a section with something of every word is before one with much of a single word
const CHANCE = 1 / 3; // of a message's words: a section that lacks so many has the others by chance
const FULL_TITLE = 4; // words: a question of so many may be the title of an exercise or of a paper

/** What is asked around a term by those who want to know what it is. */
const FRAMES = [
  /^(?:please|(?:can|could) (?:you|someone)) (.+)$/i,
  /^(?:what|how) (?:do|does|is|are) (.+?) (?:mean|stand for|do|for|work)$/i,
  /^(?:what(?:['’]?s| exactly is| is| are| do (?:you|we) mean by)(?: meant by)?|define|explain|tell me about):? (.+)$/i,
  /^(?:the )?(?:meaning|definition) of (.+)$/i,
  /^(.+) (?:meaning|definition|explained(?: simply)?)$/i,
];

/** @param {string} text */
const listOf = (text) => wordsIn(text).map(({ word }) => word);
/** @param {string} text */
const telling = (text) => listOf(text).filter((word) => !SAYS_LITTLE.has(word.toLowerCase()));
/** @param {string} text */
const stems = (text) => ` ${listOf(text).map((word) => formsOf(word).stem).join(" ")} `;
/** Returns whether some words are those of a text, as "cross entropy" is "cross-entropy". @param {string[]} phrases */
const isOneOf = (phrases, /** @type {string} */ text) =>
  phrases.some((phrase) => phrase === text || (/\S \S/.test(phrase) && phrase.replace(/ /g, "") === text.trim()));
/** @param {string} word */
const isTelling = (word) => word.length > 3 && !SAYS_LITTLE.has(word);
/** Returns where a section is, as the table of answers says it. @param {Section} section */
const placeOf = ({ page, anchor }) => `${page.address.replace(/^notebooks\/|\.html$/g, "")}#${anchor}`;
/** @param {string} title */
const withoutBrackets = (title) => title.replace(/ ?\(.*?\)/g, "");

/** Returns a term as one word, and its words. @param {string} term */
function partsOf(term) {
  const words = listOf(term).map((word) => formsOf(word).whole);
  return [...new Set([words.join(""), ...words.filter(isTelling)])];
}

/** Returns the last message of a pasted error; undefined for any other text. @param {string} text */
export const messageIn = (text) => text.match(/.*\b\w*(?:Error|Exception|Warning): (.+)/s)?.[1];

/**
 * Returns the term of a question for its meaning, as softmax of "what is the meaning of softmax?".
 * @param {string} text
 * @returns {string}
 */
function termIn(text) {
  const bare = text.replace(/[\s?!.]+$/, "");
  const inside = FRAMES.map((frame) => bare.match(frame)?.[1]).find(Boolean);
  return inside ? termIn(inside.replace(/^(an?|the) /i, "")) : text;
}

/**
 * Returns what a text asks: of a question for a meaning, the term; of an error, its last message without shapes and
 * numbers; of a call in code, its name, without whose method it is and without numbers.
 * @param {string} text
 */
export function askedBy(text) {
  const message = messageIn(text);
  if (message)
    return message.replace(/torch\.Size|\[[\d, -]*\]|\b\d+(\s*[x×]\s*\d+)*\b/g, " ").replace(/^'(.*)'$/, "$1");
  const called = (/** @type {string} */ _, /** @type {string} */ name, /** @type {string} */ given) =>
    `${name} ${given.replace(/\b\d+\b/g, " ")}`;
  return termIn(text.trim()).replace(/(?:\b[a-z]\.)?\b(\w[\w.]*)\(([^()]*)\)/g, called);
}

/** Returns a question with the book's own term for what readers call otherwise. @param {string} question */
export function calledHere(question) {
  const [pattern, here] = CALLED_HERE.find(([one]) => one.test(question)) ?? [];
  return pattern && here ? question.replace(pattern, here) : question;
}

/** Returns where the first of some texts that the table of answers knows is answered. @param {string[]} texts */
const toldAt = (...texts) => TOLD_AT.find(([one]) => texts.some((text) => one.test(text.trim())))?.[1];

/** Returns what an entry of the glossary says, without where it leads. @param {Section} term */
export const definitionIn = (term) => term.prose.filter((line) => !line.startsWith("(")).join(" ");

export class Finder {
  /**
   * Takes the sections, their index, and the pages, each with the pages that rank before it if they have the words.
   * Without their text, it finds by headings, terms and names.
   * @param {import("./index.js").Indexed} content
   */
  constructor({ pages, sections, index }) {
    this.pages = pages;
    this.sections = sectionsOf({ pages, sections });
    this.terms = this.sections.filter((one) => one.explained_at !== null);
    const occurrences = index.terms.map((_, row) => index.fields.reduce((sum, { counts }) => sum + counts[row], 0));
    this.vocabulary = new Map(index.terms.map((term, row) => [term, occurrences[row]]));
    for (const word of THEIR_WORDS) this.vocabulary.set(word, Infinity);
    this.index = opened(index);
    /** @type {{ term: string, parts: string[] }[]} */
    this.offered = [];
    /** @type {Set<string>} */
    this.titled = new Set();
    /** @type {Map<Section, { title: string, prose: string } & Record<"names" | "introduced" | "printed", string[]>>} */
    this.stems = new Map();
  }

  /** @param {Section} section */
  rank(section) {
    const titles = [section.title, this.sections[section.parent ?? -1]?.title ?? ""];
    return titles.some((title) => COMES_AFTER.test(title)) ? 0.65 : 1;
  }

  /**
   * Returns the queries that a word of a question may stand for, each with its weight.
   * @param {string} word
   * @param {boolean} isLast
   */
  meanings(word, isLast) {
    const { whole, stem, parts } = formsOf(word);
    const all = (/** @type {string[]} */ queries) => ({ combineWith: /** @type {const} */ ("AND"), queries });
    /** @type {[number, Query, ("is a guess")?][]} */
    const found = [[1, whole], [0.8, stem]];
    const isName = word.includes(".") || parts.some((part) => part.whole.length < 2); // head.weight, D/h
    if (parts.length && !(this.vocabulary.has(whole) && isName))
      found.push([0.4, all(parts.map((part) => part.stem))]);
    const isKnown = this.vocabulary.has(whole) || this.vocabulary.has(stem);
    if (whole.length > 2 && (isLast || !isKnown)) found.push([1, { queries: [whole], prefix: true }, "is a guess"]);
    if (!isKnown) for (const halves of this.halves(whole)) found.push([0.8, all(halves)]);
    return found;
  }

  /** Returns the pairs of known words of which a word is made, as batch and norm. @param {string} word */
  halves(word) {
    const cuts = Array.from({ length: Math.max(0, word.length - 5) }, (_, at) => at + 3);
    const pairs = cuts.map((at) => [word.slice(0, at), word.slice(at)]);
    return pairs.filter((pair) => pair.every((half) => this.vocabulary.has(half)));
  }

  /**
   * Returns a question with two words joined that the book writes as one, as soft and max.
   * @param {string} question
   */
  joined(question) {
    const words = wordsIn(question);
    const times = (/** @type {string} */ word) => this.vocabulary.get(formsOf(word).whole) ?? 0;
    return words.slice(1).reduce((text, { word }, at) => {
      const before = words[at].word;
      const isOne = times(before + word) > Math.max(times(before), times(word));
      return isOne ? text.replace(`${before} ${word}`, before + word) : text;
    }, question);
  }

  /**
   * Returns a question with each word mended that the book has not, and that is a mistake away from one that it has. A
   * long word may be two mistakes away from a word of a title or a term, if the first letter is right; of four letters,
   * only a title's or a term's word is mended, and its first letter has to be right as well.
   * @param {string} question
   */
  spelt(question) {
    let mended = this.joined(question);
    const isIn = (/** @type {string} */ term) => (/** @type {Section} */ one) =>
      new RegExp(`\\b${term}\\b`, "i").test(JSON.stringify(one)); // as a word: the vocabulary has stems as well
    for (const { word } of wordsIn(mended)) {
      const { whole, stem, parts } = formsOf(word);
      if (parts.length || !/^[a-z]{4,}$/.test(whole)) continue;
      if (this.vocabulary.has(whole) || this.halves(whole).length) continue;
      const named = this.inTitles();
      const isStem = this.vocabulary.has(stem);
      const terms = [...this.vocabulary].filter(([, times]) => times === Infinity || !isStem);
      if (!isStem && terms.some(([term]) => term.startsWith(whole))) continue; // half a word
      const like = terms.flatMap(([term, times]) => {
        const isLikely = term[0] === whole[0] && (times === Infinity || named.has(formsOf(term).stem));
        const most = isLikely && whole.length >= LONG ? 2 : isLikely || whole.length > SHORT ? 1 : 0;
        const off = Math.abs(term.length - whole.length) > most ? Infinity : mistakes(whole, term);
        return off > most ? [] : { term, times, off };
      });
      like.sort((one, other) => one.off - other.off || other.times - one.times);
      const best = like.find(({ term, times }) => times === Infinity || this.sections.some(isIn(term)));
      if (best) mended = mended.replace(word, best.term);
    }
    return mended;
  }

  /** Returns what a text asks, with its words mended; a pasted message has no mistakes. @param {string} text */
  asked(text) {
    return messageIn(text) ? askedBy(text) : this.spelt(askedBy(text));
  }

  /**
   * Returns the sections that have a word, with its weight, the matching terms and the fields that have them.
   * @param {string} word
   * @param {boolean} isLast
   */
  having(word, isLast) {
    /** @type {Map<number, Match>} */
    const having = new Map();
    const options = {
      boost: WEIGHTS,
      tokenize: (/** @type {string} */ term) => [term],
      processTerm: (/** @type {string} */ term) => term,
    };
    for (const [weight, query, isGuess] of this.meanings(word, isLast)) {
      for (const { id, score, queryTerms, match } of this.index.search(query, options)) {
        const one = having.get(id) ?? { score: 0, terms: new Set(), fields: new Set(), isSure: false };
        one.score = Math.max(one.score, (weight * score) / queryTerms.length ** 2);
        if (!isGuess || !one.isSure) for (const term of Object.keys(match)) one.terms.add(term);
        for (const field of Object.values(match).flat()) one.fields.add(field);
        one.isSure ||= !isGuess;
        having.set(id, one);
      }
    }
    return having;
  }

  /**
   * Returns the sections that answer a question, the best first.
   * @param {string} text
   * @returns {Found[]}
   */
  find(text) {
    const question = this.asked(text);
    const message = messageIn(text);
    const called = calledHere(question);
    let found = this.answer(question);
    if (called !== question) {
      const inOurWords = this.answer(called);
      const sections = new Set(inOurWords.map(({ section }) => section));
      const others = found.filter(({ section }) => !sections.has(section));
      found = [...inOurWords, ...others.map((one) => ({ ...one, score: one.score / 2 }))];
    }
    found.sort((one, other) => other.score - one.score);
    const words = telling(question);
    const told = toldAt(text, question);
    if (told === NOWHERE) return [];
    const titled = [question, text].map((one) => stems(one.replace(LEADS_IN, "")));
    // A title that is asked for word for word comes first, unless it is a term too: then the term's own section does.
    const isTerm = this.terms.some(({ title }) => titled.includes(stems(withoutBrackets(title))));
    const isFull = listOf(question).length >= FULL_TITLE;
    const isTitled = (/** @type {Section} */ one) =>
      (isFull || this.isText(one)) && titled.includes(this.stemsOf(one).title);
    const isAt = (/** @type {string | undefined} */ place) => this.sections.find((one) => placeOf(one) === place);
    const whole = isTerm ? undefined : found.map((one) => one.section).find(isTitled);
    const best = isAt(told) ?? whole ?? isAt(toldAt(words.join(" ")));
    if (message && !best) {
      const phrase = stems(question);
      const isPrinted = (/** @type {string} */ line) =>
        isFull && (line.startsWith(phrase) || phrase.startsWith(line)); // a book prints the beginning of a long one
      const isSaid = (/** @type {Found} */ { section }) => {
        const { prose, printed } = this.stemsOf(section);
        return prose.includes(phrase) || printed.some(isPrinted);
      };
      const said = found.filter(isSaid);
      const others = found.filter((one) => one.missing < CHANCE * words.length && !said.includes(one));
      for (const one of said) one.missing = 0;
      for (const one of others) one.missing ||= 1;
      found = [...said, ...others];
    }
    if (!best) return found;
    const first = found.find((one) => one.section === best) ?? { section: best, score: 0, terms: [] };
    const others = found.filter((one) => one !== first && !(message && one.missing)); // some of its words mean little
    return [{ ...first, missing: 0 }, ...others];
  }

  /** Returns the entries of the glossary that say what a question is. @param {string} text */
  definitions(text) {
    const question = this.asked(text);
    const asked = [stems(question), stems(calledHere(question))];
    return this.terms.filter(({ title, prose }) => prose.length && isOneOf(asked, stems(withoutBrackets(title))));
  }

  /** Returns whether a section is no exercise, definition or reference. @param {Section} section */
  isText(section) {
    return !section.page.after.length && section.explained_at === null;
  }

  /** Returns the words of a question that no section has. @param {string} text */
  unknown(text) {
    return telling(this.asked(text)).filter((word) => !this.having(word, true).size);
  }

  /** Returns the stems of all words in titles and terms. */
  inTitles() {
    if (!this.titled.size) this.titled = new Set(this.offers().flatMap(listOf).map((word) => formsOf(word).stem));
    return this.titled;
  }

  /** Returns the terms that can be offered, those of the index first. */
  offers() {
    const titles = this.terms.map(({ title }) => withoutBrackets(title));
    const introduced = this.sections.flatMap((one) => one.introduced);
    const inHeadings = this.sections.flatMap(({ title }) => listOf(title.toLowerCase()).filter(isTelling));
    return [...titles, ...introduced, ...inHeadings];
  }

  /**
   * Returns the book's terms that are spelt most like a question: those of its index, and words of headings.
   * @param {string} question
   */
  nearest(question, most = 5) {
    if (!this.offered.length) this.offered = this.offers().map((term) => ({ term, parts: partsOf(term) }));
    const asked = partsOf(question);
    /** @type {Map<string, { term: string, share: number }>} */
    const best = new Map();
    for (const { term, parts } of this.offered) {
      const shares = asked.flatMap((word) => parts.map((part, at) => {
        const longest = Math.max(word.length, part.length);
        if (Math.abs(word.length - part.length) > UNLIKE * longest) return 1;
        return mistakes(word, part) / longest + (at && 0.1); // a term that is like it only in part comes later
      }));
      const share = Math.min(...shares);
      if (share <= UNLIKE && !best.has(parts[0])) best.set(parts[0], { term, share });
    }
    return [...best.values()].sort((one, other) => one.share - other.share).slice(0, most).map(({ term }) => term);
  }

  /**
   * @param {string} question
   * @returns {Found[]}
   */
  answer(question) {
    const asked = listOf(question);
    const words = telling(question).length ? telling(question) : asked;
    const having = words.map((word) => this.having(word, word === asked.at(-1)));
    const phrases = [stems(asked.join(" ")), stems(words.join(" "))];
    /** @type {Found[]} */
    let found = [];
    for (const id of new Set(having.flatMap((one) => [...one.keys()]))) {
      const section = this.sections[id];
      const matches = having.flatMap((one) => one.get(id) ?? []);
      if (matches.every(({ fields }) => fields.size === 1 && fields.has("page"))) continue;
      const sum = matches.reduce((total, one) => total + one.score ** EVEN, 0) ** (1 / EVEN);
      const score = sum * section.page.weight * this.rank(section) * this.closeness(section, phrases);
      found.push({ section, terms: matches.map((one) => one.terms), missing: words.length - matches.length, score });
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

  /** @param {Section} section */
  stemsOf(section) {
    const made = this.stems.get(section) ?? {
      title: stems(section.title.replace(LEADS_IN, "")),
      names: section.names.map(stems),
      introduced: section.introduced.map(stems),
      prose: stems(section.prose.join("\n")),
      printed: section.code.filter((line) => listOf(line).length >= FULL_TITLE).map(stems),
    };
    this.stems.set(section, made);
    return made;
  }

  /**
   * Returns a factor for sections that define the term or have the words side by side, largest for titles.
   * @param {Section} section
   * @param {string[]} phrases
   */
  closeness(section, phrases) {
    const { title, names, introduced, prose } = this.stemsOf(section);
    const isTop = section.title === section.page.title;
    let gain = phrases.some((phrase) => prose.includes(phrase)) ? 1.5 : 1;
    if ([...introduced, ...names.map((one) => one.replace(/_/g, ""))].some((one) => isOneOf(phrases, one))) gain = 3;
    if (phrases.some((phrase) => names.includes(phrase))) gain = 8;
    if (isOneOf(phrases, title)) return Math.max(gain, isTop ? 6 : 4);
    if (phrases.some((phrase) => title.includes(phrase))) return Math.max(gain, isTop ? 4 : 2.5);
    return gain;
  }

  /**
   * For a term of the glossary, puts first the page of that name or the section that explains it, then its entry.
   * @param {Found[]} found
   * @param {string[]} phrases
   */
  lift(found, phrases) {
    const first = [];
    const next = [];
    for (const term of this.terms) {
      if (!isOneOf(phrases, stems(withoutBrackets(term.title)))) continue;
      const place = this.sections[term.explained_at ?? term.id];
      const tops = this.sections.filter(({ title, page }) => title === page.title && page.weight > 0.7);
      const title = (/** @type {Section} */ top) => stems(telling(top.title.replace(LEADS_IN, "")).join(" "));
      const isPart = (/** @type {Section} */ top) => phrases.some((phrase) => title(top).includes(phrase));
      const named = tops.find((one) => phrases.includes(title(one)));
      first.push(named ?? tops.find((one) => one.page === place.page && isPart(one)) ?? place);
      next.push(term);
    }
    const best = Math.max(0, ...found.map(({ score }) => score));
    for (const one of found) if (next.includes(one.section)) one.score = best * 1.1;
    for (const one of found) if (first.includes(one.section)) one.score = best * 1.2;
  }

  /**
   * Ranks exercises after their chapter, and the package's definitions after the chapters that build them.
   * @param {Found[]} found
   */
  keepOrder(found) {
    const best = new Map();
    const least = Math.min(...found.map(({ missing }) => missing));
    for (const { section, score, missing } of found)
      if (missing === least) best.set(section.page, Math.max(score, best.get(section.page) ?? 0));
    for (const one of found) {
      const before = one.section.page.after.map((page) => best.get(this.pages[page]) ?? 0);
      const limit = Math.max(0, ...before);
      if (limit) one.score = limit * (1 - 1 / (1 + one.score / limit)); // below the limit, in their own order
    }
  }

  /** Returns the best sentence, or else an alt text or a line of code. @param {Found} found */
  excerpt({ section, terms }) {
    const weigh = (/** @type {string} */ line) => {
      const words = listOf(line);
      const matches = terms.filter((one) => words.some((word) => isFoundUnder(word, one)));
      const isSentence = line.length > 30 && !line.includes(" · ");
      return matches.length * (isSentence ? 1 : 0.8);
    };
    const { pictures, code } = section;
    const prose = section.explained_at === null ? section.prose : [definitionIn(section)];
    const inside = this.sections.filter(({ parent }) => parent === section.id);
    const below = prose.length ? [] : inside.flatMap((one) => one.prose);
    for (const [kind, lines] of Object.entries({ prose, pictures, below, code })) {
      const weights = lines.map(weigh);
      const best = Math.max(0, ...weights);
      if (best) return { kind, pieces: marked(lines[weights.indexOf(best)], terms, LONGEST) };
    }
    return { kind: "prose", pieces: marked(prose[0] ?? below[0] ?? "", [], LONGEST) };
  }
}
