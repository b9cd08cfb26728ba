import type { Frame } from "../protocol.gen";
import { badWord, formatNumber, fromWire } from "../state/format";
import type { Stepping } from "../state/stepping";
import type { Translate } from "../state/strings";
import { attrs, h, s } from "./dom";

const HEIGHT = 34;

/** Bars between 0.12 and 1 by the log of the norm; 0 for a zero norm. */
export function barHeights(frames: readonly Frame[]): number[] {
  const logs = frames.map(({ incoming }) => {
    const norm = incoming.norm === null ? 0 : fromWire(incoming.norm);
    return Number.isFinite(norm) && norm > 0 ? Math.log10(norm) : null;
  });
  const known = logs.filter((log): log is number => log !== null);
  const low = known.reduce((least, log) => Math.min(least, log), Infinity);
  const high = known.reduce((most, log) => Math.max(most, log), -Infinity);
  return logs.map((log) => (log === null ? 0 : 0.12 + 0.88 * (high > low ? (log - low) / (high - low) : 0.6)));
}

/** The norm of the gradient at each step; also the scrubber: click, drag, or arrow keys go to a step. */
export class Timeline {
  readonly el: HTMLElement;
  private bars: SVGElement[] = [];
  private cursorMark = s("path", { class: "agl-time-cursor" });
  private svg: SVGSVGElement;

  constructor(
    private stepping: Stepping,
    private t: Translate,
    nameOf: (id: number) => string,
  ) {
    const { frames } = stepping;
    const heights = barHeights(frames);
    this.svg = s("svg", {
      class: "agl-time",
      viewBox: `0 0 ${Math.max(1, frames.length)} ${HEIGHT}`,
      preserveAspectRatio: "none",
      "aria-hidden": "true",
    });
    frames.forEach((frame, at) => {
      const bad = badWord(frame.incoming);
      const height = bad ? HEIGHT - 2 : Math.max(2, (heights[at] ?? 0) * (HEIGHT - 2));
      const title = `${at + 1}. ${nameOf(frame.node)}: ${bad || formatNumber(frame.incoming.norm)}`;
      const bar = s(
        "rect",
        { class: "agl-time-bar", x: at + 0.08, y: HEIGHT - height, width: 0.84, height, "data-bad": bad || null },
        s("title", {}, title),
      );
      this.bars.push(bar);
      this.svg.append(bar);
    });
    this.svg.append(this.cursorMark);
    this.el = h(
      "div",
      {
        class: "agl-timeline",
        role: "slider",
        tabindex: 0,
        "aria-label": t("gradient_norms"),
        "aria-valuemin": 0,
        "aria-valuemax": frames.length,
        "data-action": "scrub",
        style: `max-width:${Math.max(1, frames.length) * 56}px`,
      },
      this.svg as unknown as Node,
    );
    this.el.addEventListener("pointerdown", (event) => this.scrub(event));
    this.paint();
  }

  paint(): void {
    const cursor = this.stepping.cursor.value;
    this.bars.forEach((bar, at) =>
      attrs(bar, { "data-state": at < cursor - 1 ? "done" : at === cursor - 1 ? "current" : "waiting" }),
    );
    attrs(this.cursorMark, { d: `M${cursor} 0V${HEIGHT}` });
    attrs(this.el, {
      "aria-valuenow": cursor,
      "aria-valuetext": this.t("step_of", { k: cursor, n: this.stepping.length }),
    });
  }

  private scrub(event: PointerEvent): void {
    if (event.button !== 0) return;
    const go = (x: number): void => {
      const { left, width } = this.svg.getBoundingClientRect();
      if (width > 0) this.stepping.goto(Math.ceil(((x - left) / width) * this.stepping.length));
    };
    this.stepping.playing.value = false;
    go(event.clientX);
    const move = (next: PointerEvent): void => go(next.clientX);
    const stop = (): void => {
      window.removeEventListener("pointermove", move);
      window.removeEventListener("pointerup", stop);
    };
    window.addEventListener("pointermove", move);
    window.addEventListener("pointerup", stop);
  }
}
