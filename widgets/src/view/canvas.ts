import { faceOf, SIZES, type Face } from "../layout/boxes";
import { layout, type Box, type Direction, type Frame, type Layout } from "../layout/layout";
import { clip, textWidth } from "../layout/measure";
import { Undos } from "../state/signal";
import type { Translate } from "../state/strings";
import { autoFold, nodeKey, visible, type Item, type Tape, type Visible } from "../state/tape";
import { attrs, h, listen, s } from "./dom";
import { Mark, type NodeState } from "./marks";
import { PanZoom } from "./panzoom";
import { WireMark, type WireState } from "./wires";

const MOST_SHOWN = 1000;
const FRAME_WORDS = 11.5;
/** Below the first scale a whole picture says nothing; then its end is shown at the second. */
const LEAST_READABLE = 0.16;
const READABLE = 0.6;

/** What a replay lays over the picture. */
export interface Replay {
  node(id: number): NodeState;
  wire(link: Visible["links"][number]): WireState;
}

export interface CanvasEvents {
  onSelect(id: number | null): void;
  onHover(id: number | null, mark: SVGGElement | null): void;
  onFold(): void;
}

/** The picture of a tape: a keyed SVG that is changed in place, never drawn anew. */
export class Canvas {
  readonly el: HTMLElement;
  readonly svg: SVGSVGElement;
  direction: Direction = "lr";
  folded: Set<number>;
  selected: number | null = null;
  found: ReadonlySet<number> = new Set();
  lastLayoutMs = 0;
  private view: PanZoom;
  private frameLayer = s("g");
  private wireLayer = s("g");
  private nodeLayer = s("g");
  private marks = new Map<string, Mark>();
  private wires = new Map<string, WireMark>();
  private frames = new Map<number, SVGGElement>();
  private faces = new Map<string, Face>();
  private shown: Visible = { items: [], links: [], itemOf: new Map() };
  private placed: Layout | null = null;
  private replay: Replay | null = null;
  private undos = new Undos();
  private focusKey = "";
  private foldedByHand: boolean;

  constructor(
    private tape: Tape,
    private t: Translate,
    private events: CanvasEvents,
    folded?: readonly number[],
  ) {
    this.foldedByHand = Boolean(folded?.length);
    this.folded = folded?.length ? new Set(folded) : autoFold(tape, MOST_SHOWN);
    const world = s("g", { class: "agl-world" }, this.frameLayer, this.wireLayer, this.nodeLayer);
    this.svg = s("svg", { class: "agl-svg", role: "group", "aria-label": t("graph") }, world);
    this.el = h("div", { class: "agl-canvas" }, this.svg as unknown as Node);
    this.view = new PanZoom(this.svg, world);
    this.undos.add(() => this.view.dispose(), this.pointing(), this.keys(), this.sized());
  }

  dispose(): void {
    this.undos.run();
  }

  setTape(tape: Tape): void {
    this.tape = tape;
    this.folded = new Set([...this.folded].filter((group) => group < tape.groups.length));
  }

  setReplay(replay: Replay | null): void {
    this.replay = replay;
    this.paintReplay();
  }

  /** Lays out what is visible and brings every mark to its place. */
  render(): void {
    const began = performance.now();
    this.shown = visible(this.tape, this.folded);
    if (this.shown.items.length > MOST_SHOWN && !this.foldedByHand) {
      // A tape that grows while it is recorded folds as one that came whole.
      this.folded = autoFold(this.tape, MOST_SHOWN);
      this.shown = visible(this.tape, this.folded);
    }
    this.faces = new Map(this.shown.items.map((item) => [item.key, faceOf(item, this.tape, this.t)]));
    this.placed = layout({
      boxes: this.shown.items.map((item) => this.boxOf(item)),
      wires: this.shown.links.map(({ key, source, target }) => ({ key, source, target })),
      frames: this.openFrames(),
      direction: this.direction,
      along: this.gap(),
    });
    this.lastLayoutMs = performance.now() - began;
    this.drawFrames();
    this.drawWires();
    this.drawNodes();
    this.paintSelection();
    this.paintReplay();
    attrs(this.svg, { "data-count": this.shown.items.length });
    if (!this.view.touched) this.firstView();
  }

