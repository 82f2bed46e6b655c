import { createHash } from "node:crypto";
import { hex } from "@seneschal/crypto";
import { testLogForm as form } from "@seneschal/crypto/arbitraries";
import { gapLeaf, KeptTiles, type LogRecord, logLeaves } from "@seneschal/crypto/audit-log";
import { CompactRange, claimRanges, MerkleTree, proveClaim, TILE_WIDTH, type TileId, tileLeaf } from "@seneschal/crypto/merkle";
import fc from "fast-check";
import { expect, test } from "vitest";
import { pagesOf } from "./signed-log.ts";

const sha256 = (data: Uint8Array): Uint8Array => new Uint8Array(createHash("sha256").update(data).digest());
/** Two levels of full tiles, and a rest of each. */
const SIZE = TILE_WIDTH ** 2 + 2 * TILE_WIDTH + 70;
const leaves = Array.from({ length: SIZE }, (_, at) => sha256(Uint8Array.of(at >> 16, at >> 8, at)));
const tree = new MerkleTree(sha256);
for (const leaf of leaves) tree.appendHash(leaf);

type Store = Map<string, Uint8Array>;
const placeOf = ({ level, index }: Pick<TileId, "level" | "index">): string => `${level}/${index}`;
const keptIn = (store: Store) =>
  new KeptTiles(async (tiles) => tiles.map((tile) => store.get(placeOf(tile)) ?? new Uint8Array()), sha256);

async function grow(store: Store, from: number, to: number): Promise<void> {
  const grown = await keptIn(store).grow(from, leaves.slice(from, to));
  if (grown === "damaged") throw new Error("damaged");
  expect(grown.size).toBe(to);
  for (const tile of grown.tiles) store.set(placeOf(tile), tile.hashes.slice(0, tile.width * 32));
}

const whole: Store = new Map();
await grow(whole, 0, SIZE);

/** The tiles of the first `size` leaves. */
async function tilesOf(size: number): Promise<Store> {
  if (size === SIZE) return new Map(whole);
  const store: Store = new Map();
  await grow(store, 0, size);
  return store;
}

const rangeOf = (size: number, from = 0, onNode?: Parameters<CompactRange["appendHash"]>[1]): CompactRange => {
  const range = new CompactRange(0, [], sha256);
  for (const [at, leaf] of leaves.slice(0, size).entries()) range.appendHash(leaf, at < from ? undefined : onNode);
  return range;
};

const sizes = fc.oneof(fc.integer({ min: 1, max: 3 * TILE_WIDTH }), fc.constantFrom(255, 256, 257, 512));
/** One of the hashes that are kept, counted over all tiles. */
const places = fc.nat();
const harms = fc.constantFrom("flip", "cut", "gone");

/** Harms one of the tiles; the first leaf of what is harmed. */
function harm(store: Store, place: number, how: "flip" | "cut" | "gone"): number {
  const hashes = [...store].flatMap(([key, tile]) => Array.from({ length: tile.length / 32 }, (_, at) => ({ key, at })));
  const { key, at } = hashes[place % hashes.length] as { key: string; at: number };
  const [level, index] = key.split("/").map(Number) as [number, number];
  const tile = Uint8Array.from(store.get(key) as Uint8Array);
  if (how === "flip") tile[at * 32] = (tile[at * 32] as number) ^ 1;
  if (how === "gone") store.delete(key);
  else store.set(key, how === "cut" ? tile.slice(0, at * 32) : tile);
  return tileLeaf({ level, index }, how === "gone" ? 0 : at);
}

test("tiles that grow by any steps are those that grow at once", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(sizes, { minLength: 1, maxLength: 6 }), async (ends) => {
      const store: Store = new Map();
      let from = 0;
      for (const to of [...ends].sort((a, b) => a - b)) {
        await grow(store, from, to);
        from = to;
      }
      expect([...store].map(([key, tile]) => [key, hex(tile)]).sort()).toEqual(
        [...(await tilesOf(from))].map(([key, tile]) => [key, hex(tile)]).sort(),
      );
    }),
    { numRuns: 30 },
  );
});

