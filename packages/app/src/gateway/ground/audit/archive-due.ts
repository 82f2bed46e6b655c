import type { BackupTarget } from "@seneschal/adapters/backups";
import { checkArgument } from "@seneschal/kernel";
import { type ArchivedSegment, archiveDue } from "../../../platform/audit-log/index.ts";
import { systemCall } from "../call.ts";
import type { GroundServices } from "../services.ts";
import { instanceStream } from "./event.ts";

/**
 * Archives what is due of the gateway's log, segment by segment: each is in the archive, was read back from there and verified, and stands in the log
 * (`audit.archive`) before its events leave the store. Events that a sink has not heard stay; the next run goes on after a crash.
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
  const { store, audit, config, metrics } = services;
  return archiveDue(
    {
      store,
      sinks: Object.keys(config.audit_sinks),
      archive: audit.archive,
      keep: ({ first, last, id, sha256 }, keep) =>
        services.transact(systemCall("system:audit-archive", instanceStream, given.now), async (unit) => {
          if (!(await keep(unit))) return false;
          unit.record({ type: "audit.archive", org: instanceStream, metadata: { first, last, segment: id, sha256 } });
          return true;
        }),
      archivedThrough: metrics.archivedThrough,
    },
    target,
    given,
  );
}
