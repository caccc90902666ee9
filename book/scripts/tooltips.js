// Shows a button's tooltip when it is pointed at or focused. Escape hides the tooltip, and it
// stays while the pointer is on it (WCAG 1.4.13). The theme's own tooltips do neither. A finger
// cannot leave a button, so there are none for it, and none stays above what a click has opened.
let escaped = false;

function hideAll() {
  escaped = true;
  for (const button of document.querySelectorAll('[data-bs-toggle="tooltip"]'))
    bootstrap.Tooltip.getInstance(button)?.hide();
  escaped = false;
}

document.addEventListener("keydown", ({ key }) => { if (key === "Escape") hideAll(); });
document.addEventListener("click", () => setTimeout(hideAll));
document.addEventListener("show.bs.tooltip", (event) => {
  if (matchMedia("(hover: none)").matches) event.preventDefault();
});
document.addEventListener("hide.bs.tooltip", (event) => {
  const tip = document.querySelector(".tooltip:hover");
  if (!tip || escaped) return;
  event.preventDefault();
  const hide = () => bootstrap.Tooltip.getInstance(event.target)?.hide();
  tip.addEventListener("mouseleave", hide, { once: true });
});
