import { describe, expect, it } from "vitest";
import { faceOf } from "../src/layout/boxes";
import { curve } from "../src/layout/curve";
import { layout, type Box, type Direction, type Layout, type LayoutInput } from "../src/layout/layout";
import { clip, textWidth } from "../src/layout/measure";
import { translator } from "../src/state/strings";
import { Tape, visible } from "../src/state/tape";
import { graphOf, sample } from "./sample";

function inputOf(tape: Tape, direction: Direction, open = true): LayoutInput {
  const shown = visible(tape, new Set());
  const boxes: Box[] = shown.items.map((item) => {
    const { width, height } = faceOf(item, tape, translator("en"));
    return {
      key: item.key,
      width,
      height,
      group: item.group,
      hangs: item.node?.kind === "parameter" ? "always" : "never",
    };
  });
  return {
    boxes,
    wires: shown.links,
    frames: open ? tape.groups.map((group, at) => ({ group: at, parent: group.parent })) : [],
    direction,
    along: 44,
  };
}

function overlaps(input: LayoutInput, placed: Layout): string[] {
  const found: string[] = [];
  input.boxes.forEach((a, at) => {
    for (const b of input.boxes.slice(at + 1)) {
      const [p, q] = [placed.boxes.get(a.key), placed.boxes.get(b.key)];
      if (!p || !q) throw new Error(`not placed: ${a.key} or ${b.key}`);
      if (Math.abs(p.x - q.x) < (a.width + b.width) / 2 && Math.abs(p.y - q.y) < (a.height + b.height) / 2)
        found.push(`${a.key} on ${b.key}`);
    }
  });
  return found;
}

/** A tape with shared parameters, skips, and modules, from a fixed pseudo-random sequence. */
function tangled(size: number, groups: number): Tape {
  let seed = 7;
  const draw = (below: number): number => {
    seed = (seed * 1103515245 + 12345) % 2147483648;
    return seed % below;
  };
  const rows: Parameters<typeof graphOf>[0] = [{ id: -1, kind: "leaf", label: "x" }];
  const edges: [number, number, number][] = [];
  for (let id = 0; id < size; id += 1) {
    const group = groups > 0 ? Math.floor((id / size) * groups) : -1;
    if (id % 3 === 0) {
      rows.push({ id: -id - 2, kind: "parameter", label: `w${id}`, shape: [8, 8], group });
      edges.push([-id - 2, id, 1]);
    }
    rows.push({ id, kind: "op", symbol: "tanh", group });
    edges.push([id === 0 ? -1 : id - 1, id, 0]);
    if (id > 4 && draw(4) === 0) edges.push([id - 2 - draw(3), id, 2]);
    if (id > 9 && draw(9) === 0) edges.push([-(id - (id % 3)) + 1, id, 3]);
  }
  const known = new Set(rows.map((row) => row.id));
  return new Tape(
    graphOf(
      rows,
      edges.filter(([source]) => known.has(source)),
      [size - 1],
      Array.from({ length: groups }, (_, at) => ({ id: at, parent: -1, label: `m${at}`, type: "", kind: "module" as const })),
    ),
  );
}

