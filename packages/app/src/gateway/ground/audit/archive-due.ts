import type { BackupTarget } from "@seneschal/adapters/backups";
import { timestamp } from "@seneschal/core/keys";
import { checkArgument } from "@seneschal/kernel";
import type { DocumentStore } from "@seneschal/kernel/ports";
import { placeOf } from "../../../platform/audit-sinks/places.ts";
import { systemCall } from "../call.ts";
import type { GroundServices } from "../services.ts";
import type { SegmentName } from "./archived.ts";
import { instanceStream } from "./event.ts";

/** A segment with few events waits so long for more: an archive of a quiet instance grows by one a day. */
const FEW_MS = 86_400_000;

/** A segment that was archived, and the numbers of its events in the whole log. */
export interface ArchivedSegment extends SegmentName {
  readonly first: number;
  readonly last: number;
}

/**
 * Archives what is due, segment by segment: each is in the archive, was read back from there and verified, and stands in the log (`audit.archive`) before
 * its events leave the store. Events that a sink has not heard stay. A crash anywhere leaves them in the store, in the archive or in both; the next run goes on.
 *
 * @param given.olderThan milliseconds that events stay at least
 * @param given.few whether few events wait for more
 */
export async function archiveDueEvents(
  services: GroundServices,
  target: BackupTarget,
  given: { readonly olderThan: number; readonly now: number; readonly few?: boolean },
): Promise<readonly ArchivedSegment[]> {
  checkArgument("services", services, "object");
  checkArgument("target", target, "object");
  checkArgument("given", given, "object");
  const { olderThan, now, few = true } = given;
  const archived: ArchivedSegment[] = [];
  const before = timestamp(now - olderThan);
  const alsoFew = timestamp(now - olderThan - (few ? FEW_MS : 0));
  for (;;) {
    const upTo = await heardByAll(services.store, Object.keys(services.config.audit_sinks));
    const segment = await services.audit.archive(target, { before, alsoFew, upTo });
    if (segment === undefined) return archived;
    const { first, last, name } = segment;
    const kept = await services.transact(systemCall("system:audit-archive", instanceStream, now), async (unit) => {
      if (!(await segment.keep(unit))) return false;
      unit.record({
        type: "audit.archive",
        org: instanceStream,
        metadata: { first, last, segment: name.id, sha256: name.sha256 },
      });
      return true;
    });
    if (!kept) return archived;
    services.metrics.archivedThrough(last);
    await segment.forget();
    archived.push({ ...name, first, last });
  }
}

async function heardByAll(store: DocumentStore, sinks: readonly string[]): Promise<number> {
  const places = await Promise.all(sinks.map((name) => placeOf(store, name)));
  return Math.min(Number.MAX_SAFE_INTEGER, ...places.map((place) => place?.seq ?? 0));
}
