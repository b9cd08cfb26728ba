import { GAPS, type Box, type LayoutInput, type Wire } from "./layout";

/** A box with what hangs on it, placed as one. Parts are offsets from the centre. */
export interface Host {
  key: string;
  group: number;
  width: number;
  height: number;
  parts: { key: string; dx: number; dy: number }[];
}

/** Hosts and the wires between them; `hungWires` holds the others with the shift of their end. */
export interface Bunch {
  hosts: Host[];
  wires: Wire[];
  hungWires: Map<string, number>;
}

const FLOW: ReadonlySet<Box["hangs"]> = new Set(["never", "beside-computed"] as const);

interface Links {
  into: Map<string, Wire[]>;
  out: Map<string, Wire[]>;
}

function linksOf(wires: Wire[]): Links {
  const into = new Map<string, Wire[]>();
  const out = new Map<string, Wire[]>();
  for (const wire of wires) {
    into.set(wire.target, [...(into.get(wire.target) ?? []), wire]);
    out.set(wire.source, [...(out.get(wire.source) ?? []), wire]);
  }
  return { into, out };
}

/** The boxes that hang as one chain on a host: a parameter, and perhaps the one op that only turns it (W → t → @). */
function chainOf(box: Box, boxes: Map<string, Box>, { into, out }: Links): { keys: string[]; host: string } | null {
  const uses = out.get(box.key) ?? [];
  if (uses.length === 0 || (uses.length > 1 && box.hangs !== "always") || (into.get(box.key)?.length ?? 0) > 0)
    return null;
  // Boxes come in forward order, and so do their wires: the first use is the earliest.
  const target = uses[0]?.target ?? "";
  const onward = out.get(target) ?? [];
  const turns = (box.hangs === "always" || box.hangs === "beside-flow") && into.get(target)?.length === 1 && onward.length === 1;
  const next = onward[0]?.target ?? "";
  // A turned parameter hangs with its turn only beside other inputs; else it is where the flow begins.
  if (turns && boxes.get(target)?.group === boxes.get(next)?.group && (into.get(next)?.length ?? 0) > 1) {
    return { keys: [box.key, target], host: next };
  }
  return { keys: [box.key], host: target };
}

/**
 * Parameters hang above what uses them, so that data flows through the middle. Each host takes the room of its
 * hung boxes on both sides: it stays in the middle of its room, and a straight chain of hosts stays straight.
 */
export function hang(input: LayoutInput): Bunch {
  const boxes = new Map(input.boxes.map((box) => [box.key, box]));
  const links = linksOf(input.wires);
  const chains = new Map<string, string[][]>();
  const hung = new Map<string, string>();
  const tryHang = (box: Box): void => {
    const chain = chainOf(box, boxes, links);
    if (!chain || hung.has(chain.host) || chain.keys.some((key) => hung.has(key) || chains.has(key))) return;
    if (box.hangs !== "always") {
      const others = (links.into.get(chain.host) ?? []).filter(
        (wire) => !chain.keys.includes(wire.source) && hung.get(wire.source) !== chain.host,
      );
      const flows = others.filter(({ source }) => links.into.has(source) || FLOW.has(boxes.get(source)?.hangs ?? "never"));
      const computed = others.filter(({ source }) => links.into.has(source));
      const beside = { "beside-flow": flows, "beside-computed": computed, "if-not-alone": others, never: [] }[box.hangs];
      if (beside.length === 0) return;
    }
    chains.set(chain.host, [...(chains.get(chain.host) ?? []), chain.keys]);
    for (const key of chain.keys) hung.set(key, chain.host);
  };
  for (const kind of ["always", "beside-flow", "beside-computed", "if-not-alone"] as const)
    for (const box of input.boxes) if (box.hangs === kind) tryHang(box);

  const hungWires = new Map<string, number>();
  const hosts: Host[] = [];
  for (const box of input.boxes)
    if (!hung.has(box.key)) hosts.push(hostOf(box, chains.get(box.key) ?? [], boxes, input, links, hungWires));
  const hostOfPart = new Map(hosts.flatMap((host) => host.parts.map(({ key }) => [key, host.key] as const)));
  const wires = input.wires
    .filter((wire) => !hungWires.has(wire.key))
    .map(({ key, source, target }) => ({
      key,
      source: hostOfPart.get(source) ?? source,
      target: hostOfPart.get(target) ?? target,
    }))
    .filter(({ source, target }) => source !== target);
  return { hosts, wires, hungWires };
}

function hostOf(
  box: Box,
  chains: string[][],
  boxes: Map<string, Box>,
  input: LayoutInput,
  { out }: Links,
  hungWires: Map<string, number>,
): Host {
  const lr = input.direction === "lr";
  const along = (key: string): number => (lr ? boxes.get(key)?.width : boxes.get(key)?.height) ?? 0;
  const across = (key: string): number => (lr ? boxes.get(key)?.height : boxes.get(key)?.width) ?? 0;
  const parts = [{ key: box.key, dx: 0, dy: 0 }];
  const widths = chains.map((keys) => Math.max(...keys.map(along)));
  const total = widths.reduce((sum, width) => sum + width, 0) + GAPS.beside * Math.max(0, chains.length - 1);
  let start = -total / 2;
  let deepest = 0;
  chains.forEach((keys, at) => {
    const middle = start + (widths[at] ?? 0) / 2;
    start += (widths[at] ?? 0) + GAPS.beside;
    let edge = across(box.key) / 2;
    for (const key of [...keys].reverse()) {
      const offset = -(edge + GAPS.hang + across(key) / 2);
      parts.push(lr ? { key, dx: middle, dy: offset } : { key, dx: offset, dy: middle });
      edge += GAPS.hang + across(key);
    }
    deepest = Math.max(deepest, edge - across(box.key) / 2);
    const last = keys.at(-1) ?? "";
    const reach = along(box.key) * 0.3;
    for (const key of keys) {
      // A shared parameter hangs by its first use; its other wires run with the flow.
      const wire = out.get(key)?.[0];
      if (wire) hungWires.set(wire.key, key === last ? Math.max(-reach, Math.min(reach, middle)) : 0);
    }
  });
  const length = Math.max(along(box.key), total);
  const depth = across(box.key) + 2 * deepest;
  return { key: box.key, group: box.group, width: lr ? length : depth, height: lr ? depth : length, parts };
}
