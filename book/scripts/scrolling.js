// Lets the keyboard reach formulas and tables that scroll because they are wider than the screen.

function mark() {
  for (const wide of /** @type {NodeListOf<HTMLElement>} */ (
    document.querySelectorAll("div.math, article table")
  )) {
    if (wide.scrollWidth > wide.clientWidth) wide.tabIndex = 0;
    else wide.removeAttribute("tabindex");
  }
}

addEventListener("load", () => {
  mark();
  addEventListener("resize", mark);
  addEventListener("toggle", mark, true); // folded elements have no width until they open
});
