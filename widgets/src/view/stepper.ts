import type { Source } from "../bridge";
import { badWord, exact, formatNumber, fromWire, headline } from "../state/format";
import { debounce, Undos } from "../state/signal";
import { Stepping } from "../state/stepping";
import { Tape, type Link } from "../state/tape";
import { Canvas, type Replay } from "./canvas";
import { details } from "./details";
import { attrs, button, h, relabel, setText } from "./dom";
import { canvasButtons, canvasKey, hoverCard } from "./graph";
import { heatmap } from "./heatmap";
import type { NodeState } from "./marks";
import { fullValues, RulePanel } from "./rulepanel";
import { messageCard, shell, type KeyHelp, type Shell } from "./shell";
import { Timeline } from "./timeline";
import type { WireState } from "./wires";

const HELP: KeyHelp[] = [
  { keys: "← →", meaning: "key_step" },
  { keys: "Shift+← Shift+→", meaning: "key_over" },
  { keys: "Space", meaning: "key_play" },
  { keys: "Home End", meaning: "key_ends" },
  { keys: "↑ ↓", meaning: "key_nodes" },
  { keys: "Enter", meaning: "key_select" },
  { keys: "b", meaning: "key_break" },
  { keys: "w", meaning: "key_watch" },
  { keys: "Alt+←", meaning: "key_pan" },
  { keys: "+ − 0", meaning: "key_zoom" },
];
const BEAT_MS = 900;
const SPEEDS = [0.5, 1, 2, 4, 10];
const FIRST_WATCHED = 12;

/** BackwardStepper: what happens at this node, now. Steps in the browser alone, over the recorded frames. */
export function stepperView(el: HTMLElement, source: Source): () => void {
  let view = new StepperView(el, source);
  // A new recording is another replay: begin anew, once graph and frames have both come.
  const renew = debounce(() => {
    view.frame.undos.run();
    view = new StepperView(el, source);
  }, 50);
  const undos = new Undos();
  undos.add(
    () => view.frame.undos.run(),
    () => renew.cancel(),
    source.watch("frames", () => renew.call()),
    source.watch("graph", () => renew.call()),
  );
  return () => undos.run();
}

class StepperView {
  readonly frame: Shell;
  private tape: Tape;
  private stepping: Stepping;
  private canvas: Canvas;
  private panel: RulePanel;
  private timeline: Timeline;
  private watched: number[];
  private watchRow: HTMLElement;
  private title = h("span", { class: "agl-heading", role: "status" });
  private breaks = h("span", { class: "agl-type agl-breaks" });
  private play: HTMLButtonElement;
  private speed = 1;
  private buttons: Record<string, HTMLButtonElement> = {};
  private norms: { low: number; high: number };
  private before = 0;

  constructor(
    el: HTMLElement,
    private source: Source,
  ) {
    this.frame = shell(el, source, "stepper", "stepper", HELP, (event) => this.key(event));
    const { t, undos, body } = this.frame;
    const graph = source.get("graph");
    const frames = source.get("frames") ?? [];
    if (!graph) throw new Error("graph");
    this.tape = new Tape(graph);
    this.stepping = new Stepping(frames, (node) => this.tape.nodes.get(node)?.group ?? -1);
    this.norms = this.normRange();
    this.watched = this.stepping.leaves.slice(0, FIRST_WATCHED);
    this.play = button("play", t("play"), "play", () => this.stepping.togglePlay(), true);
    this.canvas = new Canvas(
      this.tape,
      t,
      {
        onSelect: (id) => this.source.set("selection", id === null ? {} : { node: id }),
        onHover: (id, mark) => hover.show(id, mark),
        onFold: () => undefined,
      },
      source.get("options")?.folded,
    );
    this.canvas.direction = source.get("options")?.direction ?? "lr";
    const hover = hoverCard(this.canvas, (id) => this.hoverContent(id));
    this.panel = new RulePanel({ tape: this.tape, formulas: source.get("formulas") ?? {}, stepping: this.stepping, t });
    this.timeline = new Timeline(this.stepping, t, (id) => this.tape.nameOf(id));
    this.watchRow = h("div", { class: "agl-watch", role: "group", "aria-label": t("watch"), tabindex: 0 });
    const caption = h("span", { class: "agl-type" }, t("gradient_norms"));
    const foot = h(
      "div",
      { class: "agl-foot" },
      h("div", { class: "agl-time-row" }, caption, this.timeline.el),
      h("div", { class: "agl-watch-row" }, h("span", { class: "agl-type" }, `${t("watch")}:`), this.watchRow),
    );
    body.append(this.bar(), h("div", { class: "agl-main-area" }, this.canvas.el, this.panel.el), foot);
    if (frames.length === 0) this.canvas.el.append(messageCard("", t("no_frames")));
    undos.add(
      () => this.canvas.dispose(),
      () => hover.dispose(),
      this.sync(),
      this.playing(),
    );
    this.stepping.goto(source.get("cursor") ?? 0);
    this.before = this.stepping.cursor.value;
    this.canvas.render();
    this.canvas.setReplay(this.replay());
    this.paint();
    const start = this.stepping.current?.node ?? frames[0]?.node;
    if (start !== undefined && !this.canvas.fits) this.canvas.centre(start, true, 0.75);
  }

