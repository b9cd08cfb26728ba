import type { AnyModel } from "../src/bridge";

/** A stand-in for anywidget's model. */
export class FakeModel implements AnyModel {
  listeners = new Map<string, Set<(...args: unknown[]) => void>>();
  sent: unknown[] = [];
  saves = 0;
  constructor(public state: Record<string, unknown>) {}
  get(name: string): unknown {
    return this.state[name];
  }
  set(name: string, value: unknown): void {
    this.state[name] = value;
    this.emit(`change:${name}`);
  }
  save_changes(): void {
    this.saves += 1;
  }
  on(event: string, listener: (...args: unknown[]) => void): void {
    this.listeners.set(event, (this.listeners.get(event) ?? new Set()).add(listener));
  }
  off(event: string, listener: (...args: unknown[]) => void): void {
    this.listeners.get(event)?.delete(listener);
  }
  send(content: unknown): void {
    this.sent.push(content);
  }
  emit(event: string, ...args: unknown[]): void {
    for (const listener of this.listeners.get(event) ?? []) listener(...args);
  }
  get open(): number {
    return [...this.listeners.values()].reduce((sum, set) => sum + set.size, 0);
  }
}
