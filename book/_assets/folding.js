// Folds lines of code behind a button. The script is in the head and not deferred, so that nothing jumps.
(() => {
  const set = (button, open) => {
    const lines = button.parentElement.nextElementSibling;
    button.setAttribute("aria-expanded", open);
    lines.classList.toggle("open", open);
    if (open) lines.removeAttribute("hidden");
    else lines.setAttribute("hidden", "until-found"); // the browser's own search opens them
  };
  document.documentElement.classList.add("folds");
  addEventListener("DOMContentLoaded", () => {
    for (const button of document.querySelectorAll(".unfold")) set(button, false);
  });
  addEventListener("click", (event) => {
    const button = event.target.closest?.(".unfold");
    if (button) set(button, button.getAttribute("aria-expanded") === "false");
  });
  addEventListener("beforematch", (event) => {
    const lines = event.target.closest(".folded");
    if (lines) set(lines.previousElementSibling.querySelector(".unfold"), true);
  });
})();
