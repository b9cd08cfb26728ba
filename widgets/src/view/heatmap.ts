import type { Summary, WireNumber } from "../protocol.gen";
import { badWord, exact, formatNumber, fromWire, NOT_YET, unravel } from "../state/format";
import type { Translate } from "../state/strings";
import { attrs, h, s } from "./dom";

/** Cells of a summary: all its values where they came along, else the thumbnail of means. */
interface Cells {
  rows: number;
  cols: number;
  values: WireNumber[];
  whole: boolean;
}

function cellsOf(summary: Summary): Cells | null {
  const { values, shape, grid, size } = summary;
  if (values && size > 1) {
    const cols = shape.at(-1) ?? 1;
    return { rows: Math.max(1, Math.round(size / Math.max(1, cols))), cols, values, whole: true };
  }
  return grid && size > 1 ? { ...grid, whole: false } : null;
}

/** Half the width of the colour scale: the largest finite size. */
function scaleOf(values: WireNumber[]): number {
  return values.reduce<number>((most, wire) => {
    const size = Math.abs(fromWire(wire));
    return Number.isFinite(size) ? Math.max(most, size) : most;
  }, 0);
}

function paint(wire: WireNumber, scale: number): { fill: string; state: string } {
  const value = fromWire(wire);
  if (!Number.isFinite(value)) return { fill: "var(--agl-error)", state: "bad" };
  if (value === 0 || scale === 0) return { fill: "var(--agl-mid)", state: "zero" };
  const share = Math.round((Math.abs(value) / scale) * 100);
  return {
    fill: `color-mix(in srgb, var(${value > 0 ? "--agl-pos" : "--agl-neg"}) ${share}%, var(--agl-mid))`,
    state: "value",
  };
}

export interface HeatOptions {
  t: Translate;
  name: string;
  /** Longest side of the picture in pixels. */
  room?: number;
  selected?: number | null;
  onPick?: (flat: number) => void;
}

/** A small picture of a tensor: diverging colours centred on 0, its scale written below; hollow when not computed yet. */
export function heatmap(summary: Summary | null | undefined, options: HeatOptions): HTMLElement {
  const { t, name } = options;
  if (!summary)
    return h("span", { class: "agl-heat agl-hollow", title: t("not_yet"), "data-state": "not-yet" }, NOT_YET);
  const bad = badWord(summary);
  const cells = cellsOf(summary);
  if (!cells) return single(summary, t, bad);
  const scale = scaleOf(cells.values);
  const limit = formatNumber(scale, 2);
  const written = scale > 0 ? `±${limit}` : bad ? "" : "0";
  const range = scale === 0 ? "0" : t("heat_scale", { low: `−${limit}`, high: limit });
  const thumb = cells.whole ? "" : `, ${t("heat_thumb", { rows: cells.rows, cols: cells.cols })}`;
  const label = `${name}: ${summary.shape.join("×")}, ${range}${thumb}`;
  const picture = draw(cells, scale, label, summary.shape, options);
  const caption = h("span", { class: "agl-heat-scale" }, written, bad && h("b", { class: "agl-bad" }, ` ${bad}`));
  return h(
    "span",
    { class: "agl-heat", "data-state": bad ? "non-finite" : scale === 0 ? "zero" : "value" },
    picture,
    caption,
  );
}

function single(summary: Summary, t: Translate, bad: string): HTMLElement {
  const only = summary.values?.[0];
  const text =
    summary.size === 0 ? "[ ]" : only === undefined ? `${t("norm")} ${formatNumber(summary.norm)}` : formatNumber(only);
  const state = bad ? "non-finite" : text === "0" ? "zero" : "value";
  return h(
    "span",
    { class: `agl-heat agl-number${bad ? " agl-bad" : ""}`, "data-state": state, title: exact(only ?? summary.norm) },
    text,
  );
}

function draw(cells: Cells, scale: number, label: string, shape: number[], options: HeatOptions): SVGSVGElement {
  const { rows, cols, values, whole } = cells;
  const room = options.room ?? 96;
  const cell = Math.max(2, Math.min(16, Math.floor(room / Math.max(rows, cols))));
  const width = Math.min(cell * cols, room * 2);
  const height = Math.max(6, Math.min(cell * rows, room));
  const svg = s("svg", {
    class: "agl-heat-map",
    viewBox: `0 0 ${cols} ${rows}`,
    width,
    height,
    preserveAspectRatio: "none",
    role: "img",
    "aria-label": label,
  });
  values.forEach((wire, flat) => {
    const { fill, state } = paint(wire, scale);
    const x = flat % cols;
    const y = Math.floor(flat / cols);
    const where = whole ? `[${unravel(flat, shape).join(",")}] ` : "";
    const rect = s(
      "rect",
      { x, y, width: 1, height: 1, style: `fill:${fill}`, "data-flat": flat, "data-state": state },
      s("title", {}, `${where}${exact(wire)}`),
    );
    svg.append(rect);
    if (state === "bad")
      svg.append(s("path", { class: "agl-cell-bad", d: `M${x + 0.2} ${y + 0.2}l.6 .6m0 -.6l-.6 .6` }));
  });
  const ring = s("rect", { class: "agl-cell-ring", width: 1, height: 1, visibility: "hidden" });
  svg.append(ring);
  if (whole && options.onPick) interactive(svg, ring, cells, shape, label, options.onPick, options.selected ?? null);
  return svg;
}

/** Lets a cell be picked by pointer and by arrow keys. */
function interactive(
  svg: SVGSVGElement,
  ring: SVGElement,
  { values, cols }: Cells,
  shape: number[],
  label: string,
  onPick: (flat: number) => void,
  selected: number | null,
): void {
  let at = selected ?? 0;
  const show = (): void => {
    const index = `[${unravel(at, shape).join(",")}]`;
    attrs(ring, { x: at % cols, y: Math.floor(at / cols), visibility: "visible" });
    attrs(svg, { "aria-valuenow": at, "aria-valuetext": `${index} ${formatNumber(values[at])}` });
  };
  attrs(svg, {
    role: "slider",
    tabindex: 0,
    "aria-label": label,
    "aria-valuemin": 0,
    "aria-valuemax": values.length - 1,
    "aria-valuenow": at,
    "data-pick": true,
  });
  if (selected !== null) show();
  const pick = (flat: number): void => {
    at = Math.min(values.length - 1, Math.max(0, flat));
    show();
    onPick(at);
  };
  svg.addEventListener("click", (event) => {
    const flat = (event.target as Element).getAttribute("data-flat");
    if (flat !== null) pick(Number(flat));
  });
  svg.addEventListener("keydown", (event) => {
    const move = { ArrowLeft: -1, ArrowRight: 1, ArrowUp: -cols, ArrowDown: cols }[event.key];
    if (move === undefined || event.altKey || event.shiftKey) return;
    event.preventDefault();
    event.stopPropagation();
    pick(at + move);
  });
}
