/** What the theme's own scripts define. */
declare const bootstrap: {
  Tooltip: { getInstance(element: EventTarget | null): { hide(): void } | null };
};

/** What the search's scripts, of which two are loaded when they are needed, know of one another. */
declare var bookSearch: {
  root: string;
  load(script: string): Promise<void>;
  /** Takes the sections, as book/_extensions/search.py compressed them, from sections.js. */
  receive(code: string): void;
  content?: Promise<import("./search/index.js").Content & { index: import("./search/index.js").PackedIndex }>;
  ready?(): Promise<import("./search/finder.js").Finder>;
  answer?(form: HTMLFormElement): void;
  mark?(words: string): void;
};

/** The cover's photographs and their tokens, which book/cover.py writes into cover_data.js. */
declare const vitCover: {
  grid: number;
  numbers: number;
  /** The photograph and the patch that ask first. */
  asking: [number, number];
  names: string[];
  tokens: string;
};

/** What the newest browsers have. */
interface Uint8ArrayConstructor {
  fromBase64?(text: string): Uint8Array<ArrayBuffer>;
}