  private bar(): HTMLElement {
    const { t } = this.frame;
    const { stepping } = this;
    const add = (action: string, label: string, picture: string, onClick: () => void): HTMLButtonElement => {
      const made = button(action, label, picture, () => {
        stepping.playing.value = false;
        onClick();
      });
      this.buttons[action] = made;
      return made;
    };
    const speed = h("select", { class: "agl-select", "aria-label": t("speed"), title: t("speed") });
    for (const factor of SPEEDS) speed.append(h("option", { value: factor, selected: factor === 1 }, `${factor}×`));
    speed.addEventListener("change", () => {
      this.speed = Number(speed.value);
    });
    return h(
      "div",
      { class: "agl-bar", role: "toolbar", "aria-label": t("step") },
      this.title,
      add("first", t("first"), "first", () => stepping.goto(0)),
      add("back", t("back"), "back", () => stepping.back()),
      add("step", t("step"), "step", () => stepping.step()),
      add("last", t("last"), "last", () => stepping.goto(stepping.length)),
      this.play,
      speed,
      add("run-to", t("run_to"), "run-to", () => this.runToSelected()),
      add("reset", t("reset"), "reset", () => stepping.reset()),
      add("break", t("break_here"), "break", () => this.toggleBreak()),
      add("watch", t("watch_this"), "watch", () => this.toggleWatch()),
      this.breaks,
      h("span", { class: "agl-space" }),
      ...canvasButtons(this.frame, this.canvas),
    );
  }

  /** The cursor goes both ways; ours is sent once it has rested a little. */
  private sync(): () => void {
    const { stepping, source } = this;
    const undos = new Undos();
    const send = debounce(() => {
      if (source.get("cursor") !== stepping.cursor.value) source.set("cursor", stepping.cursor.value);
    }, 100);
    undos.add(
      () => send.flush(),
      stepping.cursor.watch(() => {
        this.paint();
        send.call();
      }),
      stepping.breakpoints.watch(() => this.paint()),
      source.watch("cursor", () => {
        send.cancel();
        stepping.goto(source.get("cursor") ?? 0);
      }),
      source.watch("options", () => this.canvas.turn(source.get("options")?.direction ?? "lr")),
      source.watch("selection", () => {
        const node = source.get("selection")?.node ?? null;
        if (node !== this.canvas.selected) this.canvas.select(node, false);
      }),
    );
    return () => undos.run();
  }

  private playing(): () => void {
    const { stepping } = this;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const beat = (): void => {
      timer = setTimeout(() => {
        stepping.beat();
        if (stepping.playing.value) beat();
      }, BEAT_MS / this.speed);
    };
    const undo = stepping.playing.watch((on) => {
      const { t } = this.frame;
      clearTimeout(timer);
      relabel(this.play, on ? t("pause") : t("play"), on ? "pause" : "play");
      attrs(this.frame.root, { "data-playing": on ? "true" : null });
      if (on) beat();
    });
    return () => {
      clearTimeout(timer);
      undo();
    };
  }

