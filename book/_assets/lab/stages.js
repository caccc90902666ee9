// Shows the stage that the address names, "#stage=photograph", or the digits, and its explanation below it.
(() => {
  "use strict";
  const lab = (globalThis.vitLab ??= {});
  const links = [...document.querySelectorAll(".vit-stages a")];
  const stages = [...document.querySelectorAll("[data-stage]")];
  let shown = null;

  const named = () => (/[#&]stage=photograph(&|$)/.test(location.hash) ? "photograph" : "digits");

  function show() {
    if (shown && !location.hash.includes("=") && location.hash !== "") return; // a heading's address keeps the stage
    if (named() === shown) return;
    shown = named();
    for (const link of links) {
      if (link.hash === `#stage=${shown}`) link.setAttribute("aria-current", "true");
      else link.removeAttribute("aria-current");
    }
    for (const stage of stages) {
      stage.hidden = stage.dataset.stage !== shown;
      if (stage.hidden) continue;
      const explained = document.getElementById(stage.dataset.explained);
      if (explained) document.getElementById("board").after(explained);
    }
  }

  lab.stage = () => shown;
  addEventListener("hashchange", show);
  show();
})();
