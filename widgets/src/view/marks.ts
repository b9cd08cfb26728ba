import type { Face } from "../layout/boxes";
import { SIZES } from "../layout/boxes";
import { textWidth } from "../layout/measure";
import type { Direction, Point } from "../layout/layout";
import { badWord, formatBytes, formatShape } from "../state/format";
import type { Translate } from "../state/strings";
import type { Item, Tape } from "../state/tape";
import { attrs, s } from "./dom";

/** How a node stands in a backward replay. */
export interface NodeState {
  phase: "waiting" | "next" | "current" | "done";
  /** The gradient it holds: "–" before it is computed. */
  gradient: string;
  bad: string;
  arrived: number;
  expected: number;
  breakpoint: boolean;
}

export interface MarkContext {
  tape: Tape;
  t: Translate;
  direction: Direction;
  onToggle: (group: number) => void;
}

/** One box of the picture, kept for as long as its node is shown. Nothing is redrawn unless it changed. */
export class Mark {
  readonly g: SVGGElement;
  private inner = s("g");
  private overlay = s("g", { class: "agl-overlay" });
  private beside = s("g");
  private drawn = "";
  private overlaid = "";
  private kind = "";

  constructor(public item: Item) {
    this.g = s("g", { class: "agl-node", role: "button", tabindex: -1 }, this.inner, this.overlay, this.beside);
  }

  update(item: Item, face: Face, at: Point, context: MarkContext): void {
    this.item = item;
    const { node } = item;
    const root = node !== null && context.tape.roots.has(node.id);
    this.g.style.transform = `translate(${at.x}px, ${at.y}px)`;
    const signature = JSON.stringify([
      face,
      node?.kind,
      root,
      node?.savedBytes,
      node?.saved.length,
      badWord(node?.value),
      context.direction,
    ]);
    if (signature === this.drawn) return;
    this.drawn = signature;
    attrs(this.g, {
      "data-node-id": node?.id,
      "data-group": node ? null : item.group,
      "data-kind": node ? node.kind : "group",
      "data-root": root ? "true" : null,
    });
    this.inner.replaceChildren(...draw(item, face, root, context));
    this.beside.replaceChildren(...smallWords(face, context.direction));
    this.kind = kindOf(item, root, context);
    this.rename();
  }

  /** Draws how the node stands in the replay; null takes that away. */
  setState(state: NodeState | null, face: Face, direction: Direction, t: Translate): void {
    const signature = JSON.stringify([state, face.width, direction]);
    if (signature === this.overlaid) return;
    this.overlaid = signature;
    attrs(this.g, { "data-state": state?.phase, "data-breakpoint": state?.breakpoint ? "true" : null });
    this.overlay.replaceChildren(...(state ? drawState(state, face, direction, t) : []));
    this.rename();
  }

  /**
   * The accessible name begins with the words that are seen, in their order (the small ones, which may be hidden, come
   * last), so that people who speak to their computer can say what they see; then come hints and the kind.
   */
  private rename(): void {
    const read = (selector: string): string[] =>
      [...this.g.querySelectorAll(selector)].map((word) => word.textContent ?? "");
    // A blank after each word: it is not drawn, but keeps words apart for whoever reads the content.
    for (const word of this.g.querySelectorAll("text"))
      if (word.nextSibling?.nodeType !== Node.TEXT_NODE) word.after(" ");
    attrs(this.g, { "aria-label": [read("text").join(" "), ...read("title"), this.kind].filter(Boolean).join(", ") });
  }
}

function kindOf({ node, count }: Item, root: boolean, { t }: MarkContext): string {
  if (!node) return t("folded", { n: count });
  return root ? `${t(node.kind)}, ${t("output")}` : t(node.kind);
}

function box(face: Face, grow: number, radius: number, className: string): SVGRectElement {
  const width = face.width + 2 * grow;
  const height = face.height + 2 * grow;
  return s("rect", {
    class: className,
    x: -width / 2,
    y: -height / 2,
    width,
    height,
    rx: Math.min(radius + grow, height / 2),
  });
}

function draw(item: Item, face: Face, root: boolean, context: MarkContext): SVGElement[] {
  const { node } = item;
  if (!node) return drawFolded(item, face, context);
  const parts: SVGElement[] = [];
  const round = node.kind === "op" || node.kind === "output" ? 22 : 9;
  parts.push(box(face, 4, round, "agl-halo"));
  if (root) parts.push(box(face, 4, round, "agl-ring"));
  parts.push(box(face, 0, round, "agl-shape"));
  if (node.kind === "parameter") parts.push(box(face, -3, round, "agl-inner-border"));
  parts.push(words(face));
  if (node.saved.length > 0 || (node.savedBytes ?? 0) > 0) {
    const what = node.saved
      .map((saved) => `${saved.operand} ${formatShape(saved.shape, context.t("scalar"))}`)
      .join(", ");
    const title = `${context.t("save_bytes")}: ${what} (${formatBytes(node.savedBytes)})`;
    parts.push(
      s(
        "circle",
        { class: "agl-saved", cx: face.width / 2 - 7, cy: -face.height / 2 + 3, r: 5 },
        s("title", {}, title),
      ),
    );
  }
  const bad = badWord(node.value);
  if (bad) parts.push(badge(bad, -face.width / 2 + 6, -face.height / 2));
  return parts;
}