  private get target(): number | null {
    return this.canvas.focused ?? this.canvas.selected;
  }

  private runToSelected(): void {
    const target = this.canvas.selected;
    if (target !== null && this.stepping.runTo(target)) return;
    this.frame.say(this.frame.t("no_match"));
  }

  private toggleBreak(): void {
    if (this.target !== null && this.stepping.visit(this.target) !== undefined)
      this.stepping.toggleBreakpoint(this.target);
  }

  private toggleWatch(): void {
    const { target } = this;
    if (target === null) return;
    this.watched = this.watched.includes(target)
      ? this.watched.filter((id) => id !== target)
      : [...this.watched, target];
    this.paintWatch();
  }

  private key(event: KeyboardEvent): boolean {
    const { stepping } = this;
    const arrow = { ArrowLeft: -1, ArrowRight: 1 }[event.key] as 1 | -1 | undefined;
    if (arrow && !event.altKey && !event.ctrlKey && !event.metaKey) {
      stepping.playing.value = false;
      if (event.shiftKey) stepping.over(arrow);
      else stepping.goto(stepping.cursor.value + arrow);
      return true;
    }
    if (canvasKey(this.canvas, event)) return true;
    if (event.altKey || event.ctrlKey || event.metaKey) return false;
    // Space on a button presses the button.
    if (event.key === " " && !(event.target as Element).closest("button")) stepping.togglePlay();
    else if (event.key === "Home") stepping.goto(0);
    else if (event.key === "End") stepping.goto(stepping.length);
    else if (event.key === "b") this.toggleBreak();
    else if (event.key === "w") this.toggleWatch();
    else if (event.key === "ArrowUp" || event.key === "ArrowDown")
      return this.focusNeighbour(event.key === "ArrowUp" ? -1 : 1);
    else return false;
    return true;
  }

  /** Up and down move the focus through the nodes in the order of the tape. */
  private focusNeighbour(by: number): boolean {
    const ids = [...this.tape.nodes.keys()];
    const at = ids.indexOf(this.canvas.focused ?? NaN);
    const next = ids[at + by];
    if (at < 0 || next === undefined) return false;
    this.canvas.focusNode(next);
    return true;
  }

  private paint(): void {
    const { t, root } = this.frame;
    const { stepping } = this;
    const cursor = stepping.cursor.value;
    setText(this.title, t("step_of", { k: cursor, n: stepping.length }));
    attrs(root, { "data-cursor": cursor, "data-steps": stepping.length });
    const atStart = cursor === 0;
    const atEnd = cursor === stepping.length;
    for (const [action, off] of Object.entries({
      first: atStart,
      back: atStart,
      reset: atStart,
      step: atEnd,
      last: atEnd,
    })) {
      const made = this.buttons[action];
      // Disabling a focused button drops the focus; so it stays focusable and says that it is off.
      if (made) attrs(made, { "aria-disabled": off ? "true" : null });
    }
    const breaks = stepping.breakpoints.value.size;
    setText(this.breaks, breaks > 0 ? t("breakpoints", { n: breaks }) : "");
    this.canvas.setReplay(this.replay());
    this.panel.show();
    this.timeline.paint();
    this.paintWatch();
    const { current } = stepping;
    if (current && cursor !== this.before) {
      this.canvas.reveal(current.node);
      this.canvas.centre(current.node, false, this.canvas.fits ? 0 : 0.75);
    }
    if (cursor !== this.before) this.frame.say(current?.text ?? t("step_of", { k: 0, n: stepping.length }));
    this.before = cursor;
  }

