// Builds the one ES module and the one stylesheet that the Python package carries.
// `--size` builds in memory and fails when the module is larger than its budget.
import { build } from "esbuild";
import { writeFileSync } from "node:fs";
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
const style = await build({
  ...common,
  entryPoints: ["src/view/style.css"],
  outfile: join(out, "tape.css"),
  write: false,
});
if (!onlySize) writeFileSync(join(out, "tape.css"), scoped(style.outputFiles[0].text));

/** Every rule under .agl, so that none can touch the notebook around a view; `:where` leaves their weights as they are. */
function scoped(css) {
  return css.replace(/([^{}]+)\{/g, (whole, selectors) => {
    const inKeyframes = /^(from|to|[\d.]+%)/.test(selectors);
    if (selectors.startsWith("@") || inKeyframes) return whole;
    const parts = selectors.split(/,(?![^(]*\))/);
    return `${parts.map((one) => (/\.agl(?![-\w])/.test(one) ? one : `:where(.agl) ${one}`)).join(",")}{`;
  });
}

const bytes = Object.values(script.metafile.outputs)[0].bytes;
console.log(`tape.js ${bytes} bytes of ${budget}`);
if (bytes > budget) process.exit(1);
