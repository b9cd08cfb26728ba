// Builds the one ES module and the one stylesheet that the Python package carries.
// `--size` builds in memory and fails when the module is larger than its budget.
import { build } from "esbuild";
import { fileURLToPath } from "node:url";
import { dirname, join } from "node:path";

const here = dirname(fileURLToPath(import.meta.url));
const out = join(here, "..", "autograd_lab", "widgets", "static");
const budget = 150_000;
const onlySize = process.argv.includes("--size");

const common = {
  absWorkingDir: here,
  bundle: true,
  minify: true,
  charset: "utf8",
  legalComments: "none",
  target: "es2022",
  logLevel: "warning",
  write: !onlySize,
};

const script = await build({
  ...common,
  entryPoints: ["src/entry/widget.ts"],
  format: "esm",
  platform: "browser",
  outfile: join(out, "tape.js"),
  metafile: true,
});
await build({ ...common, entryPoints: ["src/view/style.css"], outfile: join(out, "tape.css") });

const bytes = Object.values(script.metafile.outputs)[0].bytes;
console.log(`tape.js ${bytes} bytes of ${budget}`);
if (bytes > budget) process.exit(1);
