// Makes a drawing move: <svg data-figure="one_query" data-numbers="{...}">. Without scripts it stays a still picture.
// A figure's own script in ../figures changes the drawing's named parts, and imports from here all that it needs.

import { el } from "../shared/elements.js";
import { ARROWS, clamp, placeAt, upTo } from "../shared/grid.js";

export * from "../shared/grid.js";
export * from "../shared/numbers.js";
export * from "../shared/scale.js";

/** @import { Pair } from "../shared/grid.js" */

/** @typedef {[number, number, number, number]} Place left, top, width and height in the drawing's units */
/** @typedef {{x: number, y: number, width: number, height: number}} Box a place, as kit.py writes it */
/** @typedef {{x: number, y: number}} Spot */
/** @typedef {{[name: string]: string | number | boolean}} Attributes */
/** @typedef {{seconds?: number, meanwhile?: string}} Played seconds that a step takes, and what is said meanwhile */
/**
 * @typedef {object} Ranged what can be said of a slider
 * @property {string} label its name
 * @property {string} [text] what is seen of the name; otherwise the name and the number
 * @property {boolean} [hidden] whether nothing is seen of it
 * @property {number} low
 * @property {number} high
 * @property {number} [step]
 * @property {() => number} value returns the present number
 * @property {(number: number) => string} [says] returns what stands for a number
 * @property {(number: number) => void} change
 */

export const SVG = "http://www.w3.org/2000/svg";
const calm = matchMedia("(prefers-reduced-motion: reduce)");
const SECONDS = 3; // that a played step takes
const LETTERS = 1.12; // largest scale of letters: they stay about as large as the text when the drawing grows

/**
 * @template {Element} E
 * @param {E} element
 * @param {Attributes} attributes
 */
export function set(element, attributes) {
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, String(value));
  return element;
}

/**
 * Makes an element of a drawing.
 * @template {keyof SVGElementTagNameMap} T
 * @param {T} tag
 * @param {Attributes} attributes
 * @param {Node[]} children
 */
export function drawn(tag, attributes, ...children) {
  const element = set(document.createElementNS(SVG, tag), attributes);
  element.append(...children);
  return element;
}

/**
 * Makes the squares of a grid, row by row, to be filled by toned or in one colour.
 * @type {(place: Place, side: number, colour?: string) => SVGRectElement[]}
 */
export function squares([left, top, wide], side, colour) {
  const size = wide / side;
  return upTo(side * side).map((number) => {
    const [row, column] = placeAt(number, side);
    const at = { x: left + column * size, y: top + row * size, width: size, height: size };
    return drawn("rect", { class: colour ? `vd-full vd-${colour}` : "vd-tone", ...at });
  });
}

/**
 * A drawing that moves. @template N the numbers that the drawing brings along
 */
export class Figure {
  /** @param {HTMLElement} place */
  constructor(place) {
    this.svg = /** @type {SVGSVGElement} */ (place.querySelector("svg"));
    this.numbers = /** @type {N} */ (JSON.parse(this.svg.dataset.numbers ?? "{}"));
    /** @type {Map<string | undefined, SVGElement>} */
    this.parts = new Map();
    for (const part of this.svg.querySelectorAll("[data-part]")) {
      if (part instanceof SVGElement) this.parts.set(part.dataset.part, part);
    }
    this.controls = /** @type {HTMLElement} */ (place.querySelector(".moving-controls"));
    this.words = el("p", { class: "moving-words", role: "status" });
    this.controls.append(this.words);
    this.row = el("div");
    this.newRow();
    /** Stops what is played. @type {(() => void) | undefined} */
    this.stop = undefined;
    this.told = "";
    /** The number that the drawing shows while it glides to another. @type {number | undefined} */
    this.at = undefined;
    /** What lets each control show its number. @type {(() => void)[]} */
    this.shows = [];
    /** @type {string | undefined} */
    this.meanwhile = undefined;
    this.speaking = 0;
    this.frame = 0;
    set(this.svg, { role: "group" }); // as an "img" its handles would be hidden from screen readers
    for (const child of this.svg.children) set(child, { "aria-hidden": true });
    new ResizeObserver(([{ contentRect }]) => {
      const scale = contentRect.width / this.svg.viewBox.baseVal.width;
      this.svg.style.setProperty("--letters", String(Math.min(1.01, LETTERS / scale)));
    }).observe(this.svg);
    place.classList.add("moves");
  }

