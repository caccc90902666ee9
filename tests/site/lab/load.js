// The lab's modules, as a page loads them: each adds to globalThis.vitLab.
const path = require("node:path");

const folder = path.join(__dirname, "..", "..", "..", "book", "_assets", "lab");
for (const name of [
  "dom", "weights", "simd", "kernels", "model", "maps", "sizes", "scene", "strokes", "source", "board", "head_maps", "answer", "changes", "address", "run", "arriving", "trained", "pictures",
]) require(path.join(folder, `${name}.js`));
module.exports = globalThis.vitLab;
