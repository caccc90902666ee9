// Joins style sheets and drops what no page and no script can use: { sheets, site } comes in as JSON, and CSS goes out.
import { readFileSync } from "node:fs";
import { build } from "../../scripts/node_modules/esbuild/lib/main.js";
import purgecss from "../../scripts/node_modules/purgecss/lib/purgecss.js";

const { sheets, site } = JSON.parse(readFileSync(0, "utf8"));
const imports = sheets.map((sheet) => `@import ${JSON.stringify(sheet)};`).join("\n");
const joined = await build({
  stdin: { contents: imports, loader: "css", resolveDir: site },
  bundle: true,
  write: false,
  external: ["*.png", "*.svg", "*.woff", "*.woff2", "*.ttf"],
  minify: true,
});
const [{ css }] = await new purgecss.PurgeCSS().purge({
  css: [{ raw: joined.outputFiles[0].text }],
  content: [`${site}/**/*.html`, `${site}/_static/{*.js,scripts/*.js,{book,lab,figures}/**/*.js}`],
  safelist: [/^bs-tooltip/, /^bs-popover/, /^bs-dropdown/], // scripts make the end of these names
});
process.stdout.write(css);
