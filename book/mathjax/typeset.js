// Sets formulas with MathJax: a line of JSON comes in, {latex, display}, and one goes out, {html} or {error}.
// For {styles: true} it writes {css}, the style sheet for everything that MathJax can set.
"use strict";
const path = require("node:path");
const readline = require("node:readline");

// Makes MathJax's letters as high as those of the book's text, whose x-height MathJax cannot measure here.
const SCALE = 1.235;

const es5 = path.join(__dirname, "es5");
const ready = require(path.join(es5, "node-main.js")).init({
  loader: { paths: { mathjax: es5 }, load: ["input/tex", "output/chtml", "a11y/assistive-mml"] },
  tex: {
    packages: { "[-]": ["autoload", "noerrors", "noundefined", "require"] },
    formatError: (_, error) => { throw error; },
  },
  chtml: { displayAlign: "left", displayIndent: "1.5em", adaptiveCSS: false, fontURL: "." },
});

ready.then((MathJax) => {
  const { adaptor } = MathJax.startup;
  const answer = ({ styles, latex, display }) => {
    if (styles) return { css: adaptor.textContent(MathJax.chtmlStylesheet()) };
    MathJax.texReset();
    return { html: adaptor.outerHTML(MathJax.tex2chtml(latex, { display, scale: SCALE })) };
  };
  readline.createInterface({ input: process.stdin }).on("line", (line) => {
    let said;
    try {
      said = answer(JSON.parse(line));
    } catch (error) {
      said = { error: error.message };
    }
    process.stdout.write(`${JSON.stringify(said)}\n`);
  });
});
