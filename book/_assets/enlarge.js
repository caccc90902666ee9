// Opens a figure over the page, as large as fits and never smaller than in the page. Escape, the back button, the
// cross and a tap beside it close it; the page keeps its place. Without scripts, the link leads to the picture's file.
(() => {
  const dialog = document.createElement("dialog");
  dialog.className = "enlarged";
  dialog.setAttribute("aria-label", "Figure, enlarged");
  dialog.innerHTML = '<button type="button" aria-label="Close">×</button><img>';
  const image = dialog.lastChild;
  for (const link of document.querySelectorAll("a.image-reference")) link.setAttribute("aria-haspopup", "dialog");
  addEventListener("click", (event) => {
    const link = event.target.closest?.("a.image-reference");
    if (!link || event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return;
    const seen = [...link.querySelectorAll("img")].find((one) => one.getClientRects().length);
    if (!seen) return;
    event.preventDefault();
    const { alt, width, height } = seen.attributes;
    image.src = seen.src;
    image.alt = alt.value;
    image.style.setProperty("--width", width.value);
    image.style.setProperty("--height", height.value);
    image.className = seen.className;
    document.body.append(dialog);
    dialog.showModal();
    dialog.scrollTo(0, 0);
    history.pushState({ enlarged: true }, "");
  });
  dialog.addEventListener("click", ({ target }) => target !== image && dialog.close());
  dialog.addEventListener("close", () => history.state?.enlarged && history.back());
  addEventListener("popstate", () => dialog.close());
})();