  /** @param {string} name */
  part(name) {
    const part = this.parts.get(name);
    if (!part) throw new Error(`${this.svg.dataset.figure}: the drawing has no part ${name}`);
    return part;
  }

  /** Sets attributes of the first element that a part is drawn of. @type {(name: string, of: Attributes) => void} */
  draw(name, attributes) {
    set(/** @type {Element} */ (this.part(name).firstElementChild), attributes);
  }

  /** Moves a part away from where it is drawn, in the drawing's units. @param {string} name */
  shift(name, x = 0, y = 0) {
    this.part(name).style.transform = `translate(${x}px, ${y}px)`;
  }

  /** Shows or hides a part. @type {(name: string, seen: boolean) => void} */
  seen(name, seen) {
    this.part(name).style.visibility = seen ? "visible" : "hidden";
  }

  /** Fills a bar up to a width. @type {(name: string, width: number) => void} */
  fill(name, width) {
    set(/** @type {Element} */ (this.part(name).querySelector(".vd-full")), { width });
  }

  /** @type {(name: string, text: string) => void} */
  write(name, text) {
    /** @type {Element} */ (this.part(name).querySelector("text")).textContent = text;
  }

  /**
   * Says what is drawn now, and lets each control show its number. Screen readers announce the sentences; others within
   * 150 ms replace them. The first is the figure's state, and so it goes into its name as well.
   * @param {string} text
   */
  say(text) {
    this.told = text;
    for (const show of this.shows) show();
    const [state] = text.split(/(?<=[.!?]) /);
    set(this.svg, { "aria-label": `${this.svg.dataset.title}: ${state}` });
    const words = this.meanwhile ?? text;
    clearTimeout(this.speaking);
    this.speaking = setTimeout(() => {
      if (this.words.textContent !== words) this.words.textContent = words;
    }, 150);
  }

  /**
   * Calls draw with 0 to 1, once for each frame; only with 1 for readers who prefer reduced motion.
   * @param {(t: number) => void} draw
   */
  tween(draw, milliseconds = 400) {
    cancelAnimationFrame(this.frame);
    if (calm.matches) return draw(1);
    const start = performance.now();
    /** @param {number} now */
    const next = (now) => {
      const t = clamp((now - start) / milliseconds, 0, 1);
      draw(t * t * (3 - 2 * t));
      if (t < 1) this.frame = requestAnimationFrame(next);
    };
    this.frame = requestAnimationFrame(next);
  }

  /**
   * Calls draw with numbers from the one that is drawn to another.
   * @param {number} to
   * @param {(at: number) => void} draw
   */
  glide(to, draw, milliseconds = 500) {
    const from = this.at ?? to;
    this.tween((t) => draw((this.at = from + (to - from) * t)), milliseconds);
  }

  /** Lets a control show its number, now and whenever the drawing has changed. @param {() => void} show */
  follows(show) {
    this.shows.push(show);
    show();
  }

  newRow() {
    this.row = el("div", { class: "moving-row" });
    this.words.before(this.row);
  }

  /** @type {(text: string, click: () => void) => HTMLButtonElement} */
  button(text, click) {
    const button = el("button", { type: "button" }, text);
    button.addEventListener("click", click);
    this.row.append(button);
    return button;
  }

  /**
   * Adds a row of buttons of which one is pressed, with texts by their names or names that are the texts. The result
   * presses another, or none.
   * @param {string[] | {[name: string]: string}} texts
   * @param {string} first
   * @param {(name: string) => void} change
   */
  choice(texts, first, change) {
    /** @param {string} [name] */
    const press = (name) => {
      for (const [other, button] of buttons) set(button, { "aria-pressed": other === name });
    };
    const named = Array.isArray(texts) ? texts.map((text) => [text, text]) : Object.entries(texts);
    const buttons = named.map(
      ([name, text]) =>
        /** @type {const} */ ([
          name,
          this.button(text, () => { press(name); change(name); }),
        ]),
    );
    press(first);
    return press;
  }

  /** Adds a button that is pressed or not. @type {(text: string, change: (pressed: boolean) => void) => void} */
  toggle(text, change) {
    let pressed = false;
    const button = this.button(text, () => {
      pressed = !pressed;
      set(button, { "aria-pressed": pressed });
      change(pressed);
    });
    set(button, { "aria-pressed": pressed });
  }

