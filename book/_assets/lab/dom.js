// Makes elements, and announces words to screen readers.
(() => {
  "use strict";
  const lab = (globalThis.vitLab ??= {});
  let counter = 0;

  /** Makes an element: el("button", {class: "x", onclick: f}, "text", child). */
  function el(tag, attributes = {}, ...children) {
    const element = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) {
      if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
      else if (value === true) element.setAttribute(name, "");
      else if (value !== false && value !== undefined) element.setAttribute(name, value);
    }
    element.append(...children);
    return element;
  }

  function uniqueId(stem) {
    return `vl-${stem}-${counter++}`;
  }

  /** Changes a text only if it differs, and in its own node: a new node would restyle the whole page. */
  function write(element, text) {
    const words = element.firstChild;
    if (words) {
      if (words.data !== text) words.data = text;
    } else if (text) element.textContent = text;
  }

  function hide(element, isHidden) {
    if (element.hidden !== isHidden) element.hidden = isHidden;
  }

  function mark(element, attribute, value) {
    if (element.getAttribute(attribute) !== String(value)) element.setAttribute(attribute, value);
  }

  /** Resolves after the page's waiting tasks. */
  const pause = () => new Promise((resume) => setTimeout(resume));

  /** Makes a labelled control, with the label in front of it, or behind a checkbox. */
  function labelled(text, control) {
    control.id ||= uniqueId("control");
    const label = el("label", { for: control.id }, text);
    return control.type === "checkbox"
      ? el("span", { class: "vl-field" }, control, label)
      : el("span", { class: "vl-field" }, label, control);
  }

  function choice(options, onchange) {
    const select = el("select", { onchange: () => onchange(select.value) });
    for (const [value, text] of options) select.append(el("option", { value }, text));
    return select;
  }

  function button(text, onclick, attributes = {}) {
    return el("button", { type: "button", onclick, ...attributes }, text);
  }

  /** Makes an announcer, which announces a change after 400 ms without another one. */
  function announcer() {
    const element = el("p", { class: "vl-said", role: "status" });
    let timer;
    const say = (text) => {
      clearTimeout(timer);
      timer = setTimeout(write, 400, element, text);
    };
    return { element, say };
  }

  /**
   * Returns a function that requests the work. The work is done at once, so that the next frame shows it, but at most
   * once in a frame; while the element is out of sight, it waits until the element comes near.
   */
  function whenSeen(element, work) {
    let asked = false;
    let near = false;
    let worked = false; // already done in this frame
    function act() {
      if (!asked || !near || worked) return;
      asked = false;
      worked = true;
      requestAnimationFrame(() => {
        worked = false;
        act();
      });
      work();
    }
    new IntersectionObserver((entries) => {
      near = entries.at(-1).isIntersecting;
      act();
    }, { rootMargin: "200px" }).observe(element);
    return () => {
      if (!asked) queueMicrotask(act); // after all changes of this task
      asked = true;
    };
  }

  function percent(share) {
    return `${Math.round(100 * share)}\u00a0%`;
  }

  Object.assign(lab, { el, uniqueId, write, hide, mark, pause, labelled, choice, button, announcer, whenSeen, percent });
})();
