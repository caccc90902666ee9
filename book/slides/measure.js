// Returns what a slide of 1280 × 720 pixels cuts off, and text below 24 pixels.
() => {
  const found = [];
  document.querySelectorAll("section").forEach((slide, index) => {
    const frame = slide.getBoundingClientRect();
    const scale = frame.width / 1280;
    const complain = (what, part) =>
      found.push(`slide ${index + 1}: ${what}: ${part.outerHTML.slice(0, 90)}`);
    for (const part of slide.querySelectorAll("*")) {
      const box = part.getBoundingClientRect();
      if (box.bottom > frame.bottom - 24 * scale || box.right > frame.right - 24 * scale) {
        complain("cut off", part);
      }
      const text = [...part.childNodes].some((node) => node.nodeType === 3 && node.data.trim());
      const size = parseFloat(getComputedStyle(part).fontSize);
      if (text && size < 24 && !part.closest("mjx-container")) complain(`${size} px`, part);
    }
  });
  return found;
}
