import type { Bunch } from "./hang";
import { GAPS, type LayoutInput, type Placed, type Point } from "./layout";
import { arrange, type Cell } from "./order";

/** Points where long wires pass ranks: more than these are not worth the time, and the wires run straight. */
const MOST_PASSING = 40_000;
const WIRE_GAP = 10;

interface Net {
  out: number[][];
  into: number[][];
  order: number[];
  rank: number[];
}

/** Ranks by longest path. Folded groups can make circles: then the earliest box that waits goes first. */
function rankOf(bunches: Bunch): Net {
  const numbers = new Map(bunches.hosts.map((host, at) => [host.key, at]));
  const count = bunches.hosts.length;
  const out: number[][] = Array.from({ length: count }, () => []);
  const into: number[][] = Array.from({ length: count }, () => []);
  for (const { source, target } of bunches.wires) {
    const [from, to] = [numbers.get(source), numbers.get(target)];
    if (from === undefined || to === undefined || out[from]?.includes(to)) continue;
    out[from]?.push(to);
    into[to]?.push(from);
  }
  const waiting = into.map((list) => list.length);
  const rank: number[] = new Array<number>(count).fill(0);
  const done: boolean[] = new Array<boolean>(count).fill(false);
  const order: number[] = [];
  const ready = waiting.flatMap((left, at) => (left === 0 ? [at] : []));
  let earliest = 0;
  for (let next = 0; order.length < count; next += 1) {
    while (done[earliest]) earliest += 1;
    const at = ready[next] ?? earliest;
    if (next >= ready.length) ready.push(at);
    if (done[at]) continue;
    done[at] = true;
    order.push(at);
    for (const to of out[at] ?? []) {
      if (done[to]) continue;
      rank[to] = Math.max(rank[to] ?? 0, (rank[at] ?? 0) + 1);
      waiting[to] = (waiting[to] ?? 0) - 1;
      if (waiting[to] === 0) ready.push(to);
    }
  }
  tighten({ out, into, order, rank });
  return { out, into, order, rank };
}

/** Moves what stands at the very left only because nothing is before it (a weight, its transpose) to its reader. */
function tighten({ out, into, order, rank }: Net): void {
  const loose: boolean[] = [];
  for (const at of order) {
    const before = into[at] ?? [];
    const only = before[0] ?? -1;
    loose[at] = before.length === 0 || (before.length === 1 && loose[only] === true && out[only]?.length === 1);
  }
  for (const at of [...order].reverse()) {
    const readers = out[at] ?? [];
    if (!loose[at] || readers.length === 0) continue;
    const first = Math.min(...readers.map((to) => rank[to] ?? 0));
    rank[at] = Math.max(rank[at] ?? 0, first - 1);
  }
}

/** The cells of all ranks: hosts, and a trunk for the long wires of each host, which branches off at their targets. */
function cellsOf(net: Net, bunches: Bunch, input: LayoutInput): { cells: Cell[]; ranks: Cell[][]; trunks: Cell[][] } {
  const lr = input.direction === "lr";
  const parents = new Map(input.frames.map(({ group, parent }) => [group, parent]));
  const pathOf = (group: number): number[] => {
    const path: number[] = [];
    for (let at = group; parents.has(at) && path.length < 64; at = parents.get(at) ?? -1) path.unshift(at);
    return path;
  };
  const ranks: Cell[][] = [];
  const put = (cell: Cell): Cell => {
    (ranks[cell.rank] ??= []).push(cell);
    return cell;
  };
  const cells = bunches.hosts.map((host, at) =>
    put({
      host: at,
      rank: net.rank[at] ?? 0,
      size: lr ? host.height : host.width,
      groups: pathOf(host.group),
      before: [],
      after: [],
      at: 0,
    }),
  );
  const trunks: Cell[][] = cells.map(() => []);
  const join = (a: Cell, b: Cell): void => {
    a.after.push(b);
    b.before.push(a);
  };
  let passing = 0;
  for (const at of net.order) {
    const cell = cells[at];
    if (!cell) continue;
    const targets = (net.out[at] ?? []).map((to) => cells[to]).filter((to): to is Cell => to !== undefined && to !== cell);
    const last = targets.reduce((most, to) => Math.max(most, to.rank), 0);
    const trunk = trunks[at] ?? [];
    passing += Math.max(0, last - cell.rank - 1);
    if (passing <= MOST_PASSING) {
      const farthest = targets.find((to) => to.rank === last);
      const groups = cell.groups.filter((group, depth) => farthest?.groups[depth] === group);
      for (let rank = cell.rank + 1; rank < last; rank += 1) {
        const passes = put({ host: -1, rank, size: 0, groups, before: [], after: [], at: 0 });
        join(trunk.at(-1) ?? cell, passes);
        trunk.push(passes);
      }
    }
    for (const to of targets) if (to.rank > cell.rank) join(trunk[to.rank - cell.rank - 2] ?? cell, to);
  }
  return { cells, ranks: ranks.filter(Boolean), trunks };
}

