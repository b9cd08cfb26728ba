import { curve, head } from "../layout/curve";
import type { Direction, Point } from "../layout/layout";
import type { Link } from "../state/tape";
import { attrs, s } from "./dom";

/** How an edge stands in a backward replay; `weight` is 0 to 1 by the log of the gradient's norm. */
export interface WireState {
  phase: "waiting" | "next" | "done";
  fresh: boolean;
  weight: number;
  title: string;
}

/** One line of the picture: forward in blue, and over it, in a replay, the cotangent's way back in vermillion. */
export class WireMark {
  readonly g: SVGGElement;
  private line = s("path", { class: "agl-forward" });
  private tip = s("path", { class: "agl-head" });
  private backLine = s("path", { class: "agl-backward", pathLength: 1 });
  private backTip = s("path", { class: "agl-back-head" });
  private title = s("title");

  constructor(public link: Link) {
    this.g = s("g", { class: "agl-edge", "data-edge": link.key }, this.line, this.tip);
  }

  update(link: Link, points: readonly Point[], direction: Direction, hung: boolean): void {
    this.link = link;
    const first = points[0];
    const last = points.at(-1);
    if (!first || !last) return;
    // The wire of a hung box runs across the flow.
    const horizontal = (direction === "lr") !== hung;
    const d = curve(points, horizontal);
    attrs(this.line, { d });
    attrs(this.backLine, { d });
    attrs(this.tip, { d: head(last, horizontal, true) });
    attrs(this.backTip, { d: head(first, horizontal, false, 8) });
    const slots = link.edges.map((edge) => edge.slot).join(" ");
    attrs(this.g, { "data-slots": slots });
  }

  setState(state: WireState | null): void {
    const shown = state !== null && state.phase !== "waiting";
    attrs(this.g, { "data-state": state?.phase, "data-fresh": state?.fresh ? "true" : null });
    if (!shown) {
      this.backLine.remove();
      this.backTip.remove();
      this.title.remove();
      return;
    }
    this.backLine.style.strokeWidth = `${1.6 + 4.4 * state.weight}px`;
    this.title.textContent = state.title;
    // Drawing dashes by length needs the true length; drawing the way back needs the length to be 1.
    attrs(this.backLine, { pathLength: state.phase === "next" ? null : 1 });
    if (!this.backLine.isConnected || this.backLine.parentNode !== this.g)
      this.g.append(this.backLine, this.backTip, this.title);
  }
}
