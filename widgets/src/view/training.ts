import type { Source } from "../bridge";
import type { Points, WireNumber } from "../protocol.gen";
import { exact, formatCount, formatNumber, fromWire } from "../state/format";
import { throttle } from "../state/signal";
import { axes, linearEnds, logEnds, plain, polyline, scale, type Frame } from "./chart";
import { attrs, button, h, listen, relabel, s, setText } from "./dom";
import { shell, type Shell } from "./shell";

const REDRAW_MS = 250;
const MOST_POINTS = 1500;
const MAIN = "loss";

/** TrainingView: is it learning. */
export function trainingView(el: HTMLElement, source: Source): () => void {
  const view = new TrainingView(el, source);
  return () => view.frame.undos.run();
}

/** Every n-th point, so that a long run is drawn as fast as a short one; the last is always kept. */
export function thin<T>(list: readonly T[], most: number): { at: number; value: T }[] {
  const stride = Math.max(1, Math.ceil(list.length / most));
  const kept = list.map((value, at) => ({ at, value })).filter(({ at }) => at % stride === 0 || at === list.length - 1);
  return kept;
}

class TrainingView {
  readonly frame: Shell;
  private log = false;
  private main = s("svg", { class: "agl-chart", role: "img" });
  private small: HTMLElement;
  private charts = new Map<string, SVGSVGElement>();
  private text = h("span", { class: "agl-type", role: "status" });
  private bar: HTMLProgressElement;
  private stop: HTMLButtonElement;
  private logButton: HTMLButtonElement;
  private stopping = false;

  constructor(
    el: HTMLElement,
    private source: Source,
  ) {
    this.frame = shell(el, source, "training", "training", [], (event) => this.key(event));
    const { t, body, undos } = this.frame;
    this.bar = h("progress", { max: 1, value: 0, "aria-label": t("training") });
    this.stop = button("stop", t("stop"), "stop", () => this.askStop(), true);
    this.logButton = button("log", t("log"), null, () => this.toggleLog(), true);
    attrs(this.logButton, { "aria-pressed": "false" });
    this.small = h("div", { class: "agl-multiples" });
    const tools = h(
      "div",
      { class: "agl-bar", role: "toolbar", "aria-label": t("training") },
      h("span", { class: "agl-heading" }, t("training")),
      this.bar,
      this.text,
      h("span", { class: "agl-space" }),
      this.logButton,
      source.alive ? this.stop : null,
      button("help", t("help"), "help", () => this.frame.toggleHelp()),
      button("full", t("full_screen"), "full", () => this.frame.toggleFull()),
    );
    const holder = h("div", { class: "agl-canvas" }, this.main as unknown as Node);
    body.append(tools, h("div", { class: "agl-main-area" }, holder, this.small));
    const soon = throttle(
      () => this.paint(),
      () => REDRAW_MS,
    );
    undos.add(() => soon.cancel());
    for (const name of ["points", "running", "text", "total_steps", "stop_requested"] as const)
      undos.add(source.watch(name, () => soon.call()));
    undos.add(
      this.sized(holder),
      listen(holder, "dblclick", () => this.toggleLog()),
    );
    this.paint();
  }

  private sized(holder: HTMLElement): () => void {
    if (typeof ResizeObserver === "undefined") return () => undefined;
    const observer = new ResizeObserver(() => this.paint());
    observer.observe(holder);
    return () => observer.disconnect();
  }

  private get points(): Points {
    return this.source.get("points") ?? { step: [], series: {} };
  }

  private key(event: KeyboardEvent): boolean {
    if (event.key !== "l" || event.ctrlKey || event.metaKey) return false;
    this.toggleLog();
    return true;
  }

  private toggleLog(): void {
    this.log = !this.log;
    attrs(this.logButton, { "aria-pressed": this.log ? "true" : "false" });
    this.paint();
  }

  private askStop(): void {
    const { t } = this.frame;
    this.stopping = true;
    this.paint();
    // The flag is a trait as well: where callbacks wait for the cell to end, the loop still sees it at its next step.
    this.source.set("stop_requested", true);
    this.source.request("stop").catch((error: unknown) => {
      if ((error as { kind?: string }).kind !== "timeout") this.frame.say(`${t("stop")}: ${(error as Error).message}`);
    });
  }

