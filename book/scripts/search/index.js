// Makes the index of the sections when the book is built, because a phone needs seconds for it, and opens it in a page.
import MiniSearch from "minisearch";
import { formsOf, wordsIn } from "./words.js";

/** @typedef {{ address: string, title: string, weight: number, after: number[] }} Page */
/**
 * @typedef {object} Section
 * @property {number} id
 * @property {Page} page
 * @property {string} anchor
 * @property {string} title
 * @property {number | null} parent the section around it
 * @property {number | null} explained_at for a term of the glossary, the section that explains it
 * @property {string[]} names that its code defines
 * @property {string[]} introduced words in italics or bold: terms that are explained here
 * @property {string[]} prose
 * @property {string[]} pictures
 * @property {string[]} code
 */
/** @typedef {Omit<Section, "id" | "page"> & { page: number }} Row a section, with its page's place in the list */
/** @typedef {{ [Name in keyof Row]: Row[Name][] }} Columns */
/** @typedef {import("minisearch").AsPlainObject} Index */
/** @typedef {{ counts: number[], steps: number[], times: number[] }} Field */
/** @typedef {Omit<Index, "index"> & { terms: string[], fields: Field[] }} PackedIndex */
/** @typedef {{ pages: Page[], sections: Columns }} Content as book/_extensions/search.py writes it, in two files */
/** @typedef {Pick<Columns, "prose" | "pictures" | "code">} Texts */
/** @typedef {{ pages: Page[], sections: Omit<Columns, keyof Texts> }} Named */
/** @typedef {{ sections: Texts, index: PackedIndex }} Written */
/** @typedef {(Content | Named) & { index: PackedIndex }} Indexed */

export const NAMES = ["title", "names", "introduced", "page"];
export const WEIGHTS = { title: 6, names: 4, introduced: 3, page: 2, prose: 1, pictures: 0.5, code: 0.3 };

/**
 * @param {Section} section
 * @param {string} field
 */
function textOf(section, field) {
  if (field === "id") return `${section.id}`;
  if (field === "page") return section.page.title;
  const text = section[/** @type {"title" | "prose"} */ (field)];
  return typeof text === "string" ? text : text.join("\n");
}

/** @type {import("minisearch").Options<Section>} */
const INDEXED_BY = {
  fields: Object.keys(WEIGHTS),
  extractField: textOf,
  tokenize: (text) => wordsIn(text).map(({ word }) => word),
  processTerm: (word) => [...formsOf(word).all],
};

/**
 * Returns the sections, without text if that is not there yet.
 * @param {Content | Named} content
 * @returns {Section[]}
 */
export function sectionsOf({ pages, sections }) {
  return sections.page.map((page, id) => {
    const row = Object.entries(sections).map(([name, column]) => [name, column[id]]);
    return { prose: [], pictures: [], code: [], ...Object.fromEntries(row), id, page: pages[page] };
  });
}

/**
 * Turns MiniSearch's index into columns, with each section as its distance to the one before, which compress well.
 * @param {Index} plain
 * @returns {PackedIndex}
 */
function packed({ index, ...rest }) {
  const fields = Object.values(rest.fieldIds).map((field) => {
    const found = index.map(([, places]) => Object.entries(places[field] ?? {}));
    return {
      counts: found.map((places) => places.length),
      steps: found.flatMap((places) => places.map(([id], at) => +id - (at ? +places[at - 1][0] : 0))),
      times: found.flatMap((places) => places.map(([, times]) => times)),
    };
  });
  return { ...rest, terms: index.map(([term]) => term), fields };
}

/**
 * @param {PackedIndex} packed
 * @returns {Index}
 */
function unpacked({ terms, fields, ...rest }) {
  /** @type {Index["index"]} */
  const index = terms.map((term) => [term, {}]);
  fields.forEach(({ counts, steps, times }, field) => {
    let at = 0;
    counts.forEach((count, row) => {
      if (!count) return;
      /** @type {Record<string, number>} */
      const places = {};
      index[row][1][field] = places;
      let id = 0;
      for (const end = at + count; at < end; at++) places[(id += steps[at])] = times[at];
    });
  });
  return { ...rest, index };
}

/** @type {(content: Content | Named, fields?: string[]) => PackedIndex} */
export function indexOf(content, fields = INDEXED_BY.fields) {
  const index = new MiniSearch({ ...INDEXED_BY, fields });
  index.addAll(sectionsOf(content));
  return packed(index.toJSON());
}

/** @param {PackedIndex} index */
export function opened(index) {
  return MiniSearch.loadJS(unpacked(index), { ...INDEXED_BY, fields: Object.keys(index.fieldIds) });
}
