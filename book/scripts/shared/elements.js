// Makes the elements of a page.

/** @typedef {{ [K in keyof HTMLElementEventMap as `on${K}`]?: (event: HTMLElementEventMap[K]) => void }} Handlers */
/** @typedef {Handlers & { [name: string]: unknown }} Attributes of an element; false and undefined leave one out */
/** @typedef {Node | string | number} Content */

/**
 * Makes an element: el("button", {class: "x", onclick: f}, "text", child).
 * @template {keyof HTMLElementTagNameMap} Tag
 * @param {Tag} tag
 * @param {Attributes} attributes
 * @param {(Node | string)[]} children
 * @returns {HTMLElementTagNameMap[Tag]}
 */
export function el(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === "function") element.addEventListener(name.slice(2), /** @type {EventListener} */ (value));
    else if (value === true) element.setAttribute(name, "");
    else if (value !== false && value !== undefined) element.setAttribute(name, String(value));
  }
  element.append(...children);
  return element;
}

/**
 * Makes an element as it is written in HTML, without the line ends and the spaces beside them. What is put in stands
 * where an element or a text would, not in an attribute.
 * @type {(html: TemplateStringsArray, ...parts: (Content | Content[])[]) => HTMLElement}
 */
export function html(texts, ...parts) {
  const template = document.createElement("template");
  template.innerHTML = texts.map((text) => text.replace(/\s*\n\s*/g, "")).join("<!---->");
  const walker = document.createTreeWalker(template.content, NodeFilter.SHOW_COMMENT);
  const places = parts.map(() => /** @type {Comment} */ (walker.nextNode()));
  places.forEach((place, i) => place.replaceWith(.../** @type {Node[]} */ ([parts[i]].flat())));
  return /** @type {HTMLElement} */ (template.content.firstElementChild);
}
