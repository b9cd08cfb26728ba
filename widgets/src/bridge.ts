import type { AppendEvent, MountData, Request, RequestArgs, View } from "./protocol.gen";
import { Rpc } from "./rpc";

/** All traits any view reads, by name. */
export interface Traits extends MountData {
  recording?: boolean;
  running?: boolean;
  progress?: number;
  stop_requested?: boolean;
}

export type TraitName = keyof Traits;

/** Where a view gets its data: a live anywidget model, or plain data in a standalone page. */
export interface Source {
  readonly alive: boolean;
  get<K extends TraitName>(name: K): Traits[K] | undefined;
  set<K extends TraitName>(name: K, value: Traits[K]): void;
  watch(name: TraitName, listener: () => void): () => void;
  onAppend(listener: (event: AppendEvent) => void): () => void;
  request(name: Request["name"], args?: RequestArgs, timeoutMs?: number): Promise<unknown>;
  dispose(): void;
}

/** The part of anywidget's model that we use. */
export interface AnyModel {
  get(name: string): unknown;
  set(name: string, value: unknown): void;
  save_changes(): void;
  on(event: string, listener: (...args: unknown[]) => void): void;
  off(event: string, listener: (...args: unknown[]) => void): void;
  send(content: unknown): void;
}

function listenTo(model: AnyModel, event: string, listener: (...args: unknown[]) => void): () => void {
  model.on(event, listener);
  return () => model.off(event, listener);
}

function isAppend(message: unknown): message is AppendEvent {
  return typeof message === "object" && message !== null && (message as { kind?: unknown }).kind === "append";
}

/** A source over a live model. Each view makes its own, so that closing one leaves the others alone. */
export function liveSource(model: AnyModel): Source {
  const listen = (listener: (message: unknown) => void): (() => void) =>
    listenTo(model, "msg:custom", (message) => listener(message));
  const rpc = new Rpc({ send: (message) => model.send(message), listen });
  return {
    alive: true,
    get: <K extends TraitName>(name: K) => model.get(name) as Traits[K] | undefined,
    set(name, value) {
      model.set(name, value);
      model.save_changes();
    },
    watch: (name, listener) => listenTo(model, `change:${name}`, () => listener()),
    onAppend: (listener) => listen((message) => isAppend(message) && listener(message)),
    request: (name, args, timeoutMs) => rpc.request(name, args, timeoutMs),
    dispose: () => rpc.dispose(),
  };
}

/** A source over plain data: nothing changes but by the view itself, and requests are refused. */
export function staticSource(data: Traits & { view?: View }): Source {
  const values: Traits = { ...data };
  return {
    alive: false,
    get: (name) => values[name],
    set(name, value) {
      values[name] = value;
    },
    watch: () => () => undefined,
    onAppend: () => () => undefined,
    request: () => Promise.reject(new Error("no kernel")),
    dispose: () => undefined,
  };
}
