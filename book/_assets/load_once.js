// Fetches scripts when a reader first needs them.
(() => {
  "use strict";
  /** Returns a loader for a folder's scripts; it fetches each once, and again only after a failure. */
  globalThis.loaderOf = (folder) => {
    const loading = new Map();
    return (name) => {
      if (!loading.has(name)) {
        loading.set(name, new Promise((resolve, reject) => {
          const script = document.createElement("script");
          script.src = `${folder}${name}.js`;
          script.async = false; // requested together, scripts load in parallel and run in order
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