/** Room between neighbours of a rank: more where frames of groups end and begin between them. */
function gapOf(lr: boolean): (a: Cell, b: Cell) => number {
  return (a, b) => {
    let shared = 0;
    while (shared < a.groups.length && a.groups[shared] === b.groups[shared]) shared += 1;
    const ends = a.groups.length - shared;
    const begins = b.groups.length - shared;
    const frames = (ends + begins) * GAPS.frame + (lr ? begins * GAPS.tab : 0);
    const plain = a.host < 0 && b.host < 0 ? WIRE_GAP : a.host < 0 || b.host < 0 ? GAPS.across / 2 : GAPS.across;
    return plain + frames;
  };
}

/** Layers by longest path, ordered by barycentres: a thousand boxes in a few hundredths of a second, no recursion. */
export function layers(bunches: Bunch, input: LayoutInput): Placed {
  const lr = input.direction === "lr";
  const net = rankOf(bunches);
  const { cells, ranks, trunks } = cellsOf(net, bunches, input);
  arrange(ranks, gapOf(lr));
  // Along the flow: each rank as deep as its deepest host, with room for frames that end and begin between ranks.
  const columns = new Map<number, { middle: number; half: number }>();
  let edge = 0;
  let depthBefore = 0;
  for (const rank of ranks) {
    const hosts = rank.flatMap(({ host }) => bunches.hosts[host] ?? []);
    const depth = hosts.reduce((most, host) => Math.max(most, lr ? host.width : host.height), 0);
    const nested = rank.reduce((most, cell) => Math.max(most, cell.host < 0 ? 0 : cell.groups.length), 0);
    const frames = Math.max(0, nested + depthBefore - 2) * GAPS.frame + (lr ? 0 : nested * GAPS.tab);
    edge += frames;
    depthBefore = nested;
    columns.set(rank[0]?.rank ?? 0, { middle: edge + depth / 2, half: depth / 2 });
    edge += depth + input.along;
  }
  const pointOf = (cell: Cell, side = 0): Point => {
    const { middle, half } = columns.get(cell.rank) ?? { middle: 0, half: 0 };
    const along = middle + side * half;
    return lr ? { x: along, y: cell.at } : { x: cell.at, y: along };
  };
  // A wire runs straight past the boxes of a rank, and turns in the gaps between ranks.
  const past = (cell: Cell): Point[] => [pointOf(cell, -1), pointOf(cell, 1)];
  const centres = new Map<string, Point>();
  const numbers = new Map<string, number>();
  bunches.hosts.forEach((host, at) => {
    numbers.set(host.key, at);
    const cell = cells[at];
    if (cell) centres.set(host.key, pointOf(cell));
  });
  const bends = new Map<string, Point[]>();
  for (const { key, source, target } of bunches.wires) {
    const [from, to] = [numbers.get(source) ?? -1, numbers.get(target) ?? -1];
    const span = (net.rank[to] ?? 0) - (net.rank[from] ?? 0);
    bends.set(key, span > 1 ? (trunks[from] ?? []).slice(0, span - 1).flatMap(past) : []);
  }
  return { centres, bends };
}