  /** All of it; of a picture too large to be read so, the part where the tape ends. */
  private firstView(): void {
    this.fit(false);
    if (this.view.scale >= LEAST_READABLE || !this.placed) return;
    const last = this.shown.items.at(-1)?.key ?? "";
    const root = [...this.tape.roots].map((id) => this.shown.itemOf.get(id)).find(Boolean);
    const point = this.placed.boxes.get(root ?? last);
    if (point) this.view.begin(point, READABLE, this.direction === "lr");
  }

  fit(glide = true): void {
    if (!this.placed) return;
    // The last boxes' shapes stand beside them.
    const { x, y, width, height } = this.placed.bounds;
    const beside = this.direction === "lr" ? this.gap() * 0.7 : 0;
    this.view.fit({ x, y, width: width + beside, height: height + 8 }, glide);
  }

  zoom(factor: number): void {
    this.view.zoom(factor);
  }

  pan(dx: number, dy: number): void {
    this.view.move(dx, dy);
  }

  /** Brings a node into the middle when it is not in good view; `always` does so in any case. */
  centre(id: number, always = false, leastScale = 0): void {
    const point = this.placed?.boxes.get(this.shown.itemOf.get(id) ?? "");
    if (!point) return;
    if (this.view.scale < leastScale) this.view.scale = leastScale;
    else if (!always && this.view.shows(point)) return;
    this.view.centre(point);
  }

  /** Keeps a chosen node in view while the panel beside the picture opens; the picture is no longer fitted by itself. */
  attend(id: number): void {
    this.view.touched = true;
    requestAnimationFrame(() => this.centre(id));
  }

  /** True when the whole picture is readable at once. */
  get fits(): boolean {
    const { bounds } = this.placed ?? { bounds: { width: 0, height: 0 } };
    const { width, height } = this.view.size;
    return bounds.width * 0.7 < width && bounds.height * 0.7 < height;
  }

  select(id: number | null, tell = true): void {
    this.selected = id;
    this.paintSelection();
    if (tell) this.events.onSelect(id);
  }

  setFound(found: ReadonlySet<number>): void {
    this.found = found;
    this.paintSelection();
  }

  /** Follows options that Python changed. */
  turn(direction: Direction): void {
    if (direction === this.direction) return;
    this.direction = direction;
    this.render();
    this.fit();
  }

  toggleGroup(group: number): void {
    this.foldedByHand = true;
    if (!this.folded.delete(group)) this.folded.add(group);
    this.render();
    this.events.onFold();
  }

  /** Opens the groups around a node so that it shows. */
  reveal(id: number): void {
    const node = this.tape.nodes.get(id);
    const shut = node ? this.tape.groupPath(node.group).filter((group) => this.folded.has(group)) : [];
    if (shut.length === 0) return;
    this.foldedByHand = true;
    for (const group of shut) this.folded.delete(group);
    this.render();
  }

  private boxOf(item: Item): Box {
    const { width, height } = this.faces.get(item.key) ?? { width: 60, height: 44 };
    const kind = item.node?.kind;
    const single = kind === "constant" && item.node?.shape.length === 0;
    const data = single ? "if-not-alone" : "beside-computed";
    const hangs = { parameter: "always", leaf: "beside-flow", constant: data }[String(kind)] ?? "never";
    // A folded group stands in the group around it.
    const group = item.node ? item.group : (this.tape.groups[item.group]?.parent ?? -1);
    return { key: item.key, width, height, group, hangs: hangs as Box["hangs"] };
  }

  /** Room between ranks: what the widest of the shapes beside the boxes needs, within reason. */
  private gap(): number {
    if (this.direction === "tb") return 40;
    const widest = [...this.faces.values()].reduce((most, face) => Math.max(most, textWidth(face.out, SIZES.small)), 0);
    return Math.min(92, Math.max(40, widest + 24));
  }

  private openFrames(): Frame[] {
    const used = new Set<number>();
    for (const item of this.shown.items) {
      const inner = item.node ? item.group : (this.tape.groups[item.group]?.parent ?? -1);
      if (inner >= 0) for (const group of this.tape.groupPath(inner)) used.add(group);
    }
    return [...used].sort((a, b) => a - b).map((group) => ({ group, parent: this.tape.groups[group]?.parent ?? -1 }));
  }

