import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import widget, { mount } from "../src/entry/widget";
import type { Traits } from "../src/bridge";
import { autoFold, search, Tape, visible } from "../src/state/tape";
import { heatmap } from "../src/view/heatmap";
import { math } from "../src/view/math";
import { barHeights } from "../src/view/timeline";
import { thin } from "../src/view/training";
import { translator } from "../src/state/strings";
import { FakeModel } from "./model";
import { graphOf, sample, summary } from "./sample";

const t = translator("en");
let el: HTMLElement;
let stops: (() => void)[] = [];

function show(data: Traits): HTMLElement {
  stops.push(mount(el, { protocol: 1, ...data }));
  return el;
}
const all = (selector: string): Element[] => [...el.querySelectorAll(selector)];
const one = (selector: string): HTMLElement => {
  const found = el.querySelector<HTMLElement>(selector);
  if (!found) throw new Error(`nothing matches ${selector}`);
  return found;
};
const press = (key: string, more: KeyboardEventInit = {}, target: Element = one(".agl")): void =>
  void target.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true, ...more }));

beforeEach(() => {
  el = document.createElement("div");
  document.body.append(el);
});
afterEach(() => {
  for (const stop of stops) stop();
  stops = [];
  expect(el.children).toHaveLength(0);
  el.remove();
});

describe("cards instead of empty views", () => {
  it("for an unknown protocol", () => {
    expect(show({ protocol: 99, view: "graph", graph: sample().graph }).textContent).toContain("protocol 1");
  });
  it("for missing data and unknown views", () => {
    expect(show({ view: "stepper" }).textContent).toContain("graph is missing");
    stops.pop()?.();
    expect(show({ view: "soup" as "graph" }).textContent).toContain("soup");
  });
  it("for broken data", () => {
    const quiet = vi.spyOn(console, "error").mockImplementation(() => undefined);
    show({ view: "graph", graph: { protocol: 1 } as Traits["graph"] });
    expect(one(".agl-message").textContent).not.toBe("");
    quiet.mockRestore();
  });
  it("for an empty tape and a run without steps", () => {
    expect(show({ view: "graph", graph: graphOf([], []) }).textContent).toContain("The tape is empty");
    stops.pop()?.();
    expect(show({ view: "stepper", graph: sample().graph, frames: [] }).textContent).toContain("No backward step");
  });
});

describe("graph", () => {
  it("has a named mark for each node, and one tab stop", () => {
    show({ view: "graph", ...sample() });
    expect(all("[data-node-id]")).toHaveLength(5);
    expect(all('[data-node-id][tabindex="0"]')).toHaveLength(1);
    expect(one('[data-node-id="0"]').getAttribute("aria-label")).toBe("u = × SomeBackward0 1, operation");
    expect(all(".agl-ring")).toHaveLength(1);
    expect(one(".agl").dataset["view"]).toBe("graph");
  });

  it("changes marks in place when the tape grows", () => {
    const { graph, formulas } = sample();
    const model = new FakeModel({ view: "graph", protocol: 1, graph, formulas, options: {} });
    stops.push(widget.render({ model, el }));
    const before = new Map(all("[data-node-id]").map((mark) => [mark.getAttribute("data-node-id"), mark]));
    const { nodes, edges } = graphOf([{ id: 3, kind: "op", symbol: "exp", group: 1 }], [[2, 3, 0]]);
    const groups = [{ id: 1, parent: -1, label: "fc1", type: "Lin", kind: "module" }];
    model.emit("msg:custom", { kind: "append", nodes, edges, groups, formulas: {}, roots: [3] });
    return vi.waitFor(() => {
      expect(all("[data-node-id]")).toHaveLength(6);
      expect(all(".agl-frame text").map((text) => text.textContent)).toEqual(["block Block", "fc1 Lin"]);
      for (const [id, mark] of before) expect(one(`[data-node-id="${id}"]`)).toBe(mark);
    });
  });

  it("selects, tells Python, and shows the details", () => {
    const model = new FakeModel({ view: "graph", protocol: 1, ...sample(), selection: {}, options: {} });
    stops.push(widget.render({ model, el }));
    one('[data-node-id="0"]').dispatchEvent(new MouseEvent("click", { bubbles: true }));
    expect(model.state["selection"]).toEqual({ node: 0 });
    expect(one('[data-details="0"]').textContent).toContain("SomeBackward0");
    expect(all(".agl-edge.agl-lit")).toHaveLength(3);
    press("Escape");
    expect(model.state["selection"]).toEqual({});
  });

  it("folds a module by double-click and unfolds it", () => {
    show({ view: "graph", ...sample() });
    one('[data-frame="0"]').dispatchEvent(new MouseEvent("dblclick", { bubbles: true }));
    expect(all("[data-node-id]")).toHaveLength(2);
    expect(one('[data-group="0"]').getAttribute("aria-label")).toContain("3 nodes, folded");
    one('[data-group="0"]').dispatchEvent(new MouseEvent("dblclick", { bubbles: true }));
    expect(all("[data-node-id]")).toHaveLength(5);
  });

  it("shows hostile labels as text", () => {
    // Longer than a box: cut in the picture, whole in the details.
    const evil = '<img src=x onerror="alert(1)">';
    show({ view: "graph", graph: graphOf([{ id: 0, kind: "leaf", label: evil }], [], [0]), options: {} });
    expect(all("img")).toHaveLength(0);
    expect(one('[data-node-id="0"]').getAttribute("aria-label")).toContain("<img src=x onerro…");
    one('[data-node-id="0"]').dispatchEvent(new MouseEvent("click", { bubbles: true }));
    expect(one('[data-details="0"]').textContent).toContain(evil);
    expect(all("img")).toHaveLength(0);
  });

  it("speaks Chinese when asked", () => {
    show({ view: "graph", ...sample(), options: { language: "zh-Hant" } });
    expect(one('[data-action="fit"]').getAttribute("aria-label")).toBe("符合視窗");
    expect(one(".agl").getAttribute("lang")).toBe("zh-Hant");
  });
});