  private paintWatch(): void {
    const { t } = this.frame;
    const chips = this.watched.map((id) => {
      const leaf = this.stepping.leaves.includes(id);
      const gradient = leaf ? this.stepping.leafGrad(id) : this.stepping.gradient(id);
      const { text, full, isNorm, bad } = headline(gradient);
      const state = !gradient ? "not-yet" : bad ? "non-finite" : text === "0" ? "zero" : "value";
      const name = t("whole_grad", { name: this.tape.nameOf(id) });
      const chip = h(
        "span",
        { class: "agl-watch-chip", "data-state": state, title: gradient ? full : t("not_yet") },
        h("span", { class: "agl-watch-name" }, name),
        " ",
      );
      if (leaf)
        attrs(chip, {
          "data-leaf-grad": id,
          "data-full": gradient ? fullValues(gradient) : null,
          "data-norm": gradient ? exact(gradient.norm) : null,
        });
      chip.append(
        isNorm ? h("span", { class: "agl-type" }, `${t("norm")} `) : "",
        h("span", { class: "agl-figure", "data-state": state }, text),
      );
      if (bad) chip.append(h("b", { class: "agl-badge-word" }, bad));
      if (gradient && gradient.size > 1) chip.append(heatmap(gradient, { t, name, room: 22 }));
      return chip;
    });
    this.watchRow.replaceChildren(...chips);
  }

  private hoverContent(id: number): HTMLElement | null {
    const node = this.tape.nodes.get(id);
    if (!node) return null;
    const { t } = this.frame;
    const card = details(this.tape, node, this.source.get("formulas") ?? {}, t, false);
    if (!node.requiresGrad) return card;
    const gradient = this.stepping.gradient(id);
    card.append(
      h(
        "div",
        { class: "agl-row" },
        h("span", { class: "agl-term" }, t("gradient")),
        heatmap(gradient, { t, name: t("gradient") }),
      ),
    );
    return card;
  }

  private normRange(): { low: number; high: number } {
    let low = Infinity;
    let high = -Infinity;
    for (const frame of this.stepping.frames) {
      for (const { grad } of frame.sent) {
        const norm = grad.norm === null ? 0 : fromWire(grad.norm);
        if (!Number.isFinite(norm) || norm <= 0) continue;
        low = Math.min(low, Math.log10(norm));
        high = Math.max(high, Math.log10(norm));
      }
    }
    return { low, high };
  }

  private replay(): Replay {
    const { stepping } = this;
    const cursor = stepping.cursor.value;
    const current = stepping.current?.node;
    const next = stepping.next?.node;
    return {
      node: (id): NodeState => {
        const visit = stepping.visit(id);
        const gradient = stepping.gradient(id);
        const { text } = headline(gradient);
        const phase =
          id === current
            ? "current"
            : id === next
              ? "next"
              : visit !== undefined && visit <= cursor
                ? "done"
                : "waiting";
        return {
          phase,
          gradient: text,
          bad: badWord(gradient),
          arrived: stepping.arrived(id).length,
          expected: stepping.expected(id),
          breakpoint: stepping.breakpoints.value.has(id),
        };
      },
      wire: (link) => this.wireState(link, cursor),
    };
  }

  /** An edge is done when its consumer has sent a cotangent back along it. */
  private wireState(link: Link, cursor: number): WireState {
    let state: WireState = { phase: "waiting", fresh: false, weight: 0, title: "" };
    for (const edge of link.edges) {
      const visit = this.stepping.visit(edge.target);
      const frame = visit === undefined ? undefined : this.stepping.frames[visit - 1];
      const sent = frame?.sent.find((one) => one.to === edge.source && one.slot === edge.slot);
      if (visit === undefined || !sent) continue;
      const norm = sent.grad.norm === null ? 0 : fromWire(sent.grad.norm);
      const { low, high } = this.norms;
      const weight = norm > 0 && high > low ? (Math.log10(norm) - low) / (high - low) : 0.4;
      const fresh = visit === cursor && this.before < cursor;
      if (visit <= cursor)
        state = { phase: "done", fresh, weight, title: `${this.frame.t("norm")} ${formatNumber(sent.grad.norm)}` };
      else if (visit === cursor + 1 && state.phase === "waiting")
        state = { ...state, phase: "next", title: this.frame.t("legend_next") };
    }
    return state;
  }
}
