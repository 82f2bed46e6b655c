import type { schedulerContract } from "@seneschal/contract/scheduler";
import { type AuditRecord, auditHash } from "@seneschal/quota";
import type * as z from "zod";

type Entry = z.output<typeof schedulerContract.listAudit.reply>[number];

/** How far a chain is: so many entries, and the hash of the last one in hex; of none the empty text. */
export interface ChainHead {
  readonly size: number;
  readonly hash: string;
}

/**
 * Whether the scheduler's entries behind `from` lead to `head`. They are read newest first, each hashed as it comes, so that a chain of any length
 * takes one page of memory; an entry that is changed, left out, put in or not there ends it.
 *
 * @param page entries from the number `through` on downwards
 */
export async function chainLeadsTo(
  head: ChainHead,
  from: ChainHead,
  page: (through: number) => Promise<readonly Entry[]>,
): Promise<boolean> {
  // The entry whose hash is vouched for, before which stands what it continues.
  let above: AuditRecord | undefined;
  for (let size = head.size; size > from.size; ) {
    const entries = await page(size);
    if (entries.length === 0) return false;
    for (const entry of entries) {
      if (size === from.size) break;
      const record = recordOf(entry);
      if (record.seq !== size) return false;
      if (above === undefined ? record.hash !== head.hash : auditHash(record.hash, above) !== above.hash) return false;
      above = record;
      size--;
    }
  }
  return above === undefined ? head.hash === from.hash : auditHash(from.hash, above) === above.hash;
}

/** An entry under the names by which it is hashed. */
function recordOf(entry: Entry): AuditRecord {
  const { id, timestamp, action, user_id: user, resource_type: resourceType, resource_id: resourceId, details, hash } = entry;
  return { seq: Number(id), at: Date.parse(timestamp), action, user, resourceType, resourceId, details, hash } as AuditRecord;
}
