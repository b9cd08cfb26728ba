/** One place in a rank: a host, or a point where a long wire passes through. */
export interface Cell {
  /** Number of the host, -1 for a passing wire. */
  host: number;
  rank: number;
  /** Room across the flow. */
  size: number;
  /** Groups around it, outermost first. */
  groups: readonly number[];
  before: Cell[];
  after: Cell[];
  /** Place across the flow. */
  at: number;
}

const SWEEPS = 8;
const STRAIGHTENING = 7;
/** A passing wire gives way to boxes. */
const WIRE_WEIGHT = 0.3;

/** How much a line wants to be straight: the main flow much, what only joins it (a target, a constant) little. */
function pull(from: Cell, to: Cell): number {
  if (from.before.length === 0 && to.before.length > 1) return 0.1;
  if (from.host < 0 || to.host < 0) return 0.5;
  return from.after.length === 1 || to.before.length === 1 ? 2 : 1;
}

/** Where a cell would like to stand, by its neighbours on one side; where it is when it has none. */
function wish(cell: Cell, side: "before" | "after"): number {
  let sum = 0;
  let weights = 0;
  for (const other of cell[side]) {
    const weight = side === "before" ? pull(other, cell) : pull(cell, other);
    sum += weight * other.at;
    weights += weight;
  }
  return weights > 0 ? sum / weights : cell.at;
}

/** The mean place of every group's cells: neighbours of different groups keep that order in all ranks. */
function groupPlaces(ranks: readonly Cell[][]): Map<number, number> {
  const sums = new Map<number, [number, number]>();
  for (const rank of ranks)
    for (const { groups, at } of rank)
      for (const group of groups) {
        const [sum, count] = sums.get(group) ?? [0, 0];
        sums.set(group, [sum + at, count + 1]);
      }
  return new Map([...sums].map(([group, [sum, count]]) => [group, sum / count]));
}

/** Orders a rank by what its cells wish, with the cells of a group side by side. */
function sortRank(rank: Cell[], side: "before" | "after", places: Map<number, number>): void {
  const keyed = rank.map((cell, index) => {
    const key: number[] = [];
    for (const group of cell.groups) key.push(places.get(group) ?? 0, group);
    key.push(wish(cell, side), -1, index);
    return { cell, key };
  });
  keyed.sort((a, b) => {
    for (let at = 0; at < Math.min(a.key.length, b.key.length); at += 1) {
      const by = (a.key[at] ?? 0) - (b.key[at] ?? 0);
      if (by !== 0) return by;
    }
    return a.key.length - b.key.length;
  });
  keyed.forEach(({ cell }, at) => (rank[at] = cell));
}

/** Puts a rank's cells, in their order and with room between them, as near to their wishes as can be (least squares). */
function settle(rank: Cell[], wishes: readonly number[], gap: (a: Cell, b: Cell) => number): void {
  const blocks: { sum: number; weight: number; count: number }[] = [];
  const offsets: number[] = [];
  let offset = 0;
  rank.forEach((cell, index) => {
    const previous = rank[index - 1];
    if (previous) offset += (previous.size + cell.size) / 2 + gap(previous, cell);
    offsets.push(offset);
    const weight = cell.host < 0 ? WIRE_WEIGHT : 1;
    let block = { sum: ((wishes[index] ?? 0) - offset) * weight, weight, count: 1 };
    // Blocks that would overlap move together.
    for (let last = blocks.at(-1); last && last.sum / last.weight > block.sum / block.weight; last = blocks.at(-1)) {
      block = { sum: block.sum + last.sum, weight: block.weight + last.weight, count: block.count + last.count };
      blocks.pop();
    }
    blocks.push(block);
  });
  let index = 0;
  for (const { sum, weight, count } of blocks)
    for (let k = 0; k < count; k += 1, index += 1) {
      const cell = rank[index];
      if (cell) cell.at = sum / weight + (offsets[index] ?? 0);
    }
}

/** Orders the cells of all ranks by their neighbours (barycentres, to and fro), then straightens the lines. */
export function arrange(ranks: Cell[][], gap: (a: Cell, b: Cell) => number): void {
  for (const rank of ranks) settle(rank, rank.map(() => 0), gap);
  for (let sweep = 0; sweep < SWEEPS; sweep += 1) {
    const side = sweep % 2 === 0 ? "before" : "after";
    const places = groupPlaces(ranks);
    for (const rank of side === "before" ? ranks : [...ranks].reverse()) {
      sortRank(rank, side, places);
      settle(rank, rank.map((cell) => wish(cell, side)), gap);
    }
  }
  for (let pass = 0; pass < STRAIGHTENING; pass += 1) {
    const side = pass % 2 === 0 && pass < STRAIGHTENING - 1 ? "after" : "before";
    for (const rank of side === "after" ? [...ranks].reverse() : ranks)
      settle(rank, rank.map((cell) => wish(cell, side)), gap);
  }
}
