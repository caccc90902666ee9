// Scripts that a page fetches when its reader turns to what they do.
(() => {
  "use strict";
  /** A loader for a folder's scripts: each is fetched once, and again only if that failed. */
  globalThis.loaderOf = (folder) => {
    const loading = new Map();
    return (name) => {
      if (!loading.has(name)) {
        loading.set(name, new Promise((resolve, reject) => {
          const script = document.createElement("script");
          script.src = `${folder}${name}.js`;
          script.async = false; // asked for at once, they come side by side and run in that order
          script.onload = resolve;
          script.onerror = () => {
            loading.delete(name);
            reject(new Error(`${name}.js could not be loaded`));
          };
          document.head.append(script);
        }));
      }
      return loading.get(name);
    };
  };
})();
