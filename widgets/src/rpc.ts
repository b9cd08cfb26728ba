import type { Reply, Request, RequestArgs } from "./protocol.gen";

/** What a request needs from its carrier: a way out, and a way to hear replies. */
export interface Channel {
  send(message: Request): void;
  listen(listener: (message: unknown) => void): () => void;
}

/** A request that Python refused, could not serve, or did not answer in time. */
export class RequestError extends Error {
  constructor(
    readonly kind: string,
    text: string,
  ) {
    super(text);
    this.name = "RequestError";
  }
}

// Views of one model share the comm, and so may two browser tabs: start where nobody else is likely to be.
let next = Math.floor(Math.random() * 2 ** 30);

/** Requests to Python, each answered by a reply with the same id. */
export class Rpc {
  private waiting = new Map<
    number,
    { resolve(value: unknown): void; reject(error: RequestError): void; timer: ReturnType<typeof setTimeout> }
  >();
  private stop: () => void;

  constructor(
    private channel: Channel,
    private timeoutMs = 5000,
  ) {
    this.stop = channel.listen((message) => this.receive(message));
  }

  /** Sends one request; rejects with a `RequestError` of kind "timeout" when nothing comes back. */
  request(name: Request["name"], args: RequestArgs = {}, timeoutMs = this.timeoutMs): Promise<unknown> {
    const id = next++;
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        this.waiting.delete(id);
        reject(new RequestError("timeout", String(timeoutMs / 1000)));
      }, timeoutMs);
      this.waiting.set(id, { resolve, reject, timer });
      this.channel.send({ id, kind: "request", name, args });
    });
  }

  /** Stops listening; requests still out are rejected. */
  dispose(): void {
    this.stop();
    for (const { reject, timer } of this.waiting.values()) {
      clearTimeout(timer);
      reject(new RequestError("closed", "the view was closed"));
    }
    this.waiting.clear();
  }

  private receive(message: unknown): void {
    if (!isReply(message)) return;
    const call = this.waiting.get(message.id);
    if (!call) return;
    this.waiting.delete(message.id);
    clearTimeout(call.timer);
    if (message.error) call.reject(new RequestError(message.error.kind, message.error.text));
    else call.resolve(message.result);
  }
}

function isReply(message: unknown): message is Reply & { id: number } {
  const reply = message as Partial<Reply> | null;
  return typeof reply === "object" && reply !== null && reply.kind === "reply" && typeof reply.id === "number";
}
