/** What the theme's own scripts define. */
declare const bootstrap: {
  Tooltip: { getInstance(element: EventTarget | null): { hide(): void } | null };
};
