// Shows the stage that the address names, "#photograph" or "#stage=photograph&...", or else the digits, and puts what
// explains it below. On a phone, what stands below the stages is folded, but for the part that the address names.

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

function unfold() {
  const named = document.getElementById(location.hash.slice(1));
  const part = named?.closest("details.lab-part") ?? named?.querySelector("details.lab-part");
  if (!(part instanceof HTMLDetailsElement) || part.open) return;
  part.open = true;
  part.scrollIntoView({ behavior: "instant" });
}

if (matchMedia("(max-width: 719px), (max-height: 500px)").matches)
  for (const part of document.querySelectorAll("details.lab-part")) part.removeAttribute("open");
for (const act of [show, unfold]) {
  addEventListener("hashchange", act);
  act();
}
