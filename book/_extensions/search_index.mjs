// Makes the index of the search when the book is built, by the modules that read it in a browser: the pages and
// sections come in as JSON, and the index goes out as JSON.
import { readFileSync } from "node:fs";
import { indexOf } from "../scripts/search/index.js";

process.stdout.write(JSON.stringify(indexOf(JSON.parse(readFileSync(0, "utf8")))));
