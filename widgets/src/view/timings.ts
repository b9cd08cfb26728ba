import type { Source } from "../bridge";
import type { Timings } from "../protocol.gen";
import { RequestError } from "../rpc";
import { exact, formatCount, formatTime } from "../state/format";
import { throttle, Undos } from "../state/signal";
import { crossover, partsOf, seriesOf, tableText, type Series } from "../state/timing";
import { axes, logEnds, marker, polyline, scale, trim, type Frame } from "./chart";
import { attrs, button, h, s } from "./dom";
import { messageCard, shell, type Shell } from "./shell";

const EMPTY: Timings = { machine: "", label: "", rows: [], note: "" };

/** DeviceTimings: where does the time go. */
export function timingsView(el: HTMLElement, source: Source): () => void {
  const view = new TimingsView(el, source);
  return () => view.frame.undos.run();
}

class TimingsView {
  readonly frame: Shell;
  private chart = s("svg", { class: "agl-chart", role: "img" });
  private side: HTMLElement;
  private run: HTMLButtonElement;
  private bar: HTMLElement;
  private error = h("div");
  private title = h("span", { class: "agl-heading" });
  private size: number | null = null;

  constructor(
    el: HTMLElement,
    private source: Source,
  ) {
    this.frame = shell(el, source, "timings", "timings", [], () => false);
    const { t, body, undos } = this.frame;
    this.side = h("div", { class: "agl-panel", role: "group", "aria-label": t("timings"), tabindex: 0 });
    this.run = button("bench", t("bench"), "play", () => this.bench(), true);
    this.bar = h("progress", { max: 1, value: 0, "aria-label": t("running"), hidden: true });
    const tools = h(
      "div",
      { class: "agl-bar", role: "toolbar", "aria-label": t("timings") },
      this.title,
      source.alive ? this.run : null,
      this.bar,
      h("span", { class: "agl-space" }),
      button("help", t("help"), "help", () => this.frame.toggleHelp()),
      button("full", t("full_screen"), "full", () => this.frame.toggleFull()),
    );
    const holder = h("div", { class: "agl-canvas" }, this.chart as unknown as Node);
    body.append(tools, this.error, h("div", { class: "agl-main-area" }, holder, this.side));
    undos.add(this.follow(holder));
    this.paint();
  }

  private get results(): Timings {
    return this.source.get("results") ?? EMPTY;
  }

  private follow(holder: HTMLElement): () => void {
    const undos = new Undos();
    const soon = throttle(
      () => this.paint(),
      () => 250,
    );
    undos.add(
      () => soon.cancel(),
      this.source.watch("results", () => soon.call()),
      this.source.watch("running", () => this.paintProgress()),
      this.source.watch("progress", () => this.paintProgress()),
    );
    if (typeof ResizeObserver !== "undefined") {
      const observer = new ResizeObserver(() => this.paintChart());
      observer.observe(holder);
      undos.add(() => observer.disconnect());
    }
    return () => undos.run();
  }

  private bench(): void {
    const { t } = this.frame;
    this.error.replaceChildren();
    this.run.disabled = true;
    // Measuring takes as long as it takes: the reply only says that it has begun or ended.
    this.source
      .request("bench", {}, 600_000)
      .catch((error: unknown) => {
        const text =
          error instanceof RequestError && error.kind === "timeout"
            ? t("no_reply", { s: error.message })
            : (error as Error).message;
        this.error.replaceChildren(messageCard("", text));
      })
      .finally(() => this.paintProgress());
  }

  private paint(): void {
    const { t } = this.frame;
    const { label, rows } = this.results;
    this.title.textContent = label || t("timings");
    const sizes = [...new Set(rows.map((row) => row.size))].sort((a, b) => a - b);
    if (this.size === null || !sizes.includes(this.size)) this.size = sizes.at(-1) ?? null;
    this.paintProgress();
    this.paintChart();
    this.paintSide(sizes);
  }

  private paintProgress(): void {
    const running = this.source.get("running") ?? false;
    this.run.disabled = running;
    this.bar.hidden = !running;
    attrs(this.bar, { value: this.source.get("progress") ?? 0 });
  }