describe("stepper", () => {
  it("steps by button and key, to the end and no further", () => {
    show({ view: "stepper", ...sample(), cursor: 0 });
    const root = one(".agl");
    expect([root.dataset["cursor"], root.dataset["steps"]]).toEqual(["0", "5"]);
    one('[data-action="step"]').click();
    press("ArrowRight");
    expect(root.dataset["cursor"]).toBe("2");
    expect(one("[aria-live]").textContent).toBe("tanh");
    press("ArrowLeft");
    press("End");
    one('[data-action="step"]').click();
    expect(root.dataset["cursor"]).toBe("5");
    press("Home");
    expect(root.dataset["cursor"]).toBe("0");
    press("ArrowRight", { shiftKey: true });
    press("ArrowRight", { shiftKey: true });
    expect(root.dataset["cursor"]).toBe("3");
  });

  it("shows leaf gradients: a dash before, then the value, and zero as zero", () => {
    show({ view: "stepper", ...sample() });
    const leaf = (id: number): HTMLElement => one(`[data-leaf-grad="${id}"]`);
    expect(leaf(-1).dataset["state"]).toBe("not-yet");
    expect([leaf(-1).textContent, leaf(-1).dataset["full"]]).toEqual(["a.grad –", undefined]);
    press("End");
    expect([leaf(-1).textContent, leaf(-1).dataset["full"]]).toEqual(["a.grad 1.210", "[1.21]"]);
    expect([leaf(-2).textContent, leaf(-2).dataset["state"]]).toEqual(["w.grad 0", "zero"]);
  });

  it("marks the way back: done, current and next", () => {
    show({ view: "stepper", ...sample(), cursor: 1 });
    const state = (id: number): string | undefined => one(`[data-node-id="${id}"]`).dataset["state"];
    expect([state(2), state(1), state(0)]).toEqual(["current", "next", "waiting"]);
    expect(one('[data-edge="n1>n2:0"]').dataset["state"]).toBe("done");
    expect(one('[data-edge="n0>n1:0"]').dataset["state"]).toBe("next");
    expect(one('[data-node-id="-1"] .agl-plus').textContent).toContain("1/2");
  });

  it("shows sums that form, with hollow terms for what is missing", () => {
    show({ view: "stepper", ...sample(), cursor: 1 });
    const terms = [...one('[data-sum="-1"]').querySelectorAll("li")].map((term) => term.textContent);
    expect(terms).toEqual(["1 ← L", "+–", "=1 (1/2)"]);
  });

  it("puts rules and numbers beside what goes out", () => {
    show({ view: "stepper", ...sample(), cursor: 3 });
    expect(all(".agl-sent math").map((formula) => formula.textContent)).toEqual(["g·w", "g·a"]);
    press("ArrowLeft");
    expect(one('[data-role="numbers"]').textContent).toContain("1 · 0.42 = 0.42");
  });

  it("finds rules and numbers by the operand's place, also where two share a name", () => {
    const { graph, frames, formulas } = sample();
    graph.edges = { source: [-1, -1], target: [0, 0], slot: [0, 1] };
    const frame = frames[2];
    if (!frame) throw new Error("frame");
    const [first, second] = frame.sent;
    frame.sent = [first, { ...second, to: -1 }] as typeof frame.sent;
    frame.numbers = [1, 0].map((slot) => ({ slot, operand: "a", index: [], text: `number ${slot}` }));
    const rules = formulas["mul"]?.rules.map((rule) => ({ ...rule, operand: "a" })).reverse() ?? [];
    formulas["mul"] = { forward_mathml: "", forward_text: "", rules };
    show({ view: "stepper", graph, frames: [frame], formulas, cursor: 1 });
    expect(all(".agl-sent math").map((formula) => formula.textContent)).toEqual(["g·w", "g·a"]);
    expect(all(".agl-numbers").map((text) => text.textContent)).toEqual(["number 0", "number 1"]);
    const [every] = rules;
    formulas["mul"] = { forward_mathml: "", forward_text: "", rules: every ? [{ ...every, slot: -1 }] : [] };
    show({ view: "stepper", graph, frames: [frame], formulas, cursor: 1 });
    expect(new Set(all(".agl-sent math").map((formula) => formula.textContent)).size).toBeGreaterThan(0);
  });

  it("tells Python the cursor once it rests, and follows Python's", () => {
    vi.useFakeTimers();
    const model = new FakeModel({ view: "stepper", protocol: 1, ...sample(), cursor: 0, options: {} });
    stops.push(widget.render({ model, el }));
    press("ArrowRight");
    press("ArrowRight");
    expect(model.state["cursor"]).toBe(0);
    vi.advanceTimersByTime(150);
    expect([model.state["cursor"], model.saves]).toEqual([2, 1]);
    model.set("cursor", 4);
    expect(one(".agl").dataset["cursor"]).toBe("4");
    vi.advanceTimersByTime(500);
    expect(model.saves).toBe(1);
    vi.useRealTimers();
  });

  it("plays, and stops at a breakpoint set by key", () => {
    vi.useFakeTimers();
    show({ view: "stepper", ...sample() });
    one('[data-node-id="1"]').dispatchEvent(new MouseEvent("click", { bubbles: true }));
    press("b");
    press(" ");
    vi.advanceTimersByTime(10_000);
    expect([one(".agl").dataset["cursor"], one(".agl").dataset["playing"]]).toEqual(["2", undefined]);
    vi.useRealTimers();
  });

  it("leaves no listeners behind", () => {
    const model = new FakeModel({ view: "stepper", protocol: 1, ...sample(), options: {} });
    const stop = widget.render({ model, el });
    expect(model.open).toBeGreaterThan(0);
    stop();
    expect(model.open).toBe(0);
  });
});

