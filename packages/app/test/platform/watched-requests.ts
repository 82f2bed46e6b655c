/** Suites that walk the routes hold their requests to it: what only reads writes nothing, and what changes something says so in the audit log, in the same commit. */
import { AsyncLocalStorage } from "node:async_hooks";
import { isDeepStrictEqual } from "node:util";
import type { Endpoint } from "@seneschal/contract";
import type { JsonObject } from "@seneschal/kernel";
import type { Commit, DocumentStore, ReplicatedLog, Stored } from "@seneschal/kernel/ports";

/** What a service changes without saying so, and how it says things. */
export interface RequestLaw {
  /**
   * What changes without an audit event of its own, and why: members by collection, `+` that a document is made, `-` that it is taken away,
   * `*` whatever it is.
   */
  readonly silent: Readonly<Record<string, readonly string[]>>;
  /** What counts the revisions of a document, by collection: signatures cover it. */
  readonly counted?: Readonly<Record<string, string>>;
  /** That somebody was refused: what reads may record it. */
  readonly isRefusal: (event: JsonObject) => boolean;
  /** Requests that read, of which the audit log tells, and why. */
  readonly recorded?: readonly string[];
}

/** The endpoints and the store of a service, whose requests are held to its law. */
export interface WatchedRequests {
  /** The same endpoints. What their requests change against the law is added to `unsaid`, in words. */
  endpoints(endpoints: readonly Endpoint[], unsaid: Set<string>): readonly Endpoint[];
  /** The same store, for endpoints that are watched; one for each, however many services share it. */
  store(inner: DocumentStore): DocumentStore;
}

interface Request {
  readonly id: string;
  /** It shows what there is, and marks nothing. */
  readonly reads: boolean;
  /** It changes nothing; that it was asked may be recorded. */
  readonly shows: boolean;
  readonly unsaid: Set<string>;
}

/** Whatever the request of a service is that is under way. */
const requests = new AsyncLocalStorage<Request>();

/** The same log: what requests that only read append to it is told. */
export function watchedLog(inner: ReplicatedLog): ReplicatedLog {
  return {
    ...inner,
    async append(head, entry) {
      const request = requests.getStore();
      const kinds = entry.commands.map(({ kind }) => kind).join(" ");
      if (request?.shows) request.unsaid.add(`${request.id}, ${kinds}: it only reads`);
      return inner.append(head, entry);
    },
  };
}

/** Throws in words when requests broke the law. */
export function checkUnsaid(unsaid: ReadonlySet<string>): void {
  if (unsaid.size > 0) throw new Error(`changed without saying so: ${[...unsaid].join("; ")}`);
}

/** Follows requests into the commits that they make. */
export function watchRequests({ silent, counted = {}, isRefusal, recorded = [] }: RequestLaw): WatchedRequests {
  const stores = new WeakMap<DocumentStore, DocumentStore>();
  const isSilent = (coll: string, member: string): boolean => silent[coll]?.some((one) => one === "*" || one === member) === true;
  return {
    endpoints: (endpoints, unsaid) =>
      endpoints.map((endpoint) => {
        const { id, route } = endpoint;
        const reads = (route.method === "GET" || route.action?.endsWith(":read") === true) && route.changesOnRead !== true;
        const request = { id, reads: reads && !recorded.includes(id), shows: reads || route.safe === true, unsaid };
        return { ...endpoint, handle: (wire) => requests.run(request, () => endpoint.handle(wire)) };
      }),
    store(inner) {
      const known = stores.get(inner);
      if (known !== undefined) return known;
      const store: DocumentStore = {
        ...inner,
        async commit(commit) {
          const request = requests.getStore();
          if (request === undefined) return inner.commit(commit);
          const { audit = [] } = commit;
          const said = audit.length > 0;
          const suspect = writesOf(commit).filter(({ coll }) => !said || request.shows || counted[coll]);
          const before = await Promise.all(suspect.map(({ coll, id }) => inner.get(coll, id)));
          const result = await inner.commit(commit);
          if (!result.ok) return result;
          if (request.reads && audit.some(({ event }) => !isRefusal(event)))
            request.unsaid.add(`${request.id} reads, and records an event`);
          for (const [i, { coll, doc }] of suspect.entries()) {
            const members = changed(before[i], doc).filter((member) => !isSilent(coll, member));
            if (members.length === 0) continue;
            const what = `${request.id}, ${coll} (${members.join(" ")})`;
            if (request.shows) request.unsaid.add(`${what}: it only reads`);
            else if (!said) request.unsaid.add(`${what}: no audit event`);
            const [was, is] = [before[i]?.doc, doc].map((of) => of?.[counted[coll] ?? ""]);
            if (typeof was === "number" && typeof is === "number" && is <= was)
              request.unsaid.add(`${what}: the same ${counted[coll]}`);
          }
          return result;
        },
      };
      stores.set(inner, store);
      stores.set(store, store);
      return store;
    },
  };
}

function writesOf({ puts = [], dels = [] }: Commit): readonly { coll: string; id: string; doc?: JsonObject }[] {
  return [...puts, ...dels];
}

function changed(before: Stored | undefined, doc: JsonObject | undefined): readonly string[] {
  if (before === undefined) return doc === undefined ? [] : ["+"];
  if (doc === undefined) return ["-"];
  const names = new Set([...Object.keys(before.doc), ...Object.keys(doc)]);
  // Undefined members are not kept.
  return [...names].filter((name) => !isDeepStrictEqual(kept(before.doc[name]), kept(doc[name])));
}

const kept = (value: unknown): unknown => (value === undefined ? undefined : JSON.parse(JSON.stringify(value)));
