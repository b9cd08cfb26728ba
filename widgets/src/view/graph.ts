import type { Source } from "../bridge";
import type { Formulas, Summary } from "../protocol.gen";
import { RequestError } from "../rpc";
import { formatCount } from "../state/format";
import { throttle, Undos } from "../state/signal";
import { search, Tape } from "../state/tape";
import { Canvas } from "./canvas";
import { details, valueBlock } from "./details";
import { attrs, button, h, listen } from "./dom";
import { legend } from "./legend";
import { messageCard, shell, type KeyHelp, type Shell } from "./shell";

const HELP: KeyHelp[] = [
  { keys: "← ↑ ↓ →", meaning: "key_nodes" },
  { keys: "Enter", meaning: "key_select" },
  { keys: "Alt+←", meaning: "key_pan" },
  { keys: "+ − 0", meaning: "key_zoom" },
];

/** Keys that every view with a picture shares. Returns true when the key was used. */
export function canvasKey(canvas: Canvas, event: KeyboardEvent): boolean {
  const arrow = { ArrowLeft: [1, 0], ArrowRight: [-1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] }[event.key];
  if (arrow && event.altKey) canvas.pan((arrow[0] ?? 0) * 60, (arrow[1] ?? 0) * 60);
  else if (event.key === "+" || event.key === "=") canvas.zoom(1.25);
  else if (event.key === "-") canvas.zoom(0.8);
  else if (event.key === "0") canvas.fit();
  else if (event.key === "Escape" && canvas.selected !== null) canvas.select(null);
  else return false;
  return true;
}

/** Zoom, fit, turn, shapes, legend: the buttons of a picture. */
export function canvasButtons(frame: Shell, canvas: Canvas): HTMLElement[] {
  const { t } = frame;
  const shapes = button(
    "shapes",
    t("shapes"),
    null,
    () => {
      const off = canvas.svg.classList.toggle("agl-no-shapes");
      attrs(shapes, { "aria-pressed": off ? "false" : "true" });
    },
    true,
  );
  attrs(shapes, { "aria-pressed": "true" });
  const turn = button("turn", t("direction"), "turn", () => {
    canvas.turn(canvas.direction === "lr" ? "tb" : "lr");
  });
  const key = legend(frame);
  return [
    shapes,
    turn,
    button("zoom-out", t("zoom_out"), "minus", () => canvas.zoom(0.8)),
    button("zoom-in", t("zoom_in"), "plus", () => canvas.zoom(1.25)),
    button("fit", t("fit"), "fit", () => canvas.fit()),
    key,
    button("help", t("help"), "help", () => frame.toggleHelp()),
    button("full", t("full_screen"), "full", () => frame.toggleFull()),
  ];
}

/** A hover card beside the mark it speaks of, within the canvas. */
export function hoverCard(
  canvas: Canvas,
  content: (id: number) => HTMLElement | null,
): { show(id: number | null, mark: SVGGElement | null): void; dispose(): void } {
  const card = h("div", { class: "agl-hover", role: "tooltip", hidden: true });
  canvas.el.append(card);
  let timer: ReturnType<typeof setTimeout> | undefined;
  const place = (mark: SVGGElement): void => {
    const room = canvas.el.getBoundingClientRect();
    const at = mark.getBoundingClientRect();
    const { offsetWidth: width, offsetHeight: height } = card;
    const below = at.bottom - room.top + 10;
    const above = at.top - room.top - height - 10;
    const top = below + height < room.height ? below : Math.max(4, above);
    const left = Math.min(
      Math.max(4, at.left - room.left + at.width / 2 - width / 2),
      Math.max(4, room.width - width - 4),
    );
    card.style.transform = `translate(${Math.round(left)}px, ${Math.round(top)}px)`;
  };
  return {
    show(id, mark) {
      clearTimeout(timer);
      if (id === null || !mark) {
        card.hidden = true;
        return;
      }
      timer = setTimeout(() => {
        const inside = content(id);
        if (!inside) return;
        card.replaceChildren(inside);
        card.hidden = false;
        place(mark);
      }, 90);
    },
    dispose: () => clearTimeout(timer),
  };
}

/** TapeGraph: what depends on what. */
export function graphView(el: HTMLElement, source: Source): () => void {
  const view = new GraphView(el, source);
  return () => view.frame.undos.run();
}

class GraphView {
  readonly frame: Shell;
  private tape: Tape;
  private canvas: Canvas;
  private panel: HTMLElement;
  private found: number[] = [];
  private foundAt = -1;
  private grown: Formulas = {};
  private count = h("span", { class: "agl-type", role: "status" });
  private hover: ReturnType<typeof hoverCard>;

  constructor(
    el: HTMLElement,
    private source: Source,
  ) {
    this.frame = shell(el, source, "graph", "graph", HELP, (event) => this.key(event));
    const { body, t, undos } = this.frame;
    const graph = source.get("graph");
    if (!graph) throw new Error("graph");
    this.tape = new Tape(graph);
    this.panel = h("div", { class: "agl-panel", role: "group", "aria-label": t("select"), tabindex: 0, hidden: true });
    this.canvas = new Canvas(
      this.tape,
      t,
      {
        onSelect: (id) => this.selected(id),
        onHover: (id, mark) => this.hover.show(id, mark),
        onFold: () => undefined,
      },
      source.get("options")?.folded,
    );
    this.canvas.direction = source.get("options")?.direction ?? "lr";
    this.hover = hoverCard(this.canvas, (id) => {
      // The panel tells the chosen node's story; a card above it would only cover the picture.
      const node = id === this.canvas.selected ? undefined : this.tape.nodes.get(id);
      return node ? details(this.tape, node, this.formulas, t, false) : null;
    });
    const title = h("span", { class: "agl-heading" }, this.tape.title);
    const bar = h(
      "div",
      { class: "agl-bar", role: "toolbar", "aria-label": t("graph") },
      title,
      this.count,
      this.searchBox(),
      h("span", { class: "agl-space" }),
      ...canvasButtons(this.frame, this.canvas),
    );
    body.append(bar, h("div", { class: "agl-main-area" }, this.canvas.el, this.panel));
    undos.add(
      () => this.canvas.dispose(),
      () => this.hover.dispose(),
      this.follow(),
    );
    this.draw();
    const chosen = source.get("selection")?.node;
    if (chosen !== undefined) this.canvas.select(chosen, false);
  }