test("growing goes on from tiles that are there, or tells that one is not", async () => {
  await fc.assert(
    fc.asyncProperty(sizes, places, async (from, place) => {
      const store = await tilesOf(from);
      const open = [...store].filter(([, tile]) => tile.length < TILE_WIDTH * 32);
      if (open.length === 0) return;
      store.delete((open[place % open.length] as [string, Uint8Array])[0]);
      expect(await keptIn(store).grow(from, leaves.slice(from, from + 3))).toBe("damaged");
    }),
    { numRuns: 30 },
  );
});

test("nothing is wrong under a root whose tiles they are; one hash that was changed, cut off or lost is, at or before its first leaf", async () => {
  const judge = async (size: number, place: number, how: "flip" | "cut" | "gone"): Promise<void> => {
    const store = await tilesOf(size);
    const range = rangeOf(size);
    expect(await keptIn(store).wrongUnder(range)).toBeUndefined();
    const leaf = harm(store, place, how);
    const wrong = await keptIn(store).wrongUnder(range);
    expect(wrong).toBeDefined();
    expect(wrong).toBeLessThanOrEqual(leaf);
  };
  await fc.assert(fc.asyncProperty(sizes, places, harms, judge), { numRuns: 30 });
  await judge(SIZE, SIZE + 3, "flip");
});

test("a comparison names the first leaf whose kept hash is another than the tree's, and none of a tree whose tiles they are", async () => {
  await fc.assert(
    fc.asyncProperty(sizes, fc.nat(), places, harms, fc.integer({ min: 1, max: 300 }), async (size, less, place, how, step) => {
      const store = await tilesOf(size);
      const tiled = size - (less % (size + 1));
      const leaf = place % 2 === 0 ? undefined : harm(store, place, how);
      const compared = await keptIn(store).comparison(tiled);
      const range = new CompactRange(0, [], sha256);
      for (const [at, hash] of leaves.slice(0, size).entries()) {
        range.appendHash(hash, compared.onNode);
        if (at % step === 0) await compared.compare();
      }
      await compared.compare(true);
      // What begins behind the last leaf with a tile is not compared; a subtree is only where all its leaves have one.
      if (leaf === undefined) expect(compared.wrong).toBeUndefined();
      else if (compared.wrong !== undefined) expect(compared.wrong).toBe(leaf);
      else expect(tiled === size).toBe(false);
    }),
    { numRuns: 100 },
  );
});

test("a comparison that begins behind archived events holds what came since against the tree, and misses what it goes on from", async () => {
  await fc.assert(
    fc.asyncProperty(sizes, fc.nat(), fc.boolean(), async (size, begun, lost) => {
      const from = begun % (size + 1);
      const store = await tilesOf(size);
      const open = [...(await tilesOf(Math.max(1, from)))].filter(([, tile]) => tile.length < TILE_WIDTH * 32);
      const gone = lost && from > 0 && open.length > 0;
      if (gone) store.delete((open[0] as [string, Uint8Array])[0]);
      const compared = await keptIn(store).comparison(size, from);
      rangeOf(size, from, compared.onNode);
      await compared.compare(true);
      if (gone) expect(compared.wrong).toBeLessThanOrEqual(from);
      else expect(compared.wrong).toBeUndefined();
    }),
    { numRuns: 60 },
  );
});

