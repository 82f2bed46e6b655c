import type { EtcdClient, EtcdStream } from "./etcd-client.ts";

const reconnectMs = 200;

interface WatchMessage {
  readonly created: boolean;
  readonly canceled: boolean;
  readonly events: readonly { readonly kv?: { readonly value: Buffer } | null }[];
}

/**
 * Calls back with the value when a key changes, and without one after every (re)connection, because a change may have been
 * missed meanwhile: it only wakes, the reader reads by sequence. The stream asks for a member with a leader, so that one that is cut off ends it.
 * Nothing is connected before the first subscriber.
 */
export class WatchKey {
  readonly #client: EtcdClient;
  readonly #key: Buffer;
  readonly #callbacks = new Set<(value?: Buffer) => void>();
  #stream: EtcdStream | undefined;
  #connecting = false;
  #closed = false;

  constructor(client: EtcdClient, key: Buffer) {
    this.#client = client;
    this.#key = key;
  }

  subscribe(callback: (value?: Buffer) => void): () => void {
    this.#callbacks.add(callback);
    if (this.#stream === undefined) void this.#connect();
    else queueMicrotask(() => this.#callbacks.has(callback) && callback());
    return () => this.#callbacks.delete(callback);
  }

  close(): void {
    this.#closed = true;
    this.#callbacks.clear();
    this.#stream?.cancel();
  }

  async #connect(): Promise<void> {
    if (this.#connecting || this.#closed) return;
    this.#connecting = true;
    try {
      const stream = await this.#client.stream<WatchMessage>(
        "Watch.Watch",
        ({ created, canceled, events }) => {
          if (canceled) stream.cancel();
          else if (created || events.length > 0) for (const callback of this.#callbacks) callback(events.at(-1)?.kv?.value);
        },
        () => this.#reconnect(),
      );
      if (this.#closed) return stream.cancel();
      this.#stream = stream;
      stream.write({ create_request: { key: this.#key } });
    } catch {
      this.#reconnect();
    } finally {
      this.#connecting = false;
    }
  }

  #reconnect(): void {
    this.#stream = undefined;
    if (!this.#closed) setTimeout(() => void this.#connect(), reconnectMs).unref();
  }
}
