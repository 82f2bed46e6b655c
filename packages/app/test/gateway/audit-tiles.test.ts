import { openLogger } from "@seneschal/adapters/logging";
import { openMemoryStore, settableClock } from "@seneschal/adapters/memory";
import { nodeCrypto } from "@seneschal/adapters/node-crypto";
import { systemRandom } from "@seneschal/adapters/system";
import { openEmbeddedVault, vaultCollections } from "@seneschal/adapters/vault";
import { hex } from "@seneschal/crypto";
import { type LogClaim, MerkleTree } from "@seneschal/crypto/merkle";
import type { JsonObject } from "@seneschal/kernel";
import type { DocumentStore, Stored, Vault } from "@seneschal/kernel/ports";
import { beforeAll, describe, expect, it } from "vitest";
import { auditLeaf } from "../../src/gateway/ground/audit/event.ts";
import { type AuditLog, auditLog } from "../../src/gateway/ground/audit/log.ts";
import { gatewaySchema } from "../../src/gateway/index.ts";

const EVENTS = 2400;
const MORE = 300;
const eventAt = (at: number) => ({
  id: `e${at}`,
  org_id: "acme",
  workspace: "",
  timestamp: "2026-01-01T00:00:00.000Z",
  event_type: "t",
  actor: "a",
  actor_type: "admin",
  purpose: "",
  result: "success" as const,
  metadata: { n: at },
  request_id: "",
});
const sha256 = (data: Uint8Array): Uint8Array => nodeCrypto.hash("sha256", data);
const leafAt = (index: number): Uint8Array => auditLeaf({ stream: "acme", stream_seq: index + 1, event: eventAt(index) }, sha256);

/** A store that counts what is read of it. With a document that is given as something else, nothing is written to it but over it. */
function watched(
  store: DocumentStore,
  now?: { readonly coll: string; readonly id: string; readonly doc: JsonObject | undefined },
) {
  const reads = { documents: 0, records: 0 };
  const over = new Map<string, JsonObject | undefined>(now && [[`${now.coll} ${now.id}`, now.doc]]);
  const own: DocumentStore = {
    ...store,
    async get(coll, id) {
      reads.documents += 1;
      const stored = await store.get(coll, id);
      if (!over.has(`${coll} ${id}`)) return stored;
      const doc = over.get(`${coll} ${id}`);
      return doc && ({ id, version: 1, ...stored, doc } satisfies Stored);
    },
    async list(coll, ...rest) {
      const page = await store.list(coll, ...rest);
      if (coll === "audit") reads.records += page.items.length;
      return page;
    },
    async commit(commit) {
      if (now === undefined) return store.commit(commit);
      for (const { coll, id, doc } of commit.puts ?? []) over.set(`${coll} ${id}`, doc);
      return { ok: true, seq: 0, versions: {}, audit: [] };
    },
  };
  return { store: own, reads };
}

