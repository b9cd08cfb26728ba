import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { trim } from "../src/view/chart";
import { exact, formatBytes, formatNumber, formatShape, formatTime, headline, unravel } from "../src/state/format";
import { chooseLanguage, TABLES, translator } from "../src/state/strings";
import { crossover, partsOf, seriesOf, tableText } from "../src/state/timing";
import { summary } from "./sample";

describe("numbers", () => {
  it.each([
    [null, "–"],
    [0, "0"],
    [-0, "0"],
    ["NaN", "NaN"],
    ["Infinity", "Inf"],
    ["-Infinity", "−Inf"],
    [0.41234, "0.4123"],
    [-0.231, "−0.2310"],
    [1234.5678, "1235"],
    [0.9999999, "1.000"],
    [0.000123456, "0.0001235"],
    [0.0000123456, "1.235·10⁻⁵"],
    [12345678.9, "1.235·10⁷"],
    [1797, "1797"],
  ] as const)("shows %s as %s", (wire, text) => {
    expect(formatNumber(wire)).toBe(text);
  });

  it("keeps full precision for hovers", () => {
    expect(exact(0.1 + 0.2)).toBe("0.30000000000000004");
    expect(exact(null)).toBe("–");
  });

  it("gives units", () => {
    expect([formatTime(0.0000123), formatTime(0.5), formatTime(2), formatTime(null)]).toEqual([
      "12.3 µs",
      "500 ms",
      "2 s",
      "–",
    ]);
    expect([formatBytes(48), formatBytes(2048), formatBytes(null)]).toEqual(["48 B", "2 KiB", "–"]);
    expect([formatShape([3, 4]), formatShape([]), formatShape([5])]).toEqual(["3×4", "scalar", "5"]);
    expect([trim("0.500"), trim("10.0 µs"), trim("100"), trim("0.05")]).toEqual(["0.5", "10 µs", "100", "0.05"]);
  });

  it("tells not computed, zero and NaN apart in the headline", () => {
    expect(headline(null).text).toBe("–");
    expect(headline(summary([0, 0, 0])).text).toBe("0");
    expect(headline(summary(["NaN", "NaN"]))).toMatchObject({ text: "NaN", isNorm: false, bad: "NaN" });
    expect(headline(summary(["NaN", 3, 4]))).toMatchObject({ text: "5", isNorm: true, bad: "NaN" });
  });

  it("finds the index of a position", () => {
    expect([unravel(7, [3, 4]), unravel(0, [])]).toEqual([[1, 3], []]);
  });
});

describe("strings", () => {
  const sources = ["state", "view", "entry", "layout"]
    .flatMap((folder) => {
      const path = join(import.meta.dirname, "..", "src", folder);
      return readdirSync(path)
        .filter((name) => name.endsWith(".ts") && name !== "strings.ts")
        .map((name) => readFileSync(join(path, name), "utf8"));
    })
    .join("\n");

  it("are complete in both languages, with the same placeholders", () => {
    const holes = (text: string): string[] => [...text.matchAll(/\{\w+\}/g)].map(([hole]) => hole).sort();
    expect(Object.keys(TABLES["zh-Hant"])).toEqual(Object.keys(TABLES.en));
    for (const [key, text] of Object.entries(TABLES.en)) {
      const chinese = TABLES["zh-Hant"][key as keyof typeof TABLES.en];
      expect(chinese, key).not.toBe("");
      expect(holes(chinese), key).toEqual(holes(text));
    }
  });

  it("are all used", () => {
    const unused = Object.keys(TABLES.en).filter((key) => !sources.includes(`"${key}"`));
    expect(unused).toEqual([]);
  });

  it("are chosen by option, then by browser", () => {
    expect([
      chooseLanguage("en", "zh-TW"),
      chooseLanguage(undefined, "zh-TW"),
      chooseLanguage(undefined, "fr"),
      chooseLanguage(undefined, undefined),
    ]).toEqual(["en", "zh-Hant", "en", "en"]);
    expect(translator("zh-Hant")("step_of", { k: 2, n: 9 })).toBe("第 2 步，共 9 步");
    expect(translator("en")("add_to", { name: "{name}", arrived: 1, expected: 2 })).toBe("added to {name} (1/2)");
  });
});

describe("timings", () => {
  const row = (device: string, size: number, median_s: number): Parameters<typeof partsOf>[0] => ({
    device,
    size,
    median_s,
    low_s: median_s,
    high_s: median_s,
    transfer_in_s: null,
    transfer_out_s: null,
    launch_s: null,
    unsynchronised_s: null,
    recorded: null,
  });
  const results = (...rows: ReturnType<typeof row>[]): Parameters<typeof seriesOf>[0] => ({
    machine: "",
    label: "",
    rows,
    note: "",
  });

  it("says from which size on a device wins", () => {
    const found = crossover(
      seriesOf(
        results(
          row("cpu", 64, 1),
          row("gpu", 64, 5),
          row("cpu", 512, 50),
          row("gpu", 512, 6),
          row("cpu", 1024, 400),
          row("gpu", 1024, 9),
        ),
      ),
    );
    expect(found).toEqual({ kind: "from", winner: "gpu", size: 512 });
  });
  it("says when one device always wins, and nothing of one device alone", () => {
    expect(crossover(seriesOf(results(row("cpu", 1, 1), row("gpu", 1, 2))))).toEqual({ kind: "always", winner: "cpu" });
    expect(crossover(seriesOf(results(row("cpu", 1, 1))))).toBeNull();
  });
  it("splits a call: launch is within the synchronised time", () => {
    expect(partsOf({ ...row("gpu", 1, 10), launch_s: 2, transfer_in_s: 3 })).toEqual([
      { key: "transfer_in", seconds: 3 },
      { key: "launch", seconds: 2 },
      { key: "compute", seconds: 8 },
    ]);
  });
  it("copies as tab-separated text", () => {
    expect(tableText(results(row("cpu", 64, 0.5))).split("\n")[1]).toBe("cpu\t64\t0.5\t0.5\t0.5\t\t\t\t\t");
  });
});
