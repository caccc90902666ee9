// Makes the index of the search when the book is built, by the scripts that read it in a browser: they lie in the folder
// that is named. The sections come in as JSON, and the index goes out as JSON.
"use strict";
const fs = require("node:fs");
const path = require("node:path");
const vm = require("node:vm");

for (const name of ["stemmer", "words", "minisearch", "finder"]) {
  const file = path.join(process.argv[2], `${name}.js`);
  vm.runInThisContext(fs.readFileSync(file, "utf8"), file);
}
const content = JSON.parse(fs.readFileSync(0, "utf8"));
process.stdout.write(JSON.stringify(globalThis.bookSearch.indexOf(content)));
