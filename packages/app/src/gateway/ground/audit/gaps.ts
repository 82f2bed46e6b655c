import { type NoteKey, verifyNote } from "@seneschal/crypto/merkle";
import { isCoded } from "@seneschal/kernel";
import type { DocumentStore } from "@seneschal/kernel/ports";
import type { AuditGap, SignedGap } from "../../../platform/audit-log/index.ts";
import { collection } from "../../../platform/collection.ts";
import { vaultName } from "../organizations/kek-name.ts";

/** The operator's word that records are gone, signed by the log's key. */
interface StoredAcceptance extends AuditGap {
  /** C2SP signed note of {@link acceptanceText}. */
  readonly note: string;
}

export const acceptances = collection<StoredAcceptance>("audit_gaps", {
  by_first: { key: ({ first, last }) => [first, last] },
});

/** What is signed to accept a gap of the whole log. Its first line is no checkpoint's. */
export function acceptanceText(instance: string, { first, last }: AuditGap, at: string, reason: string): string {
  return `${origin(instance)}\n${first} ${last}\n${at}\n${JSON.stringify(reason)}\n`;
}

const origin = (instance: string): string => `seneschal.audit.gap/${vaultName(instance)}`;

/** What an acceptance covers, if the key has signed just that. */
export function acceptedBy({ first, last, note }: StoredAcceptance, instance: string, key: NoteKey): AuditGap | undefined {
  try {
    const [name, range] = verifyNote(note, [key]).text.split("\n");
    return name === origin(instance) && range === `${first} ${last}` ? { first, last } : undefined;
  } catch {
    return undefined;
  }
}

/** Every gap of the whole log that was accepted, in order; what the key has not signed is none. */
export async function acceptedGaps(store: DocumentStore, instance: string, key: NoteKey): Promise<readonly AuditGap[]> {
  const accepted: AuditGap[] = [];
  let cursor: string | undefined;
  try {
    do {
      const options = { limit: 250, ...(cursor === undefined ? {} : { cursor }) };
      const page = await store.list(acceptances.name, "by_first", [], options);
      for (const { doc } of page.items) {
        const gap = acceptedBy(doc as unknown as StoredAcceptance, instance, key);
        if (gap !== undefined) accepted.push(gap);
      }
      cursor = page.cursor;
    } while (cursor !== undefined);
  } catch (error) {
    // What cannot be read accepts nothing.
    if (!isCoded(error, "store_damaged")) throw error;
  }
  return accepted.sort((a, b) => a.first - b.first);
}

/** Whether gaps in order leave none of these numbers out. */
export function covers(accepted: readonly AuditGap[], { first, last }: AuditGap): boolean {
  let next = first;
  for (const gap of accepted) if (gap.first <= next && gap.last >= next) next = gap.last + 1;
  return next > last;
}

const sizeOf = ({ first, last }: AuditGap): number => last - first + 1;

/**
 * Accounts for `missing` records of a stream between two that are there, by numbers of the whole log: gaps of it that lie between
 * them and that no other stream accounts for. `undefined` when those are too few. The earliest are taken: later ones may still
 * be another stream's.
 */
export function claim(
  whole: readonly SignedGap[],
  missing: number,
  { after, before }: { readonly after: number; readonly before: number },
): readonly SignedGap[] | undefined {
  let left = missing;
  const claimed = whole.map((gap): SignedGap => {
    if (gap.first <= after || gap.last >= before) return gap;
    const taken = Math.min(left, sizeOf(gap) - (gap.claimed ?? 0));
    left -= taken;
    return { ...gap, claimed: (gap.claimed ?? 0) + taken };
  });
  return left === 0 ? claimed : undefined;
}