  private get formulas(): Formulas {
    return { ...this.source.get("formulas"), ...this.grown };
  }

  private draw(): void {
    const { t } = this.frame;
    const nodes = this.tape.nodes.size;
    const more = this.tape.truncated > 0 ? ` · ${t("truncated", { n: formatCount(this.tape.truncated) })}` : "";
    this.count.textContent = t("append_done", { n: formatCount(nodes) }) + more;
    this.canvas.el.querySelector(".agl-message")?.remove();
    if (nodes === 0)
      this.canvas.el.append(messageCard("", this.source.get("recording") ? t("no_data") : t("no_graph")));
    this.canvas.render();
  }

  /** Follows the tape while it grows: many events, few redraws. */
  private follow(): () => void {
    const grow = throttle(
      () => this.draw(),
      () => Math.max(100, 3 * this.canvas.lastLayoutMs),
    );
    const undos = new Undos();
    undos.add(
      () => grow.cancel(),
      this.source.onAppend((event) => {
        this.tape.append(event);
        Object.assign(this.grown, event.formulas);
        grow.call();
      }),
      this.source.watch("graph", () => {
        const graph = this.source.get("graph");
        if (!graph) return;
        this.tape = new Tape(graph);
        this.canvas.setTape(this.tape);
        grow.call();
      }),
      this.source.watch("options", () => this.canvas.turn(this.source.get("options")?.direction ?? "lr")),
      this.source.watch("selection", () => {
        const node = this.source.get("selection")?.node ?? null;
        if (node === this.canvas.selected) return;
        if (node !== null) this.canvas.reveal(node);
        this.canvas.select(node, false);
        this.showPanel(node);
      }),
    );
    return () => undos.run();
  }

  private selected(id: number | null): void {
    this.source.set("selection", id === null ? {} : { node: id });
    this.showPanel(id);
    this.hover.show(null, null);
    if (id !== null) this.canvas.attend(id);
  }

  private showPanel(id: number | null): void {
    const { t } = this.frame;
    const node = id === null ? undefined : this.tape.nodes.get(id);
    this.panel.hidden = !node;
    if (!node) return;
    const close = button("close", t("close"), "close", () => this.canvas.select(null));
    const content = details(this.tape, node, this.formulas, t, true);
    this.panel.replaceChildren(close, content);
    attrs(this.panel, { "aria-label": t("details", { name: this.tape.nameOf(node.id) }) });
    const known = node.value?.values || node.value?.grid;
    if (this.source.alive && !known) content.append(this.loader(node.id, content));
    this.frame.say(this.tape.nameOf(node.id));
  }

  /** Asks the kernel for values only when a person wants them. */
  private loader(id: number, content: HTMLElement): HTMLButtonElement {
    const { t } = this.frame;
    const ask = button(
      "tensor",
      t("load_values"),
      null,
      () => {
        ask.disabled = true;
        ask.textContent = t("loading");
        this.source.request("tensor", { node: id, which: "value" }).then(
          (result) => ask.replaceWith(valueBlock(result as Summary, t, this.tape.nameOf(id))),
          (error: unknown) => {
            const text =
              error instanceof RequestError && error.kind === "timeout"
                ? t("no_reply", { s: error.message })
                : String((error as Error).message);
            ask.remove();
            content.append(messageCard("", t("values_wrong", { text })));
          },
        );
      },
      true,
    );
    return ask;
  }

  private searchBox(): HTMLElement {
    const { t, undos } = this.frame;
    const field = h("input", {
      type: "search",
      class: "agl-search",
      "aria-label": t("search"),
      placeholder: t("search_short"),
      title: t("search"),
      "data-action": "search",
    });
    const hits = h("span", { class: "agl-type", role: "status" });
    undos.add(
      listen(field, "input", () => {
        this.found = search(this.tape, field.value);
        this.foundAt = -1;
        this.canvas.setFound(new Set(this.found));
        hits.textContent = !field.value.trim()
          ? ""
          : this.found.length > 0
            ? t("matches", { n: this.found.length })
            : t("no_match");
      }),
      listen(field, "keydown", (event) => {
        if (event.key !== "Enter" || this.found.length === 0) return;
        event.preventDefault();
        this.foundAt = (this.foundAt + (event.shiftKey ? -1 : 1) + this.found.length) % this.found.length;
        const id = this.found[this.foundAt];
        if (id === undefined) return;
        this.canvas.reveal(id);
        this.canvas.select(id);
        this.canvas.centre(id, false, 0.8);
      }),
    );
    return h("span", { class: "agl-search-box" }, field, hits);
  }

  private key(event: KeyboardEvent): boolean {
    if (canvasKey(this.canvas, event)) return true;
    if (event.altKey || event.ctrlKey || event.metaKey) return false;
    const move = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[event.key];
    return move ? this.canvas.walk(move[0] ?? 0, move[1] ?? 0) : false;
  }
}
