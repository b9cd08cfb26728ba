import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { liveSource } from "../src/bridge";
import type { Request } from "../src/protocol.gen";
import { Rpc } from "../src/rpc";
import { FakeModel } from "./model";

function pair(): { rpc: Rpc; sent: Request[]; answer(message: unknown): void; listeners: Set<unknown> } {
  const listeners = new Set<(message: unknown) => void>();
  const sent: Request[] = [];
  const rpc = new Rpc({
    send: (message) => sent.push(message),
    listen: (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  });
  return { rpc, sent, answer: (message) => listeners.forEach((listener) => listener(message)), listeners };
}

describe("requests", () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  it("are answered by id, in any order", async () => {
    const { rpc, sent, answer } = pair();
    const first = rpc.request("tensor", { node: 1 });
    const second = rpc.request("tensor", { node: 2 });
    expect(sent.map(({ kind, name, args }) => [kind, name, args])).toEqual([
      ["request", "tensor", { node: 1 }],
      ["request", "tensor", { node: 2 }],
    ]);
    answer({ id: sent[1]?.id, kind: "reply", result: "b" });
    answer({ id: sent[0]?.id, kind: "reply", result: "a" });
    answer({ id: 12345, kind: "reply", result: "nobody's" });
    answer("noise");
    expect([await first, await second]).toEqual(["a", "b"]);
  });

  it("fail with Python's words", async () => {
    const { rpc, sent, answer } = pair();
    const asked = rpc.request("goto", { cursor: 3 });
    answer({ id: sent[0]?.id, kind: "reply", error: { kind: "RuntimeError", text: "busy" } });
    await expect(asked).rejects.toMatchObject({ kind: "RuntimeError", message: "busy" });
  });

  it("time out, and are rejected when the view closes", async () => {
    const { rpc, listeners } = pair();
    const slow = rpc.request("bench").catch((error: { kind: string }) => error.kind);
    vi.advanceTimersByTime(5001);
    expect(await slow).toBe("timeout");
    const open = rpc.request("stop").catch((error: { kind: string }) => error.kind);
    rpc.dispose();
    expect([await open, listeners.size]).toEqual(["closed", 0]);
  });

  it("of two views of one model do not mix", () => {
    const model = new FakeModel({});
    const [a, b] = [liveSource(model), liveSource(model)];
    void a.request("stop").catch(() => undefined);
    void b.request("stop").catch(() => undefined);
    const ids = (model.sent as Request[]).map(({ id }) => id);
    expect(new Set(ids).size).toBe(2);
    a.dispose();
    b.dispose();
    expect(model.open).toBe(0);
  });
});