describe("the hashes that are kept of an audit log's tree", () => {
  let store: DocumentStore;
  let vault: Vault;
  let commits = 0;
  const tree = new MerkleTree();
  const open = (over: DocumentStore): AuditLog =>
    auditLog({
      store: over,
      vault,
      crypto: nodeCrypto,
      random: systemRandom,
      instance: "i",
      log: openLogger({ level: "silent" }),
      commitId: () => `c${commits++}`,
    });
  const append = async (first: number, count: number): Promise<void> => {
    const audit = Array.from({ length: count }, (_, i) => ({ stream: "acme", event: eventAt(first + i) }));
    await store.commit({ commitId: `append ${first}`, audit });
    for (let i = 0; i < count; i++) tree.appendHash(leafAt(first + i));
  };
  const claims = (size: number): readonly LogClaim[] => [
    ...[0, 255, 256, size - 1].map((index) => ({ kind: "inclusion", index, size, leaf: leafAt(index) }) as const),
    { kind: "inclusion", index: 3, size: 700, leaf: leafAt(3) },
    { kind: "consistency", first: 600, second: size },
    { kind: "consistency", first: 511, second: 1025 },
  ];
  const proofOf = (claim: LogClaim): readonly string[] =>
    (claim.kind === "inclusion"
      ? tree.inclusionProof(claim.index, claim.size)
      : tree.consistencyProof(claim.first, claim.second)
    ).map(hex);
  const proven = async (log: AuditLog, claim: LogClaim): Promise<readonly string[] | object | undefined> => {
    const found = await log.prove("acme", () => claim);
    return found === undefined || "flaw" in found ? found : found.proof.map(hex);
  };

  beforeAll(async () => {
    store = openMemoryStore(gatewaySchema);
    vault = await openEmbeddedVault({
      store: openMemoryStore({ collections: vaultCollections }),
      crypto: nodeCrypto,
      random: systemRandom,
      clock: settableClock(0),
      unseal: { kind: "key", key: new Uint8Array(32) },
    });
    await open(store).seal();
    await append(0, EVENTS);
    await open(store).seal();
  });

  it("are made of a log that has none at the first proof, and kept up as it grows", async () => {
    expect(await store.get("audit_trees", "acme")).toBeUndefined();
    for (const claim of claims(EVENTS)) expect(await proven(open(store), claim), JSON.stringify(claim)).toEqual(proofOf(claim));
    expect((await store.get("audit_trees", "acme"))?.doc).toEqual({ size: EVENTS });
    await append(EVENTS, MORE);
    for (const claim of claims(EVENTS + MORE)) expect(await proven(open(store), claim)).toEqual(proofOf(claim));
    expect(await open(store).verify("acme")).toBeUndefined();
  });

  it("are all that a proof reads, but for the events behind them", async () => {
    const { store: counted, reads } = watched(store);
    const log = open(counted);
    await log.seal();
    for (const claim of claims(EVENTS + MORE)) {
      Object.assign(reads, { documents: 0, records: 0 });
      expect(await proven(log, claim)).toEqual(proofOf(claim));
      expect(reads.documents, JSON.stringify(claim)).toBeLessThanOrEqual(20);
      expect(reads.records).toBeLessThanOrEqual(MORE);
    }
  });

  it("prove nothing wrong when they are damaged: any flipped bit is found before a proof leaves, verification says where, and they are made anew", async () => {
    const places = [
      ["audit_tiles", "0/0/acme", 0],
      ["audit_tiles", "0/1/acme", 256],
      ["audit_tiles", "1/0/acme", 0],
    ] as const;
    for (const [coll, id, first] of places) {
      const hashes = String((await store.get(coll, id))?.doc["hashes"]);
      const step = process.env["FC_RUNS"] === undefined ? Math.floor(hashes.length / 3) + 1 : 7;
      for (let at = 0; at < hashes.length; at += step) {
        const bytes = Buffer.from(hashes);
        bytes[at] = (bytes[at] as number) ^ (1 << (at % 7));
        const doc = { hashes: bytes.toString("latin1") };
        for (const claim of claims(EVENTS + MORE).slice(1, 6)) {
          const log = open(watched(store, { coll, id, doc }).store);
          const given = await proven(log, claim);
          expect(given, `${id} ${at} ${JSON.stringify(claim)}`).toEqual(proofOf(claim));
          if (log.damaged().length > 0) expect(log.damaged()).toMatchObject([{ flaw: "hash_differs", stream: "acme" }]);
        }
        const finding = await open(watched(store, { coll, id, doc }).store).verify("acme");
        expect(finding, `${id} ${at}`).toMatchObject({ flaw: "hash_differs", stream: "acme" });
        const leaf = Math.floor((Math.floor(at / 4) * 3) / 32) * (id.startsWith("1") ? 256 : 1);
        expect([first + 1, first + leaf + 1, first + leaf + (id.startsWith("1") ? 257 : 2)]).toContain(finding?.sequence);
      }
    }
  });

  it.each([
    ["audit_tiles", "0/1/acme", undefined],
    ["audit_tiles", "1/0/acme", { hashes: "" }],
    ["audit_tiles", "0/0/acme", { hashes: 7 }],
    ["audit_trees", "acme", undefined],
    ["audit_trees", "acme", { size: 1e15 }],
    ["audit_trees", "acme", { size: 5 }],
    ["audit_trees", "acme", { size: "x" }],
  ])("are missed by nobody when they are gone or nonsense: %s/%s", async (coll, id, doc) => {
    for (const claim of claims(EVENTS + MORE))
      expect(await proven(open(watched(store, { coll, id, doc: doc as JsonObject | undefined }).store), claim)).toEqual(
        proofOf(claim),
      );
  });

  it("are made anew for good after verification found them wrong", async () => {
    const version = (await store.get("audit_tiles", "0/1/acme"))?.version;
    await store.commit({ commitId: "flip", puts: [{ coll: "audit_tiles", id: "0/1/acme", doc: { hashes: "AAAA" } }] });
    const log = open(store);
    expect(await log.verify("acme")).toEqual({ flaw: "hash_differs", stream: "acme", sequence: 257 });
    expect(log.damaged()).toHaveLength(1);
    expect(await proven(log, claims(EVENTS + MORE)[1] as LogClaim)).toEqual(proofOf(claims(EVENTS + MORE)[1] as LogClaim));
    expect(await log.verify("acme")).toBeUndefined();
    expect(log.damaged()).toEqual([]);
    expect((await store.get("audit_tiles", "0/1/acme"))?.version).not.toBe(version);
  });
});