  private drawFrames(): void {
    const rects = this.placed?.frames ?? new Map<number, never>();
    keep(this.frames, new Set(rects.keys()), (g) => g.remove());
    // Outer frames lie under inner ones.
    const order = [...rects.keys()].sort(
      (a, b) => this.tape.groupPath(a).length - this.tape.groupPath(b).length || a - b,
    );
    for (const group of order) {
      const rect = rects.get(group);
      if (!rect) continue;
      const { label = "", type = "" } = this.tape.groups[group] ?? {};
      let g = this.frames.get(group);
      if (!g) {
        g = s(
          "g",
          { class: "agl-frame", "data-frame": group },
          s("rect", { rx: 10 }),
          s("text", {}),
          s("title", {}, this.t("fold", { name: label })),
        );
        g.addEventListener("dblclick", () => this.toggleGroup(group));
        this.frames.set(group, g);
      }
      const [box, text] = [g.children[0], g.children[1]];
      if (box) attrs(box, { x: rect.x, y: rect.y, width: rect.width, height: rect.height });
      if (text) {
        attrs(text, { x: rect.x + 10, y: rect.y + 16 });
        const room = rect.width - 16;
        const both = type !== label && textWidth(`${label} ${type}`, FRAME_WORDS) <= room;
        text.replaceChildren(clip(label, FRAME_WORDS, room));
        if (both) text.append(" ", s("tspan", { class: "agl-quiet-word" }, type));
      }
      this.frameLayer.append(g);
    }
  }

  private drawWires(): void {
    keep(this.wires, new Set(this.shown.links.map((link) => link.key)), (wire) => wire.g.remove());
    for (const link of this.shown.links) {
      let wire = this.wires.get(link.key);
      if (!wire) {
        wire = new WireMark(link);
        this.wires.set(link.key, wire);
        this.wireLayer.append(wire.g);
      }
      wire.update(
        link,
        this.placed?.wires.get(link.key) ?? [],
        this.direction,
        this.placed?.hung.has(link.key) ?? false,
      );
    }
  }

  private drawNodes(): void {
    keep(this.marks, new Set(this.shown.items.map((item) => item.key)), (mark) => mark.g.remove());
    const context = {
      tape: this.tape,
      t: this.t,
      direction: this.direction,
      onToggle: (group: number) => this.toggleGroup(group),
    };
    for (const item of this.shown.items) {
      let mark = this.marks.get(item.key);
      if (!mark) {
        mark = new Mark(item);
        this.marks.set(item.key, mark);
        this.nodeLayer.append(mark.g);
      }
      const face = this.faces.get(item.key);
      const at = this.placed?.boxes.get(item.key);
      if (face && at) mark.update(item, face, at, context);
    }
    this.moveTabStop(this.marks.has(this.focusKey) ? this.focusKey : (this.shown.items[0]?.key ?? ""));
  }

  private paintReplay(): void {
    for (const [key, mark] of this.marks) {
      const { node } = mark.item;
      const face = this.faces.get(key);
      const shown = node && node.requiresGrad && node.kind !== "constant";
      if (face) mark.setState(this.replay && shown ? this.replay.node(node.id) : null, face, this.direction, this.t);
    }
    for (const wire of this.wires.values()) wire.setState(this.replay ? this.replay.wire(wire.link) : null);
  }

  private paintSelection(): void {
    const chosen = this.selected === null ? "" : (this.shown.itemOf.get(this.selected) ?? "");
    const near = new Set<string>();
    for (const [key, wire] of this.wires) {
      const { source, target } = wire.link;
      const touches = chosen !== "" && (source === chosen || target === chosen);
      wire.g.classList.toggle("agl-lit", touches);
      if (touches) near.add(source).add(target);
      if (touches) attrs(wire.g, { "data-key": key });
    }
    for (const [key, mark] of this.marks) {
      attrs(mark.g, { "aria-pressed": key === chosen ? "true" : "false" });
      mark.g.classList.toggle("agl-selected", key === chosen);
      mark.g.classList.toggle("agl-near", key !== chosen && near.has(key));
      const hit = mark.item.node ? this.found.has(mark.item.node.id) : false;
      mark.g.classList.toggle("agl-found", hit);
    }
    this.svg.classList.toggle("agl-searching", this.found.size > 0);
  }

