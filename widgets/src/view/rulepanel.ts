import type { Formulas, Frame, Sent, Summary } from "../protocol.gen";
import { badWord, exact, formatNumber, formatShape, fromWire, headline, NOT_YET, unravel } from "../state/format";
import type { Stepping } from "../state/stepping";
import type { Translate } from "../state/strings";
import type { Tape, TapeNode } from "../state/tape";
import { lineOf } from "./details";
import { h } from "./dom";
import { heatmap } from "./heatmap";
import { math } from "./math";

export interface PanelContext {
  tape: Tape;
  formulas: Formulas;
  stepping: Stepping;
  t: Translate;
}

/** The figure of a tensor: its number, or its norm and shape; the badge when it is not finite. */
function figure(summary: Summary | null, t: Translate): HTMLElement {
  const { text, full, isNorm, bad } = headline(summary);
  const state = !summary ? "not-yet" : bad ? "non-finite" : text === "0" ? "zero" : "value";
  const value = h("span", { class: "agl-figure", title: summary ? full : t("not_yet"), "data-state": state }, text);
  const shape =
    summary && summary.shape.length > 0 ? h("span", { class: "agl-type" }, formatShape(summary.shape)) : null;
  return h(
    "span",
    { class: "agl-figures" },
    shape,
    isNorm && h("span", { class: "agl-type" }, t("norm")),
    value,
    bad && h("b", { class: "agl-badge-word" }, bad),
  );
}

/** What happens at this node, now: value, incoming cotangent, rule, numbers, what goes out, and sums that form. */
export class RulePanel {
  readonly el: HTMLElement;
  private index: number[] | null = null;
  private frame: Frame | undefined;

  constructor(private context: PanelContext) {
    this.el = h("div", {
      class: "agl-panel agl-rule",
      role: "group",
      "aria-label": context.t("current"),
      tabindex: 0,
    });
  }

  /** Shows the step that was just done. */
  show(): void {
    const { stepping } = this.context;
    if (this.frame !== stepping.current) {
      this.frame = stepping.current;
      this.index = this.frame?.numbers[0]?.index ?? null;
    }
    this.paint();
  }

  private paint(): void {
    const { t, tape, stepping } = this.context;
    const { frame } = this;
    if (!frame) {
      const next = stepping.next;
      this.el.replaceChildren(
        h("p", { class: "agl-quiet" }, t("no_node")),
        ...(next ? [h("p", {}, t("next", { name: tape.nameOf(next.node) }))] : []),
      );
      return;
    }
    const node = tape.nodes.get(frame.node);
    const parts: (HTMLElement | null)[] = [node ? this.header(node) : null];
    if (node?.value && (node.kind === "op" || node.kind === "output")) parts.push(this.valueRow(node));
    parts.push(this.tensorRow(t("incoming"), frame.incoming, "ḡ", "incoming"));
    for (const sent of frame.sent) parts.push(...this.sentRows(frame, sent, node));
    parts.push(this.sums(frame.node));
    if (frame.leaf_grad)
      parts.push(
        this.row(
          t("done"),
          h("b", { class: "agl-back-text" }, t("whole_grad", { name: tape.nameOf(frame.node) })),
          " = ",
          figure(frame.incoming, t),
        ),
      );
    this.el.replaceChildren(...parts.filter((part): part is HTMLElement => part !== null));
  }

  private row(term: string, ...content: (Node | string)[]): HTMLElement {
    return h(
      "div",
      { class: "agl-row" },
      h("span", { class: "agl-term" }, term),
      h("span", { class: "agl-content" }, ...content),
    );
  }

  private header(node: TapeNode): HTMLElement {
    const { t, formulas, tape } = this.context;
    const formula = formulas[node.formula];
    const name = node.kind === "op" || node.kind === "output" ? node.symbol || node.op : tape.nameOf(node.id);
    const head = h(
      "div",
      { class: "agl-title" },
      h("b", {}, name),
      formula ? math(formula.forward_mathml, formula.forward_text) : null,
      h("span", { class: "agl-type" }, node.name || t(node.kind)),
    );
    const line = lineOf(node, t);
    return h("div", { class: "agl-header" }, head, line);
  }

