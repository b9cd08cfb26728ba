import { describe, expect, it } from "vitest";
import { Stepping } from "../src/state/stepping";
import { Tape } from "../src/state/tape";
import { sample } from "./sample";

function fresh(): Stepping {
  const { graph, frames } = sample();
  const tape = new Tape(graph);
  return new Stepping(frames, (node) => tape.nodes.get(node)?.group ?? -1);
}

describe("stepping", () => {
  it("keeps the cursor within bounds", () => {
    const stepping = fresh();
    stepping.back();
    expect(stepping.cursor.value).toBe(0);
    stepping.goto(99);
    expect(stepping.cursor.value).toBe(5);
    stepping.step();
    expect(stepping.cursor.value).toBe(5);
    stepping.goto(NaN);
    expect(stepping.cursor.value).toBe(0);
  });

  it("runs to the step that visits a node", () => {
    const stepping = fresh();
    expect(stepping.runTo(0)).toBe(true);
    expect(stepping.cursor.value).toBe(3);
    expect(stepping.current?.node).toBe(0);
    expect(stepping.runTo(77)).toBe(false);
    expect(stepping.cursor.value).toBe(3);
  });

  it("steps over a group, both ways", () => {
    const stepping = fresh();
    stepping.over(1);
    expect(stepping.cursor.value).toBe(1);
    stepping.over(1);
    expect(stepping.cursor.value).toBe(3);
    stepping.over(-1);
    expect(stepping.cursor.value).toBe(1);
  });

  it("stops playing at a breakpoint and at the end", () => {
    const stepping = fresh();
    stepping.toggleBreakpoint(1);
    stepping.togglePlay();
    stepping.beat();
    expect(stepping.playing.value).toBe(true);
    stepping.beat();
    expect([stepping.playing.value, stepping.current?.node]).toEqual([false, 1]);
    stepping.togglePlay();
    stepping.beat();
    stepping.beat();
    stepping.beat();
    expect([stepping.playing.value, stepping.cursor.value]).toEqual([false, 5]);
    stepping.togglePlay();
    expect([stepping.playing.value, stepping.cursor.value]).toEqual([true, 0]);
  });

  it("knows what has arrived, and never a gradient before its time", () => {
    const stepping = fresh();
    expect(stepping.gradient(-1)).toBeNull();
    stepping.step();
    expect(stepping.arrived(-1).map((arrival) => arrival.from)).toEqual([2]);
    expect([stepping.expected(-1), stepping.leafGrad(-1)]).toEqual([2, null]);
    stepping.goto(3);
    expect(stepping.arrived(-1)).toHaveLength(2);
    expect([stepping.gradient(-1)?.values, stepping.leafGrad(-1)]).toEqual([[1.21], null]);
    stepping.step();
    expect(stepping.leafGrad(-1)?.values).toEqual([1.21]);
    expect(stepping.leaves).toEqual([-1, -2]);
  });

  it("tells listeners only of changes", () => {
    const stepping = fresh();
    let told = 0;
    const undo = stepping.cursor.watch(() => (told += 1));
    stepping.goto(2);
    stepping.goto(2);
    undo();
    stepping.goto(3);
    expect(told).toBe(1);
  });
});
