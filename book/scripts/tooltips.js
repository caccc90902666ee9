// Shows a button's tooltip when it is pointed at or focused. Escape hides the tooltip, and it
// stays while the pointer is on it (WCAG 1.4.13). The theme's own tooltips do neither.
let escaped = false;

document.addEventListener("keydown", (event) => {
  if (event.key !== "Escape") return;
  escaped = true;
  for (const button of document.querySelectorAll('[data-bs-toggle="tooltip"]'))
    bootstrap.Tooltip.getInstance(button)?.hide();
  escaped = false;
});

document.addEventListener("hide.bs.tooltip", (event) => {
  const tip = document.querySelector(".tooltip:hover");
  if (!tip || escaped) return;
  event.preventDefault();
  const hide = () => bootstrap.Tooltip.getInstance(event.target)?.hide();
  tip.addEventListener("mouseleave", hide, { once: true });
});
