import type { Contract, Handlers, Principal } from "@seneschal/contract";
import type { Commit, CommitResult, DocumentStore } from "@seneschal/kernel/ports";
import { type Admission, type Admissions, type Attempt, asAdmitted, inOneMoment, recordedReads } from "../platform/index.ts";
import { lostRace } from "./fault.ts";
import type { GovernanceServices } from "./services.ts";

interface Input {
  readonly principal: Principal | undefined;
}

type AnyHandler = (services: GovernanceServices, input: Input) => unknown;

/**
 * The same handlers, each on reads of one moment: its first commit stands only while everything that it read is as it was, and
 * what it answers or throws without one was judged on reads that were true together. Otherwise it runs again: it has
 * written nothing by then. What its caller was let in by is among these reads: when it has changed, the caller is let in anew, or refused.
 */
export function handlersOfOneMoment<C extends Contract>(
  callers: Pick<Admissions, "of">,
  handlers: Handlers<C, GovernanceServices>,
): Handlers<C, GovernanceServices> {
  const wrapped = Object.entries(handlers).map(([id, handler]) => [
    id,
    (services: GovernanceServices, input: Input) => {
      const admission = callers.of(input.principal);
      const asked = asAdmitted(input, admission);
      return ofOneMoment(services.store, async (store) => (handler as AnyHandler)({ ...services, store }, asked()), admission);
    },
  ]);
  return Object.fromEntries(wrapped) as Handlers<C, GovernanceServices>;
}

/** Runs `work` on reads of one moment; see {@link handlersOfOneMoment}. */
export function ofOneMoment<R>(
  shared: DocumentStore,
  work: (store: DocumentStore) => Promise<R>,
  admission?: Admission,
): Promise<R> {
  return inOneMoment(() => guarded(shared, work, admission), lostRace, admission);
}

function guarded<R>(
  shared: DocumentStore,
  work: (store: DocumentStore) => Promise<R>,
  admission: Admission | undefined,
): Attempt<R> {
  const { store, hold, checks, ranges } = recordedReads(shared, { before: admission?.reads });
  let first: Promise<CommitResult> | undefined;
  const guards = (commit: Commit): Commit => {
    const read = checks();
    const versionOf = (coll: string, id: string) => read.find((check) => check.coll === coll && check.id === id)?.version;
    const own = [...(commit.puts ?? []), ...(commit.dels ?? []), ...(commit.checks ?? [])];
    const written = new Set(own.map(({ coll, id }) => `${coll}/${id}`));
    const asRead = <W extends { readonly coll: string; readonly id: string; readonly ifVersion?: number }>(write: W): W => {
      const version = write.ifVersion ?? versionOf(write.coll, write.id);
      return version === undefined ? write : { ...write, ifVersion: version };
    };
    return {
      ...commit,
      puts: (commit.puts ?? []).map(asRead),
      dels: (commit.dels ?? []).map(asRead),
      checks: [...(commit.checks ?? []), ...read.filter(({ coll, id }) => !written.has(`${coll}/${id}`))],
      ranges: [...(commit.ranges ?? []), ...ranges()],
    };
  };
  const own: DocumentStore = {
    ...store,
    commit(commit: Commit): Promise<CommitResult> {
      if (first !== undefined) return shared.commit(commit);
      first = shared.commit(guards(commit));
      return first;
    },
  };
  return {
    run: () => work(own),
    /** Whether what was judged is to be told. A commit whose outcome is an error is: nobody runs it twice. */
    stands: async () => (first === undefined ? hold() : first.then(({ ok }) => ok).catch(() => true)),
  };
}
