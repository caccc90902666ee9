// Makes a drawing move: <svg data-figure="one_query" data-numbers="{...}">. Without scripts it stays a still
// picture. A figure's own script changes the drawing's named parts:
//   vitFigures.one_query = (figure) => { ... };
(() => {
  "use strict";
  const figures = (globalThis.vitFigures ??= {});
  const SVG = "http://www.w3.org/2000/svg";
  const calm = matchMedia("(prefers-reduced-motion: reduce)");
  const SECONDS = 3; // that a played step takes

  const clamp = (number, low, high) => Math.min(Math.max(number, low), high);

  /** Writes a number as the book prints it, with at most some digits and a minus as long as a plus. */
  function written(number, digits = 1) {
    const text = String(Number(number.toFixed(digits)));
    return text.replace("-", "−").replace("−0", (zero) => (number.toFixed(digits) == 0 ? "0" : zero));
  }

  /** Joins words as in "4, 2 and 0". */
  function listed(texts) {
    return `${texts.slice(0, -1).join(", ")} and ${texts.at(-1)}`;
  }

  function set(element, attributes) {
    for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
    return element;
  }

  function el(tag, attributes = {}, ...children) {
    const element = set(document.createElement(tag), attributes);
    element.append(...children);
    return element;
  }

  class Figure {
    constructor(place) {
      this.place = place;
      this.svg = place.querySelector("svg");
      this.numbers = JSON.parse(this.svg.dataset.numbers);
      this.parts = new Map([...this.svg.querySelectorAll("[data-part]")].map((part) => [part.dataset.part, part]));
      this.controls = place.querySelector(".moving-controls");
      this.words = el("p", { class: "moving-words", role: "status" });
      this.controls.append(this.words);
      this.newRow();
      this.svg.setAttribute("role", "group"); // as an "img" its handles would be hidden from screen readers
      this.svg.setAttribute("aria-label", this.svg.dataset.title); // the long one tells of the still picture
      for (const child of this.svg.children) child.setAttribute("aria-hidden", true);
      place.classList.add("moves");
    }

    part(name) {
      const part = this.parts.get(name);
      if (!part) throw new Error(`${this.svg.dataset.figure}: the drawing has no part ${name}`);
      return part;
    }

    write(name, text) {
      this.part(name).querySelector("text").textContent = text;
    }

    /** Announces sentences to screen readers; others within 150 ms replace them. The first is the figure's state, and
        so it goes into its name as well. */
    say(text) {
      this.told = text;
      const [state] = text.split(/(?<=[.!?]) /);
      this.svg.setAttribute("aria-label", `${this.svg.dataset.title}: ${state}`);
      const words = this.meanwhile ?? text;
      clearTimeout(this.speaking);
      this.speaking = setTimeout(() => { if (this.words.textContent !== words) this.words.textContent = words; }, 150);
    }

    /** Calls draw with 0 to 1, once for each frame; only with 1 for readers who prefer reduced motion. */
    tween(draw, milliseconds = 400) {
      cancelAnimationFrame(this.frame);
      if (calm.matches) return draw(1);
      const start = performance.now();
      const next = (now) => {
        const t = clamp((now - start) / milliseconds, 0, 1);
        draw(t * t * (3 - 2 * t));
        if (t < 1) this.frame = requestAnimationFrame(next);
      };
      this.frame = requestAnimationFrame(next);
    }

    newRow() {
      this.row = el("div", { class: "moving-row" });
      this.words.before(this.row);
    }

    button(text, click) {
      const button = el("button", { type: "button" }, text);
      button.addEventListener("click", click);
      this.row.append(button);
      return button;
    }

    /** Adds a row of buttons of which one is pressed; names can be {name: text}. The result presses another, or none. */
    choice(names, first, change) {
      const texts = Array.isArray(names) ? Object.fromEntries(names.map((name) => [name, name])) : names;
      const buttons = new Map(Object.entries(texts).map(([name, text]) => [name, this.button(text, () => {
        press(name);
        change(name);
      })]));
      const press = (name) => { for (const [other, button] of buttons) button.setAttribute("aria-pressed", other === name); };
      press(first);
      return press;
    }

    /** Adds a button that is pressed or not. */
    toggle(text, change) {
      const button = this.button(text, () => {
        const pressed = button.getAttribute("aria-pressed") !== "true";
        button.setAttribute("aria-pressed", pressed);
        change(pressed);
      });
      button.setAttribute("aria-pressed", false);
    }

    /** Adds a list of the browser's own, {name: text}, to choose from. */
    select(label, options, first, change) {
      const select = el("select", { "aria-label": label }, ...Object.entries(options).map(([value, text]) => el("option", { value }, text)));
      select.value = first;
      select.addEventListener("change", () => { this.stop?.(); change(select.value); });
      this.row.append(select);
    }

    /** Adds a slider of the browser's own; the result shows what value() has become. */
    range({ label, hidden = false, low, high, step = 1, value, says = String, change }) {
      const input = el("input", { type: "range", min: low, max: high, step, "aria-label": label });
      const text = el("span", { "aria-hidden": true });
      this.row.append(el("label", { class: "moving-range" }, ...(hidden ? [] : [text]), input));
      const show = () => {
        input.value = value();
        input.setAttribute("aria-valuetext", says(value()));
        text.textContent = `${label}: ${says(value())}`;
      };
      input.addEventListener("input", () => {
        this.stop?.();
        change(Number(input.value));
        show();
      });
      show();
      return show;
    }

    /** Makes a part of the drawing a grip for mouse and finger. */
    grip(name, [x, y, width, height]) {
      const grip = this.part(name);
      grip.prepend(set(document.createElementNS(SVG, "rect"), { class: "moving-grip", x, y, width, height, rx: 4 }));
      grip.classList.add("moving-handle");
      return grip;
    }

    /** Makes a part of the drawing a handle, which the Tab key reaches and screen readers call a slider. */
    handle(name, box, attributes) {
      const handle = this.grip(name, box);
      handle.removeAttribute("aria-hidden");
      return set(handle, { role: "slider", tabindex: 0, ...attributes });
    }

    /** Lets mouse and finger drag a place of the drawing along as well as the slider of steps: x lies low at the left. */
    scrubbed(name, [x, y, width, height], { low = 0, high, value, change }) {
      const around = 14;
      this.dragged(this.grip(name, [x - around, y, width + 2 * around, height]), (spot) => {
        const to = clamp(Math.round(low + ((spot.x - x) / width) * (high - low)), low, high);
        if (to !== value()) change(to);
      }, { sideways: true });
    }

    /** Returns the point of the drawing at which an event happened. */
    spot({ clientX, clientY }) {
      return new DOMPoint(clientX, clientY).matrixTransform(this.svg.getScreenCTM().inverse());
    }

    /** Calls move with each point that a handle is dragged to. A finger beside the held place scrolls the page, and so
        does one that moves up or down on a sideways handle. */
    dragged(handle, move, { holds = () => true, sideways = false } = {}) {
      let held = false;
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
      handle.addEventListener("pointermove", (event) => { if (held) move(this.spot(event)); });
      handle.addEventListener("pointerup", (event) => {
        if (began) { // a tap
          hold();
          move(this.spot(event));
        }
        began = null;
        held = false;
      });
      handle.addEventListener("lostpointercapture", () => { held = false; });
      // Browsers ignore touch-action inside an SVG, so touches are handled here.
      handle.addEventListener("touchstart", (event) => {
        const [finger] = event.touches;
        began = null;
        if (!holds(this.spot(finger))) return;
        if (sideways) began = { x: finger.clientX, y: finger.clientY };
        else event.preventDefault();
      }, { passive: false });
      handle.addEventListener("touchmove", (event) => {
        const [finger] = event.touches;
        if (began) {
          const [across, down] = [finger.clientX - began.x, finger.clientY - began.y].map(Math.abs);
          if (Math.max(across, down) < 3) return;
          began = null;
          if (across > down) hold();
        }
        if (held) event.preventDefault();
      }, { passive: false });
    }

    /** Lets keys act on a handle: {ArrowUp: () => { ... }, ...}. */
    keyed(handle, acts) {
      handle.addEventListener("keydown", (event) => {
        const act = acts[event.key];
        if (!act || event.altKey || event.ctrlKey || event.metaKey) return;
        event.preventDefault();
        this.stop?.();
        act();
      });
    }

    /** Makes a part of the drawing a slider, which mouse, finger and arrow keys move. */
    slider(name, { box, low, high, step, label, along = "x", at, value, says, change }) {
      const handle = this.handle(name, box, { "aria-label": label, "aria-valuemin": low, "aria-valuemax": high,
        "aria-orientation": along === "x" ? "horizontal" : "vertical" });
      const show = () => set(handle, { "aria-valuenow": value(), "aria-valuetext": says(value()) });
      const move = (to) => {
        const rounded = clamp(Math.round(to / step) * step, low, high);
        if (rounded !== value()) change(rounded);
        show();
      };
      this.dragged(handle, ({ x, y }) => move(at(along === "x" ? x : y)), { sideways: along === "x" });
      const by = (steps) => () => move(value() + steps * step);
      this.keyed(handle, { ArrowUp: by(1), ArrowRight: by(1), ArrowDown: by(-1), ArrowLeft: by(-1), PageUp: by(4),
        PageDown: by(-4), Home: () => move(low), End: () => move(high) });
      show();
      return show;
    }

    /** Makes a part a grid in which one place, [row, column], is chosen by a click or a tap, by dragging or by arrow
        keys. A mouse that only passes over a place points at it. */
    places(name, { grid: [left, top, width, height], box, size, label, value, says, choose, point }) {
      const handle = this.handle(name, box ?? [left, top, width, height], { "aria-label": label, "aria-valuemin": 0 });
      const show = () => {
        const [[rows, columns], [row, column]] = [size(), value()];
        set(handle, { "aria-valuemax": rows * columns - 1, "aria-valuenow": row * columns + column, "aria-valuetext": says([row, column]) });
      };
      const inside = (place) => place.map((index, axis) => clamp(index, 0, size()[axis] - 1));
      const at = ({ x, y }) => inside([Math.floor((y - top) / (height / size()[0])), Math.floor((x - left) / (width / size()[1]))]);
      const go = (place) => {
        if (String(place) !== String(value())) choose(place);
        show();
      };
      const near = (spot) => Boolean(box) || at(spot).every((index, axis) => Math.abs(index - value()[axis]) <= 1);
      this.dragged(handle, (spot) => go(at(spot)), { holds: near });
      handle.addEventListener("click", (event) => go(at(this.spot(event)))); // a tap
      let pointed = null;
      const pass = (place) => { if (String(place) !== String(pointed)) point?.(pointed = place); };
      handle.addEventListener("pointermove", (event) => {
        if (event.pointerType === "mouse" && !handle.hasPointerCapture(event.pointerId)) pass(at(this.spot(event)));
      });
      handle.addEventListener("pointerleave", () => pass(null));
      const by = (down, across) => () => go(inside([value()[0] + down, value()[1] + across]));
      this.keyed(handle, { ArrowUp: by(-1, 0), ArrowDown: by(1, 0), ArrowLeft: by(0, -1), ArrowRight: by(0, 1),
        Home: () => go([0, 0]), End: () => go(inside(size())) });
      show();
      return show;
    }

    /** Adds a button that calls next again and again until it returns false; another press pauses. If the steps are too
        quick for a sentence each, meanwhile is announced instead of them all. */
    player(text, next, { seconds = SECONDS, meanwhile } = {}) {
      let timer;
      const stop = () => {
        clearInterval(timer);
        timer = undefined;
        button.textContent = text;
        if (!this.meanwhile) return;
        this.meanwhile = undefined;
        this.say(this.told);
      };
      const take = () => { if (!next()) stop(); };
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

    /** Adds Back, Play, Next and a slider for the steps 0 to count - 1; the result goes to a step, and stops playing. */
    steps({ count, show, first = 0, label = "step", says = (index) => `${index + 1} of ${count}`, hidden = true, ...played }) {
      let index = first;
      const go = (to) => {
        index = clamp(to, 0, count - 1);
        back.setAttribute("aria-disabled", index === 0); // "disabled" would drop the focus
        next.setAttribute("aria-disabled", index === count - 1);
        show(index);
        told?.();
      };
      const jump = (to) => {
        this.stop?.();
        if (to !== index && to >= 0 && to < count) go(to);
      };
      const back = this.button("Back", () => jump(index - 1));
      this.player("Play", () => {
        go(index === count - 1 ? 0 : index + 1);
        return index < count - 1;
      }, played);
      const next = this.button("Next", () => jump(index + 1));
      let told;
      go(index);
      told = this.range({ label, hidden, low: 0, high: count - 1, value: () => index, says, change: jump });
      return (to) => { this.stop?.(); go(to); };
    }
  }

  Object.assign(figures, { clamp, written, listed, set, SVG });

  for (const place of document.querySelectorAll(".moving")) {
    const start = figures[place.querySelector("svg").dataset.figure];
    if (start) start(new Figure(place));
  }
})();
