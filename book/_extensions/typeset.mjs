// Makes MathML of formulas: JSON comes in, a list of [latex, display], and goes out, of { mathml } or { error }.
import { readFileSync } from "node:fs";
import temml from "../scripts/node_modules/temml/dist/temml.mjs";

const answer = ([latex, displayMode]) => {
  try {
    return { mathml: temml.renderToString(latex, { displayMode, throwOnError: true }) };
  } catch (error) {
    return { error: error.message };
  }
};
process.stdout.write(JSON.stringify(JSON.parse(readFileSync(0, "utf8")).map(answer)));
