// A formula that is wider than the screen scrolls; then it can be reached by keyboard as well.
(() => {
  const mark = () => {
    for (const formula of document.querySelectorAll("mjx-container[display]")) {
      if (formula.scrollWidth > formula.clientWidth) formula.tabIndex = 0;
      else formula.removeAttribute("tabindex");
    }
  };
  addEventListener("load", async () => {
    await window.MathJax?.startup?.promise;
    mark();
    addEventListener("resize", mark);
  });
})();
