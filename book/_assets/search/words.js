// Splits a text into words and signs, and derives the forms under which each is found.
(() => {
  "use strict";
  const search = (globalThis.bookSearch ??= {});
  // √d, qkᵀ, D/h, pre-norm, patch_embed.proj and 86,567,656 are one word each.
  const WORD = /√?[\p{L}\p{N}_](?:[\p{L}\p{N}\p{M}_]|[./'’‑-](?=[\p{L}\p{N}√_])|,(?=\d{3}(?!\d))|√)*|√/gu;
  const CAMEL = /(?<=\p{Ll})(?=\p{Lu})/u;
  const known = new Map();
  let stemmer;

  search.words = (text) =>
    [...text.matchAll(WORD)].map(({ 0: word, index }) => ({ word, start: index, end: index + word.length }));

  const fold = (word) => word.normalize("NFKD").replace(/\p{M}/gu, "").toLowerCase();

  /** Rules that give colour and color, normalise and normalize one spelling. */
  const SPELT = [[/(?<=[a-z]{3})our/, "or"], [/is(?=(e[ds]?|ing|ations?)$)/, "iz"], [/tre(?=s?$)/, "ter"], [/^grey/, "gray"], [/^licence/, "license"]];
  const spell = (word) => SPELT.reduce((spelt, [here, there]) => spelt.replace(here, there), word);

  /** Stems for words whose usual stem belongs to another word: "normalise" has nothing to do with "normal". */
  const STEMS = [[/^normali[sz]/, "normaliz"]];

  const form = (whole) => {
    if (!/^[a-z]{4,}$/.test(whole)) return { whole, stem: whole };
    stemmer ??= new globalThis.Stemmer();
    const [, stem] = STEMS.find(([word]) => word.test(whole)) ?? [];
    return { whole, stem: stem ?? stemmer.stemWord(spell(whole)) };
  };

  /** Returns the form of a word, the forms of its parts, and all terms under which they are found. */
  search.forms = (word) => {
    if (known.has(word)) return known.get(word);
    const camel = word.split(CAMEL);
    const apart = camel.length > 1 && camel.every((part) => part.length > 2) ? camel.join("-") : word;
    const text = fold(apart).replace(/['’]s$/, "").replace(/['’,]/g, "");
    const whole = form(text.replace(/[-‑]/g, ""));
    const names = [...text.split("√"), ...text.split(/[./]/), ...text.split(/[-‑_./√]/)];
    if (/^\p{L}\p{L}ᵀ$/u.test(word)) names.push(text[0], text.slice(1)); // a product of two letters
    const parts = [...new Set(names)].filter((name) => name && name !== text && !/[-‑]/.test(name)).map(form);
    if (text.includes("√")) parts.push(form("sqrt"));
    const all = new Set([whole, ...parts].flatMap((one) => [one.whole, one.stem]));
    known.set(word, { ...whole, parts, all });
    return known.get(word);
  };

  /** Returns whether a word of a text is found under one of these terms. */
  search.isFoundUnder = (word, terms) => [...search.forms(word).all].some((form) => terms.has(form));
})();