function words(face: Face): SVGElement {
  const line = face.small ? -3 : 5;
  const room = textWidth(face.given, SIZES.main) + textWidth(face.main, SIZES.main) + 5;
  const main = s("text", {
    class: `agl-main${room * 1.25 < face.width - 8 ? " agl-grow" : ""}`,
    "text-anchor": "middle",
    y: line,
  });
  if (face.given) main.append(s("tspan", { class: "agl-given" }, face.given), " ", s("tspan", {}, face.main));
  else main.append(face.main);
  return main;
}

function smallWords(face: Face, direction: Direction): SVGElement[] {
  const parts: SVGElement[] = [];
  if (face.small) parts.push(s("text", { class: "agl-small", "text-anchor": "middle", y: 13 }, face.small));
  if (face.out) {
    const where = direction === "lr" ? { x: face.width / 2 + 11, y: -7 } : { x: 8, y: face.height / 2 + 15 };
    parts.push(s("text", { class: "agl-out", ...where }, face.out));
  }
  return parts;
}

function drawFolded(item: Item, face: Face, { tape, t }: MarkContext): SVGElement[] {
  const left = -face.width / 2;
  const top = -face.height / 2;
  const tab = s("path", { class: "agl-tab", d: `M${left} ${top + 8}v-8a5 5 0 0 1 5 -5h22a5 5 0 0 1 5 5v1` });
  const label = tape.groups[item.group]?.label ?? "";
  return [
    box(face, 4, 6, "agl-halo"),
    tab,
    box(face, 0, 6, "agl-shape"),
    words(face),
    s("title", {}, t("expand", { name: label })),
  ];
}

/** A red octagon with the word in it. */
export function badge(word: string, x: number, y: number): SVGGElement {
  const half = 9 + word.length * 3.2;
  const d = `M${-half} -4l5 -5h${2 * half - 10}l5 5v8l-5 5h${-(2 * half - 10)}l-5 -5z`;
  return s(
    "g",
    { class: "agl-badge", transform: `translate(${x} ${y})` },
    s("path", { d }),
    s("text", { "text-anchor": "middle", y: 3.5 }, word),
  );
}

/** The gradient a node holds; hollow until it is computed. */
function chip(state: NodeState, face: Face, t: Translate): SVGGElement {
  const hollow = state.gradient === "–";
  const text = hollow ? "–" : `ḡ ${state.gradient}`;
  const width = Math.max(16, textWidth(text, SIZES.small) + 10);
  const g = s("g", {
    class: `agl-chip${hollow ? " agl-hollow" : ""}`,
    transform: `translate(${-face.width / 2 + 4} ${face.height / 2 - 4})`,
  });
  g.append(
    s("rect", { width, height: 15, rx: 7.5 }),
    s("text", { x: width / 2, y: 11, "text-anchor": "middle" }, text),
  );
  g.append(s("title", {}, hollow ? t("not_yet") : `${t("gradient")}: ${state.gradient}`));
  return g;
}

function drawState(state: NodeState, face: Face, direction: Direction, t: Translate): SVGElement[] {
  const parts: SVGElement[] = [];
  if (state.bad) parts.push(badge(state.bad, -face.width / 2 + 18, face.height / 2 + 3));
  else parts.push(chip(state, face, t));
  if (state.expected > 1) {
    const where = direction === "lr" ? { x: face.width / 2, y: 0 } : { x: 0, y: face.height / 2 };
    const full = state.arrived === state.expected;
    const plus = s("g", { class: `agl-plus${full ? " agl-full" : ""}`, transform: `translate(${where.x} ${where.y})` });
    plus.append(s("circle", { r: 7 }), s("path", { d: "M-3.5 0h7M0 -3.5v7" }));
    plus.append(s("text", { x: 10, y: 15 }, `${state.arrived}/${state.expected}`));
    plus.append(s("title", {}, t("expected", { arrived: state.arrived, expected: state.expected })));
    parts.push(plus);
  }
  if (state.breakpoint) {
    parts.push(
      s(
        "path",
        {
          class: "agl-breakpoint",
          d: "M-3 -6h6l4 4v6l-4 4h-6l-4 -4v-6z",
          transform: `translate(0 ${-face.height / 2 - 2})`,
        },
        s("title", {}, t("break_here")),
      ),
    );
  }
  return parts;
}