  private paintChart(): void {
    const { t } = this.frame;
    const series = seriesOf(this.results);
    const frame: Frame = {
      width: this.chart.clientWidth || 640,
      height: this.chart.clientHeight || 340,
      left: 62,
      right: 90,
      top: 16,
      bottom: 42,
    };
    attrs(this.chart, {
      viewBox: `0 0 ${frame.width} ${frame.height}`,
      "aria-label": `${t("timings")}: ${series.map(({ name }) => name).join(", ")}`,
    });
    const rows = this.results.rows;
    if (rows.length === 0) {
      this.chart.replaceChildren(s("text", { class: "agl-out", x: 24, y: 34 }, t("no_data")));
      return;
    }
    const times = rows.flatMap((row) => [row.median_s, row.low_s, row.high_s, row.unsynchronised_s ?? NaN]);
    const x = scale(...logEnds(rows.map((row) => row.size)), frame.left, frame.width - frame.right, true);
    const y = scale(...logEnds(times), frame.height - frame.bottom, frame.top, true);
    const sizes = [...new Set(rows.map((row) => row.size))].sort((a, b) => a - b);
    x.ticks = sizes;
    const base = frame.height - frame.bottom;
    const parts: SVGElement[] = [
      axes(frame, x, y, formatCount, (tick) => trim(formatTime(tick))),
      s(
        "text",
        {
          class: "agl-axis-name",
          x: (frame.left + frame.width - frame.right) / 2,
          y: base + 34,
          "text-anchor": "middle",
        },
        t("size"),
      ),
    ];
    series.forEach((one) => parts.push(...this.drawWrong(one, x, y)));
    series.forEach((one, at) => parts.push(this.drawSeries(one, at, x, y)));
    this.chart.replaceChildren(...parts);
    spreadLabels(this.chart);
  }

  private drawSeries(one: Series, at: number, x: (value: number) => number, y: (value: number) => number): SVGGElement {
    const g = s("g", {
      class: "agl-series",
      "data-series": at % 4,
      "data-device": one.device,
      "data-recorded": one.recorded ? "true" : null,
    });
    const up = one.rows.map((row) => [x(row.size), y(row.high_s)] as const);
    const down = one.rows.map((row) => [x(row.size), y(row.low_s)] as const).reverse();
    g.append(s("path", { class: "agl-band", d: `${polyline([...up, ...down])}Z` }));
    g.append(
      s("path", { class: "agl-curve", d: polyline(one.rows.map((row) => [x(row.size), y(row.median_s)] as const)) }),
    );
    for (const row of one.rows) {
      const range = `${formatTime(row.low_s)}–${formatTime(row.high_s)}`;
      const title = `${one.name}, ${formatCount(row.size)}: ${formatTime(row.median_s)} (${range})`;
      g.append(marker(at, x(row.size), y(row.median_s), "agl-marker", title));
    }
    const last = one.rows.at(-1);
    if (last)
      g.append(s("text", { class: "agl-series-name", x: x(last.size) + 9, y: y(last.median_s) + 4 }, one.device));
    return g;
  }

  /** The reading without synchronising, in grey: shown because it is the common mistake. */
  private drawWrong(one: Series, x: (value: number) => number, y: (value: number) => number): SVGElement[] {
    const points = one.rows
      .filter((row) => row.unsynchronised_s !== null)
      .map((row) => [x(row.size), y(row.unsynchronised_s ?? NaN)] as const);
    if (points.length === 0) return [];
    return [
      s(
        "path",
        { class: "agl-wrong", d: polyline(points), "data-wrong": one.device },
        s("title", {}, `${one.name}: ${this.frame.t("unsynchronised")}`),
      ),
    ];
  }

  private paintSide(sizes: number[]): void {
    const { t } = this.frame;
    const { results } = this;
    const series = seriesOf(results);
    const verdict = crossover(series);
    const parts: (Node | null)[] = [];
    if (verdict) {
      const words =
        verdict.kind === "from"
          ? t("crossover", { winner: verdict.winner, size: formatCount(verdict.size) })
          : verdict.kind === "always"
            ? t("crossover_none", { winner: verdict.winner })
            : t("crossover_never");
      parts.push(h("p", { class: "agl-verdict", "data-verdict": verdict.kind }, words));
    }
    if (results.note) parts.push(h("p", { class: "agl-note" }, results.note));
    parts.push(this.key(series));
    if (this.size !== null) parts.push(this.split(sizes));
    if (results.rows.length > 0) parts.push(this.table(results));
    if (results.machine) parts.push(h("p", { class: "agl-type" }, results.machine));
    this.side.replaceChildren(...parts.filter((part): part is Node => part !== null));
  }

