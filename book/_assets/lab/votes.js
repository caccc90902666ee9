// Which class each patch votes for, in a second model, whose answer is the mean of its patches' votes.
(() => {
  "use strict";
  const lab = (globalThis.vitLab ??= {});
  const NAME = "averaging";

  /** Each patch's answer, from its logits (N, K), and the answer of them all, from their mean. */
  function votesOf({ votes, logits }, classes) {
    const patches = Array.from({ length: votes.length / classes }, (_, patch) =>
      lab.answerOf(votes.subarray(patch * classes, (patch + 1) * classes)));
    return { patches, answer: lab.answerOf(logits) };
  }

  /** {run(image)}, which gives the votes of the second model; its weights are fetched before, once. */
  async function voting() {
    await lab.fetch(NAME);
    const model = lab.model(NAME);
    const room = lab.roomFor(model);
    return { run: (image) => votesOf(lab.forward(model, image, { room }), model.classes) };
  }

  /** A digit on each patch, the brighter the surer; yellow, if it is the model's answer. middle(token): its place. */
  function paintVotes(c, { patches, answer }, middle, side) {
    c.save();
    c.textAlign = "center";
    c.textBaseline = "middle";
    c.font = `bold ${side * 0.6}px ${getComputedStyle(document.body).fontFamily}`;
    patches.forEach(({ best, sure }, patch) => {
      const [x, y] = middle(patch + 1);
      c.fillStyle = `rgba(0, 0, 0, ${0.75 - 0.35 * sure})`;
      c.fillRect(x - side / 2, y - side / 2, side, side);
      c.globalAlpha = 0.35 + 0.65 * sure;
      c.fillStyle = best === answer.best ? lab.ASKING : "#fff";
      c.fillText(String(best), x, y + side * 0.04);
      c.globalAlpha = 1;
    });
    c.restore();
  }

  /** token: of the patch that is pointed at, or 0. */
  function votesInWords({ patches, answer }, token) {
    const { percent } = lab;
    if (token > 0) {
      const { best, sure } = patches[token - 1];
      return `${lab.tokenName(token).replace(/^t/, "T")} votes for ${best}, with ${percent(sure)}.`;
    }
    const agree = patches.filter(({ best }) => best === answer.best).length;
    return `The second model says ${answer.best}, with ${percent(answer.sure)}. Of its ${patches.length} patches, ${agree} vote for ${answer.best} (yellow); the brighter, the surer.`;
  }

  Object.assign(lab, { votesOf, voting, paintVotes, votesInWords });
})();
