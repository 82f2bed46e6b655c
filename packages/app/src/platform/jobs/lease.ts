import { judgeLease, type LeaseRecord } from "@seneschal/core/jobs";
import type { Check, DocumentStore } from "@seneschal/kernel/ports";

/**
 * The right to run jobs, held by one process at a time: a document whose holder `judgeLease` tells. Every write of the holder carries the lease's version as a
 * check, so that a holder who lost it (stopped too long, clock wrong) cannot write any more.
 */
export class Lease {
  readonly #store: DocumentStore;
  readonly #name: string;
  readonly #holder: string;
  readonly #durationMs: number;
  /** Of the lease as this process wrote it last; 0: not held. */
  #version = 0;
  #seen: { readonly version: number; readonly since: number } | undefined;

  constructor(store: DocumentStore, name: string, holder: string, durationMs: number) {
    this.#store = store;
    this.#name = name;
    this.#holder = holder;
    this.#durationMs = durationMs;
  }

  /** Takes or renews the lease; false while another process holds it. */
  async hold(now: number, commitId: string): Promise<boolean> {
    const current = await this.#store.get("leases", this.#name);
    const record = current && { ...(current.doc as unknown as LeaseRecord), version: current.version };
    const memory = { holder: this.#holder, version: this.#version, ...(this.#seen && { seen: this.#seen }) };
    const { act, seen } = judgeLease(record, memory, now, this.#durationMs);
    this.#seen = seen;
    if (act !== "write") return act === "keep";
    const held = await this.#write({ holder: this.#holder, until: now + this.#durationMs }, current?.version ?? 0, commitId);
    if (held) this.#seen = { version: this.#version, since: now };
    return held;
  }

  /** Gives the lease back, if it is still held. */
  async release(commitId: string): Promise<void> {
    if (this.#version === 0) return;
    await this.#write({ holder: this.#holder, until: 0 }, this.#version, commitId);
    this.#version = 0;
  }

  /** The condition that the holder's writes carry. */
  check(): Check {
    return { coll: "leases", id: this.#name, version: this.#version };
  }

  async #write(doc: { holder: string; until: number }, ifVersion: number, commitId: string): Promise<boolean> {
    const result = await this.#store.commit({ commitId, puts: [{ coll: "leases", id: this.#name, doc, ifVersion }] });
    this.#version = result.ok ? (result.versions[`leases/${this.#name}`] ?? 0) : 0;
    return result.ok;
  }
}
