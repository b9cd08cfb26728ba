import { hang, type Bunch } from "./hang";
import { layers } from "./layers";

export type Direction = "lr" | "tb";

export interface Point {
  x: number;
  y: number;
}

/**
 * A box to place. `hangs` says when a value hangs above what uses it: parameters always, leaves beside a value that
 * flows in, data that needs no gradient (a target, a mask) beside a computed value, numbers beside any other value.
 */
export interface Box {
  key: string;
  width: number;
  height: number;
  group: number;
  hangs: "always" | "beside-flow" | "beside-computed" | "if-not-alone" | "never";
}

export interface Wire {
  key: string;
  source: string;
  target: string;
}

/** An open group: its index and the index of the open group around it, -1 for none. */
export interface Frame {
  group: number;
  parent: number;
}

export interface LayoutInput {
  boxes: Box[];
  wires: Wire[];
  frames: Frame[];
  direction: Direction;
  /** Room between ranks, wider where shapes are written beside boxes. */
  along: number;
}

export interface Rect extends Point {
  width: number;
  height: number;
}

/** Centres of boxes, points along wires (ends on the boxes' borders), rectangles of open groups. */
export interface Layout {
  boxes: Map<string, Point>;
  wires: Map<string, Point[]>;
  frames: Map<number, Rect>;
  /** Wires of hung boxes: they run across the flow. */
  hung: ReadonlySet<string>;
  bounds: Rect;
}

/** Space between neighbours across the flow, and between ranks along it. */
export const GAPS = { across: 26, along: 44, hang: 22, beside: 14, frame: 12, tab: 20 };

/** Positions of bunches, and the inner points of wires. */
export interface Placed {
  centres: Map<string, Point>;
  bends: Map<string, Point[]>;
}

/** Places every box. The same input gives the same output. Boxes never overlap. */
export function layout(input: LayoutInput): Layout {
  const bunches = hang(input);
  return finish(input, bunches, layers(bunches, input));
}

function finish(input: LayoutInput, bunches: Bunch, placed: Placed): Layout {
  const boxes = new Map<string, Point>();
  for (const host of bunches.hosts) {
    const centre = placed.centres.get(host.key) ?? { x: 0, y: 0 };
    for (const { key, dx, dy } of host.parts) boxes.set(key, { x: centre.x + dx, y: centre.y + dy });
  }
  const wires = route(input, bunches, boxes, placed.bends);
  const frames = frameRects(input, boxes);
  const hung = new Set(bunches.hungWires.keys());
  return { boxes, wires, frames, hung, bounds: boundsOf(input, boxes, frames, wires) };
}

function route(
  input: LayoutInput,
  bunches: Bunch,
  boxes: Map<string, Point>,
  bends: Map<string, Point[]>,
): Map<string, Point[]> {
  const size = new Map(input.boxes.map((box) => [box.key, box]));
  const lr = input.direction === "lr";
  const across = (point: Point): number => (lr ? point.y : point.x);
  const into = new Map<string, Wire[]>();
  for (const wire of input.wires)
    if (!bunches.hungWires.has(wire.key)) into.set(wire.target, [...(into.get(wire.target) ?? []), wire]);
  const ports = new Map<string, number>();
  for (const [target, list] of into) {
    const box = size.get(target);
    if (!box || list.length < 2) continue;
    const from = (wire: Wire): number =>
      across((bends.get(wire.key) ?? []).at(-1) ?? boxes.get(wire.source) ?? { x: 0, y: 0 });
    const sorted = list.map((wire, at) => ({ wire, at })).sort((a, b) => from(a.wire) - from(b.wire) || a.at - b.at);
    const room = (lr ? box.height : box.width) * 0.5;
    sorted.forEach(({ wire }, at) => ports.set(wire.key, (at / (sorted.length - 1) - 0.5) * room));
  }
  const wires = new Map<string, Point[]>();
  const end = (key: string, side: 1 | -1, hung: boolean, shift = 0): Point => {
    const box = size.get(key);
    const centre = boxes.get(key);
    if (!box || !centre) return { x: 0, y: 0 };
    // Hung boxes are wired across the flow, all others along it.
    return lr !== hung
      ? { x: centre.x + (side * box.width) / 2, y: centre.y + shift }
      : { x: centre.x + shift, y: centre.y + (side * box.height) / 2 };
  };
  for (const wire of input.wires) {
    const hung = bunches.hungWires.has(wire.key);
    const spread = hung ? (bunches.hungWires.get(wire.key) ?? 0) : (ports.get(wire.key) ?? 0);
    wires.set(wire.key, [
      end(wire.source, 1, hung),
      ...(hung ? [] : (bends.get(wire.key) ?? [])),
      end(wire.target, -1, hung, spread),
    ]);
  }
  return wires;
}

function union(rects: Rect[]): Rect {
  if (rects.length === 0) return { x: 0, y: 0, width: 0, height: 0 };
  const left = Math.min(...rects.map((rect) => rect.x));
  const top = Math.min(...rects.map((rect) => rect.y));
  const right = Math.max(...rects.map((rect) => rect.x + rect.width));
  const bottom = Math.max(...rects.map((rect) => rect.y + rect.height));
  return { x: left, y: top, width: right - left, height: bottom - top };
}

function boxRect(box: Box, centre: Point): Rect {
  return { x: centre.x - box.width / 2, y: centre.y - box.height / 2, width: box.width, height: box.height };
}

function frameRects(input: LayoutInput, boxes: Map<string, Point>): Map<number, Rect> {
  const frames = new Map<number, Rect>();
  const depth = (group: number): number => {
    const frame = input.frames.find((one) => one.group === group);
    return frame ? 1 + depth(frame.parent) : 0;
  };
  const deepestFirst = [...input.frames].sort((a, b) => depth(b.group) - depth(a.group) || a.group - b.group);
  for (const { group } of deepestFirst) {
    const inside = input.boxes.filter((box) => box.group === group && boxes.has(box.key));
    const rects = inside.map((box) => boxRect(box, boxes.get(box.key) ?? { x: 0, y: 0 }));
    for (const { group: child, parent } of input.frames) {
      const rect = frames.get(child);
      if (parent === group && rect) rects.push(rect);
    }
    if (rects.length === 0) continue;
    const { x, y, width, height } = union(rects);
    const pad = GAPS.frame;
    frames.set(group, {
      x: x - pad,
      y: y - pad - GAPS.tab,
      width: width + 2 * pad,
      height: height + 2 * pad + GAPS.tab,
    });
  }
  return frames;
}

function boundsOf(
  input: LayoutInput,
  boxes: Map<string, Point>,
  frames: Map<number, Rect>,
  wires: Map<string, Point[]>,
): Rect {
  const rects = input.boxes.map((box) => boxRect(box, boxes.get(box.key) ?? { x: 0, y: 0 }));
  const points = [...wires.values()].flat().map(({ x, y }) => ({ x, y, width: 0, height: 0 }));
  const all = [...rects, ...frames.values(), ...points];
  // Spreading tens of thousands of arguments overflows the stack, so fold in slices.
  let whole: Rect | null = null;
  for (let at = 0; at < all.length; at += 1000) {
    const part = union(all.slice(at, at + 1000));
    whole = whole ? union([whole, part]) : part;
  }
  return whole ?? { x: 0, y: 0, width: 0, height: 0 };
}
