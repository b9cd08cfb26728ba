import type { Bunch } from "./hang";
import { GAPS, type Direction, type Placed, type Point } from "./layout";

/** Plain ranks by longest path, each rank stacked and centred: linear in the size of the tape, no recursion. */
export function rows(bunches: Bunch, direction: Direction, along: number): Placed {
  const lr = direction === "lr";
  const waiting = new Map<string, number>(bunches.hosts.map((host) => [host.key, 0]));
  const out = new Map<string, string[]>();
  for (const { source, target } of bunches.wires) {
    waiting.set(target, (waiting.get(target) ?? 0) + 1);
    const list = out.get(source);
    if (list) list.push(target);
    else out.set(source, [target]);
  }
  const rank = new Map<string, number>();
  const ready = bunches.hosts.map((host) => host.key).filter((key) => waiting.get(key) === 0);
  for (let at = 0; at < ready.length; at += 1) {
    const key = ready[at] ?? "";
    const own = rank.get(key) ?? 0;
    rank.set(key, own);
    for (const target of out.get(key) ?? []) {
      rank.set(target, Math.max(rank.get(target) ?? 0, own + 1));
      const left = (waiting.get(target) ?? 0) - 1;
      waiting.set(target, left);
      if (left === 0) ready.push(target);
    }
  }
  const ranks: (typeof bunches.hosts)[] = [];
  for (const host of bunches.hosts) (ranks[rank.get(host.key) ?? 0] ??= []).push(host);
  const centres = new Map<string, Point>();
  let main = 0;
  for (const hosts of ranks.filter(Boolean)) {
    const depth = hosts.reduce((most, host) => Math.max(most, lr ? host.width : host.height), 0);
    const sizes = hosts.map((host) => (lr ? host.height : host.width));
    let cross = -(sizes.reduce((sum, size) => sum + size, 0) + GAPS.across * (hosts.length - 1)) / 2;
    hosts.forEach((host, at) => {
      const size = sizes[at] ?? 0;
      const middle = cross + size / 2;
      centres.set(host.key, lr ? { x: main + depth / 2, y: middle } : { x: middle, y: main + depth / 2 });
      cross += size + GAPS.across;
    });
    main += depth + along;
  }
  return { centres, bends: new Map() };
}
