// Joins style sheets and drops what no page, script or other sheet can use, rules and variables alike: { sheets, site }
// comes in as JSON, and CSS goes out.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
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
const others = readdirSync(site, { recursive: true })
  .filter((file) => /\.(html|css)$|\b(book|scripts)\b.*\.js$/.test(file) && !/\btheme\.css$/.test(file))
  .map((file) => join(site, file))
  .filter((file) => !sheets.includes(file));
const variables = new Set(others.flatMap((file) => readFileSync(file, "utf8").match(/--[\w-]+/g) ?? []));
const [{ css }] = await new purgecss.PurgeCSS().purge({
  css: [{ raw: joined.outputFiles[0].text }],
  content: [`${site}/**/*.html`, `${site}/_static/{*.js,scripts/*.js,{book,lab,figures}/**/*.js}`],
  variables: true,
  safelist: {
    standard: [/^bs-tooltip/, /^bs-popover/, /^bs-dropdown/], // scripts make the end of these names
    variables: [...variables],
  },
});
process.stdout.write(css);
