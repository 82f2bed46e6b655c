import type { BackupTarget } from "@seneschal/adapters/backups";
import { type SegmentDue, type SegmentName, segmentDue } from "@seneschal/crypto/audit-log";
import { checkArgument } from "@seneschal/kernel";
import type { DocumentStore } from "@seneschal/kernel/ports";
import { placeOf } from "../audit-sinks/places.ts";
import { Lease } from "../jobs/lease.ts";
import type { SegmentToKeep } from "./archive-segment.ts";

/** Longer than a segment takes; it is renewed by each run. */
const LEASE_MS = 60_000;

/** A segment that was archived, and the numbers of its events in the whole log. */
export interface ArchivedSegment extends SegmentName {
  readonly first: number;
  readonly last: number;
}

/** A log whose events leave the store. */
export interface LogThatIsDue {
  readonly store: DocumentStore;
  /** Names of the sinks that must have heard an event before it goes. */
  readonly sinks: readonly string[];
  archive(target: BackupTarget, due: SegmentDue): Promise<SegmentToKeep | undefined>;
  /** Commits what `keep` writes together with an event `audit.archive` that names the segment, or nothing when that answers false. */
  keep(segment: ArchivedSegment, keep: SegmentToKeep["keep"]): Promise<boolean>;
  /** Events of the whole log up to this number are in the archive. */
  archivedThrough(last: number): void;
}

/**
 * Archives what is due, segment by segment: each is in the archive, was read back from there and verified, and stands in the log (`audit.archive`) before
 * its events leave the store. Events that a sink has not heard stay. A crash anywhere leaves them in the store, in the archive or in both; the next run goes on.
 *
 * @param given.olderThan milliseconds that events stay at least
 * @param given.few whether few events wait for more
 */
export async function archiveDue(
  log: LogThatIsDue,
  target: BackupTarget,
  given: { readonly olderThan: number; readonly now: number; readonly few?: boolean },
): Promise<readonly ArchivedSegment[]> {
  checkArgument("target", target, "object");
  checkArgument("given", given, "object");
  const archived: ArchivedSegment[] = [];
  for (;;) {
    const segment = await log.archive(target, segmentDue({ few: true, ...given, heard: await heardBySinks(log) }));
    if (segment === undefined) return archived;
    const { first, last, name } = segment;
    if (!(await log.keep({ ...name, first, last }, segment.keep))) return archived;
    log.archivedThrough(last);
    await segment.forget();
    archived.push({ ...name, first, last });
  }
}

async function heardBySinks({ store, sinks }: LogThatIsDue): Promise<readonly number[]> {
  const places = await Promise.all(sinks.map((name) => placeOf(store, name)));
  return places.map((place) => place?.seq ?? 0);
}

/** Rounds of archiving: of processes that share a store one does them. */
export function archiveRounds(store: DocumentStore, newId: () => string) {
  const lease = store.capabilities.multiProcess ? new Lease(store, "audit archive", newId(), LEASE_MS) : undefined;
  return {
    /** Runs a round, unless another process has them. */
    async run(now: number, round: () => Promise<unknown>): Promise<void> {
      if (lease === undefined || (await lease.hold(now, newId()))) await round();
    },
    /** Lets another process have them. */
    release: async (): Promise<void> => lease?.release(newId()),
  };
}