describe("timings and training", () => {
  const row = {
    size: 64,
    median_s: 1e-3,
    low_s: 9e-4,
    high_s: 2e-3,
    transfer_in_s: 1e-4,
    transfer_out_s: null,
    launch_s: null,
    unsynchronised_s: 1e-5,
    recorded: null,
  };
  it("draws a line per device, the wrong way, and the note", () => {
    show({
      view: "timings",
      results: {
        machine: "two cores",
        label: "matmul",
        note: "no GPU here",
        rows: [
          { ...row, device: "cpu" },
          { ...row, device: "gpu", median_s: 5e-4 },
        ],
      },
    });
    expect(all(".agl-chart .agl-series").map((line) => line.getAttribute("data-device"))).toEqual(["cpu", "gpu"]);
    expect(all(".agl-chart [data-wrong]")).toHaveLength(2);
    expect(el.textContent).toContain("no GPU here");
    expect(el.textContent).toContain("gpu is faster at every size measured");
  });
  it("asks Python to stop, by flag and by request", () => {
    const model = new FakeModel({
      view: "training",
      protocol: 1,
      points: { step: [0, 1], series: { loss: [2, "NaN"], lr: [0.1, 0.1] } },
      running: true,
      stop_requested: false,
      total_steps: 10,
      text: "",
      options: {},
    });
    stops.push(widget.render({ model, el }));
    expect(all(".agl-badge")).toHaveLength(1);
    one('[data-action="stop"]').click();
    expect(model.state["stop_requested"]).toBe(true);
    expect(model.sent).toMatchObject([{ kind: "request", name: "stop" }]);
  });
  it("thins long runs and keeps the last point", () => {
    const kept = thin(
      Array.from({ length: 10_001 }, (_, at) => at),
      1000,
    );
    expect(kept.length).toBeLessThanOrEqual(1001);
    expect(kept.at(-1)).toEqual({ at: 10_000, value: 10_000 });
  });
});

