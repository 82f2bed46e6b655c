import { hex } from "@seneschal/crypto";
import {
  CompactRange,
  claimRanges,
  type LogClaim,
  MerkleTree,
  openTiles,
  proveClaim,
  TILE_WIDTH,
  type Tile,
  TileCollector,
  TiledTree,
  tileLeaf,
  tilesBetween,
  tileWidth,
} from "@seneschal/crypto/merkle";
import fc from "fast-check";
import { expect, test } from "vitest";

const SIZE = 2 * TILE_WIDTH ** 2 + 700;
const leafAt = (index: number): Uint8Array => {
  const leaf = new Uint8Array(32);
  new DataView(leaf.buffer).setUint32(0, index);
  return leaf;
};
const tree = new MerkleTree();
const collected = new TileCollector();
for (let i = 0; i < SIZE; i++) tree.appendHash(leafAt(i), collected.onNode);
const all = new Map([...collected.take(), ...collected.open()].map((tile) => [`${tile.level}/${tile.index}`, tile]));

const sizes = fc.oneof(
  fc.integer({ min: 1, max: SIZE }),
  fc.constantFrom(1, 255, 256, 257, 65_535, 65_536, 65_792, 131_072, SIZE),
);

/** The tiles of a tree of `tiled` leaves that are asked for, as a store has them, and the leaves up to `size`. */
function kept(claim: LogClaim, tiled: number, size: number, damage: (tile: Tile) => Uint8Array = ({ hashes }) => hashes) {
  const tiles = TiledTree.tiles([...claimRanges(claim, size), { from: 0, to: tiled }], tiled).map(({ level, index, width }) => {
    const tile = all.get(`${level}/${index}`) as Tile;
    return [`${level}/${index}`, damage({ ...tile, hashes: tile.hashes.slice(0, width * 32) })] as const;
  });
  const tail = Array.from({ length: size - tiled }, (_, i) => leafAt(tiled + i));
  return { count: tiles.length, tree: new TiledTree(tiled, new Map(tiles), tail) };
}

const claims = fc
  .record({ size: sizes, behind: fc.integer({ min: 0, max: 600 }), at: fc.nat(), first: fc.nat(), inclusion: fc.boolean() })
  .map(({ size, behind, at, first, inclusion }) => {
    const second = 1 + (at % size);
    const claim: LogClaim = inclusion
      ? { kind: "inclusion", index: first % second, size: second, leaf: leafAt(first % second) }
      : { kind: "consistency", first: 1 + (first % second), second };
    return { size, tiled: Math.max(0, size - behind), claim };
  });

test("proofs from tiles are those of the tree, and take O(log n) of them", () => {
  fc.assert(
    fc.property(claims, ({ size, tiled, claim }) => {
      const { tree: read, count } = kept(claim, tiled, size);
      const given = proveClaim(claim, { size, root: tree.root(size) }, (range) => read.root(range));
      const proof =
        claim.kind === "inclusion"
          ? tree.inclusionProof(claim.index, claim.size)
          : tree.consistencyProof(claim.first, claim.second);
      expect(given?.proof.map(hex)).toEqual(proof.map(hex));
      expect(count).toBeLessThanOrEqual(5 * 3);
      expect(hex(read.edge()?.root() ?? new Uint8Array())).toBe(hex(tree.root(tiled)));
    }),
  );
});

test("a damaged tile proves nothing wrong: one flipped bit anywhere, a hash too few, a tile that is gone", () => {
  fc.assert(
    fc.property(
      claims,
      fc.nat(),
      fc.nat(),
      fc.constantFrom("flip", "short", "gone"),
      ({ size, tiled, claim }, which, bit, how) => {
        const tiles = TiledTree.tiles(claimRanges(claim, size), tiled);
        const hit = tiles[which % Math.max(1, tiles.length)];
        const { tree: read } = kept(claim, tiled, size, ({ level, index, hashes }) => {
          if (level !== hit?.level || index !== hit.index) return hashes;
          if (how !== "flip") return how === "short" ? hashes.slice(32) : new Uint8Array();
          const at = bit % (hashes.length * 8);
          return hashes.map((byte, i) => (i === at >> 3 ? byte ^ (1 << (at & 7)) : byte));
        });
        const given = proveClaim(claim, { size, root: tree.root(size) }, (range) => read.root(range));
        if (given === undefined) return;
        const proof =
          claim.kind === "inclusion"
            ? tree.inclusionProof(claim.index, claim.size)
            : tree.consistencyProof(claim.first, claim.second);
        expect(given.proof.map(hex)).toEqual(proof.map(hex));
      },
    ),
  );
});

test("nothing that is not true is proven: another leaf, another root", () => {
  const claim = { kind: "inclusion", index: 5, size: 300, leaf: leafAt(5) } as const;
  const { tree: read } = kept(claim, 280, 300);
  const rootOf = (range: { from: number; to: number }) => read.root(range);
  expect(proveClaim(claim, { size: 300, root: tree.root(300) }, rootOf)).toBeDefined();
  expect(proveClaim({ ...claim, leaf: leafAt(6) }, { size: 300, root: tree.root(300) }, rootOf)).toBeUndefined();
  expect(proveClaim(claim, { size: 300, root: tree.root(299) }, rootOf)).toBeUndefined();
});

test("a log that goes on from any size, from its open tiles, has the tiles of one that was collected whole", () => {
  fc.assert(
    fc.property(sizes, fc.integer({ min: 0, max: 600 }), (from, more) => {
      const to = Math.min(SIZE, from + more);
      const open = openTiles(from).map((tile) => {
        const { hashes } = all.get(`${tile.level}/${tile.index}`) as Tile;
        return { ...tile, hashes };
      });
      const peaks = kept({ kind: "consistency", first: from, second: from }, from, from).tree.edge()?.hashes;
      const range = new CompactRange(from, peaks);
      const grown = new TileCollector(open);
      for (let i = from; i < to; i++) range.appendHash(leafAt(i), grown.onNode);
      const made = new Map([...grown.take(), ...grown.open()].map((tile) => [`${tile.level}/${tile.index}`, tile]));
      for (const { level, index, width } of tilesBetween(from, to)) {
        const whole = (all.get(`${level}/${index}`) as Tile).hashes;
        expect(tileWidth({ level, index }, to)).toBe(width);
        expect(hex(made.get(`${level}/${index}`)?.hashes ?? new Uint8Array())).toBe(hex(whole.slice(0, width * 32)));
      }
    }),
  );
});

test("a tile says which leaves it is about", () => {
  expect([tileLeaf({ level: 0, index: 2 }, 3), tileLeaf({ level: 1, index: 0 }, 3), tileLeaf({ level: 1, index: 1 }, 0)]).toEqual(
    [515, 768, 65_536],
  );
});
