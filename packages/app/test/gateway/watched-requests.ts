/** Suites that walk the routes hold their requests to it: what only reads writes nothing, and what changes something says so in the audit log, in the same commit. */
import { AsyncLocalStorage } from "node:async_hooks";
import { isDeepStrictEqual } from "node:util";
import type { Endpoint } from "@seneschal/contract";
import type { JsonObject } from "@seneschal/kernel";
import type { Commit, DocumentStore, Stored } from "@seneschal/kernel/ports";

/**
 * What changes without an audit event of its own, and why: members by collection, `+` that a document is made, `-` that it is taken away,
 * `*` whatever it is.
 */
const SILENT: Readonly<Record<string, readonly string[]>> = {
  // The log's own signatures, and keys and marks of the store's housekeeping.
  audit_checkpoints: ["*"],
  audit_log_keys: ["*"],
  idempotency: ["*"],
  leases: ["*"],
  dek_uses: ["*"],
  // When somebody was last heard of.
  admins: ["last_login_at"],
  users: ["last_login_at"],
  devices: ["last_seen_at"],
  services: ["last_seen_at", "last_used_at"],
  edges: ["status", "last_seen_at"],
  federations: ["last_health_check", "last_heard_at"],
  // What is still to be told to a partner, and how far it was: what is told was recorded when it changed.
  dispatches: ["*"],
  workspace_shares: ["*"],
  messages: ["attempts", "error_detail", "updated_at", "due_at"],
  // How far an organisation followed an owner elsewhere: what changed was told to the logs of all organisations here with the first of them.
  workspace_replicas: ["sequence", "updated_at", "revision", "state_sha256", "retired_policies"],
  workspace_seats: ["deks"],
  // It is begun: its end is recorded, as made or as failed.
  backups: ["+"],
  // A signature is used up by the operation that it is for, whose end is recorded.
  signing_requests: ["used"],
};

/** What counts the revisions of a document: signatures cover it. */
const COUNTED: Readonly<Record<string, string>> = { workspaces: "revision", policies: "version" };

interface Request {
  readonly id: string;
  /** It shows what there is, and marks nothing. */
  readonly reads: boolean;
  readonly unsaid: Set<string>;
}
const requests = new AsyncLocalStorage<Request>();
const stores = new WeakMap<DocumentStore, DocumentStore>();

/** The same endpoints. What their requests change against the law is added to `unsaid`, in words. */
export function watchedEndpoints(endpoints: readonly Endpoint[], unsaid: Set<string>): readonly Endpoint[] {
  return endpoints.map((endpoint) => {
    const { id, route } = endpoint;
    const shows = route.method === "GET" || route.action?.endsWith(":read") === true;
    const request = { id, reads: shows && route.changesOnRead !== true, unsaid };
    return { ...endpoint, handle: (wire) => requests.run(request, () => endpoint.handle(wire)) };
  });
}

/** The same store, for endpoints that are watched; one for each, however many gateways share it. */
export function watchedStore(inner: DocumentStore): DocumentStore {
  const known = stores.get(inner);
  if (known !== undefined) return known;
  const store: DocumentStore = {
    ...inner,
    async commit(commit) {
      const request = requests.getStore();
      const { audit = [] } = commit;
      const said = audit.length > 0;
      const suspect = writesOf(commit).filter(({ coll }) => request !== undefined && (!said || request.reads || COUNTED[coll]));
      const before = await Promise.all(suspect.map(({ coll, id }) => inner.get(coll, id)));
      const result = await inner.commit(commit);
      if (!result.ok || request === undefined) return result;
      if (request.reads && audit.some(({ event }) => event["result"] !== "denied"))
        request.unsaid.add(`${request.id} reads, and records an event`);
      for (const [i, { coll, doc }] of suspect.entries()) {
        const members = changed(before[i], doc).filter((member) => !isSilent(coll, member));
        if (members.length === 0) continue;
        const what = `${request.id}, ${coll} (${members.join(" ")})`;
        if (request.reads) request.unsaid.add(`${what}: it only reads`);
        else if (!said) request.unsaid.add(`${what}: no audit event`);
        const [was, is] = [before[i]?.doc, doc].map((of) => of?.[COUNTED[coll] ?? ""]);
        if (typeof was === "number" && typeof is === "number" && is <= was)
          request.unsaid.add(`${what}: the same ${COUNTED[coll]}`);
      }
      return result;
    },
  };
  stores.set(inner, store);
  stores.set(store, store);
  return store;
}

function writesOf({ puts = [], dels = [] }: Commit): readonly { coll: string; id: string; doc?: JsonObject }[] {
  return [...puts, ...dels];
}

const isSilent = (coll: string, member: string): boolean =>
  SILENT[coll]?.some((silent) => silent === "*" || silent === member) === true;

function changed(before: Stored | undefined, doc: JsonObject | undefined): readonly string[] {
  if (before === undefined) return doc === undefined ? [] : ["+"];
  if (doc === undefined) return ["-"];
  const names = new Set([...Object.keys(before.doc), ...Object.keys(doc)]);
  // Undefined members are not kept.
  return [...names].filter((name) => !isDeepStrictEqual(kept(before.doc[name]), kept(doc[name])));
}

const kept = (value: unknown): unknown => (value === undefined ? undefined : JSON.parse(JSON.stringify(value)));