test("leaves are read back one by one and in order, until one is missing", async () => {
  await fc.assert(
    fc.asyncProperty(sizes, fc.nat(), async (size, cut) => {
      const store = await tilesOf(size);
      const number = 1 + (cut % size);
      expect(hex((await keptIn(store).leaf(number)) ?? new Uint8Array())).toBe(hex(leaves[number - 1] as Uint8Array));
      expect(await keptIn(store).leaf(size + 1)).toBeUndefined();
      const index = Math.floor((number - 1) / TILE_WIDTH);
      store.set(`0/${index}`, (store.get(`0/${index}`) as Uint8Array).slice(0, ((number - 1) % TILE_WIDTH) * 32));
      const read: string[] = [];
      for await (const leaf of keptIn(store).leaves(size)) read.push(hex(leaf));
      expect(read).toEqual(leaves.slice(0, number - 1).map(hex));
    }),
    { numRuns: 30 },
  );
});

test("a proof by tiles and the leaves behind them holds under the root", async () => {
  await fc.assert(
    fc.asyncProperty(sizes, fc.nat(), fc.nat(), async (size, less, at) => {
      const tiled = size - (less % (size + 1));
      const store = await tilesOf(Math.max(1, tiled));
      const index = at % size;
      const claim = { kind: "inclusion", index, size, leaf: leaves[index] as Uint8Array } as const;
      const read = await keptIn(store).tree(claimRanges(claim, size), tiled, leaves.slice(tiled, size));
      const proven = proveClaim(claim, { size, root: tree.root(size) }, (range) => read.root(range), sha256);
      expect(proven?.proof.map(hex)).toEqual(tree.inclusionProof(index, size).map(hex));
    }),
    { numRuns: 60 },
  );
});

const recordOf = (number: number, says = number): LogRecord => ({
  seq: number,
  stream: "acme",
  stream_seq: number,
  event: { id: `e${says}`, timestamp: "2026-01-01T00:00:00.000Z" },
});
const log = { stream: "acme", form };

test("the leaves of a log are those of its records and its gaps, until a record is missing", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.integer({ min: 1, max: 40 }),
      fc.uniqueArray(fc.integer({ min: 1, max: 40 })),
      fc.nat(),
      fc.option(fc.integer({ min: 1, max: 40 }), { nil: undefined }),
      async (to, gone, begin, missing) => {
        const from = begin % to;
        const gaps = [...gone].sort((a, b) => a - b).map((number) => ({ first: number, last: number }));
        const isGap = (number: number): boolean => gone.includes(number);
        const records = Array.from({ length: to }, (_, at) => recordOf(at + 1));
        const there = records.filter(({ stream_seq }) => !isGap(stream_seq) && stream_seq !== missing);
        const pagesFrom = (number: number) => pagesOf(there.filter(({ stream_seq }) => stream_seq >= number));
        const read: string[] = [];
        for await (const leaf of logLeaves(pagesFrom, { ...log, from, to, gaps })) read.push(hex(leaf));
        const end = missing !== undefined && missing > from && missing <= to && !isGap(missing) ? missing - 1 : to;
        const expected = records
          .slice(from, end)
          .map((record) => (isGap(record.stream_seq) ? gapLeaf("acme", record.stream_seq, form.sha256) : form.leaf(record)));
        expect(read).toEqual(expected.map(hex));
      },
    ),
  );
});

test("of archived records that stay, the first is named that the tiles do not know as it is", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.integer({ min: 1, max: 20 }),
      fc.integer({ min: 0, max: 25 }),
      fc.integer({ min: 1, max: 25 }),
      async (size, through, other) => {
        const records = Array.from({ length: size }, (_, at) => recordOf(at + 1));
        const store: Store = new Map();
        const grown = await new KeptTiles(async (tiles) => tiles.map(() => new Uint8Array()), form.sha256).grow(
          0,
          records.map(form.leaf),
        );
        if (grown === "damaged") throw new Error("damaged");
        for (const tile of grown.tiles) store.set(placeOf(tile), tile.hashes);
        const stay = records.map((record) => (record.stream_seq === other ? recordOf(other, -1) : record));
        const named = await keptIn(store).changed(pagesOf(stay), through, log);
        expect(named).toBe(other <= Math.min(size, through) ? other : undefined);
      },
    ),
  );
});
