import { bytesEqual } from "@seneschal/crypto";
import { gapLeaf, type LogForm, numberIn, type SignedGap } from "@seneschal/crypto/audit-log";
import {
  CompactRange,
  type LeafRange,
  openTiles,
  type Sha256,
  TILE_WIDTH,
  type Tile,
  TileCollector,
  TiledTree,
  type TileId,
  tileLeaf,
  tilesBetween,
  tileWidth,
} from "@seneschal/crypto/merkle";
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

/** The hashes of tiles, as far as they are there and readable; of another length than was asked for, what there is. */
async function hashesOf(store: DocumentStore, stream: string, tiles: readonly TileId[]): Promise<readonly Uint8Array[]> {
  const stored = await Promise.all(tiles.map((tile) => readable(() => store.get(auditTiles.name, idOf(stream, tile)))));
  return stored.map((found, i) => {
    const hashes: unknown = found === undefined || found === "damaged" ? "" : (found.doc as unknown as StoredTile).hashes;
    const data = typeof hashes === "string" ? bytes(hashes) : new Uint8Array();
    // Several texts mean the same bytes; one of them is ours.
    return base64(data) === hashes ? data.subarray(0, (tiles[i]?.width ?? 0) * 32) : new Uint8Array();
  });
}

/** The leaf hashes of a stream from one index up to its size, with those of its gaps; fewer where a record is missing. */
async function* leavesOf(
  store: DocumentStore,
  { stream, from, size: to, gaps, form }: SignedStream & { readonly from: number },
): AsyncGenerator<Uint8Array> {
  let next = from + 1;
  const inGap = (): boolean => gaps.some(({ first, last }) => first <= next && next <= last);
  const passGaps = function* (): Generator<Uint8Array> {
    for (; next <= to && inGap(); next++) yield gapLeaf(stream, next, form.sha256);
  };
  yield* passGaps();
  if (next > to) return;
  for await (const page of recordsInOrder(store, stream, next)) {
    for (const record of page) {
      if (numberIn(stream, record) !== next) return;
      yield form.leaf(record);
      next += 1;
      yield* passGaps();
      if (next > to) return;
    }
  }
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

async function tilesOf(store: DocumentStore, stream: string, tiles: readonly TileId[]): Promise<ReadonlyMap<string, Uint8Array>> {
  const hashes = await hashesOf(store, stream, tiles);
  return new Map(tiles.map(({ level, index }, i) => [`${level}/${index}`, hashes[i] as Uint8Array]));
}

/** The tree of a stream as it is kept, for the roots over these ranges. */
export async function readTree(store: DocumentStore, ranges: readonly LeafRange[], signed: SignedStream): Promise<TiledTree> {
  const { stream, size, form, archived = 0 } = signed;
  const tiled = Math.max(archived, await tiledSize(store, stream, size));
  const tiles = await tilesOf(store, stream, TiledTree.tiles(ranges, tiled));
  const tail: Uint8Array[] = [];
  for await (const leaf of leavesOf(store, { ...signed, from: tiled })) tail.push(leaf);
  return new TiledTree(tiled, tiles, tail, form.sha256);
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
  const tiles = await tilesOf(store, stream, [...TiledTree.tiles([{ from: 0, to: from }], from), ...openTiles(from)]);
  const range = new TiledTree(from, tiles, [], form.sha256).edge();
  const open = openTiles(from).map((tile): Tile => ({ ...tile, hashes: tiles.get(`${tile.level}/${tile.index}`) as Uint8Array }));
  if (range === undefined || open.some(({ hashes, width }) => hashes.length < width * 32)) {
    // INVARIANT: no tile goes whose events are not in the store.
    unit.put(auditTrees, stream, { size: archived });
    return "damaged";
  }
  const collected = new TileCollector(open);
  for await (const leaf of leavesOf(store, { ...signed, from, size: to })) range.appendHash(leaf, collected.onNode);
  if (range.size === from) return "done";
  putTiles(unit, stream, [...collected.take(), ...collected.open()]);
  unit.put(auditTrees, stream, { size: range.size });
  return range.size === to && to < size ? "more" : "done";
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

/** The hash of one leaf as the tiles have it; nobody vouches for it. */
export async function tiledLeaf(store: DocumentStore, stream: string, number: number): Promise<Uint8Array | undefined> {
  const tile = { level: 0, index: Math.floor((number - 1) / TILE_WIDTH), width: TILE_WIDTH };
  const [hashes] = await hashesOf(store, stream, [tile]);
  const at = ((number - 1) % TILE_WIDTH) * 32;
  return hashes !== undefined && hashes.length >= at + 32 ? hashes.subarray(at, at + 32) : undefined;
}

/** The leaf hashes of a log's first events as the tiles have them, until one is missing; nobody vouches for them. */
export async function* tiledLeaves(store: DocumentStore, stream: string, size: number): AsyncGenerator<Uint8Array> {
  for (let index = 0; index * TILE_WIDTH < size; index += 1) {
    const width = Math.min(TILE_WIDTH, size - index * TILE_WIDTH);
    const [hashes = new Uint8Array()] = await hashesOf(store, stream, [{ level: 0, index, width }]);
    for (let at = 0; at + 32 <= hashes.length; at += 32) yield hashes.subarray(at, at + 32);
    if (hashes.length < width * 32) return;
  }
}

/** The number of an archived event that stays in the store, as the newest of its stream, and is not the one that the tiles know. They are held against what is signed elsewhere. */
export async function changedBehind(
  store: DocumentStore,
  stream: string,
  { form, archived }: { readonly form: LogForm; readonly archived: number },
): Promise<number | undefined> {
  if (archived === 0) return undefined;
  for await (const page of recordsInOrder(store, stream))
    for (const record of page) {
      const number = numberIn(stream, record);
      if (number > archived) return undefined;
      const leaf = await tiledLeaf(store, stream, number);
      if (leaf === undefined || !bytesEqual(leaf, form.leaf(record))) return number;
    }
  return undefined;
}

/**
 * The first leaf below which tiles are not what a signed root says, of a log as far as it is archived: its events are not there to be compared. Every full
 * tile is held against the hash above it, the last of each level against the root.
 */
export async function wrongArchivedTile(
  store: DocumentStore,
  stream: string,
  { range, sha256 }: { readonly range: CompactRange; readonly sha256: Sha256 },
): Promise<number | undefined> {
  const { size } = range;
  for (const tile of tilesBetween(0, size)) {
    if (tile.width < TILE_WIDTH) continue;
    const above = { level: tile.level + 1, index: Math.floor(tile.index / TILE_WIDTH), width: TILE_WIDTH };
    const [own, parent] = await hashesOf(store, stream, [tile, above]);
    const folded = new CompactRange(0, [], sha256);
    for (let at = 0; own && at + 32 <= own.length; at += 32) folded.appendHash(own.subarray(at, at + 32));
    const at = (tile.index % TILE_WIDTH) * 32;
    if (folded.size < TILE_WIDTH || !parent || !bytesEqual(folded.root(), parent.subarray(at, at + 32))) return tileLeaf(tile, 0);
  }
  const tiles = await tilesOf(store, stream, TiledTree.tiles([{ from: 0, to: size }], size));
  const root = new TiledTree(size, tiles, [], sha256).root({ from: 0, to: size });
  return root !== undefined && bytesEqual(root, range.root()) ? undefined : 0;
}

/** Compares the tiles of a stream with its tree while that grows from leaf `from` on. */
export async function tileComparison(store: DocumentStore, stream: string, tiled: number, from = 0) {
  const edge = openTiles(from);
  const kept = await hashesOf(store, stream, edge);
  let wrong = edge.every(({ width }, at) => (kept[at]?.length ?? 0) >= width * 32) ? undefined : from;
  const collected = new TileCollector(
    edge.map((tile, at) => ({
      ...tile,
      hashes: wrong === undefined ? (kept[at] as Uint8Array) : new Uint8Array(tile.width * 32),
    })),
  );
  const compare = async (tiles: readonly Tile[]): Promise<void> => {
    const there = tiles
      .map((tile) => ({ ...tile, width: Math.min(tile.width, tileWidth(tile, tiled)) }))
      .filter(({ width }) => width > 0);
    const hashes = await hashesOf(store, stream, there);
    for (const [i, tile] of there.entries()) {
      const kept = hashes[i] as Uint8Array;
      const differs = Array.from({ length: tile.width }, (_, at) => at).find(
        (at) => !bytesEqual(kept.subarray(at * 32, at * 32 + 32), tile.hashes.subarray(at * 32, at * 32 + 32)),
      );
      if (differs !== undefined) wrong = Math.min(wrong ?? Number.POSITIVE_INFINITY, tileLeaf(tile, differs));
    }
  };
  return {
    onNode: collected.onNode,
    /** Compares what became full; `end` also what did not. */
    async compare(end = false): Promise<void> {
      await compare(end ? [...collected.take(), ...collected.open()] : collected.take());
    },
    /** The first leaf whose hash, or that of a subtree which begins with it, is another; `undefined`: none. */
    wrong: (): number | undefined => wrong,
  };
}
