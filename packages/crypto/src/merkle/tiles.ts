import { checkArgument } from "@seneschal/kernel";
import { cryptoError } from "../errors.ts";
import { CompactRange, foldPeaks } from "./compact-range.ts";
import { type LeafRange, type NodeId, rangeNodes } from "./proof-ranges.ts";
import { assertSize, nobleSha256, nodeHash, type Sha256 } from "./tree-hash.ts";

/** A tile holds this many hashes of one level, of every eighth level: those between are folded from them (C2SP tlog-tiles). */
export const TILE_WIDTH = 256;
const TILE_HEIGHT = 8;
const HASH_BYTES = 32;

/** Hashes `256 * index` and on of level `8 * level` of a tree; `width` is how many of them there are, 1 to 256. */
export interface TileId {
  readonly level: number;
  readonly index: number;
  readonly width: number;
}

/** The tiles of a tree of `size` leaves that one of `from` leaves does not have, or not as wide, from the leaves up. */
export function tilesBetween(from: number, size: number): readonly TileId[] {
  assertSize(from, "tree size");
  assertSize(size, "tree size");
  const tiles: TileId[] = [];
  for (let level = 0, unit = 1; unit <= size; level++, unit *= TILE_WIDTH) {
    const [before, hashes] = [Math.floor(from / unit), Math.floor(size / unit)];
    if (before >= hashes) continue;
    for (let index = Math.floor(before / TILE_WIDTH); index * TILE_WIDTH < hashes; index++)
      tiles.push({ level, index, width: Math.min(TILE_WIDTH, hashes - index * TILE_WIDTH) });
  }
  return tiles;
}

/** The tiles at the right edge of a tree of `size` leaves that are not full: what more leaves go on from, one a level at most. */
export function openTiles(size: number): readonly TileId[] {
  assertSize(size, "tree size");
  const tiles: TileId[] = [];
  for (let level = 0, hashes = size; hashes > 0; level++, hashes = Math.floor(hashes / TILE_WIDTH)) {
    const width = hashes % TILE_WIDTH;
    if (width > 0) tiles.push({ level, index: Math.floor(hashes / TILE_WIDTH), width });
  }
  return tiles;
}

/** How many of a tile's hashes a tree of `size` leaves has; 0 or less: it has no such tile. */
export function tileWidth(given: Omit<TileId, "width">, size: number): number {
  checkArgument("given", given, "object");
  checkArgument("size", size, "number");
  const { level, index } = given;
  return Math.min(TILE_WIDTH, Math.floor(size / TILE_WIDTH ** level) - index * TILE_WIDTH);
}

/** The number of the first leaf below hash `at` of a tile. */
export function tileLeaf(given: Omit<TileId, "width">, at: number): number {
  checkArgument("given", given, "object");
  checkArgument("at", at, "number");
  const { level, index } = given;
  return (index * TILE_WIDTH + at) * TILE_WIDTH ** level;
}

const keyOf = (level: number, index: number): string => `${level}/${index}`;

/** The tile that a perfect subtree is read from: alone or folded from `count` hashes, from the `at`-th on. */
function placeOf({ level, index }: NodeId) {
  const count = 2 ** (level % TILE_HEIGHT);
  const first = index * count;
  return { level: Math.floor(level / TILE_HEIGHT), index: Math.floor(first / TILE_WIDTH), at: first % TILE_WIDTH, count };
}

/**
 * A log's tree as it is kept: tiles over its first `tiled` leaves, and the leaf hashes behind them. Proofs take O(log n) tiles, which are named
 * beforehand. Nothing is believed of them here: what is made of damaged tiles is wrong, and shows under a signed root (`proveClaim`).
 *
 * @example
 * ```ts
 * import { inclusionRanges, MerkleTree, TileCollector, TiledTree } from "@seneschal/crypto/merkle";
 * const [tree, collected] = [new MerkleTree(), new TileCollector()];
 * for (let i = 0; i < 300; i++) tree.append(Uint8Array.of(i), collected.onNode);
 * const tiles = new Map([...collected.take(), ...collected.open()].map((tile) => [`${tile.level}/${tile.index}`, tile.hashes]));
 * const ranges = inclusionRanges(7, 300);
 * console.log(TiledTree.tiles(ranges, 300).map(({ level, index }) => `${level}/${index}`)); // [ '0/0', '0/1' ]
 * const kept = new TiledTree(300, tiles, []);
 * console.log(ranges.every((range, i) => kept.root(range)?.join() === tree.inclusionProof(7)[i]?.join())); // true
 * ```
 */
export class TiledTree {
  readonly #tiled: number;
  readonly #tiles: ReadonlyMap<string, Uint8Array>;
  readonly #tail: readonly Uint8Array[];
  readonly #hash: Sha256;

  /**
   * @param tiles hashes one behind the other, by `<level>/<index>`
   * @param tail hashes of leaf `tiled` and on
   */
  constructor(tiled: number, tiles: ReadonlyMap<string, Uint8Array>, tail: readonly Uint8Array[], hash: Sha256 = nobleSha256) {
    this.#tiled = tiled;
    this.#tiles = tiles;
    this.#tail = tail;
    this.#hash = hash;
  }

