import type { Frame, Summary } from "../protocol.gen";
import { Signal } from "./signal";

/** One cotangent that has reached a node. */
export interface Arrival {
  from: number;
  slot: number;
  grad: Summary;
  total: Summary;
  arrived: number;
  expected: number;
}

/**
 * Where the replay stands. The cursor counts steps done: 0 is before the first, `length` is after the last.
 * The current node is the one of the step just done; the next node is the one the next step will visit.
 */
export class Stepping {
  readonly cursor = new Signal(0);
  readonly playing = new Signal(false);
  readonly breakpoints = new Signal<ReadonlySet<number>>(new Set());
  private stepOf = new Map<number, number>();
  private arrivals = new Map<number, { step: number; arrival: Arrival }[]>();
  private gradStep = new Map<number, number>();

  constructor(
    readonly frames: readonly Frame[],
    private groupOf: (node: number) => number = () => -1,
  ) {
    frames.forEach((frame, at) => {
      this.stepOf.set(frame.node, at + 1);
      if (frame.leaf_grad) this.gradStep.set(frame.node, at + 1);
      for (const { to, ...sent } of frame.sent) {
        const list = this.arrivals.get(to) ?? [];
        list.push({ step: at + 1, arrival: { from: frame.node, ...sent } });
        this.arrivals.set(to, list);
      }
    });
  }

  get length(): number {
    return this.frames.length;
  }

  /** The step just done, or undefined before the first. */
  get current(): Frame | undefined {
    return this.frames[this.cursor.value - 1];
  }

  /** The step to come, or undefined after the last. */
  get next(): Frame | undefined {
    return this.frames[this.cursor.value];
  }

  /** Moves to `cursor`, kept within bounds. */
  goto(cursor: number): void {
    const whole = Number.isFinite(cursor) ? Math.trunc(cursor) : 0;
    this.cursor.value = Math.min(this.length, Math.max(0, whole));
  }

  step(): void {
    this.goto(this.cursor.value + 1);
  }

  back(): void {
    this.goto(this.cursor.value - 1);
  }

  /** Steps until the group of the next node is left; a single step where there is no group. */
  over(direction: 1 | -1): void {
    const at = (cursor: number): Frame | undefined => this.frames[direction > 0 ? cursor : cursor - 1];
    const first = at(this.cursor.value);
    if (!first) return;
    const group = this.groupOf(first.node);
    let cursor = this.cursor.value + direction;
    while (group >= 0) {
      const frame = at(cursor);
      if (!frame || this.groupOf(frame.node) !== group) break;
      cursor += direction;
    }
    this.goto(cursor);
  }

  /** Goes to just after the step that visits `node`; false when backward never visits it. */
  runTo(node: number): boolean {
    const step = this.stepOf.get(node);
    if (step === undefined) return false;
    this.goto(step);
    return true;
  }

  /** Stops playing and goes back to before the first step. */
  reset(): void {
    this.playing.value = false;
    this.goto(0);
  }

  toggleBreakpoint(node: number): void {
    const next = new Set(this.breakpoints.value);
    if (!next.delete(node)) next.add(node);
    this.breakpoints.value = next;
  }

  /** One beat of playing: a step; stops at the end and on a node with a breakpoint. */
  beat(): void {
    this.step();
    const node = this.current?.node;
    const broken = node !== undefined && this.breakpoints.value.has(node);
    if (broken || this.cursor.value === this.length) this.playing.value = false;
  }

  /** Starts playing, from the first step again when at the end; pauses when playing. */
  togglePlay(): void {
    if (this.length === 0) return;
    if (!this.playing.value && this.cursor.value === this.length) this.goto(0);
    this.playing.value = !this.playing.value;
  }

  /** The step that visits `node`, or undefined. */
  visit(node: number): number | undefined {
    return this.stepOf.get(node);
  }

  /** Cotangents that have reached `node` by now, in order. */
  arrived(node: number): Arrival[] {
    return (this.arrivals.get(node) ?? [])
      .filter(({ step }) => step <= this.cursor.value)
      .map(({ arrival }) => arrival);
  }

  /** How many cotangents `node` gets in all. */
  expected(node: number): number {
    return this.arrivals.get(node)?.[0]?.arrival.expected ?? 0;
  }

  /** The gradient held for `node` by now: what it got in full, or the sum so far; null is "not computed yet". */
  gradient(node: number): Summary | null {
    const visited = this.stepOf.get(node);
    if (visited !== undefined && visited <= this.cursor.value) return this.frames[visited - 1]?.incoming ?? null;
    return this.arrived(node).at(-1)?.total ?? null;
  }

  /** `.grad` of a leaf: null until the step that writes it. */
  leafGrad(leaf: number): Summary | null {
    const step = this.gradStep.get(leaf);
    return step !== undefined && step <= this.cursor.value ? (this.frames[step - 1]?.incoming ?? null) : null;
  }

  /** Leaves whose `.grad` this backward writes, in order of writing. */
  get leaves(): number[] {
    return [...this.gradStep.keys()];
  }
}