  private valueRow(node: TapeNode): HTMLElement {
    const { t } = this.context;
    const name = node.label || "y";
    return this.row(
      t("value"),
      h("i", {}, name),
      " ",
      figure(node.value, t),
      node.value?.size === 1 ? "" : heatmap(node.value, this.heat(name, node.value)),
    );
  }

  private tensorRow(term: string, summary: Summary, symbol: string, role: string): HTMLElement {
    const row = this.row(
      term,
      h("i", {}, symbol),
      " ",
      figure(summary, this.context.t),
      summary.size > 1 ? heatmap(summary, this.heat(`${term} ${symbol}`, summary)) : "",
    );
    row.dataset["role"] = role;
    return row;
  }

  private heat(name: string, summary: Summary | null): Parameters<typeof heatmap>[1] {
    const flat = summary && this.index ? ravel(this.index, summary.shape) : null;
    return {
      t: this.context.t,
      name,
      room: 52,
      selected: flat,
      onPick: (picked) => {
        const kept = document.activeElement?.getAttribute("aria-label");
        this.index = unravel(picked, summary?.shape ?? []);
        this.paint();
        // The pictures were made anew: give the focus back to the one that had it.
        if (kept)
          [...this.el.querySelectorAll<SVGElement>("[data-pick]")]
            .find((one) => one.getAttribute("aria-label") === kept)
            ?.focus();
      },
    };
  }

  private sentRows(frame: Frame, sent: Sent, node: TapeNode | undefined): HTMLElement[] {
    const { t, tape, formulas } = this.context;
    const target = tape.nameOf(sent.to);
    const rule = formulas[node?.formula ?? ""]?.rules.find((one) => one.slot === sent.slot || one.slot < 0);
    const rows: HTMLElement[] = [];
    if (rule) rows.push(this.row(t("rule"), math(rule.mathml, rule.text)));
    const numbers = this.numbers(frame, sent);
    if (numbers) rows.push(numbers);
    const where =
      sent.expected > 1 ? t("add_to", { name: target, arrived: sent.arrived, expected: sent.expected }) : target;
    const out = this.row(
      t("outgoing"),
      h("i", { class: "agl-over" }, target),
      " ",
      figure(sent.grad, t),
      sent.grad.size > 1 ? heatmap(sent.grad, this.heat(`${t("outgoing")} ${sent.slot}`, sent.grad)) : "",
      h("span", { class: "agl-back-text" }, ` → ${where}`),
    );
    out.dataset["role"] = "outgoing";
    rows.push(out);
    const wrap = h("div", { class: "agl-sent", "data-slot": sent.slot }, ...rows);
    return [wrap];
  }

  /** The rule with the numbers of one element put in: as Python wrote it, else from the two tensors. */
  private numbers(frame: Frame, sent: Sent): HTMLElement | null {
    const { t } = this.context;
    const own = frame.numbers.filter((one) => one.slot === sent.slot);
    const index = this.index ?? own[0]?.index ?? null;
    if (!index) return null;
    const exactly = own.find((one) => same(one.index, index));
    const text = exactly?.text ?? fromTensors(frame.incoming, sent.grad, index);
    if (!text) return null;
    const shown = index.length > 0 ? `[${index.join(",")}]` : "";
    const row = this.row(
      t("numbers"),
      h("span", { class: "agl-numbers", title: t("element", { index: shown }) }, text),
      this.chooser(
        own.map((one) => one.index),
        index,
      ),
    );
    row.dataset["role"] = "numbers";
    return row;
  }

