import { KeptTiles, type LogForm, logLeaves, type SignedGap } from "@seneschal/crypto/audit-log";
import type { LeafRange, Tile, TiledTree, TileId } from "@seneschal/crypto/merkle";
import type { DocumentStore } from "@seneschal/kernel/ports";
import { base64, bytes } from "../bytes.ts";
import { collection } from "../collection.ts";
import type { GuardedWrites } from "./guarded-writes.ts";
import { readable } from "./readable.ts";
import { recordsInOrder } from "./records.ts";

/** Up to 256 hashes of a stream's tree, one behind the other, base64 (C2SP tlog-tiles). */
interface StoredTile {
  readonly hashes: string;
}

export const auditTiles = collection<StoredTile>("audit_tiles");

/** How far the tiles of a stream go. They are made of its events and believed by nobody: a log without any is as good, and proven more slowly. */
interface StoredTree {
  readonly size: number;
}

export const auditTrees = collection<StoredTree>("audit_trees");

/** The most events behind the tiles that a proof reads before tiles are made of them, and that are made tiles of in one commit. */
export const UNTILED = 2048;

const idOf = (stream: string, { level, index }: Pick<TileId, "level" | "index">): string => `${level}/${index}/${stream}`;

/** How many events of a stream have tiles, of so many that are signed: what is unreadable or nonsense is none. */
export async function tiledSize(read: Pick<DocumentStore, "get">, stream: string, signed: number): Promise<number> {
  const stored = await readable(() => read.get(auditTrees.name, stream));
  const size = stored === undefined || stored === "damaged" ? 0 : (stored.doc as unknown as StoredTree).size;
  return Number.isSafeInteger(size) && size > 0 ? Math.min(size, signed) : 0;
}

/** The tiles of a stream as they are kept, as far as they are there and readable. */
export function keptTiles(store: DocumentStore, stream: string, { sha256 }: Pick<LogForm, "sha256">): KeptTiles {
  return new KeptTiles(async (tiles) => {
    const stored = await Promise.all(tiles.map((tile) => readable(() => store.get(auditTiles.name, idOf(stream, tile)))));
    return stored.map((found) => {
      const hashes: unknown = found === undefined || found === "damaged" ? "" : (found.doc as unknown as StoredTile).hashes;
      const data = typeof hashes === "string" ? bytes(hashes) : new Uint8Array();
      // Several texts mean the same bytes; one of them is ours.
      return base64(data) === hashes ? data : new Uint8Array();
    });
  }, sha256);
}

/** A stream as far as it is signed. */
interface SignedStream {
  readonly stream: string;
  readonly size: number;
  readonly gaps: readonly SignedGap[];
  readonly form: LogForm;
  /** So many of its events are archived: of those the tiles are all that the store has. */
  readonly archived?: number | undefined;
}

const leavesOf = (store: DocumentStore, { stream, gaps, form }: SignedStream, from: number, to: number) =>
  logLeaves((number) => recordsInOrder(store, stream, number), { stream, from, to, gaps, form });

/** The tree of a stream as it is kept, for the roots over these ranges. */
export async function readTree(store: DocumentStore, ranges: readonly LeafRange[], signed: SignedStream): Promise<TiledTree> {
  const { stream, size, form, archived = 0 } = signed;
  const tiled = Math.max(archived, await tiledSize(store, stream, size));
  return keptTiles(store, stream, form).tree(ranges, tiled, leavesOf(store, signed, tiled, size));
}

/**
 * Makes tiles of the events that are signed and have none yet, {@link UNTILED} at most, and tells whether there are `more` of them. Ends where a record is
 * missing, and begins anew, behind what is archived, where a tile is (`damaged`). The events are not verified: nothing is proven by tiles but what holds under a signed root.
 */
export async function extendTiles(
  store: DocumentStore,
  unit: GuardedWrites,
  signed: SignedStream,
): Promise<"done" | "more" | "damaged"> {
  const { stream, size, form, archived = 0 } = signed;
  // Guards what is written: another process makes the same tiles.
  await unit.get(auditTrees, stream).catch(() => undefined);
  const from = Math.max(archived, await tiledSize(store, stream, size));
  const to = Math.min(size, from + UNTILED);
  if (from === to) return "done";
  const grown = await keptTiles(store, stream, form).grow(from, leavesOf(store, signed, from, to));
  if (grown === "damaged") {
    // INVARIANT: no tile goes whose events are not in the store.
    unit.put(auditTrees, stream, { size: archived });
    return "damaged";
  }
  if (grown.size === from) return "done";
  putTiles(unit, stream, grown.tiles);
  unit.put(auditTrees, stream, { size: grown.size });
  return grown.size === to && to < size ? "more" : "done";
}

/** Writes tiles; nothing is believed of them. */
export function putTiles(unit: GuardedWrites, stream: string, tiles: readonly Tile[]): void {
  for (const tile of tiles)
    unit.put(auditTiles, idOf(stream, tile), { hashes: base64(tile.hashes.subarray(0, tile.width * 32)) });
}

/** Forgets the tiles of a stream from one leaf on: they are made anew. */
export async function cutTiles(unit: GuardedWrites, stream: string, size: number): Promise<void> {
  await unit.get(auditTrees, stream).catch(() => undefined);
  unit.put(auditTrees, stream, { size });
}
