// Writes the lab's state as the end of a link, "#digit=5&shuffle=1&head=2.1", and reads it back.
(() => {
  "use strict";
  const lab = (globalThis.vitLab ??= {});
  const LEVELS = "0123456789abcdefg"; // levels of ink in a drawing, in sixteenths
  const SWITCHES = { weights: "trained", shuffled: false, off: [], head: null, asks: 0, votes: false };

  const whole = (text, high) => (/^\d+$/.test(text) && Number(text) <= high ? Number(text) : undefined);
  const pair = (text, separator, high) => {
    const both = text.split(separator).map((part) => whole(part, high));
    return both.length === 2 && !both.includes(undefined) ? both : undefined;
  };
  const oneOf = (text, values) => (values.includes(text) ? text : undefined);

  /** The parts of a link: of(state) returns a value, read(text) parses it or returns undefined, write(value) formats. */
  function parts() {
    const { depth, heads, gridSize: [rows, columns] } = lab.model("trained");
    const names = Array.from({ length: depth * heads }, (_, i) => `${Math.floor(i / heads)}.${i % heads}`);
    const maps = [...names, ...Array.from({ length: depth }, (_, block) => `${block}.mean`), "rollout"];
    const same = { read: (text) => text, write: String };
    const yes = { read: (text) => ({ 0: false, 1: true })[text], write: Number };
    return {
      digit: { ...same, read: (text) => whole(text, 9) },
      example: { ...same, read: (text) => whole(text, 2) },
      drawn: {
        read: (text) => (/^[0-9a-g]{64}$/.test(text) ? Float64Array.from(text, (level) => LEVELS.indexOf(level) / 16) : undefined),
        write: (drawn) => Array.from(drawn, (ink) => LEVELS[Math.round(16 * ink)]).join(""),
      },
      at: {
        of: ({ top, left }) => [top, left],
        to: ([top, left]) => ({ top, left }),
        read: (text) => {
          const place = pair(text, ".", lab.IMAGE - lab.DIGIT);
          return place?.every((pixel) => pixel % lab.STEP === 0) ? place : undefined;
        },
        write: (place) => place.join("."),
      },
      ground: { ...same, read: (text) => oneOf(text, ["brick", "grass", "gravel", "none"]) },
      piece: { ...same, read: (text) => whole(text, 9999) },
      scraps: { ...same, read: (text) => whole(text, lab.MOST_SCRAPS) },
      shuffle: {
        ...yes,
        of: ({ shuffled }) => shuffled,
        to: (shuffled) => ({ shuffled }),
      },
      weights: { ...same, read: (text) => oneOf(text, ["trained", "untrained"]) },
      off: {
        read: (text) => {
          const off = text.split(",");
          return off.every((name) => names.includes(name)) ? [...new Set(off)].sort() : undefined;
        },
        write: (off) => off.join(","),
      },
      head: { ...same, read: (text) => oneOf(text, maps) },
      asks: {
        read: (text) => {
          const [row, column] = pair(text, ".", Math.max(rows, columns) - 1) ?? [];
          return row < rows && column < columns ? 1 + columns * row + column : undefined;
        },
        write: (token) => lab.placeOf(token).join("."),
      },
      votes: yes,
    };
  }

  /** Makes the form of a stage's links: {first(), format(state), parse(hash)}, of its parts() and first() state. */
  function addressForm({ parts, first }) {
    return {
      first,

      /** Formats the difference from the first state: "" or "digit=5&shuffle=1". */
      format(state) {
        const written = [];
        for (const [key, { of = (all) => all[key], write }] of Object.entries(parts())) {
          const value = of(state);
          if (value === null || String(value) === String(of(first()))) continue;
          written.push(`${key}=${write(value)}`);
        }
        return written.join("&");
      },

      /**
       * Parses a link. Returns {state, faults}: the first state changed by the link, and a sentence for each part that
       * cannot be read; null if the hash is that of a heading.
       */
      parse(hash) {
        const text = hash.replace(/^#/, "");
        if (text && !text.includes("=")) return null;
        const known = parts();
        const state = first();
        const faults = [];
        for (const [key, value] of new URLSearchParams(text)) {
          if (key === "stage") continue;
          const part = Object.hasOwn(known, key) ? known[key] : null;
          const found = part?.read(value);
          if (!part) faults.push(`The link sets “${key}”, which the lab does not have.`);
          else if (found === undefined) faults.push(`The link asks for ${key} “${value}”, which the lab does not have.`);
          else Object.assign(state, part.to ? part.to(found) : { [key]: found });
        }
        return { state, faults };
      },
    };
  }

  const digits = addressForm({ parts, first: () => ({ ...lab.START, ...SWITCHES }) });

  Object.assign(lab, {
    addressForm, readWhole: whole, readPair: pair, oneOf,
    formatAddress: digits.format, parseAddress: digits.parse, firstState: digits.first,
  });
})();
