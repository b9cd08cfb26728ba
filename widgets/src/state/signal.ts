/** A value that tells its listeners when it changes. Setting an equal value tells nobody. */
export class Signal<T> {
  private listeners = new Set<(value: T) => void>();

  constructor(private current: T) {}

  get value(): T {
    return this.current;
  }

  set value(next: T) {
    if (Object.is(next, this.current)) return;
    this.current = next;
    for (const listener of [...this.listeners]) listener(next);
  }

  /** Calls `listener` at each change; returns the undo. */
  watch(listener: (value: T) => void): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }
}

/** Collects undos and runs them once, last first. */
export class Undos {
  private undos: (() => void)[] = [];

  add(...undos: (() => void)[]): void {
    this.undos.push(...undos);
  }

  run(): void {
    for (const undo of this.undos.splice(0).reverse()) undo();
  }
}

/** Runs `action` once things have been quiet for `ms`; `flush` runs a waiting call at once. */
export function debounce(action: () => void, ms: number): { call(): void; flush(): void; cancel(): void } {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const cancel = (): void => {
    clearTimeout(timer);
    timer = undefined;
  };
  const flush = (): void => {
    if (timer === undefined) return;
    cancel();
    action();
  };
  return {
    call(): void {
      clearTimeout(timer);
      timer = setTimeout(flush, ms);
    },
    flush,
    cancel,
  };
}

/** Runs `action` at most once in `ms`: at once when quiet, else at the end of the pause. */
export function throttle(action: () => void, ms: () => number): { call(): void; cancel(): void } {
  let timer: ReturnType<typeof setTimeout> | undefined;
  let last = -Infinity;
  const fire = (): void => {
    timer = undefined;
    last = Date.now();
    action();
  };
  return {
    call(): void {
      if (timer !== undefined) return;
      const wait = last + ms() - Date.now();
      if (wait <= 0) fire();
      else timer = setTimeout(fire, wait);
    },
    cancel(): void {
      clearTimeout(timer);
      timer = undefined;
    },
  };
}