  private key(series: Series[]): HTMLElement {
    const { t } = this.frame;
    const list = h("ul", { class: "agl-key" });
    const sample = (...marks: SVGElement[]): Node =>
      s("svg", { width: 34, height: 14, viewBox: "0 0 34 14", "aria-hidden": "true" }, ...marks);
    series.forEach((one, at) => {
      const g = s(
        "g",
        { class: "agl-series", "data-series": at % 4, "data-recorded": one.recorded ? "true" : null },
        s("path", { class: "agl-curve", d: "M2 7h30" }),
        marker(at, 17, 7, "agl-marker", one.name),
      );
      const words = one.recorded
        ? `${one.device}: ${t("recorded", { card: one.recorded.card, date: one.recorded.date })}`
        : one.device;
      list.append(h("li", {}, sample(g), words));
    });
    if (series.some(({ rows }) => rows.some((row) => row.unsynchronised_s !== null))) {
      list.append(
        h(
          "li",
          { class: "agl-type" },
          sample(s("path", { class: "agl-wrong", d: "M2 7h30" })),
          `${t("unsynchronised")}: ${t("points_wrong")}`,
        ),
      );
    }
    return list;
  }

  /** One bar per device for one size: the parts of a call, to one scale. */
  private split(sizes: number[]): HTMLElement {
    const { t } = this.frame;
    const select = h("select", { class: "agl-select", "aria-label": t("show_size") });
    for (const size of sizes)
      select.append(h("option", { value: size, selected: size === this.size }, formatCount(size)));
    select.addEventListener("change", () => {
      this.size = Number(select.value);
      this.paintSide(sizes);
      this.side.querySelector("select")?.focus();
    });
    const bars = this.results.rows.filter((row) => row.size === this.size).map((row) => ({ row, parts: partsOf(row) }));
    const most = bars.reduce(
      (max, { parts }) =>
        Math.max(
          max,
          parts.reduce((sum, part) => sum + part.seconds, 0),
        ),
      0,
    );
    const list = h("div", { class: "agl-bars" });
    for (const { row, parts } of bars) {
      const stack = h("div", {
        class: "agl-stack",
        role: "img",
        "aria-label": parts.map((part) => `${t(part.key)} ${formatTime(part.seconds)}`).join(", "),
      });
      for (const { key, seconds } of parts) {
        stack.append(
          h("span", {
            class: "agl-part",
            "data-part": key,
            style: `width:${((100 * seconds) / most).toFixed(2)}%`,
            title: `${t(key)} ${formatTime(seconds)}`,
          }),
        );
      }
      const words = parts.map(({ key, seconds }) => `${t(key)} ${formatTime(seconds)}`).join(" · ");
      list.append(
        h("div", { class: "agl-bar-row" }, h("b", {}, row.device), stack, h("span", { class: "agl-type" }, words)),
      );
    }
    return h(
      "div",
      { class: "agl-split" },
      h("div", { class: "agl-term" }, `${t("split")}: ${t("size")} `, select),
      list,
    );
  }

  private table(results: Timings): HTMLElement {
    const { t } = this.frame;
    const copy = button(
      "copy",
      t("copy"),
      null,
      () => {
        void navigator.clipboard?.writeText(tableText(results)).then(() => this.frame.say(t("copied")));
      },
      true,
    );
    const head = h(
      "tr",
      {},
      ...[t("device"), t("size"), t("median"), t("range", { low: "", high: "" }).replace("–", "").trim()].map((word) =>
        h("th", { scope: "col" }, word),
      ),
    );
    const rows = results.rows.map((row) =>
      h(
        "tr",
        {},
        h("td", {}, row.device),
        h("td", {}, formatCount(row.size)),
        h("td", { title: `${exact(row.median_s)} s` }, formatTime(row.median_s)),
        h("td", {}, `${formatTime(row.low_s)}–${formatTime(row.high_s)}`),
      ),
    );
    return h("div", {}, h("table", { class: "agl-table" }, h("thead", {}, head), h("tbody", {}, ...rows)), copy);
  }
}

/** Moves names of lines apart where they would cover one another. */
function spreadLabels(chart: SVGSVGElement): void {
  const labels = [...chart.querySelectorAll<SVGTextElement>(".agl-series-name")].sort(
    (a, b) => Number(a.getAttribute("y")) - Number(b.getAttribute("y")),
  );
  let free = -Infinity;
  for (const label of labels) {
    const at = Math.max(Number(label.getAttribute("y")), free);
    label.setAttribute("y", String(at));
    free = at + 14;
  }
}