describe("layout", () => {
  for (const direction of ["lr", "tb"] as const) {
    it(`places nothing on top of anything, ${direction}`, () => {
      for (const tape of [new Tape(sample().graph), tangled(40, 0), tangled(60, 4)]) {
        const input = inputOf(tape, direction);
        expect(overlaps(input, layout(input))).toEqual([]);
      }
    });
  }

  it("gives the same picture for the same tape", () => {
    const once = layout(inputOf(tangled(50, 3), "lr"));
    const again = layout(inputOf(tangled(50, 3), "lr"));
    expect([...once.boxes]).toEqual([...again.boxes]);
    expect([...once.wires]).toEqual([...again.wires]);
  });

  it("hangs parameters above what uses them, and ends at the right", () => {
    const placed = layout(inputOf(new Tape(sample().graph), "lr"));
    const at = (key: string): { x: number; y: number } => placed.boxes.get(key) ?? { x: NaN, y: NaN };
    expect(at("n-2").y).toBeLessThan(at("n0").y);
    expect(at("n-2").x).toBeCloseTo(at("n0").x, 6);
    expect(at("n2").x).toBe(Math.max(...[...placed.boxes.values()].map((point) => point.x)));
    expect(placed.hung.has("n-2>n0:1")).toBe(true);
  });

  it("places large tapes in time, still without overlaps", () => {
    const input = inputOf(tangled(1600, 0), "lr", false);
    const began = performance.now();
    const placed = layout(input);
    expect(performance.now() - began).toBeLessThan(3000);
    expect(placed.boxes.size).toBe(input.boxes.length);
    const sorted = new Set([...placed.boxes.values()].map(({ x, y }) => `${x},${y}`));
    expect(sorted.size).toBe(input.boxes.length);
  });

  it("hangs a target above the loss, and leaves the input where the flow begins", () => {
    const rows = ["x", "t"].map((label, at) => ({ id: -1 - at, kind: "constant" as const, label, shape: [5] }));
    const ops = [0, 1].map((id) => ({ id, kind: "op" as const, symbol: "tanh", shape: [5] }));
    const tape = new Tape(graphOf([...rows, ...ops], [[-1, 0, 0], [0, 1, 0], [-2, 1, 1]], [1]));
    const input = inputOf(tape, "lr");
    input.boxes = input.boxes.map((box) => (box.key.startsWith("n-") ? { ...box, hangs: "beside-computed" } : box));
    const placed = layout(input);
    expect([...placed.hung]).toEqual(["n-2>n1:1"]);
    expect(placed.boxes.get("n-2")?.x).toBeCloseTo(placed.boxes.get("n1")?.x ?? NaN, 6);
  });

  it("keeps a chain straight, whatever joins it from aside", () => {
    const rows = [0, 1, 2, 3].map((id) => ({ id, kind: "op" as const, symbol: "tanh", shape: [2] }));
    const aside = { id: -1, kind: "constant" as const, label: "t", shape: [5] };
    const tape = new Tape(
      graphOf([aside, ...rows], [[0, 1, 0], [1, 2, 0], [2, 3, 0], [-1, 3, 1]], [3]),
    );
    const placed = layout(inputOf(tape, "lr"));
    const heights = [0, 1, 2].map((id) => placed.boxes.get(`n${id}`)?.y ?? NaN);
    expect(Math.max(...heights) - Math.min(...heights)).toBeLessThan(1);
    expect(Math.abs((placed.boxes.get("n3")?.y ?? NaN) - (heights[0] ?? 0))).toBeLessThan(8);
  });

  it("draws circles of folded groups, and frames without sense", () => {
    const input = inputOf(new Tape(sample().graph), "lr");
    const [first] = input.wires;
    if (!first) throw new Error("wires");
    const back = { key: "back", source: first.target, target: first.source };
    expect(layout({ ...input, wires: [...input.wires, back] }).boxes.size).toBe(5);
    // A frame that is its own parent is what a hostile message could hold.
    const placed = layout({ ...input, frames: [{ group: 0, parent: 0 }] });
    expect(placed.boxes.size).toBe(5);
  });
});

describe("measure", () => {
  it("counts Chinese characters as full squares", () => {
    expect(textWidth("權重", 10)).toBeGreaterThan(textWidth("ab", 10) * 1.5);
  });
  it("clips with an ellipsis that fits", () => {
    const cut = clip("a_very_long_variable_name_indeed", 14, 100);
    expect(cut.endsWith("…")).toBe(true);
    expect(textWidth(cut, 14)).toBeLessThanOrEqual(100);
    expect(clip("x", 14, 100)).toBe("x");
  });
});

describe("curve", () => {
  it("starts and ends at its ends, along the flow", () => {
    expect(
      curve(
        [
          { x: 0, y: 0 },
          { x: 10, y: 20 },
        ],
        true,
      ),
    ).toBe("M0 0C5 0 5 20 10 20");
    expect(
      curve(
        [
          { x: 0, y: 0 },
          { x: 10, y: 20 },
        ],
        false,
      ),
    ).toBe("M0 0C0 10 10 10 10 20");
  });
});