  private markAt(target: EventTarget | null): { key: string; mark: Mark } | null {
    const g = target instanceof Element ? target.closest(".agl-node") : null;
    if (!g) return null;
    for (const [key, mark] of this.marks) if (mark.g === g) return { key, mark };
    return null;
  }

  private pointing(): () => void {
    const undos = new Undos();
    const svg = this.svg as unknown as EventTarget;
    undos.add(
      listen(svg, "click", (event) => {
        const hit = this.markAt(event.target);
        if (hit) this.activate(hit.key, hit.mark);
        else this.select(null);
      }),
      listen(svg, "dblclick", (event) => {
        const hit = this.markAt(event.target);
        if (hit && !hit.mark.item.node) this.toggleGroup(hit.mark.item.group);
      }),
      listen(svg, "pointerover", (event) => {
        const hit = this.markAt(event.target);
        this.events.onHover(hit?.mark.item.node?.id ?? null, hit?.mark.g ?? null);
      }),
      listen(svg, "pointerleave", () => this.events.onHover(null, null)),
      listen(svg, "focusin", (event) => {
        const hit = this.markAt(event.target);
        if (!hit) return;
        this.moveTabStop(hit.key);
        if (hit.mark.item.node) this.centre(hit.mark.item.node.id);
        this.events.onHover(hit.mark.item.node?.id ?? null, hit.mark.g);
      }),
      listen(svg, "focusout", () => this.events.onHover(null, null)),
    );
    return () => undos.run();
  }

  private activate(key: string, mark: Mark): void {
    this.moveTabStop(key);
    const { node } = mark.item;
    if (node) this.select(node.id === this.selected ? null : node.id);
  }

  private keys(): () => void {
    return listen(this.svg as unknown as EventTarget, "keydown", (event) => {
      const hit = this.markAt(event.target);
      if (!hit || event.key !== "Enter") return;
      event.preventDefault();
      event.stopPropagation();
      if (hit.mark.item.node) this.activate(hit.key, hit.mark);
      else this.toggleGroup(hit.mark.item.group);
    });
  }

  /** Moves the focus to the nearest node in a direction of the screen. False when no node has the focus. */
  walk(dx: number, dy: number): boolean {
    const hit = this.markAt(document.activeElement);
    const from = hit && this.placed?.boxes.get(hit.key);
    if (!hit || !from) return false;
    let best: { key: string; cost: number } | null = null;
    for (const [key, point] of this.placed?.boxes ?? []) {
      const along = (point.x - from.x) * dx + (point.y - from.y) * dy;
      const aside = Math.abs((point.x - from.x) * dy) + Math.abs((point.y - from.y) * dx);
      const cost = along + 2 * aside;
      if (along > 1 && (!best || cost < best.cost)) best = { key, cost };
    }
    if (best) this.focusMark(best.key);
    return true;
  }

  focusNode(id: number): void {
    const key = this.shown.itemOf.get(id) ?? nodeKey(id);
    this.focusMark(key);
  }

  /** The node that has the focus, if any. */
  get focused(): number | null {
    return this.markAt(document.activeElement)?.mark.item.node?.id ?? null;
  }

  private focusMark(key: string): void {
    this.moveTabStop(key);
    this.marks.get(key)?.g.focus({ preventScroll: true });
  }

  private moveTabStop(key: string): void {
    if (this.focusKey !== key) this.marks.get(this.focusKey)?.g.setAttribute("tabindex", "-1");
    this.focusKey = key;
    this.marks.get(key)?.g.setAttribute("tabindex", "0");
  }

  private sized(): () => void {
    if (typeof ResizeObserver === "undefined") return () => undefined;
    const observer = new ResizeObserver(() => !this.view.touched && this.firstView());
    observer.observe(this.el);
    return () => observer.disconnect();
  }
}

/** Drops entries that are no longer wanted. */
function keep<K, V>(map: Map<K, V>, wanted: ReadonlySet<K>, drop: (value: V) => void): void {
  for (const [key, value] of map) {
    if (wanted.has(key)) continue;
    drop(value);
    map.delete(key);
  }
}
