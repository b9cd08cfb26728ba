import type { Formulas, Frame, Graph, NodeKind, Summary, WireNumber } from "../src/protocol.gen";

/** A summary of a small tensor, as Python would send it. */
export function summary(values: WireNumber[], shape: number[] = values.length === 1 ? [] : [values.length]): Summary {
  const finite = values.map(Number).filter(Number.isFinite);
  const of = (figure: number): number | null => (finite.length > 0 ? figure : null);
  return {
    shape,
    dtype: "float32",
    min: of(Math.min(...finite)),
    max: of(Math.max(...finite)),
    mean: of(finite.reduce((a, b) => a + b, 0) / finite.length),
    norm: of(Math.hypot(...finite)),
    zeros: values.filter((value) => value === 0).length,
    nan: values.filter((value) => value === "NaN").length,
    inf: values.filter((value) => value === "Infinity" || value === "-Infinity").length,
    size: values.length,
    values,
    grid: null,
    histogram: null,
  };
}

interface Row {
  id: number;
  kind: NodeKind;
  symbol?: string;
  label?: string;
  shape?: number[];
  group?: number;
  value?: Summary | null;
  formula?: string;
}

/** A graph from rows and edges `[source, target, slot]`. */
export function graphOf(
  rows: Row[],
  edges: [number, number, number][],
  roots: number[] = [],
  groups: Graph["groups"] = [],
): Graph {
  return {
    protocol: 1,
    nodes: {
      id: rows.map((row) => row.id),
      kind: rows.map((row) => row.kind),
      op: rows.map((row) => (row.kind === "op" ? (row.symbol ?? "") : "")),
      symbol: rows.map((row) => row.symbol ?? ""),
      label: rows.map((row) => row.label ?? ""),
      name: rows.map((row) => (row.kind === "op" ? "SomeBackward0" : "AccumulateGrad")),
      shape: rows.map((row) => row.shape ?? []),
      dtype: rows.map(() => "float32"),
      device: rows.map(() => "cpu"),
      group: rows.map((row) => row.group ?? -1),
      line: rows.map(() => null),
      saved_bytes: rows.map(() => 0),
      saved: rows.map(() => []),
      value: rows.map((row) => row.value ?? null),
      formula: rows.map((row) => row.formula ?? ""),
      requires_grad: rows.map((row) => row.kind !== "constant"),
    },
    edges: {
      source: edges.map((edge) => edge[0]),
      target: edges.map((edge) => edge[1]),
      slot: edges.map((edge) => edge[2]),
    },
    groups,
    roots,
    title: "tape of L",
    strings_language: "en",
    truncated: 0,
    saved_unique_bytes: 0,
  };
}

/** L = tanh(a·w) + a, where `a` is used twice. */
export function sample(): { graph: Graph; frames: Frame[]; formulas: Formulas } {
  const graph = graphOf(
    [
      { id: -1, kind: "leaf", label: "a", value: summary([2]) },
      { id: -2, kind: "parameter", label: "w", value: summary([0.5]), group: 0 },
      { id: 0, kind: "op", symbol: "×", label: "u", group: 0, formula: "mul", value: summary([1]) },
      { id: 1, kind: "op", symbol: "tanh", group: 0, value: summary([0.7616]) },
      { id: 2, kind: "op", symbol: "+", label: "L", value: summary([2.7616]) },
    ],
    [
      [-1, 0, 0],
      [-2, 0, 1],
      [0, 1, 0],
      [1, 2, 0],
      [-1, 2, 1],
    ],
    [2],
    [{ id: 0, parent: -1, label: "block", type: "Block", kind: "module" }],
  );
  const one = summary([1]);
  const sent = (
    slot: number,
    to: number,
    grad: number,
    total: number,
    arrived: number,
    expected: number,
  ): Frame["sent"][number] => ({ slot, to, grad: summary([grad]), total: summary([total]), arrived, expected });
  const frames: Frame[] = [
    {
      step: 0,
      node: 2,
      incoming: one,
      sent: [sent(0, 1, 1, 1, 1, 1), sent(1, -1, 1, 1, 1, 2)],
      numbers: [],
      text: "plus",
      leaf_grad: false,
    },
    {
      step: 1,
      node: 1,
      incoming: one,
      sent: [sent(0, 0, 0.42, 0.42, 1, 1)],
      numbers: [{ slot: 0, operand: "x", index: [], text: "1 · 0.42 = 0.42" }],
      text: "tanh",
      leaf_grad: false,
    },
    {
      step: 2,
      node: 0,
      incoming: summary([0.42]),
      sent: [sent(0, -1, 0.21, 1.21, 2, 2), sent(1, -2, 0, 0, 1, 1)],
      numbers: [],
      text: "times",
      leaf_grad: false,
    },
    { step: 3, node: -1, incoming: summary([1.21]), sent: [], numbers: [], text: "a.grad", leaf_grad: true },
    { step: 4, node: -2, incoming: summary([0]), sent: [], numbers: [], text: "w.grad", leaf_grad: true },
  ];
  const formulas: Formulas = {
    mul: {
      forward_mathml: "<mrow><mi>u</mi><mo>=</mo><mi>a</mi><mo>·</mo><mi>w</mi></mrow>",
      forward_text: "u = a · w",
      rules: [
        { slot: 0, operand: "a", mathml: "<mrow><mi>g</mi><mo>·</mo><mi>w</mi></mrow>", text: "ḡ · w" },
        { slot: 1, operand: "w", mathml: "<mrow><mi>g</mi><mo>·</mo><mi>a</mi></mrow>", text: "ḡ · a" },
      ],
    },
  };
  return { graph, frames, formulas };
}
