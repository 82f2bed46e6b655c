import { checkArgument } from "@seneschal/kernel";
import { bytesEqual } from "../bytes.ts";
import { CompactRange } from "../merkle/compact-range.ts";
import type { LeafRange } from "../merkle/proof-ranges.ts";
import {
  openTiles,
  TILE_WIDTH,
  type Tile,
  TileCollector,
  TiledTree,
  type TileId,
  tileLeaf,
  tilesBetween,
  tileWidth,
} from "../merkle/tiles.ts";
import { nobleSha256, type Sha256 } from "../merkle/tree-hash.ts";
import { gapLeaf, type SignedGap } from "./gaps.ts";
import { type LogForm, type LogRecord, numberIn } from "./record.ts";
import type { Leaves } from "./tree.ts";

const HASH_BYTES = 32;

/** Reads tiles: the hashes of each, one behind the other, as far as they are there and readable. */
export type ReadTiles = (tiles: readonly TileId[]) => Promise<readonly Uint8Array[]>;

/** Tiles that a log's tree has now, and how many leaves they go over. */
export interface GrownTiles {
  readonly tiles: readonly Tile[];
  readonly size: number;
}

/**
 * What is kept of a log's tree (C2SP tlog-tiles). Tiles are made of the log's events and believed by nobody: whatever is read here is held against what
 * is signed, and a log without any is as good, and proven more slowly.
 *
 * @example
 * ```ts
 * import { KeptTiles } from "@seneschal/crypto/audit-log";
 * import { CompactRange, leafHash } from "@seneschal/crypto/merkle";
 * const leaves = Array.from({ length: 300 }, (_, at) => leafHash(Uint8Array.of(at)));
 * const range = new CompactRange();
 * for (const leaf of leaves) range.appendHash(leaf);
 *
 * const store = new Map<string, Uint8Array>();
 * const kept = new KeptTiles(async (tiles) => tiles.map(({ level, index }) => store.get(`${level}/${index}`) ?? new Uint8Array()));
 * const grown = await kept.grow(0, leaves);
 * if (grown !== "damaged") for (const { level, index, hashes } of grown.tiles) store.set(`${level}/${index}`, hashes);
 * console.log([...store.keys()].join(" "), await kept.wrongUnder(range)); // 0/0 1/0 0/1 undefined
 * store.get("0/0")?.fill(0, 0, 1);
 * console.log(await kept.wrongUnder(range)); // 0
 * ```
 */
export class KeptTiles {
  readonly #read: ReadTiles;
  readonly #sha256: Sha256;

  constructor(read: ReadTiles, sha256: Sha256 = nobleSha256) {
    this.#read = async (tiles) =>
      (await read(tiles)).map((hashes, at) => hashes.subarray(0, (tiles[at]?.width ?? 0) * HASH_BYTES));
    this.#sha256 = sha256;
  }