  /**
   * Adds a list of the browser's own to choose from.
   * @param {string} label
   * @param {{[value: string]: string}} texts
   * @param {string} first
   * @param {(value: string) => void} change
   */
  select(label, texts, first, change) {
    const options = Object.entries(texts).map(([value, text]) => el("option", { value }, text));
    const select = el("select", { "aria-label": label }, ...options);
    select.value = first;
    select.addEventListener("change", () => { this.stop?.(); change(select.value); });
    this.row.append(select);
  }

  /** Adds a slider of the browser's own. @param {Ranged} about */
  range({ label, text, hidden = false, low, high, step = 1, value, says = String, change }) {
    const input = el("input", { type: "range", min: low, max: high, step, "aria-label": label });
    const words = el("span", { "aria-hidden": true });
    this.row.append(el("label", { class: "moving-range" }, ...(hidden ? [] : [words]), input));
    const show = () => {
      input.value = String(value());
      set(input, { "aria-valuetext": says(value()) });
      words.textContent = text ?? `${label}: ${says(value())}`;
    };
    input.addEventListener("input", () => {
      const to = Number(input.value); // stopping says the state, and with it the slider's number
      this.stop?.();
      change(to);
      show();
    });
    let before = value();
    input.addEventListener("pointerdown", () => { before = value(); });
    input.addEventListener("pointercancel", () => {
      // the finger scrolls the page instead
      if (value() !== before) change(before);
      show();
    });
    this.follows(show);
  }

  /** Makes a part of the drawing a grip for mouse and finger. @type {(name: string, place: Place) => SVGElement} */
  grip(name, [x, y, width, height]) {
    const grip = this.part(name);
    grip.prepend(drawn("rect", { class: "moving-grip", x, y, width, height, rx: 4 }));
    grip.classList.add("moving-handle");
    return grip;
  }

  /**
   * Makes a part of the drawing a handle, which the Tab key reaches and screen readers call a slider.
   * @type {(name: string, place: Place, attributes: Attributes) => SVGElement}
   */
  handle(name, place, attributes) {
    const handle = this.grip(name, place);
    handle.removeAttribute("aria-hidden");
    return set(handle, { role: "slider", tabindex: 0, ...attributes });
  }

  /** Returns the point of the drawing at which an event happened. @param {{clientX: number, clientY: number}} event */
  spot({ clientX, clientY }) {
    const matrix = /** @type {DOMMatrix} */ (this.svg.getScreenCTM());
    return new DOMPoint(clientX, clientY).matrixTransform(matrix.inverse());
  }

  /**
   * Calls move with each point that a handle is dragged to. A finger beside the held place scrolls the page, and so
   * does one that moves up or down on a sideways handle.
   * @param {SVGElement} handle
   * @param {(spot: Spot) => void} move
   * @param {{holds?: (spot: Spot) => boolean, sideways?: boolean}} [about]
   */
  dragged(handle, move, { holds = () => true, sideways = false } = {}) {
    let held = false;
    /** @type {Spot | null} */
    let began = null; // where a finger came down whose direction is not yet known
    const hold = () => {
      held = true;
      handle.focus({ preventScroll: true });
      this.stop?.();
    };
    handle.addEventListener("pointerdown", (event) => {
      const touch = event.pointerType === "touch";
      if (event.button || (touch && !holds(this.spot(event)))) return;
      event.preventDefault();
      handle.setPointerCapture(event.pointerId);
      if (touch && sideways) return;
      hold();
      move(this.spot(event));
    });
    handle.addEventListener("pointermove", (event) => {
      if (held) move(this.spot(event));
    });
    handle.addEventListener("pointerup", (event) => {
      if (began) {
        // a tap
        hold();
        move(this.spot(event));
      }
      began = null;
      held = false;
    });
    handle.addEventListener("lostpointercapture", () => { held = false; });
    // Browsers ignore touch-action inside an SVG, so touches are handled here.
    handle.addEventListener(
      "touchstart",
      (event) => {
        const [finger] = event.touches;
        began = null;
        if (!holds(this.spot(finger))) return;
        if (sideways) began = { x: finger.clientX, y: finger.clientY };
        else event.preventDefault();
      },
      { passive: false },
    );
    handle.addEventListener(
      "touchmove",
      (event) => {
        const [finger] = event.touches;
        if (began) {
          const [across, down] = [finger.clientX - began.x, finger.clientY - began.y].map(Math.abs);
          if (Math.max(across, down) < 3) return;
          began = null;
          if (across > down) hold();
        }
        if (held) event.preventDefault();
      },
      { passive: false },
    );
  }

