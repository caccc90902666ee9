// Shows the class that each patch votes for in a second model, which averages the votes of its patches.
(() => {
  "use strict";
  const lab = (globalThis.vitLab ??= {});
  const NAME = "averaging";
  /** A scene in which many patches vote for another digit than their model says. */
  const SPLIT = { digit: 4, example: 1, drawn: null, top: 0, left: 16, ground: "brick", piece: 1, scraps: 3 };

  /** Returns each patch's answer, from the votes (N, K), and the model's answer, from its logits. */
  function votesOf({ votes, logits }, classes) {
    const patches = Array.from({ length: votes.length / classes }, (_, patch) =>
      lab.answerOf(votes.subarray(patch * classes, (patch + 1) * classes)));
    return { patches, answer: lab.answerOf(logits) };
  }

  /** Fetches the second model once; resolves to {run(image)}, which returns its votes. */
  async function voting() {
    await lab.fetch(NAME);
    const model = lab.model(NAME);
    const room = lab.roomFor(model);
    return { run: (image) => votesOf(lab.forward(model, image, { room }), model.classes) };
  }

  /** Draws a digit on each patch, brighter if surer, yellow if it is the model's answer. middle(token): its centre. */
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

  /** Puts the vote of one patch into words, or, for token 0, all votes. */
  function votesInWords({ patches, answer }, token) {
    const { percent } = lab;
    if (token > 0) {
      const { best, sure } = patches[token - 1];
      return `${lab.tokenName(token).replace(/^t/, "T")} votes for ${best}, with ${percent(sure)}.`;
    }
    const agree = patches.filter(({ best }) => best === answer.best).length;
    return `The second model says ${answer.best}, with ${percent(answer.sure)}. Of its ${patches.length} patches, ${agree} vote for ${answer.best} (yellow); the brighter, the surer.`;
  }

  Object.assign(lab, { SPLIT, votesOf, voting, paintVotes, votesInWords });
})();
