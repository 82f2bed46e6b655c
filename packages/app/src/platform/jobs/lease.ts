import type { Check, DocumentStore } from "@seneschal/kernel/ports";

/**
 * The right to run jobs, held by one process at a time. It is a document: whoever writes its name into it with a time that lies
 * ahead has it until then. Every write of the holder carries the lease's version as a check, so that a holder who lost it
 * (stopped too long, clock wrong) cannot write any more. A lease that is renewed is held, whatever the times in it say: clocks differ, and
 * two that are far apart must not take it from each other for ever.
 */
export class Lease {
  readonly #store: DocumentStore;
  readonly #name: string;
  readonly #holder: string;
  readonly #durationMs: number;
  /** Of the lease as this process wrote it last; 0: not held. */
  #version = 0;
  /** The lease of another as this process first saw it, and since when it stands so by this process's clock. */
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
    const mine = current !== undefined && current.doc["holder"] === this.#holder && current.version === this.#version;
    const left = current === undefined ? 0 : (current.doc["until"] as number) - now;
    // No lease lasts so long: its writer's clock was wrong, and it must not keep everybody waiting for that clock.
    const wrong = left > 2 * this.#durationMs;
    if (!mine && current !== undefined && current.doc["until"] !== 0) {
      // Who never looked before has only the time to go by.
      if (this.#seen?.version !== current.version)
        this.#seen = { version: current.version, since: this.#seen === undefined ? Number.NEGATIVE_INFINITY : now };
      if ((left > 0 && !wrong) || now - this.#seen.since < this.#durationMs) return false;
    }
    // A fresh lease is not written again: every commit wakes the jobs, and a renewal in each round would wake them for ever.
    if (mine && left > this.#durationMs / 2 && !wrong) return true;
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
