// Names that tests of the large model call in a page without the lab.

import { directions, paintDirections, similaritiesTo } from "../../../book/scripts/lab/photograph/directions.js";
import { photographAdapter } from "../../../book/scripts/lab/photograph/gpu.js";
import { PhotographModel } from "../../../book/scripts/lab/photograph/model.js";
import { photographSimd } from "../../../book/scripts/lab/photograph/simd.js";

globalThis.vitLab = {
  directions, paintDirections, similaritiesTo, photographAdapter, PhotographModel, photographSimd,
};
