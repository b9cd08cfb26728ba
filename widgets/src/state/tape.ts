import type {
  AppendEvent,
  EdgeColumns,
  Graph,
  Group,
  Line,
  NodeColumns,
  NodeKind,
  Saved,
  Summary,
} from "../protocol.gen";

/** One node as a row, read out of the columns once. */
export interface TapeNode {
  id: number;
  kind: NodeKind;
  op: string;
  symbol: string;
  label: string;
  name: string;
  shape: number[];
  dtype: string;
  device: string;
  group: number;
  line: Line | null;
  savedBytes: number | null;
  saved: Saved[];
  value: Summary | null;
  formula: string;
  requiresGrad: boolean;
}

export interface TapeEdge {
  source: number;
  target: number;
  slot: number;
}

function readNode(columns: NodeColumns, at: number): TapeNode {
  return {
    id: columns.id[at] ?? 0,
    kind: columns.kind[at] ?? "op",
    op: columns.op[at] ?? "",
    symbol: columns.symbol[at] ?? "",
    label: columns.label[at] ?? "",
    name: columns.name[at] ?? "",
    shape: columns.shape[at] ?? [],
    dtype: columns.dtype[at] ?? "",
    device: columns.device[at] ?? "",
    group: columns.group[at] ?? -1,
    line: columns.line[at] ?? null,
    savedBytes: columns.saved_bytes[at] ?? null,
    saved: columns.saved[at] ?? [],
    value: columns.value[at] ?? null,
    formula: columns.formula[at] ?? "",
    requiresGrad: columns.requires_grad[at] ?? false,
  };
}

/** The tape as rows with look-ups; grows by `append`. */
export class Tape {
  readonly nodes = new Map<number, TapeNode>();
  readonly edges: TapeEdge[] = [];
  readonly groups: Group[];
  readonly title: string;
  readonly truncated: number;
  roots: Set<number>;
  private outgoing = new Map<number, TapeEdge[]>();
  private ingoing = new Map<number, TapeEdge[]>();

  constructor(graph: Graph) {
    this.groups = [...(graph.groups ?? [])];
    this.roots = new Set(graph.roots);
    this.title = graph.title ?? "";
    this.truncated = graph.truncated ?? 0;
    this.add(graph.nodes, graph.edges);
  }

  append(event: AppendEvent): void {
    this.groups.push(...(event.groups ?? []));
    this.add(event.nodes, event.edges);
    if (event.roots?.length) this.roots = new Set(event.roots);
  }

  consumers(id: number): readonly TapeEdge[] {
    return this.outgoing.get(id) ?? [];
  }

  producers(id: number): readonly TapeEdge[] {
    return this.ingoing.get(id) ?? [];
  }

  /** What a person calls the node: its variable, else its symbol; a leaf without a name goes by its number. */
  nameOf(id: number): string {
    const node = this.nodes.get(id);
    if (!node) return `#${id}`;
    return node.label || node.symbol || node.op || `#${Math.abs(id)}`;
  }

  /** Indices of the groups around a node, outermost first. */
  groupPath(group: number): number[] {
    const path: number[] = [];
    for (let at = group; at >= 0 && path.length < 64; at = this.groups[at]?.parent ?? -1) path.unshift(at);
    return path;
  }

  private add(nodes: NodeColumns, edges: EdgeColumns): void {
    for (let at = 0; at < nodes.id.length; at += 1) {
      const node = readNode(nodes, at);
      this.nodes.set(node.id, node);
    }
    for (let at = 0; at < edges.source.length; at += 1) {
      const edge = { source: edges.source[at] ?? 0, target: edges.target[at] ?? 0, slot: edges.slot[at] ?? 0 };
      this.edges.push(edge);
      push(this.outgoing, edge.source, edge);
      push(this.ingoing, edge.target, edge);
    }
  }
}

function push<K, V>(map: Map<K, V[]>, key: K, value: V): void {
  const list = map.get(key);
  if (list) list.push(value);
  else map.set(key, [value]);
}

/** A box of the picture: a node, or a folded group that stands for its nodes. */
export interface Item {
  key: string;
  node: TapeNode | null;
  group: number;
  count: number;
}

/** A line of the picture, and the tape's edges it stands for. */
export interface Link {
  key: string;
  source: string;
  target: string;
  edges: TapeEdge[];
}

export interface Visible {
  items: Item[];
  links: Link[];
  itemOf: Map<number, string>;
}

export const nodeKey = (id: number): string => `n${id}`;
export const groupKey = (group: number): string => `g${group}`;

/** What is drawn when `folded` groups stand closed. */
export function visible(tape: Tape, folded: ReadonlySet<number>): Visible {
  const items = new Map<string, Item>();
  const itemOf = new Map<number, string>();
  for (const node of tape.nodes.values()) {
    const shut = node.group < 0 ? undefined : tape.groupPath(node.group).find((group) => folded.has(group));
    const key = shut === undefined ? nodeKey(node.id) : groupKey(shut);
    itemOf.set(node.id, key);
    const item = items.get(key);
    if (item) item.count += 1;
    else items.set(key, { key, node: shut === undefined ? node : null, group: shut ?? node.group, count: 1 });
  }
  const links = new Map<string, Link>();
  for (const edge of tape.edges) {
    const source = itemOf.get(edge.source);
    const target = itemOf.get(edge.target);
    if (source === undefined || target === undefined || source === target) continue;
    // Two edges between the same two nodes (x·x) stay two lines; edges of a folded group share one.
    const plain = source.startsWith("n") && target.startsWith("n");
    const key = plain ? `${source}>${target}:${edge.slot}` : `${source}>${target}`;
    const link = links.get(key);
    if (link) link.edges.push(edge);
    else links.set(key, { key, source, target, edges: [edge] });
  }
  return { items: [...items.values()], links: [...links.values()], itemOf };
}

const PLEASANT = 45;
const TOO_FEW = 6;

/**
 * Groups to fold so that at most `limit` boxes show, and better no more than a person can take in: the innermost level
 * first. Folding stops before so little is left that the picture says nothing.
 */
export function autoFold(tape: Tape, limit = 1000): Set<number> {
  let folded = new Set<number>();
  const depths = tape.groups.map((_, group) => tape.groupPath(group).length);
  const deepest = depths.reduce((most, depth) => Math.max(most, depth), 0);
  let shown = visible(tape, folded).items.length;
  for (let depth = deepest; depth > 0 && shown > Math.min(limit, PLEASANT); depth -= 1) {
    const more = new Set(folded);
    depths.forEach((own, group) => own === depth && more.add(group));
    const left = visible(tape, more).items.length;
    if (shown <= limit && left < TOO_FEW) break;
    [folded, shown] = [more, left];
  }
  return folded;
}

/** Ids whose name, op, shape, or line holds `text`. */
export function search(tape: Tape, text: string): number[] {
  const wanted = text.trim().toLowerCase();
  if (!wanted) return [];
  const found: number[] = [];
  for (const node of tape.nodes.values()) {
    const shape = node.shape.join("×");
    const where = node.line ? `${node.line.text} ${node.line.line}` : "";
    const words = `${node.label} ${node.name} ${node.op} ${node.symbol} ${shape} ${shape.replaceAll("×", "x")} ${where}`;
    if (words.toLowerCase().includes(wanted)) found.push(node.id);
  }
  return found;
}
