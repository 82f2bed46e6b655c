import type { AuditGap } from "@seneschal/crypto/audit-log";
import { type NoteKey, verifyNote } from "@seneschal/crypto/merkle";
import { isCoded } from "@seneschal/kernel";
import type { DocumentStore } from "@seneschal/kernel/ports";
import { collection } from "../../../platform/collection.ts";
import { vaultName } from "../organization-keys.ts";

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
