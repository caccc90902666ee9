// The lab's controls, and what announces words to screen readers.

import { el } from "../../shared/elements.js";

/** @import { Attributes } from "../../shared/elements.js" */

let counter = 0;

/** @type {(stem: string) => string} */
export function uniqueId(stem) {
  return `vl-${stem}-${counter++}`;
}

/**
 * Changes a text only if it differs, and in its own node: a new node would restyle the whole page.
 * @type {(element: Element, text: string) => void}
 */
export function write(element, text) {
  const words = /** @type {Text | null} */ (element.firstChild);
  if (words) {
    if (words.data !== text) words.data = text;
  } else if (text) element.textContent = text;
}

/** @type {(element: HTMLElement, isHidden: boolean) => void} */
export function hide(element, isHidden) {
  if (element.hidden !== isHidden) element.hidden = isHidden;
}

/** @type {(element: Element, name: string, value: unknown) => void} */
export function attribute(element, name, value) {
  if (element.getAttribute(name) !== String(value)) element.setAttribute(name, String(value));
}

/** Resolves after the page's waiting tasks. */
export const pause = () => new Promise((resume) => setTimeout(resume));

/**
 * Makes a labelled control, with the label in front of it, or after a checkbox.
 * @type {(text: string, control: HTMLInputElement | HTMLSelectElement) => HTMLElement}
 */
export function labelled(text, control) {
  control.id ||= uniqueId("control");
  const label = el("label", { for: control.id }, text);
  return control.type === "checkbox"
    ? el("span", { class: "vl-field" }, control, label)
    : el("span", { class: "vl-field" }, label, control);
}

/** @type {(options: string[][], onchange: (value: string) => unknown) => HTMLSelectElement} */
export function makeChoice(options, onchange) {
  const select = el("select", { onchange: () => onchange(select.value) });
  for (const [value, text] of options) select.append(el("option", { value }, text));
  return select;
}

/** @type {(text: Node | string, onclick: () => unknown, attributes?: Attributes) => HTMLButtonElement} */
export function button(text, onclick, attributes = {}) {
  return el("button", { type: "button", onclick, ...attributes }, text);
}

/**
 * Keeps the parts of a stage in the order in which they are seen: in the one that the styles name in --order.
 * @type {(stage: HTMLElement, orders: Record<string, (Node | string)[]>) => void}
 */
export function inOrder(stage, orders) {
  let was = orders.wide;
  stage.prepend(...was);
  new ResizeObserver(() => {
    const now = orders[getComputedStyle(stage).getPropertyValue("--order").trim()] ?? orders.wide;
    if (now === was || !stage.clientWidth) return;
    const held = document.activeElement;
    stage.prepend(...(was = now));
    if (held instanceof HTMLElement && stage.contains(held)) held.focus({ preventScroll: true });
  }).observe(stage);
}

/** Makes an announcer, which announces a change after 400 ms without another one. */
export function makeAnnouncer() {
  const element = el("p", { class: "vl-said", role: "status" });
  let timer = 0;
  const say = (/** @type {string} */ text) => {
    clearTimeout(timer);
    timer = window.setTimeout(write, 400, element, text);
  };
  return { element, say };
}

/**
 * Returns a function that requests the work. The work is done at once, so that the next frame shows it, but at most
 * once in a frame; while the element is out of sight, it waits until the element comes near.
 * @type {(element: Element, work: () => void) => () => void}
 */
export function whenSeen(element, work) {
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
    near = entries[entries.length - 1].isIntersecting;
    act();
  }, { rootMargin: "200px" }).observe(element);
  return () => {
    if (!asked) queueMicrotask(act); // after all changes of this task
    asked = true;
  };
}

/** @type {(share: number) => string} */
export function percent(share) {
  return `${Math.round(100 * share)}\u00a0%`;
}