  /**
   * Lets keys act on a handle: {ArrowUp: () => { ... }, ...}.
   * @type {(handle: SVGElement, acts: {[key: string]: () => void}) => void}
   */
  keyed(handle, acts) {
    handle.addEventListener("keydown", (event) => {
      const act = acts[event.key];
      if (!act || event.altKey || event.ctrlKey || event.metaKey) return;
      event.preventDefault();
      this.stop?.();
      act();
    });
  }

  /**
   * Makes a part of the drawing a slider, which mouse, finger and arrow keys move; at returns the number at an x or y.
   * @param {string} name
   * @param {Ranged & {box: Place, along?: "x" | "y", at: (xy: number) => number}} about
   */
  slider(name, { box, low, high, step = 1, label, along = "x", at, value, says = String, change }) {
    const handle = this.handle(name, box, {
      "aria-label": label,
      "aria-valuemin": low,
      "aria-valuemax": high,
      "aria-orientation": along === "x" ? "horizontal" : "vertical",
    });
    const show = () => { set(handle, { "aria-valuenow": value(), "aria-valuetext": says(value()) }); };
    /** @param {number} to */
    const move = (to) => {
      const rounded = clamp(Math.round(to / step) * step, low, high);
      if (rounded !== value()) change(rounded);
    };
    this.dragged(handle, (spot) => move(at(spot[along])), { sideways: along === "x" });
    /** @param {number} steps */
    const by = (steps) => () => move(value() + steps * step);
    this.keyed(handle, {
      ArrowUp: by(1),
      ArrowRight: by(1),
      ArrowDown: by(-1),
      ArrowLeft: by(-1),
      PageUp: by(4),
      PageDown: by(-4),
      Home: () => move(low),
      End: () => move(high),
    });
    this.follows(show);
  }

  /**
   * Makes a part a grid in which one place, [row, column], is chosen by a click or a tap, by dragging or by arrow keys.
   * A mouse that only passes over a place points at it. A box is the handle where it is not the whole grid.
   * @param {string} name
   * @param {object} about
   * @param {Place | (() => Place)} about.grid
   * @param {Place} [about.box]
   * @param {() => Pair} about.size
   * @param {string} about.label
   * @param {() => Pair} about.value
   * @param {(place: Pair) => string} about.says
   * @param {(place: Pair) => void} about.choose
   * @param {(place: Pair | null) => void} [about.point]
   */
  places(name, { grid, box, size, label, value, says, choose, point }) {
    const place = () => (typeof grid === "function" ? grid() : grid);
    const handle = this.handle(name, box ?? place(), {
      "aria-label": label,
      "aria-roledescription": "two-way slider",
      "aria-valuemin": 0,
    });
    const show = () => {
      const [[rows, columns], [row, column]] = [size(), value()];
      set(handle, { "aria-valuemax": rows * columns - 1, "aria-valuenow": row * columns + column });
      set(handle, { "aria-valuetext": says([row, column]) });
    };
    /** @type {(row: number, column: number) => Pair} */
    const inside = (row, column) => [clamp(row, 0, size()[0] - 1), clamp(column, 0, size()[1] - 1)];
    /** @param {Spot} spot */
    const at = ({ x, y }) => {
      const [left, top, width, height] = place();
      return inside(Math.floor((y - top) / (height / size()[0])), Math.floor((x - left) / (width / size()[1])));
    };
    /** @param {Pair} to */
    const go = (to) => {
      if (String(to) !== String(value())) choose(to);
    };
    /** @param {Spot} spot */
    const near = (spot) => Boolean(box) || at(spot).every((index, axis) => Math.abs(index - value()[axis]) <= 1);
    this.dragged(handle, (spot) => go(at(spot)), { holds: near });
    handle.addEventListener("click", (event) => go(at(this.spot(event)))); // a tap
    /** @type {Pair | null} */
    let pointed = null;
    /** @param {Pair | null} to */
    const pass = (to) => {
      if (String(to) !== String(pointed)) point?.((pointed = to));
    };
    handle.addEventListener("pointermove", (event) => {
      if (event.pointerType === "mouse" && !handle.hasPointerCapture(event.pointerId)) pass(at(this.spot(event)));
    });
    handle.addEventListener("pointerleave", () => pass(null));
    /** @type {(down: number, across: number) => () => void} */
    const by = (down, across) => () => go(inside(value()[0] + down, value()[1] + across));
    this.keyed(handle, {
      ...Object.fromEntries(Object.entries(ARROWS).map(([key, step]) => [key, by(...step)])),
      Home: () => go([0, 0]),
      End: () => go(inside(...size())),
    });
    this.follows(show);
  }

