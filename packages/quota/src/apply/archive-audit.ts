import type { ArchiveAudit } from "../command.ts";
import { reject } from "../errors.ts";
import { seqKey } from "../state/state.ts";
import type { Handled, Work } from "./work.ts";

/** Drops the oldest entries of the audit chain, which are kept elsewhere. The newest stays: the chain goes on from it. */
export function archiveAudit(work: Work, { through }: ArchiveAudit): Handled {
  const { draft } = work;
  if (!Number.isSafeInteger(through) || through >= draft.nextAudit - 1)
    return reject("invalid_argument", "through must be the sequence of an audit entry that is not the newest", {
      field: "through",
    });
  const old = [...draft.audit.keys("", seqKey(through + 1))];
  if (old.length === 0) return reject("stale_state", "archived before");
  for (const key of old) draft.audit = draft.audit.delete(key);
  return { ok: true, result: { archived: old.length } };
}
