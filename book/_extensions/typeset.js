// Makes MathML of formulas: JSON comes in, a list of [latex, display], and goes out, of { mathml } or { error }.
"use strict";
const fs = require("node:fs");
const temml = require("../scripts/node_modules/temml/dist/temml.cjs");

const answer = ([latex, displayMode]) => {
  try {
    return { mathml: temml.renderToString(latex, { displayMode, throwOnError: true }) };
  } catch (error) {
    return { error: error.message };
  }
};
process.stdout.write(JSON.stringify(JSON.parse(fs.readFileSync(0, "utf8")).map(answer)));
