// The lab's places on a page: <div class="vit-lab" data-panel="attention">.

/**
 * Calls act(place) for each place of these panels, once, when it comes near.
 * @type {(panels: string[], act: (place: HTMLElement) => void) => void}
 */
export function whenNear(panels, act) {
  const watcher = new IntersectionObserver((entries) => {
    for (const { isIntersecting, target } of entries) {
      if (!isIntersecting) continue;
      watcher.unobserve(target);
      act(/** @type {HTMLElement} */ (target));
    }
  }, { rootMargin: "400px" });
  for (const place of /** @type {NodeListOf<HTMLElement>} */ (document.querySelectorAll(".vit-lab"))) {
    if (panels.includes(place.dataset.panel ?? "")) watcher.observe(place);
  }
}

/**
 * Opens a place with the panel that make(place) resolves to, or says why it could not be opened.
 * @type {(place: HTMLElement, make: (place: HTMLElement) => Promise<HTMLElement>) => Promise<void>}
 */
export async function openPlace(place, make) {
  place.setAttribute("aria-busy", "true");
  try {
    place.replaceChildren(await make(place));
    place.dataset.state = "open";
  } catch (error) {
    const words = document.createElement("p");
    words.setAttribute("role", "alert");
    const { message } = /** @type {Error} */ (error);
    words.textContent = `The lab could not be opened: ${message}. Reload the page to try again.`;
    place.replaceChildren(words);
    place.dataset.state = "failed";
  } finally {
    place.removeAttribute("aria-busy");
  }
}
