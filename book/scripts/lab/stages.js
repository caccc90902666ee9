// Shows the stage that the address names, "#photograph" or "#stage=photograph&...", or else the digits, and puts what
// explains it below.

const links = [.../** @type {NodeListOf<HTMLAnchorElement>} */ (document.querySelectorAll(".vit-stages a"))];
const stages = [.../** @type {NodeListOf<HTMLElement>} */ (document.querySelectorAll("[data-stage]"))];
/** @type {string | null | undefined} */
let shown = null;

/** Returns the stage that the address names, or null if it is that of a heading. */
function named() {
  const [, name] = /^#(digits|photograph)$|^$/.exec(location.hash) ?? [];
  if (name) return name;
  if (/[#&]stage=photograph(&|$)/.test(location.hash)) return "photograph";
  return location.hash === "" || location.hash.includes("=") ? "digits" : null;
}

function show() {
  const wanted = named() ?? shown ?? "digits";
  if (wanted === shown) return;
  shown = wanted;
  for (const link of links) {
    if (link.hash === `#${shown}`) link.setAttribute("aria-current", "true");
    else link.removeAttribute("aria-current");
  }
  for (const stage of stages) {
    stage.hidden = stage.dataset.stage !== shown;
    if (stage.hidden) continue;
    const explained = document.getElementById(stage.dataset.explained ?? "");
    if (explained) document.getElementById("board")?.after(explained);
  }
}

addEventListener("hashchange", show);
show();
