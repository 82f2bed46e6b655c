import type { BackupTarget } from "@seneschal/adapters/backups";
import { bytesEqual } from "@seneschal/crypto";
import { ArchiveWalk, archiveDamaged, type LogIdentity, wholeLog } from "@seneschal/crypto/audit-log";
import { TileCollector } from "@seneschal/crypto/merkle";
import type { DocumentStore } from "@seneschal/kernel/ports";
import { archivedLog, archivedSegment } from "./archived.ts";
import { commitGuarded } from "./guarded-writes.ts";
import { chainOf, segmentEvents } from "./read-archive.ts";
import { cutTiles, keptTiles, putTiles } from "./tiles.ts";

/**
 * Makes the hashes that are kept of archived events anew from the archive, for each log whose hashes are not what was signed, and answers with these logs.
 * The whole archive is verified first, and that it comes to what the key has signed of each of them in the store: one that was changed mends nothing. Throws
 * `audit_archive_damaged`.
 */
export async function mendTiles(
  log: LogIdentity & { readonly store: DocumentStore },
  target: BackupTarget,
): Promise<readonly string[]> {
  const { store, form } = log;
  const newest = await archivedSegment(store);
  if (newest === undefined) return [];
  const chain = await chainOf(target, [form], newest);
  const wrong = new Map<string, { readonly size: number; readonly root: Uint8Array }>();
  for (const stream of new Set(chain.flatMap(({ manifest }) => manifest.logs.map((signed) => signed.stream)))) {
    if (stream === wholeLog && !form.signsWhole) continue;
    const archived = await archivedLog(store, stream, log);
    if (archived === undefined || archived === "damaged")
      throw archiveDamaged(`what is said in the database of the archived log of ${stream} is not signed by the key`);
    const { range } = archived;
    if ((await keptTiles(store, stream, form).wrongUnder(range)) !== undefined)
      wrong.set(stream, { size: range.size, root: range.root() });
  }
  if (wrong.size === 0) return [];

  const verified = new ArchiveWalk(log);
  for (const link of chain) await verified.take(link, segmentEvents(target, link.name.id));
  for (const [stream, { size, root }] of wrong) {
    const range = verified.ranges.get(stream);
    if (range?.size !== size || !bytesEqual(range.root(), root))
      throw archiveDamaged(`the archive does not come to what was signed of the archived log of ${stream}`);
  }

  const collected = new Map([...wrong.keys()].map((stream) => [stream, new TileCollector()]));
  const again = new ArchiveWalk(log, (stream) => collected.get(stream)?.onNode);
  for (const link of chain) {
    await again.take(link, segmentEvents(target, link.name.id));
    for (const [stream, tiles] of collected) {
      const full = tiles.take();
      await commitGuarded(store, async (unit) => putTiles(unit, stream, full));
    }
  }
  for (const [stream, tiles] of collected)
    await commitGuarded(store, async (unit) => {
      putTiles(unit, stream, tiles.open());
      // The last tile of a level may have had more: those are made anew of events that are in the store.
      await cutTiles(unit, stream, (wrong.get(stream) as { readonly size: number }).size);
    });
  return [...wrong.keys()];
}