  /** The tiles of which the roots over these ranges are made, each once. */
  static tiles(ranges: readonly LeafRange[], tiled: number): readonly TileId[] {
    checkArgument("ranges", ranges, "array");
    checkArgument("tiled", tiled, "number");
    const found = new Map<string, TileId>();
    const visit = (node: NodeId): void => {
      if ((node.index + 1) * 2 ** node.level <= tiled) {
        const { level, index } = placeOf(node);
        found.set(keyOf(level, index), { level, index, width: tileWidth({ level, index }, tiled) });
      } else if (node.level > 0) for (const child of childrenOf(node)) visit(child);
    };
    for (const range of ranges) for (const node of rangeNodes(range)) visit(node);
    return [...found.values()];
  }

  /** The root over a range; `undefined` where a tile or a leaf is not there. */
  root(range: LeafRange): Uint8Array | undefined {
    const nodes: Uint8Array[] = [];
    for (const node of rangeNodes(range)) {
      const hash = this.#node(node);
      if (hash === undefined) return undefined;
      nodes.push(hash);
    }
    return foldPeaks(nodes, this.#hash);
  }

  /** The right edge of the tree over the tiles, for more to be appended; `undefined` where one is not there. */
  edge(): CompactRange | undefined {
    const peaks = rangeNodes({ from: 0, to: this.#tiled }).map((node) => this.#node(node));
    return peaks.every((peak) => peak !== undefined) ? new CompactRange(this.#tiled, peaks, this.#hash) : undefined;
  }

  #node(node: NodeId): Uint8Array | undefined {
    if ((node.index + 1) * 2 ** node.level > this.#tiled) {
      if (node.level === 0) return this.#tail[node.index - this.#tiled];
      const [left, right] = childrenOf(node).map((child) => this.#node(child));
      return left && right && nodeHash(left, right, this.#hash);
    }
    const { level, index, at, count } = placeOf(node);
    const hashes = this.#tiles.get(keyOf(level, index));
    if (hashes === undefined || hashes.length < (at + count) * HASH_BYTES) return undefined;
    let row = Array.from({ length: count }, (_, i) => hashes.subarray((at + i) * HASH_BYTES, (at + i + 1) * HASH_BYTES));
    for (; row.length > 1; row = pairs(row, this.#hash));
    return row[0];
  }
}

const childrenOf = ({ level, index }: NodeId): readonly NodeId[] => [
  { level: level - 1, index: index * 2 },
  { level: level - 1, index: index * 2 + 1 },
];

function pairs(row: readonly Uint8Array[], hash: Sha256): Uint8Array[] {
  const above: Uint8Array[] = [];
  for (let i = 0; i < row.length; i += 2) above.push(nodeHash(row[i] as Uint8Array, row[i + 1] as Uint8Array, hash));
  return above;
}

/** A tile with its hashes, one behind the other. */
export interface Tile extends TileId {
  readonly hashes: Uint8Array;
}

/** Gathers the tiles of a tree while it grows ({@link CompactRange.appendHash}), from any size on whose {@link openTiles} are given. */
export class TileCollector {
  readonly #open = new Map<number, { readonly index: number; readonly hashes: Uint8Array; width: number }>();
  #full: Tile[] = [];

  /** Throws `log_invalid` for a tile that does not hold its hashes. */
  constructor(open: readonly Tile[] = []) {
    for (const { level, index, width, hashes } of open) {
      if (hashes.length < width * HASH_BYTES) throw cryptoError("log_invalid", "a tile is too short");
      const room = new Uint8Array(TILE_WIDTH * HASH_BYTES);
      room.set(hashes.subarray(0, width * HASH_BYTES));
      this.#open.set(level, { index, hashes: room, width });
    }
  }

  /** For `CompactRange.appendHash`. */
  readonly onNode = (level: number, index: number, hash: Uint8Array): void => {
    if (level % TILE_HEIGHT !== 0) return;
    const row = level / TILE_HEIGHT;
    const tile = this.#open.get(row) ?? {
      index: Math.floor(index / TILE_WIDTH),
      hashes: new Uint8Array(TILE_WIDTH * HASH_BYTES),
      width: 0,
    };
    tile.hashes.set(hash, tile.width * HASH_BYTES);
    tile.width += 1;
    if (tile.width < TILE_WIDTH) {
      this.#open.set(row, tile);
      return;
    }
    this.#open.delete(row);
    this.#full.push({ level: row, index: tile.index, width: TILE_WIDTH, hashes: tile.hashes });
  };

  /** The tiles that became full since it was asked last. */
  take(): readonly Tile[] {
    const full = this.#full;
    this.#full = [];
    return full;
  }

  /** Those that are not full. */
  open(): readonly Tile[] {
    return [...this.#open].map(([level, { index, hashes, width }]) => ({
      level,
      index,
      width,
      hashes: hashes.slice(0, width * HASH_BYTES),
    }));
  }
}