describe("pieces", () => {
  it("draw not computed, zero and NaN differently", () => {
    const state = (values: Parameters<typeof summary>[0] | null): string | undefined =>
      heatmap(values && summary(values), { t, name: "g" }).dataset["state"];
    expect([state(null), state([0]), state([0, 0]), state(["NaN"]), state([1, "Infinity"]), state([1, 2])]).toEqual([
      "not-yet",
      "zero",
      "zero",
      "non-finite",
      "non-finite",
      "value",
    ]);
    expect(heatmap(null, { t, name: "g" }).textContent).toBe("–");
    expect(heatmap(summary([0]), { t, name: "g" }).textContent).toBe("0");
    const caption = heatmap(summary(["NaN", "NaN"]), { t, name: "g" }).querySelector(".agl-heat-scale");
    expect(caption?.textContent.trim()).toBe("NaN");
    expect(heatmap(summary([1, "NaN"]), { t, name: "g" }).textContent).toContain("NaN");
  });

  it("pick an element by key", () => {
    const picked: number[] = [];
    const map = heatmap(summary([1, 2, 3, 4], [2, 2]), {
      t,
      name: "g",
      selected: 0,
      onPick: (flat) => picked.push(flat),
    });
    const svg = map.querySelector("svg");
    for (const key of ["ArrowRight", "ArrowDown", "ArrowDown"])
      svg?.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true }));
    expect(picked).toEqual([1, 3, 3]);
    expect(svg?.getAttribute("aria-valuetext")).toBe("[1,1] 4");
  });

  it("rebuild formulas from known elements only", () => {
    const made = math('<mi onclick="x()">a</mi><script>alert(1)</script><mo>+</mo>', "a +");
    expect(made.querySelector("script")).toBeNull();
    expect(made.querySelector("mi")?.getAttribute("onclick")).toBeNull();
    expect(math("<mi>a", "a").textContent).toBe("a");
    expect(math("", "y = Σ x").textContent).toBe("y = Σ x");
  });

  it("scale bars by the log of the norm", () => {
    const frame = sample().frames[0];
    if (!frame) throw new Error("sample has frames");
    const heights = barHeights([1, 10, 100].map((value) => ({ ...frame, incoming: summary([value]) })));
    expect(heights[1]).toBeCloseTo(0.56, 6);
    expect(barHeights([{ ...frame, incoming: summary([0]) }])).toEqual([0]);
  });

  it("fold the innermost groups of a large tape, and find by words and shapes", () => {
    const rows = Array.from({ length: 30 }, (_, at) => ({
      id: at,
      kind: "op" as const,
      symbol: "tanh",
      shape: [3, at],
      group: at % 3,
    }));
    const tape = new Tape(
      graphOf(
        rows,
        [],
        [],
        [0, 1, 2].map((id) => ({ id, parent: id === 0 ? -1 : 0, label: `m${id}`, type: "", kind: "module" as const })),
      ),
    );
    const folded = autoFold(tape, 15);
    expect([...folded]).toEqual([1, 2]);
    expect(visible(tape, folded).items).toHaveLength(12);
    expect(autoFold(tape, 100).size).toBe(0);
    expect(search(tape, "3x7")).toEqual([7]);
    expect(search(tape, " ")).toEqual([]);
  });
});

describe("live models", () => {
  it("begin anew when another backward was recorded", () => {
    vi.useFakeTimers();
    const { graph, formulas, frames } = sample();
    const model = new FakeModel({ view: "stepper", protocol: 1, graph, formulas, frames, cursor: 2, options: {} });
    stops.push(widget.render({ model, el }));
    model.set("cursor", 0);
    model.set("frames", frames.slice(0, 2));
    vi.advanceTimersByTime(100);
    expect(all(".agl")).toHaveLength(1);
    expect([one(".agl").dataset["steps"], one(".agl").dataset["cursor"]]).toEqual(["2", "0"]);
    vi.useRealTimers();
  });

  it("turn when Python changes the options", () => {
    const model = new FakeModel({ view: "graph", protocol: 1, ...sample(), options: {} });
    stops.push(widget.render({ model, el }));
    const before = one('[data-node-id="2"]').style.transform;
    model.set("options", { direction: "tb" });
    expect(one('[data-node-id="2"]').style.transform).not.toBe(before);
  });
});
