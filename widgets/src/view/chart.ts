import { formatNumber } from "../state/format";
import { s } from "./dom";

export interface Scale {
  (value: number): number;
  ticks: number[];
}

/** A scale from `[low, high]` to `[from, to]`; logarithmic ones need positive ends. */
export function scale(low: number, high: number, from: number, to: number, log: boolean, wanted = 5): Scale {
  const turn = log ? Math.log10 : (value: number): number => value;
  const [a, b] = [turn(low), turn(high)];
  const span = b - a || 1;
  const map = (value: number): number => from + ((turn(value) - a) / span) * (to - from);
  return Object.assign(map, { ticks: log ? logTicks(low, high, wanted) : linearTicks(low, high, wanted) });
}

/** Round numbers between the ends, about `wanted` of them. */
export function linearTicks(low: number, high: number, wanted: number): number[] {
  const span = high - low;
  if (!(span > 0)) return [low];
  const raw = span / wanted;
  const power = 10 ** Math.floor(Math.log10(raw));
  const step = [1, 2, 5, 10].map((one) => one * power).find((one) => one >= raw) ?? power * 10;
  const ticks: number[] = [];
  for (let at = Math.ceil(low / step); at * step <= high * (1 + 1e-12) + 1e-300; at += 1)
    ticks.push(Number((at * step).toPrecision(12)));
  return ticks;
}

/** Powers of ten between the ends; with 2 and 5 in between when there are few. */
export function logTicks(low: number, high: number, wanted: number): number[] {
  const first = Math.floor(Math.log10(low));
  const last = Math.ceil(Math.log10(high));
  const stride = Math.max(1, Math.ceil((last - first) / (wanted + 2)));
  const factors = last - first <= 2 ? [1, 2, 5] : [1];
  const ticks: number[] = [];
  for (let power = first; power <= last; power += stride)
    for (const factor of factors) ticks.push(Number((factor * 10 ** power).toPrecision(6)));
  return ticks.filter((tick) => tick >= low * 0.999 && tick <= high * 1.001);
}

export interface Frame {
  width: number;
  height: number;
  left: number;
  right: number;
  top: number;
  bottom: number;
}

/** Axes with a light grid; `write` turns a tick into words. */
export function axes(
  frame: Frame,
  x: Scale,
  y: Scale,
  writeX: (tick: number) => string,
  writeY: (tick: number) => string,
): SVGGElement {
  const g = s("g", { class: "agl-axes" });
  const base = frame.height - frame.bottom;
  for (const tick of y.ticks) {
    const at = y(tick);
    g.append(
      s("path", { class: "agl-grid", d: `M${frame.left} ${at}H${frame.width - frame.right}` }),
      s("text", { x: frame.left - 6, y: at + 4, "text-anchor": "end" }, writeY(tick)),
    );
  }
  let free = -Infinity;
  for (const tick of x.ticks) {
    const at = x(tick);
    const text = writeX(tick);
    const room = text.length * 7 + 8;
    g.append(s("path", { class: "agl-grid", d: `M${at} ${base}v4` }));
    // Words that would touch are left out; their tick stays.
    if (at - room / 2 < free) continue;
    free = at + room / 2;
    g.append(s("text", { x: at, y: base + 17, "text-anchor": "middle" }, text));
  }
  g.append(s("path", { class: "agl-axis", d: `M${frame.left} ${frame.top}V${base}H${frame.width - frame.right}` }));
  return g;
}

/** A polyline through points; NaN breaks it. */
export function polyline(points: readonly (readonly [number, number])[]): string {
  let pen = false;
  let d = "";
  for (const [x, y] of points) {
    if (!Number.isFinite(x) || !Number.isFinite(y)) {
      pen = false;
      continue;
    }
    d += `${pen ? "L" : "M"}${x.toFixed(1)} ${y.toFixed(1)}`;
    pen = true;
  }
  return d;
}

const MARKERS = [
  "M-4 0a4 4 0 1 0 8 0a4 4 0 1 0 -8 0z",
  "M-3.6 -3.6h7.2v7.2h-7.2z",
  "M0 -4.6L4.4 3.4H-4.4z",
  "M0 -5L5 0L0 5L-5 0z",
];

/** The marker of series `at`: circle, square, triangle, diamond. */
export function marker(at: number, x: number, y: number, className: string, title: string): SVGPathElement {
  return s(
    "path",
    {
      class: className,
      d: MARKERS[at % MARKERS.length] ?? "",
      transform: `translate(${x.toFixed(1)} ${y.toFixed(1)})`,
    },
    s("title", {}, title),
  );
}

/** The ends of a set of positive numbers, for a log axis: widened a little. */
export function logEnds(values: readonly number[]): [number, number] {
  const good = values.filter((value) => Number.isFinite(value) && value > 0);
  const low = good.reduce((a, b) => Math.min(a, b), Infinity);
  const high = good.reduce((a, b) => Math.max(a, b), 0);
  if (good.length === 0) return [0.1, 1];
  return low === high ? [low / 2, high * 2] : [low / 1.15, high * 1.15];
}

/** The ends of a set of numbers, for a linear axis; 0 is included when it is near. */
export function linearEnds(values: readonly number[]): [number, number] {
  const good = values.filter(Number.isFinite);
  if (good.length === 0) return [0, 1];
  let low = good.reduce((a, b) => Math.min(a, b));
  const high = good.reduce((a, b) => Math.max(a, b));
  if (low > 0 && low < 0.5 * high) low = 0;
  return low === high ? [low - Math.abs(low || 1) / 2, high + Math.abs(high || 1) / 2] : [low, high];
}

/** A tick in words: no zeros behind the point that say nothing. */
export const plain = (tick: number): string => trim(formatNumber(tick, 3));

/** Takes zeros off the end of a fraction: "0.500" → "0.5", "10.0 µs" → "10 µs". */
export const trim = (text: string): string => text.replace(/(\.\d*?)0+(?=\D|$)/, "$1").replace(/\.(?=\D|$)/, "");
