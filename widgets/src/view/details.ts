import type { Formulas, Summary } from "../protocol.gen";
import { badWord, exact, formatBytes, formatCount, formatNumber, formatShape } from "../state/format";
import type { Translate } from "../state/strings";
import type { Tape, TapeNode } from "../state/tape";
import { h } from "./dom";
import { heatmap } from "./heatmap";
import { math } from "./math";

/** Shape, dtype and device in the lighter tone. */
export function typeLine(node: TapeNode, t: Translate): HTMLElement {
  return h(
    "span",
    { class: "agl-type" },
    [formatShape(node.shape, t("scalar")), node.dtype, node.device].filter(Boolean).join(" · "),
  );
}

/** The statistics of a tensor, and a picture of it. */
export function valueBlock(summary: Summary, t: Translate, name: string): HTMLElement {
  const block = h("div", { class: "agl-value" }, heatmap(summary, { t, name, room: 110 }));
  if (summary.size === 1) return block;
  const list = h("dl", { class: "agl-stats" });
  const add = (term: string, text: string, full: string): void => {
    list.append(h("dt", {}, term), h("dd", { title: full }, text));
  };
  add(t("min"), formatNumber(summary.min), exact(summary.min));
  add(t("mean"), formatNumber(summary.mean), exact(summary.mean));
  add(t("max"), formatNumber(summary.max), exact(summary.max));
  add(t("norm"), formatNumber(summary.norm), exact(summary.norm));
  add(
    t("zeros"),
    `${formatNumber((100 * summary.zeros) / Math.max(1, summary.size), 3)} %`,
    formatCount(summary.zeros),
  );
  block.append(list);
  if (summary.nan > 0) block.append(h("span", { class: "agl-bad" }, t("badge_nan", { n: formatCount(summary.nan) })));
  if (summary.inf > 0) block.append(h("span", { class: "agl-bad" }, t("badge_inf", { n: formatCount(summary.inf) })));
  return block;
}

/** Where the learner wrote the node: the place, and the line itself. */
export function lineOf(node: TapeNode, t: Translate): HTMLElement | null {
  const { line } = node;
  if (!line) return null;
  const cell = line.cell ?? null;
  const place =
    cell === null
      ? `${line.file.split(/[\\/]/).at(-1)}, ${t("line", { line: line.line })}`
      : t("cell_line", { cell, line: line.line });
  return h("div", { class: "agl-line" }, h("span", { class: "agl-type" }, place), h("code", {}, line.text.trim()));
}

function named(term: string, ...content: (Node | string)[]): HTMLElement {
  return h("div", { class: "agl-row" }, h("span", { class: "agl-term" }, term), h("span", {}, ...content));
}

/** Everything known of a node: the content of the hover and of the docked panel. */
export function details(tape: Tape, node: TapeNode, formulas: Formulas, t: Translate, full: boolean): HTMLElement {
  const name = tape.nameOf(node.id);
  const card = h("div", { class: "agl-details", "data-details": node.id });
  const kind = tape.roots.has(node.id) ? `${t(node.kind)}, ${t("output")}` : t(node.kind);
  const title = node.label && node.symbol ? `${node.label} = ${node.symbol}` : name;
  card.append(
    h("div", { class: "agl-title" }, h("b", {}, title), " ", h("span", { class: "agl-type" }, node.name || kind)),
    typeLine(node, t),
  );
  if (node.requiresGrad) card.append(" ", h("span", { class: "agl-tag" }, t("requires_grad")));
  const formula = formulas[node.formula];
  if (formula) {
    card.append(named(t("formula"), math(formula.forward_mathml, formula.forward_text)));
    if (full) for (const rule of formula.rules) card.append(named(t("rule"), math(rule.mathml, rule.text)));
  }
  if (node.value) card.append(valueBlock(node.value, t, name));
  const bad = badWord(node.value);
  if (bad) card.append(h("span", { class: "agl-bad" }, bad));
  if (node.saved.length > 0) {
    const what = node.saved
      .map((saved) => `${saved.operand} ${formatShape(saved.shape, t("scalar"))} ${formatBytes(saved.bytes)}`)
      .join(", ");
    card.append(named(t("save_bytes"), what));
  }
  if (full) {
    const uses = tape.consumers(node.id).map((edge) => tape.nameOf(edge.target));
    if (uses.length > 0) card.append(named(t("used_by"), [...new Set(uses)].join(", ")));
  }
  const line = lineOf(node, t);
  if (line) card.append(line);
  return card;
}