  /** The tree over the first `tiled` leaves and the `tail` behind them, for the roots over these ranges. */
  async tree(ranges: readonly LeafRange[], tiled: number, tail: Leaves): Promise<TiledTree> {
    const tiles = await this.#byPlace(TiledTree.tiles(ranges, tiled));
    const behind: Uint8Array[] = [];
    for await (const leaf of tail) behind.push(leaf);
    return new TiledTree(tiled, tiles, behind, this.#sha256);
  }

  /** The tiles of the tree that goes on behind `from` leaves with these; `damaged` where one that it goes on from is not there. */
  async grow(from: number, leaves: Leaves): Promise<GrownTiles | "damaged"> {
    const edge = openTiles(from);
    const tiles = await this.#byPlace([...TiledTree.tiles([{ from: 0, to: from }], from), ...edge]);
    const range = new TiledTree(from, tiles, [], this.#sha256).edge();
    const open = edge.map((tile): Tile => ({ ...tile, hashes: tiles.get(placeOf(tile)) as Uint8Array }));
    if (range === undefined || !open.every(isThere)) return "damaged";
    const collected = new TileCollector(open);
    for await (const leaf of leaves) range.appendHash(leaf, collected.onNode);
    return { tiles: range.size === from ? [] : [...collected.take(), ...collected.open()], size: range.size };
  }

  /** The hash of one event, by its number. */
  async leaf(number: number): Promise<Uint8Array | undefined> {
    const index = Math.floor((number - 1) / TILE_WIDTH);
    const [hashes] = await this.#read([{ level: 0, index, width: TILE_WIDTH }]);
    const at = ((number - 1) % TILE_WIDTH) * HASH_BYTES;
    return hashes !== undefined && hashes.length >= at + HASH_BYTES ? hashes.subarray(at, at + HASH_BYTES) : undefined;
  }

  /** The hashes of the first `size` events, until one is missing. */
  async *leaves(size: number): AsyncGenerator<Uint8Array> {
    for (let index = 0; index * TILE_WIDTH < size; index += 1) {
      const width = Math.min(TILE_WIDTH, size - index * TILE_WIDTH);
      const [hashes = new Uint8Array()] = await this.#read([{ level: 0, index, width }]);
      yield* hashesIn(hashes);
      if (hashes.length < width * HASH_BYTES) return;
    }
  }

  /**
   * The first leaf below which tiles are not what a signed tree says, whose events need not be there to be compared: every full tile is held against the
   * hash above it, the last of each level against the root.
   */
  async wrongUnder(range: CompactRange): Promise<number | undefined> {
    checkArgument("range", range, "object");
    const { size } = range;
    for (const tile of tilesBetween(0, size)) {
      if (tile.width < TILE_WIDTH) continue;
      const above = { level: tile.level + 1, index: Math.floor(tile.index / TILE_WIDTH), width: TILE_WIDTH };
      const [own = new Uint8Array(), parent = new Uint8Array()] = await this.#read([tile, above]);
      const folded = new CompactRange(0, [], this.#sha256);
      for (const hash of hashesIn(own)) folded.appendHash(hash);
      const at = (tile.index % TILE_WIDTH) * HASH_BYTES;
      if (folded.size < TILE_WIDTH || !bytesEqual(folded.root(), parent.subarray(at, at + HASH_BYTES))) return tileLeaf(tile, 0);
    }
    const whole = { from: 0, to: size };
    const root = (await this.tree([whole], size, [])).root(whole);
    return root !== undefined && bytesEqual(root, range.root()) ? undefined : 0;
  }

  /** The number of a record up to `through` that is another than the one these tiles know. They are held against what is signed elsewhere. */
  async changed(
    pages: AsyncIterable<readonly LogRecord[]>,
    through: number,
    log: { readonly stream: string; readonly form: Pick<LogForm, "leaf"> },
  ): Promise<number | undefined> {
    if (through === 0) return undefined;
    for await (const page of pages)
      for (const record of page) {
        const number = numberIn(log.stream, record);
        if (number > through) return undefined;
        const leaf = await this.leaf(number);
        if (leaf === undefined || !bytesEqual(leaf, log.form.leaf(record))) return number;
      }
    return undefined;
  }

  /** Compares the tiles over the first `tiled` leaves with the tree while that grows from leaf `from` on. */
  async comparison(tiled: number, from = 0): Promise<TileComparison> {
    const edge = openTiles(from);
    const kept = await this.#read(edge);
    return new TileComparison(
      this.#read,
      tiled,
      from,
      edge.map((tile, at) => ({ ...tile, hashes: kept[at] ?? new Uint8Array() })),
    );
  }

  async #byPlace(tiles: readonly TileId[]): Promise<ReadonlyMap<string, Uint8Array>> {
    const hashes = await this.#read(tiles);
    return new Map(tiles.map((tile, at) => [placeOf(tile), hashes[at] ?? new Uint8Array()]));
  }
}

/** Tiles beside the tree that they are of, while it grows: see {@link KeptTiles.comparison}. */
export class TileComparison {
  readonly #read: ReadTiles;
  readonly #tiled: number;
  readonly #collected: TileCollector;
  #wrong: number | undefined;

  constructor(read: ReadTiles, tiled: number, from: number, edge: readonly Tile[]) {
    this.#read = read;
    this.#tiled = tiled;
    // What it goes on from is all there, or none of it counts.
    const there = edge.every(isThere);
    if (!there) this.#wrong = from;
    this.#collected = new TileCollector(
      there ? edge : edge.map((tile) => ({ ...tile, hashes: new Uint8Array(tile.width * HASH_BYTES) })),
    );
  }

  /** For `CompactRange.appendHash`. */
  get onNode(): TileCollector["onNode"] {
    return this.#collected.onNode;
  }

  /** The first leaf whose hash, or that of a subtree which begins with it, is another; `undefined`: none as far as it was compared. */
  get wrong(): number | undefined {
    return this.#wrong;
  }

  /** Compares what became full; `end`: also what did not. */
  async compare(end = false): Promise<void> {
    const grown = end ? [...this.#collected.take(), ...this.#collected.open()] : this.#collected.take();
    const tiles = grown
      .map((tile) => ({ ...tile, width: Math.min(tile.width, tileWidth(tile, this.#tiled)) }))
      .filter(({ width }) => width > 0);
    const kept = await this.#read(tiles);
    for (const [i, tile] of tiles.entries()) {
      const differs = firstDifference(kept[i] ?? new Uint8Array(), tile);
      if (differs !== undefined) this.#wrong = Math.min(this.#wrong ?? Number.POSITIVE_INFINITY, tileLeaf(tile, differs));
    }
  }
}

/**
 * The leaves of a log's events behind the first `from` and up to `to`, with those of its gaps, until a record is missing.
 *
 * @param pagesFrom the log's records in order, from a number on
 *
 * @example
 * ```ts
 * import { gapLeaf, logLeaves } from "@seneschal/crypto/audit-log";
 * import { nobleCrypto } from "@seneschal/crypto";
 * import { leafHash } from "@seneschal/crypto/merkle";
 * const sha256 = (data: Uint8Array) => nobleCrypto.hash("sha256", data);
 * const form = { sha256, leaf: () => leafHash(Uint8Array.of(1)) };
 * async function* pagesFrom(first: number) {
 *   yield [{ seq: 9, stream: "acme", stream_seq: first, event: {} }];
 * }
 * const found: Uint8Array[] = [];
 * for await (const leaf of logLeaves(pagesFrom, { stream: "acme", from: 0, to: 3, gaps: [{ first: 1, last: 2 }], form })) found.push(leaf);
 * console.log(found.length, found[0]?.join() === gapLeaf("acme", 1, sha256).join()); // 3 true
 * ```
 */
export async function* logLeaves(
  pagesFrom: (number: number) => AsyncIterable<readonly LogRecord[]>,
  log: {
    readonly stream: string;
    readonly from: number;
    readonly to: number;
    readonly gaps: readonly SignedGap[];
    readonly form: Pick<LogForm, "leaf" | "sha256">;
  },
): AsyncGenerator<Uint8Array> {
  checkArgument("pagesFrom", pagesFrom, "function");
  checkArgument("log", log, "object");
  const { stream, from, to, gaps, form } = log;
  let next = from + 1;
  const inGap = (): boolean => gaps.some(({ first, last }) => first <= next && next <= last);
  const passGaps = function* (): Generator<Uint8Array> {
    for (; next <= to && inGap(); next++) yield gapLeaf(stream, next, form.sha256);
  };
  yield* passGaps();
  if (next > to) return;
  for await (const page of pagesFrom(next))
    for (const record of page) {
      if (numberIn(stream, record) !== next) return;
      yield form.leaf(record);
      next += 1;
      yield* passGaps();
      if (next > to) return;
    }
}

const placeOf = ({ level, index }: Pick<TileId, "level" | "index">): string => `${level}/${index}`;

const isThere = ({ hashes, width }: Tile): boolean => hashes.length >= width * HASH_BYTES;

function* hashesIn(tile: Uint8Array): Generator<Uint8Array> {
  for (let at = 0; at + HASH_BYTES <= tile.length; at += HASH_BYTES) yield tile.subarray(at, at + HASH_BYTES);
}

function firstDifference(kept: Uint8Array, { hashes, width }: Tile): number | undefined {
  for (let at = 0; at < width; at += 1) {
    const [from, to] = [at * HASH_BYTES, (at + 1) * HASH_BYTES];
    if (!bytesEqual(kept.subarray(from, to), hashes.subarray(from, to))) return at;
  }
  return undefined;
}
