// Names that tests call in a page: the lab's modules, and the source of the panels that the page shows.

import { answerOf } from "../../../book/scripts/lab/parts/answer.js";
import { loaderOf } from "../../../book/scripts/loading/on_demand.js";
import { averageHeads, massInside, rollout, toPatches } from "../../../book/scripts/lab/parts/maps.js";
import { forward, roomFor } from "../../../book/scripts/lab/parts/model.js";
import { compose } from "../../../book/scripts/lab/parts/scene.js";
import { digitFromStrokes } from "../../../book/scripts/lab/parts/strokes.js";
import { votesOf } from "../../../book/scripts/lab/parts/votes.js";
import { modelOf } from "../../../book/scripts/lab/parts/weights.js";

const { src } = document.querySelector("script[src*='lab/load.js']");
const fetchData = loaderOf(new URL("../../lab/", src).href);

globalThis.vitLab = {
  answerOf, averageHeads, massInside, rollout, toPatches, forward, roomFor, compose, digitFromStrokes, modelOf, fetchData,
  get source() {
    return document.querySelector(".vit-lab[data-state=open]").source;
  },
  async voting() {
    await fetchData("averaging");
    const model = modelOf("averaging");
    return { run: (image) => votesOf(forward(model, image), model.classes) };
  },
};