  private chooser(indices: number[][], current: number[]): HTMLElement | string {
    const { t } = this.context;
    if (current.length === 0) return "";
    const all = indices.some((one) => same(one, current)) ? indices : [current, ...indices];
    const select = h("select", { class: "agl-select", "aria-label": t("element", { index: "" }).trim() });
    for (const one of all) {
      const option = h("option", { value: one.join(",") }, `[${one.join(",")}]`);
      option.selected = same(one, current);
      select.append(option);
    }
    select.addEventListener("change", () => {
      this.index = select.value.split(",").map(Number);
      this.paint();
      this.el.querySelector<HTMLElement>("select")?.focus();
    });
    return select;
  }

  /** Where paths meet: the terms that have arrived, and their sum. */
  private sums(node: number): HTMLElement | null {
    const { t, tape, stepping } = this.context;
    const targets = [node, ...(this.frame?.sent.map((sent) => sent.to) ?? [])].filter(
      (id, at, all) => all.indexOf(id) === at && stepping.expected(id) > 1,
    );
    if (targets.length === 0) return null;
    const holder = h("div", { class: "agl-sums" });
    for (const id of targets) {
      const arrivals = stepping.arrived(id);
      const expected = stepping.expected(id);
      const list = h("ol", { class: "agl-terms" });
      arrivals.forEach((arrival, at) =>
        list.append(
          h(
            "li",
            {},
            h("span", { class: "agl-sign" }, at === 0 ? "" : "+"),
            figure(arrival.grad, t),
            h("span", { class: "agl-type" }, ` ← ${tape.nameOf(arrival.from)}`),
          ),
        ),
      );
      for (let at = arrivals.length; at < expected; at += 1)
        list.append(
          h(
            "li",
            { class: "agl-hollow", "data-state": "not-yet" },
            h("span", { class: "agl-sign" }, at === 0 ? "" : "+"),
            NOT_YET,
          ),
        );
      const total = arrivals.at(-1)?.total ?? null;
      list.append(
        h(
          "li",
          { class: "agl-total" },
          h("span", { class: "agl-sign" }, "="),
          figure(total, t),
          h(
            "span",
            { class: "agl-type", title: t("expected", { arrived: arrivals.length, expected }) },
            ` (${arrivals.length}/${expected})`,
          ),
        ),
      );
      holder.append(
        h(
          "div",
          { class: "agl-row", "data-sum": id },
          h("span", { class: "agl-term" }, t("sum_forming", { name: tape.nameOf(id) })),
          list,
        ),
      );
    }
    return holder;
  }
}

function same(a: readonly number[], b: readonly number[]): boolean {
  return a.length === b.length && a.every((value, at) => value === b[at]);
}

/** Index per axis → row-major position; null when the index does not fit the shape. */
export function ravel(index: readonly number[], shape: readonly number[]): number | null {
  if (index.length !== shape.length) return null;
  let flat = 0;
  for (let axis = 0; axis < shape.length; axis += 1) {
    const at = index[axis] ?? 0;
    if (at >= (shape[axis] ?? 0)) return null;
    flat = flat * (shape[axis] ?? 1) + at;
  }
  return flat;
}

/** Incoming and outgoing of one element, and their quotient, when both tensors came along whole and of one shape. */
function fromTensors(incoming: Summary, outgoing: Summary, index: number[]): string | null {
  if (!same(incoming.shape, outgoing.shape) || badWord(incoming) || badWord(outgoing)) return null;
  const flat = ravel(index, incoming.shape);
  const from = flat === null ? undefined : incoming.values?.[flat];
  const to = flat === null ? undefined : outgoing.values?.[flat];
  if (from === undefined || to === undefined) return null;
  const factor = fromWire(from) === 0 ? NOT_YET : formatNumber(fromWire(to) / fromWire(from));
  return `${formatNumber(from)} · ${factor} = ${formatNumber(to)}`;
}

/** Full precision of every element, for tests and copying; empty when the values did not come along. */
export function fullValues(summary: Summary | null): string {
  return summary?.values ? JSON.stringify(summary.values) : summary ? exact(summary.norm) : "";
}
