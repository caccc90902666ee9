// A switch whose model may still be on its way.
(() => {
  "use strict";
  const lab = (globalThis.vitLab ??= {});

  /**
   * The last wish counts. What was stays, and failed(error) is called, if it does not come.
   * fetch(value): brings what the value needs; set(value): takes it. Gives {wanted, change(value)}: whether it was set.
   */
  function arriving(value, { fetch, set, failed }) {
    let is = value;
    const wish = { wanted: value, change };

    async function change(wanted) {
      wish.wanted = wanted;
      try {
        await fetch(wanted);
        if (wish.wanted !== wanted) return false; // something else by now
        set((is = wanted));
        return true;
      } catch (error) {
        wish.wanted = is;
        failed(error);
        return false;
      }
    }

    return wish;
  }

  Object.assign(lab, { arriving });
})();
