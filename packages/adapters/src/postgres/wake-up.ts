import type pg from "pg";
import type { Database } from "./connect.ts";

/**
 * Calls back when somebody notified the channel. Notifications are lost while disconnected, so that `poll` looks as well,
 * once a second; both only wake, the reader reads by sequence. Nothing is connected before the first subscriber.
 */
export class WakeUp {
  readonly #database: Database;
  readonly #channel: string;
  readonly #poll: () => Promise<number>;
  readonly #callbacks = new Set<(seq: number) => void>();
  #client: pg.Client | undefined;
  #timer: NodeJS.Timeout | undefined;
  #seen = -1;
  #busy = false;
  #again = false;

  constructor(database: Database, channel: string, poll: () => Promise<number>) {
    this.#database = database;
    this.#channel = channel;
    this.#poll = poll;
  }

  subscribe(callback: (seq: number) => void, afterSeq = -1): () => void {
    if (this.#timer === undefined) {
      this.#seen = afterSeq;
      this.#timer = setInterval(() => void this.#look(), 1000);
      this.#timer.unref();
    } else if (afterSeq < this.#seen) queueMicrotask(() => this.#callbacks.has(callback) && callback(this.#seen));
    this.#callbacks.add(callback);
    void this.#look();
    return () => this.#callbacks.delete(callback);
  }

  async close(): Promise<void> {
    clearInterval(this.#timer);
    this.#callbacks.clear();
    const client = this.#client;
    this.#client = undefined;
    await client?.end().catch(() => {});
  }

  async #look(): Promise<void> {
    this.#again = this.#busy;
    if (this.#busy || this.#callbacks.size === 0) return;
    this.#busy = true;
    try {
      do {
        this.#again = false;
        await this.#listen();
        const seq = await this.#poll();
        if (seq > this.#seen) {
          this.#seen = seq;
          for (const callback of this.#callbacks) callback(seq);
        }
      } while (this.#again);
    } catch {
      // The next tick tries again.
    } finally {
      this.#busy = false;
    }
  }

  async #listen(): Promise<void> {
    if (this.#client !== undefined) return;
    const client = await this.#database.connect();
    client.on("end", () => {
      if (this.#client === client) this.#client = undefined;
    });
    client.on("notification", () => void this.#look());
    try {
      await client.query(`listen ${this.#channel}`);
    } catch (error) {
      // One that nobody knows of would keep the process from ending, and each try makes another.
      void client.end().catch(() => undefined);
      throw error;
    }
    if (this.#callbacks.size === 0) await client.end();
    else this.#client = client;
  }
}
