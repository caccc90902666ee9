// A formula or a table that is wider than the screen scrolls; then it can be reached by keyboard as well.
(() => {
  const mark = () => {
    for (const wide of document.querySelectorAll("mjx-container[display], article table")) {
      if (wide.scrollWidth > wide.clientWidth) wide.tabIndex = 0;
      else wide.removeAttribute("tabindex");
    }
  };
  addEventListener("load", () => {
    mark();
    addEventListener("resize", mark);
    addEventListener("toggle", mark, true); // what was folded has a width only now
  });
})();
