// Shows the model's answer in words and as bars, with the previous answer as their ghosts, and the model's accuracy.
(() => {
  "use strict";
  const lab = (globalThis.vitLab ??= {});

  /** Turns logits into {probabilities, best, sure, level}; level is true if all probabilities are equal. */
  function answerOf(logits) {
    const probabilities = lab.softmaxRows(logits, 1, logits.length);
    const sure = Math.max(...probabilities);
    return { probabilities, sure, best: probabilities.indexOf(sure), level: sure - Math.min(...probabilities) < 1e-9 };
  }

  /** Returns whether an answer is wrong; truth is null where it is not known. */
  function isWrong({ best, level }, truth) {
    return !level && truth !== null && truth !== best;
  }

  function inWords({ best, sure, level }) {
    return level ? "all ten alike" : `${best} with ${lab.percent(sure)}`;
  }

  /** Returns one sentence about the effect of a change. */
  function changeInWords(what, before, after) {
    const [was, is] = [inWords(before), inWords(after)];
    if (before.level && after.level) return `${what}: nothing changes, all ten stay alike.`;
    if (before.level || after.level || before.best !== after.best) return `${what}: ${was} becomes ${is}.`;
    if (was === is) return `${what}: it stays ${is}.`;
    return `${what}: it stays ${after.best}, but with ${lab.percent(after.sure)} instead of ${lab.percent(before.sure)}.`;
  }

  /** Makes a bar with the ghost of its former length: {element, show(share, ghost or null)}. */
  function ghostBar() {
    const { el } = lab;
    const bar = el("span", { class: "vl-bar" });
    const ghost = el("span", { class: "vl-ghost", hidden: true });
    return {
      element: el("span", { class: "vl-track" }, bar, ghost),
      show(share, was = null) {
        bar.style.transform = `scaleX(${share})`;
        lab.hide(ghost, was === null);
        if (was !== null) ghost.style.width = `${100 * was}%`;
      },
    };
  }

  function answerBars(classes) {
    const { el, percent } = lab;
    const rows = Array.from({ length: classes }, (_, k) => {
      const bar = ghostBar();
      const mark = el("span", { class: "vl-mark" });
      const value = el("span", { class: "vl-value" });
      return { bar, mark, value, row: el("li", {}, el("span", { class: "vl-name" }, String(k)), mark, bar.element, el("span", {}, value)) };
    });
    const element = el("ol", { class: "vl-bars" }, ...rows.map(({ row }) => row));
    return {
      element,
      show(answer, truth, before, { glide = true } = {}) {
        element.classList.toggle("vl-gliding", glide);
        const { probabilities, best, level } = answer;
        rows.forEach(({ bar, mark, value, row }, k) => {
          bar.show(probabilities[k], before ? before.probabilities[k] : null);
          lab.write(value, percent(probabilities[k]));
          row.classList.toggle("vl-best", !level && k === best);
          row.classList.toggle("vl-wrong", k === best && isWrong(answer, truth));
          lab.write(mark, k === truth ? "✓" : "");
          lab.mark(mark, "title", k === truth ? "the digit in the image" : "");
        });
      },
    };
  }

  /** Makes the answer in large letters, and the verdict below it. */
  function verdict() {
    const { el, percent } = lab;
    const said = el("p", { class: "vl-answer" });
    const judged = el("p", { class: "vl-verdict" });
    return {
      element: el("div", {}, said, judged),
      show(answer, truth) {
        const { best, sure, level, probabilities } = answer;
        lab.write(said, level ? `It says nothing: all ${probabilities.length} digits are equally likely.` : `It says ${best}, with ${percent(sure)}.`);
        const wrong = isWrong(answer, truth);
        said.classList.toggle("vl-wrong", wrong);
        judged.classList.toggle("vl-wrong", wrong);
        lab.write(judged, truth === null || level ? "" : `${wrong ? "✗ Wrong" : "✓ Right"}: it is ${truth === 8 ? "an" : "a"} ${truth}.`);
        return [said.textContent, judged.textContent.slice(2)].filter(Boolean).join(" ");
      },
    };
  }

  /** Returns the model's accuracy with these switches; null if it was not measured. */
  function accuracyOf({ weights, shuffled, off }, measured) {
    if (weights === "untrained") return shuffled || off.size ? null : measured.untrained;
    if (shuffled) return off.size ? null : measured.shuffled;
    if (off.size > 1) return null;
    const [block, head] = [...off].join().split(".");
    return off.size ? measured.headOff[block][head] : measured.trained;
  }

  function accuracyBar(measured) {
    const { el } = lab;
    const bar = ghostBar();
    const value = el("span", { class: "vl-value-of-many" });
    const words = el("p", { class: "vl-note" });
    const show1 = (share) => `${(100 * share).toFixed(1)}\u00a0%`;
    return {
      element: el("div", { class: "vl-accuracy" }, el("div", { class: "vl-accuracy-row" }, bar.element, value), words),
      show(switches) {
        const share = accuracyOf(switches, measured);
        const whole = share === measured.trained;
        bar.show(share ?? 0, whole ? null : measured.trained);
        lab.write(value, share === null ? "–" : show1(share));
        const start = `right on ${measured.images.toLocaleString("en")} test images`;
        lab.write(words, share === null ? `${start}: not measured for this combination`
          : whole ? start : `${start} with this change, instead of ${show1(measured.trained)}`);
      },
    };
  }

  Object.assign(lab, { answerOf, isWrong, changeInWords, answerBars, verdict, accuracyOf, accuracyBar });
})();
