// Lets the keyboard reach formulas and tables that scroll because they are wider than the screen.

function mark() {
  document.querySelectorAll("article table").forEach((table) => reach(table, {}));
  // A formula is only a <div>, which needs a role and a name of its own once it is reached.
  document.querySelectorAll("div.math").forEach((formula, number) => {
    reach(formula, { role: "region", "aria-label": `Formula ${number + 1}` });
  });
}

/** @type {(element: Element, attributes: {[name: string]: string}) => void} */
function reach(element, attributes) {
  const wide = element.scrollWidth > element.clientWidth;
  for (const [name, value] of Object.entries({ tabindex: "0", ...attributes })) {
    if (wide) element.setAttribute(name, value);
    else element.removeAttribute(name);
  }
}

addEventListener("load", () => {
  mark();
  addEventListener("resize", mark);
  addEventListener("toggle", mark, true); // folded elements have no width until they open
});