  /**
   * Adds a button that calls next again and again until it returns false; another press pauses. If the steps are too
   * quick for a sentence each, meanwhile is announced instead of them all.
   * @param {string} text
   * @param {() => boolean} next
   * @param {Played} [played]
   */
  player(text, next, { seconds = SECONDS, meanwhile } = {}) {
    /** @type {number | undefined} */
    let timer;
    const stop = () => {
      clearInterval(timer);
      timer = undefined;
      button.textContent = text;
      if (!this.meanwhile) return;
      this.meanwhile = undefined;
      this.say(this.told);
    };
    const take = () => {
      if (!next()) stop();
    };
    const button = this.button(text, () => {
      const playing = timer !== undefined;
      this.stop?.();
      if (playing) return;
      this.stop = stop;
      this.meanwhile = meanwhile;
      button.textContent = "Pause";
      timer = setInterval(take, 1000 * seconds);
      take();
    });
    button.classList.add("moving-play");
  }

  /**
   * Adds Back, Play, Next and a slider for the steps 0 to count - 1; the result goes to a step, and stops playing.
   * A figure may open midway or at its end, at first; from there Play begins with step 0.
   * What scrub names are parts of the drawing in which mouse and finger drag the step, from 0 at the left edge on.
   * @param {object} about
   * @param {number} about.count
   * @param {(step: number) => void} about.show
   * @param {number} [about.first]
   * @param {string} [about.label] name of the slider
   * @param {(step: number) => string} [about.says]
   * @param {{[part: string]: Place}} [about.scrub]
   * @param {Played} [played]
   */
  steps({ count, show, first = 0, label = "step", says = (step) => `${step + 1} of ${count}`, scrub = {} }, played) {
    let index = first;
    let opening = false; // as it opened, past step 0
    /** @param {number} to */
    const go = (to) => {
      opening = false;
      index = clamp(to, 0, count - 1);
      set(back, { "aria-disabled": index === 0 }); // "disabled" would drop the focus
      set(next, { "aria-disabled": index === count - 1 });
      show(index);
    };
    /** @param {number} to */
    const jump = (to) => {
      this.stop?.();
      if (to !== index && to >= 0 && to < count) go(to);
    };
    const back = this.button("Back", () => jump(index - 1));
    this.player(
      "Play",
      () => {
        go(opening || index === count - 1 ? 0 : index + 1);
        return index < count - 1;
      },
      played,
    );
    const next = this.button("Next", () => jump(index + 1));
    const open = (/** @type {number} */ to) => {
      this.stop?.();
      go(to);
      opening = to > 0 && to === first;
    };
    open(first);
    this.range({ label, hidden: true, low: 0, high: count - 1, value: () => index, says, change: jump });
    for (const [part, [x, y, width, height]] of Object.entries(scrub)) {
      const grip = this.grip(part, [x - 14, y, width + 28, height]);
      /** @param {Spot} spot */
      const drag = (spot) => jump(clamp(Math.round(((spot.x - x) / width) * (count - 1)), 0, count - 1));
      this.dragged(grip, drag, { sideways: true });
    }
    return open;
  }
}

/**
 * Starts a figure wherever the page shows its drawing.
 * @template N
 * @param {string} name
 * @param {(figure: Figure<N>) => void} start
 */
export function move(name, start) {
  for (const place of document.querySelectorAll(`.moving-${name}`)) {
    if (place instanceof HTMLElement) start(/** @type {Figure<N>} */ (new Figure(place)));
  }
}
