// Splits a text into words and signs, and derives the forms under which each is found.
import { stemmer } from "stemmer";

/** @typedef {{ word: string, start: number, end: number }} Word a word and its place in a text */
/** @typedef {{ whole: string, stem: string }} Form */
/** @typedef {Form & { parts: Form[], all: Set<string> }} Forms of a word, of its parts, and all terms for both */

// √d, qkᵀ, D/h, pre-norm, patch_embed.proj and 86,567,656 are one word each.
const WORD = /√?[\p{L}\p{N}_](?:[\p{L}\p{N}\p{M}_]|[./'’‑-](?=[\p{L}\p{N}√_])|,(?=\d{3}(?!\d))|√)*|√/gu;
const CAMEL = /(?<=\p{Ll})(?=\p{Lu})/u;
/** Rules that give colour and color, normalise and normalize one spelling. @type {[RegExp, string][]} */
const SPELT = [
  [/(?<=[a-z]{3})our/, "or"], [/is(?=(e[ds]?|ing|ations?)$)/, "iz"], [/tre(?=s?$)/, "ter"], [/^grey/, "gray"],
  [/^licence/, "license"],
];
/** Stems where the usual one is another word's: "normalise" is nothing "normal". @type {[RegExp, string][]} */
const STEMS = [[/^normali[sz]/, "normaliz"]];
/** @type {Map<string, Forms>} */
const known = new Map();

/**
 * @param {string} text
 * @returns {Word[]}
 */
export function wordsIn(text) {
  return [...text.matchAll(WORD)].map(({ 0: word, index }) => ({ word, start: index, end: index + word.length }));
}

/** @param {string} word */
const fold = (word) => word.normalize("NFKD").replace(/\p{M}/gu, "").toLowerCase();
/** @param {string} word */
const spell = (word) => SPELT.reduce((spelt, [here, there]) => spelt.replace(here, there), word);

/**
 * @param {string} whole
 * @returns {Form}
 */
function formOf(whole) {
  if (!/^[a-z]{4,}$/.test(whole)) return { whole, stem: whole };
  const [, stem] = STEMS.find(([word]) => word.test(whole)) ?? [];
  return { whole, stem: stem ?? stemmer(spell(whole)) };
}

/** @param {string} word */
function newForms(word) {
  const camel = word.split(CAMEL);
  const apart = camel.length > 1 && camel.every((part) => part.length > 2) ? camel.join("-") : word;
  const text = fold(apart).replace(/['’]s$/, "").replace(/['’,]/g, "");
  const whole = formOf(text.replace(/[-‑]/g, ""));
  const cuts = ["√", /[./]/, /[-‑_./√]/];
  const names = cuts.flatMap((cut) => text.split(cut)).map((name) => name.replace(/\/$/, "")); // 1/√d begins with 1
  if (/^\p{L}\p{L}ᵀ$/u.test(word)) names.push(text[0], text.slice(1)); // a product of two letters
  const parts = [...new Set(names)].filter((name) => name && name !== text && !/[-‑]/.test(name)).map(formOf);
  if (text.includes("√")) parts.push(formOf("sqrt"));
  return { ...whole, parts, all: new Set([whole, ...parts].flatMap((one) => [one.whole, one.stem])) };
}

/**
 * Returns the form of a word, the forms of its parts, and all terms under which they are found.
 * @param {string} word
 */
export function formsOf(word) {
  const forms = known.get(word) ?? newForms(word);
  known.set(word, forms);
  return forms;
}

/**
 * Returns whether a word of a text is found under one of these terms.
 * @param {string} word
 * @param {Set<string>} terms
 */
export function isFoundUnder(word, terms) {
  return [...formsOf(word).all].some((form) => terms.has(form));
}
