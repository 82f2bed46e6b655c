import { createHash } from "node:crypto";
import type { Idempotency, StoredResponse } from "@seneschal/contract";
import { CodedError, checkOptions, isCoded, type JsonObject } from "@seneschal/kernel";
import type { Collections, Commit, DocumentStore, Random, Vault } from "@seneschal/kernel/ports";
import { settled } from "@seneschal/kernel/store";

/** What idempotency needs of a store: merge it into the collections that the service opens its store with. */
export const idempotencyCollections: Collections = {
  idempotency: { indexes: { expires: { key: (doc) => [doc["expires_at"] as number] } } },
};

/** Seals what is stored; an answer may hold secrets. A vault's `encrypt` and `decrypt` with a key of its own serve well. */
export interface Sealer {
  seal(plaintext: Uint8Array, aad: Uint8Array): Promise<string>;
  /** Rejects when the text cannot be opened any more. */
  open(sealed: string, aad: Uint8Array): Promise<Uint8Array>;
}

/** Seals by a key of a vault, made at its first use: a vault that is away keeps no service from its start. */
export function vaultSealer(vault: Pick<Vault, "createKey" | "encrypt" | "decrypt">, key: string): Sealer {
  let made = false;
  return {
    async seal(plaintext, aad) {
      if (!made) await vault.createKey(key);
      made = true;
      return vault.encrypt(key, plaintext, aad);
    },
    open: (sealed, aad) => vault.decrypt(key, sealed, aad),
  };
}

/** How long answers are kept: a day. */
const KEEP_MS = 24 * 3_600_000;

/** A document holds at most 1 MiB; a longer answer is not kept. */
const MAX_ANSWER = 900_000;

export interface IdempotencyOptions {
  readonly store: DocumentStore;
  readonly sealer: Sealer;
  readonly random: Random;
  /** The work was done and answered, but its answer could not be kept. */
  readonly onLost: (error: unknown) => void;
}

/** So often somebody else may take, leave or prune a key while it is asked for. */
const ATTEMPTS = 12;

/**
 * Idempotency keys on the document store; the laws are the port's. A record holds hashes of who asked what, and the answer sealed.
 * A record whose process died while the work ran answers `idempotency_conflict` until it expires: whether the work was
 * done is not known here, so it is not done twice.
 */
export function storeIdempotency(given: IdempotencyOptions): Idempotency {
  checkOptions("given", given, { store: "object", sealer: "object", random: "function", onLost: "function" });
  const { sealer, random, onLost, ...options } = given;
  const store = settled(options.store);
  const commitId = (): string => Buffer.from(random(16)).toString("hex");
  const commit = (writes: Pick<Commit, "puts" | "dels">) => store.commit({ commitId: commitId(), ...writes });

  async function forget(id: string, version: number): Promise<void> {
    await commit({ dels: [{ coll: "idempotency", id, ifVersion: version }] });
  }

  /** A few at a time, with every new key: the collection stays as small as a day's keys. One that was taken again meanwhile stays. */
  async function prune(now: number): Promise<void> {
    const { items } = await store.list("idempotency", "expires", [], { to: [now], limit: 8 });
    if (items.length === 0) return;
    await commit({ dels: items.map(({ id, version }) => ({ coll: "idempotency", id, ifVersion: version })) });
  }

  async function replay(doc: JsonObject, id: string, fingerprint: string): Promise<StoredResponse> {
    if (doc["fingerprint"] !== fingerprint) {
      throw new CodedError("idempotency_mismatch", "the idempotency key was used for another request");
    }
    if (doc["shown"] === true) {
      throw new CodedError(
        "reply_not_kept",
        "this request was carried out: what its answer showed is shown once and kept nowhere",
      );
    }
    if (typeof doc["answer"] !== "string") {
      throw new CodedError(
        "idempotency_conflict",
        "a request with this idempotency key is still running, or its answer was not kept",
      );
    }
    const kept = JSON.parse(Buffer.from(await sealer.open(doc["answer"], Buffer.from(id))).toString()) as {
      status: number;
      headers: Record<string, string>;
      body: string;
    };
    return { ...kept, body: new Uint8Array(Buffer.from(kept.body, "base64")) };
  }

  async function keep(id: string, record: JsonObject, version: number, answer: StoredResponse): Promise<void> {
    const put = (kept: JsonObject) =>
      commit({ puts: [{ coll: "idempotency", id, doc: { ...record, ...kept }, ifVersion: version }] });
    if (answer.secret === true) {
      await put({ shown: true });
      return;
    }
    const { status, headers, body } = answer;
    const plain = JSON.stringify({ status, headers, body: Buffer.from(body).toString("base64") });
    const sealed = await sealer.seal(Buffer.from(plain), Buffer.from(id));
    if (sealed.length <= MAX_ANSWER) await put({ answer: sealed });
  }

  /** Takes the key, or gives the record that holds it. */
  async function take(id: string, record: JsonObject, now: number): Promise<{ version: number } | { held: JsonObject }> {
    for (let attempt = 1; attempt <= ATTEMPTS; attempt += 1) {
      const found = await store.get("idempotency", id);
      if (found !== undefined && (found.doc["expires_at"] as number) > now) return { held: found.doc };
      // INVARIANT: on what was judged. Whoever took the key since this read keeps it.
      const puts = [{ coll: "idempotency", id, doc: record, ifVersion: found?.version ?? 0 }];
      const taken = await commit({ puts });
      if (taken.ok) return { version: taken.versions[`idempotency/${id}`] ?? 0 };
    }
    throw new CodedError("idempotency_conflict", "requests with this idempotency key come too often: try again");
  }

  return {
    async run(request, work) {
      const id = digest(request.principal, request.routeId, request.key);
      const fingerprint = digest(request.path, request.body);
      const record = { fingerprint, answer: null, expires_at: request.now + KEEP_MS };
      const taken = await take(id, record, request.now);
      if ("held" in taken) return replay(taken.held, id, fingerprint);
      const { version } = taken;

      let answer: StoredResponse;
      try {
        await prune(request.now);
        answer = await work();
      } catch (error) {
        // Who does not know whether it was done leaves the key taken: done twice is worse than refused.
        if (!leavesOpen(error)) await forget(id, version);
        throw error;
      }
      // The work is done: whatever happens to the record, the caller gets the answer. A repeat is then a conflict, never done twice.
      await keep(id, record, version, answer).catch(onLost);
      return answer;
    },
  };
}

/** Whether a failure, or what caused it, says that the work may have been done. */
function leavesOpen(error: unknown): boolean {
  return error instanceof Error && (isCoded(error, "outcome_unknown") || leavesOpen(error.cause));
}

/** SHA-256 over length-prefixed parts, so that no two lists of parts run together. */
function digest(...parts: readonly (string | Uint8Array)[]): string {
  const hash = createHash("sha256");
  for (const part of parts) {
    const bytes = Buffer.from(part);
    hash.update(`${bytes.length}:`).update(bytes);
  }
  return hash.digest("hex");
}
