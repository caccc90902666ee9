// Makes the indexes of the search when the book is built, by the modules that read them in a browser: the pages and
// sections come in as JSON, and the indexes of headings and of everything go out as JSON.
import { readFileSync } from "node:fs";
import { NAMES, indexOf } from "../scripts/search/index.js";

const content = JSON.parse(readFileSync(0, "utf8"));
process.stdout.write(JSON.stringify({ sections: indexOf(content, NAMES), texts: indexOf(content) }));
