/** What the theme's own scripts define. */
declare const bootstrap: {
  Tooltip: { getInstance(element: EventTarget | null): { hide(): void } | null };
};

/** What the search's scripts, of which two are loaded when they are needed, know of one another. */
declare var bookSearch: {
  root: string;
  load(script: string): Promise<void>;
  /** Takes what sections.js or texts.js holds, as book/_extensions/search.py compressed it. */
  receive(name: "sections" | "texts", code: string): void;
  content: {
    /** Headings, terms and names, so few that a page makes their index. */
    sections?: Promise<import("./search/index.js").Named>;
    /** All text, with the index of everything. */
    texts?: Promise<import("./search/index.js").Written>;
  };
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

/** Escape, or a phone's way back; TypeScript does not know it yet. */
declare class CloseWatcher {
  onclose: (() => void) | null;
  destroy(): void;
}
