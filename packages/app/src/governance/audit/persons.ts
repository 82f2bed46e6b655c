import { createHash, randomUUID } from "node:crypto";
import type { JsonObject } from "@seneschal/kernel";
import type { DocumentStore, Random, Stored } from "@seneschal/kernel/ports";
import { documentId } from "../document-ids.ts";
import { notFound } from "../fault.ts";
import type { AuditLog } from "./audit-log.ts";
import { auditOf, type Who } from "./event.ts";

/** Who a commitment in the log stands for. Without this document nobody can tell, or prove a guess. */
interface PersonDoc {
  readonly org: string;
  readonly user_id: string;
  readonly salt: string;
  readonly commitment: string;
}

/** What stands for a person whose name was erased. */
const ERASED = "(erased)";
const PREFIX = "person:";
/** Another process may erase somebody: what is remembered here is asked for again after so long. */
const REMEMBERED_MS = 60_000;
const MOST = 10_000;

/**
 * The names behind the commitments of the audit log. The log holds SHA-256(salt || user id) with a salt per person; salt and name are kept apart, so that a
 * name can be erased while every leaf of the tree stays what it was.
 */
export class Persons {
  readonly #store: DocumentStore;
  readonly #random: Random;
  readonly #now: () => number;
  readonly #known = new Map<string, { readonly commitment: string; readonly until: number }>();

  constructor(store: DocumentStore, random: Random, now: () => number) {
    this.#store = store;
    this.#random = random;
    this.#now = now;
  }

  /** The commitment to a person; made on first sight. */
  async commitmentTo(org: string, user: string): Promise<string> {
    const key = documentId(org, user);
    const known = this.#known.get(key);
    if (known !== undefined && known.until > this.#now()) return known.commitment;
    const commitment = (await this.find(org, user)) ?? (await this.#make(org, user));
    if (this.#known.size >= MOST) this.#known.clear();
    this.#known.set(key, { commitment, until: this.#now() + REMEMBERED_MS });
    return commitment;
  }

  /** The commitment to a person that the log knows. */
  async find(org: string, user: string): Promise<string | undefined> {
    return personDoc(await this.#store.get("audit_persons", documentId(org, user)))?.commitment;
  }

  /** Records with names for commitments. */
  async named<T extends { readonly user_id: string }>(org: string, records: readonly T[]): Promise<T[]> {
    const names = new Map<string, string>();
    for (const commitment of new Set(records.map((record) => record.user_id))) {
      if (!commitment.startsWith(PREFIX)) continue;
      const { items } = await this.#store.list("audit_persons", "by_commitment", [org, commitment], { limit: 1 });
      names.set(commitment, personDoc(items[0])?.user_id ?? ERASED);
    }
    return records.map((record) => ({ ...record, user_id: names.get(record.user_id) ?? record.user_id }));
  }

  /** The salt behind a commitment: with it and the name anybody can check the leaf. */
  async saltOf(org: string, commitment: string): Promise<string | undefined> {
    const { items } = await this.#store.list("audit_persons", "by_commitment", [org, commitment], { limit: 1 });
    return personDoc(items[0])?.salt;
  }

  /** Erases a name from the log for good, through the store of the request that asks for it. Throws `not_found`. */
  async erase(store: DocumentStore, org: string, user: string, by: Who): Promise<void> {
    const id = documentId(org, user);
    if ((await store.get("audit_persons", id)) === undefined) throw notFound(user);
    const draft = auditOf(by, { operation: "PERSON_ERASE", resource: "person", reasoning: "a name was erased from the log" });
    const { ok } = await store.commit({ commitId: randomUUID(), dels: [{ coll: "audit_persons", id }], audit: [draft] });
    if (ok) this.#known.delete(id);
  }

  async #make(org: string, user: string): Promise<string> {
    const salt = Buffer.from(this.#random(32));
    const commitment = `${PREFIX}${createHash("sha256").update(salt).update(user).digest("base64url")}`;
    const doc: PersonDoc = { org, user_id: user, salt: salt.toString("base64url"), commitment };
    const result = await this.#store.commit({
      commitId: randomUUID(),
      puts: [{ coll: "audit_persons", id: documentId(org, user), doc: doc as unknown as JsonObject, ifVersion: 0 }],
    });
    // Somebody else was first: theirs is the one.
    return result.ok ? commitment : ((await this.find(org, user)) ?? commitment);
  }
}

/** A store whose audit records name persons by commitments; `log` hears of those that are committed. */
export function withoutNames(store: DocumentStore, persons: Persons, log: AuditLog): DocumentStore {
  return {
    capabilities: store.capabilities,
    get: (coll, id) => store.get(coll, id),
    getMany: (coll, ids) => store.getMany(coll, ids),
    list: (coll, index, prefix, options) => store.list(coll, index, prefix, options),
    count: (coll, index, prefix, range) => store.count(coll, index, prefix, range),
    auditRead: (after, limit) => store.auditRead(after, limit),
    changes: (after, limit) => store.changes(after, limit),
    compact: (upTo) => store.compact(upTo),
    subscribe: (listener) => store.subscribe(listener),
    close: () => store.close(),
    async commit(commit) {
      if (commit.audit === undefined) return store.commit(commit);
      const audit = [];
      for (const draft of commit.audit) {
        const user_id = await persons.commitmentTo(draft.stream, String(draft.event["user_id"]));
        audit.push({ stream: draft.stream, event: Object.assign({}, draft.event, { user_id }) });
      }
      const result = await store.commit(Object.assign({}, commit, { audit }));
      if (result.ok) log.committed(audit, result.audit);
      return result;
    },
  };
}

function personDoc(stored: Stored | undefined): PersonDoc | undefined {
  return stored?.doc as unknown as PersonDoc | undefined;
}
