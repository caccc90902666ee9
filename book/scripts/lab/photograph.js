// Opens the photograph stage.

import { PhotographModel } from "./photograph/model.js";
import { openStage } from "./photograph_stage/opening.js";

openStage(PhotographModel);
