import type { Point } from "./layout";

const round = (value: number): number => Math.round(value * 10) / 10;
const show = (x: number, y: number, swap: boolean): string =>
  swap ? `${round(y)} ${round(x)}` : `${round(x)} ${round(y)}`;

function slopes(points: Point[]): number[] {
  return points.map((point, at) => {
    const before = points[at - 1];
    const after = points[at + 1];
    if (!before || !after) return 0;
    const left = (point.y - before.y) / (point.x - before.x || 1);
    const right = (after.y - point.y) / (after.x - point.x || 1);
    // A turning point is flat, else the curve would swing past it.
    if (left * right <= 0) return 0;
    return (2 * left * right) / (left + right);
  });
}

/** Drops points that lie on a line with their neighbours. */
function simplify(points: Point[]): Point[] {
  return points.filter((point, at) => {
    const before = points[at - 1];
    const after = points[at + 1];
    if (!before || !after) return true;
    return Math.abs((point.y - before.y) * (after.x - before.x) - (after.y - before.y) * (point.x - before.x)) > 0.5;
  });
}

/** A smooth path through the points that leaves and arrives along the flow (`horizontal`) or across it. */
export function curve(points: readonly Point[], horizontal: boolean): string {
  const turned = simplify(horizontal ? [...points] : points.map(({ x, y }) => ({ x: y, y: x })));
  const first = turned[0];
  if (!first) return "";
  const slope = slopes(turned);
  const parts = [`M${show(first.x, first.y, !horizontal)}`];
  for (let at = 1; at < turned.length; at += 1) {
    const from = turned[at - 1] ?? first;
    const to = turned[at] ?? first;
    const reach = (to.x - from.x) * (turned.length === 2 ? 0.5 : 0.4);
    const c1 = show(from.x + reach, from.y + reach * (slope[at - 1] ?? 0), !horizontal);
    const c2 = show(to.x - reach, to.y - reach * (slope[at] ?? 0), !horizontal);
    parts.push(`C${c1} ${c2} ${show(to.x, to.y, !horizontal)}`);
  }
  return parts.join("");
}

/** An arrow head at `tip` for a line that arrives along the flow. */
export function head(tip: Point, horizontal: boolean, forward: boolean, size = 6): string {
  const back = forward ? -size : size;
  const half = size * 0.6;
  const at = (along: number, across: number): string =>
    horizontal ? show(tip.x + along, tip.y + across, false) : show(tip.x + across, tip.y + along, false);
  return `M${at(back, -half)}L${at(0, 0)}L${at(back, half)}Z`;
}