  private paint(): void {
    const { t } = this.frame;
    const { step, series } = this.points;
    const running = this.source.get("running") ?? false;
    const total = this.source.get("total_steps") ?? null;
    const done = step.at(-1) ?? 0;
    this.bar.hidden = total === null;
    attrs(this.bar, { value: total ? Math.min(1, done / total) : 0 });
    setText(
      this.text,
      this.source.get("text") || (total ? t("steps_done", { k: formatCount(done), n: formatCount(total) }) : ""),
    );
    const stopping = running && (this.stopping || (this.source.get("stop_requested") ?? false));
    if (!running) this.stopping = false;
    this.stop.disabled = !running || stopping;
    relabel(this.stop, stopping ? t("stopping") : t("stop"), "stop");
    const names = Object.keys(series);
    const main = names.includes(MAIN) ? MAIN : names[0];
    attrs(this.frame.root, { "data-points": step.length, "data-running": running ? "true" : "false" });
    if (main === undefined || step.length === 0) {
      this.main.replaceChildren(s("text", { class: "agl-out", x: 24, y: 34 }, t("no_data")));
      attrs(this.main, { "aria-label": t("no_data") });
      return;
    }
    this.draw(
      this.main,
      main,
      step,
      series[main] ?? [],
      {
        width: this.main.clientWidth || 640,
        height: this.main.clientHeight || 340,
        left: 58,
        right: 20,
        top: 26,
        bottom: 30,
      },
      true,
    );
    this.paintMultiples(names.filter((name) => name !== main));
  }

  private paintMultiples(names: string[]): void {
    const { step, series } = this.points;
    this.small.hidden = names.length === 0;
    for (const [name, chart] of this.charts) {
      if (names.includes(name)) continue;
      chart.remove();
      this.charts.delete(name);
    }
    for (const name of names) {
      let chart = this.charts.get(name);
      if (!chart) {
        chart = s("svg", { class: "agl-small-chart", role: "img" });
        this.charts.set(name, chart);
        this.small.append(chart);
      }
      this.draw(
        chart,
        name,
        step,
        series[name] ?? [],
        { width: 250, height: 104, left: 46, right: 8, top: 22, bottom: 8 },
        false,
      );
    }
  }

  private draw(
    chart: SVGSVGElement,
    name: string,
    step: number[],
    wires: (WireNumber | null)[],
    frame: Frame,
    withX: boolean,
  ): void {
    const kept = thin(wires, MOST_POINTS).map(({ at, value }) => ({
      x: step[at] ?? at,
      value: value === null ? NaN : fromWire(value),
    }));
    const values = kept.map(({ value }) => value);
    const log = this.log && name === (MAIN in this.points.series ? MAIN : name) && values.some((value) => value > 0);
    const x = scale(
      step[0] ?? 0,
      Math.max(step.at(-1) ?? 1, (step[0] ?? 0) + 1),
      frame.left,
      frame.width - frame.right,
      false,
      withX ? 6 : 2,
    );
    const ends = log ? logEnds(values) : linearEnds(values);
    const y = scale(...ends, frame.height - frame.bottom, frame.top, log, withX ? 5 : 2);
    if (!withX) x.ticks = [];
    const last = wires.at(-1) ?? null;
    const parts: SVGElement[] = [axes(frame, x, y, (tick) => formatCount(tick), plain)];
    parts.push(
      s("path", {
        class: "agl-curve agl-loss",
        d: polyline(kept.map(({ x: at, value }) => [x(at), log && value <= 0 ? NaN : y(value)] as const)),
      }),
    );
    const firstBad = kept.find(({ value }, at) => !Number.isFinite(value) && wires[at] !== null);
    if (firstBad) {
      const word = Number.isNaN(firstBad.value) ? "NaN" : "Inf";
      parts.push(
        s(
          "g",
          { class: "agl-badge", transform: `translate(${x(firstBad.x)} ${frame.top + 12})` },
          s("path", { d: "M-19 -4l5 -5h28l5 5v8l-5 5h-28l-5 -5z" }),
          s("text", { "text-anchor": "middle", y: 4 }, word),
        ),
      );
    }
    parts.push(
      s(
        "text",
        { class: "agl-series-title", x: frame.left, y: 15 },
        s("tspan", {}, name),
        s("tspan", { class: "agl-now", dx: 8 }, formatNumber(last), s("title", {}, exact(last))),
      ),
    );
    chart.replaceChildren(...parts);
    attrs(chart, {
      viewBox: `0 0 ${frame.width} ${frame.height}`,
      "aria-label": `${name}: ${formatNumber(last)}`,
      "data-series-name": name,
    });
  }
}
