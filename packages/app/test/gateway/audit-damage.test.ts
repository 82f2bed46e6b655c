import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openLogger } from "@seneschal/adapters/logging";
import { openMemoryStore, settableClock } from "@seneschal/adapters/memory";
import { nodeCrypto } from "@seneschal/adapters/node-crypto";
import { systemRandom } from "@seneschal/adapters/system";
import { openEmbeddedVault, vaultCollections } from "@seneschal/adapters/vault";
import type { JsonObject } from "@seneschal/kernel";
import type { AuditEntry, DocumentStore, Stored, Vault } from "@seneschal/kernel/ports";
import { ClassicLevel } from "classic-level";
import { beforeAll, describe, expect, it } from "vitest";
import { auditLog } from "../../src/gateway/ground/audit/log.ts";
import { gatewaySchema } from "../../src/gateway/index.ts";
import { openLevelRigStore } from "./level-store.ts";
import { openRig } from "./rig.ts";

/** A JSON text with one bit flipped, read again; `undefined` where nothing can be read any more. */
function flip(value: unknown, bit: number): unknown {
  const bytes = Buffer.from(JSON.stringify(value));
  bytes[bit >> 3] = (bytes[bit >> 3] as number) ^ (1 << (bit & 7));
  try {
    return JSON.parse(bytes.toString());
  } catch {
    return undefined;
  }
}
/** Deep runs (`FC_RUNS`) flip every bit; ordinary ones every seventh, so one or two of each byte. */
const STEP = process.env["FC_RUNS"] === undefined ? 7 : 1;
const bitsOf = (value: unknown): number => Buffer.byteLength(JSON.stringify(value)) * 8;

/** A store in which an audit entry or a document is another, or gone. */
interface Damage {
  readonly entry?: { readonly seq: number; readonly now: unknown };
  readonly doc?: { readonly coll: string; readonly id: string; readonly now: unknown };
}

function damaged(store: DocumentStore, { entry, doc }: Damage): DocumentStore {
  const isObject = (value: unknown): value is JsonObject => typeof value === "object" && value !== null && !Array.isArray(value);
  const entryOf = (found: AuditEntry): AuditEntry[] => {
    if (found.seq !== entry?.seq) return [found];
    const [stream, streamSeq, event] = Array.isArray(entry.now) ? entry.now : [];
    const readable = typeof stream === "string" && typeof streamSeq === "number" && isObject(event);
    return readable ? [{ seq: found.seq, stream, streamSeq, event }] : [];
  };
  const itemOf = (item: Stored): Stored[] => {
    const { seq, stream, stream_seq, event } = item.doc as never as AuditEntry & { stream_seq: number };
    return entryOf({ seq, stream, streamSeq: stream_seq, event }).map((now) => ({
      ...item,
      doc: { seq, stream: now.stream, stream_seq: now.streamSeq, event: now.event },
    }));
  };
  const docOf = (coll: string, id: string, stored: Stored | undefined): Stored | undefined => {
    if (doc === undefined || doc.coll !== coll || doc.id !== id || stored === undefined) return stored;
    return isObject(doc.now) ? { ...stored, doc: doc.now } : undefined;
  };
  return {
    ...store,
    get: async (coll, id) => docOf(coll, id, await store.get(coll, id)),
    getMany: async (coll, ids) => (await store.getMany(coll, ids)).map((stored, i) => docOf(coll, ids[i] as string, stored)),
    auditRead: async (after, limit) => (await store.auditRead(after, limit)).flatMap(entryOf),
    list: async (coll, ...rest) => {
      const page = await store.list(coll, ...rest);
      return coll === "audit" ? { ...page, items: page.items.flatMap(itemOf) } : page;
    },
    // What verification signs on its way changes nothing for the next one.
    commit: async () => ({ ok: true, seq: 0, versions: {}, audit: [] }),
  };
}

describe("damage of a gateway's audit log", () => {
  let store: DocumentStore;
  let vault: Vault;
  const open = (over: DocumentStore) =>
    auditLog({
      store: over,
      vault,
      crypto: nodeCrypto,
      random: systemRandom,
      instance: "i",
      log: openLogger({ level: "silent" }),
      commitId: () => Buffer.from(systemRandom(8)).toString("hex"),
    });
  const eventAt = (at: number) => ({
    id: `e${at}`,
    workspace: "",
    timestamp: "2026-01-01T00:00:00.000Z",
    event_type: "t",
    actor: "a",
    metadata: { n: at },
  });

  beforeAll(async () => {
    store = openMemoryStore(gatewaySchema);
    vault = await openEmbeddedVault({
      store: openMemoryStore({ collections: vaultCollections }),
      crypto: nodeCrypto,
      random: systemRandom,
      clock: settableClock(0),
      unseal: { kind: "key", key: new Uint8Array(32) },
    });
    const log = open(store);
    await log.seal();
    for (const [at, stream] of ["acme", "globex", "acme", "acme", "globex"].entries())
      await store.commit({ commitId: `c${at}`, audit: [{ stream, event: eventAt(at) }] });
    await log.seal();
    expect([await log.verify("acme"), await log.verify("globex"), await log.verifyAll()]).toEqual([
      undefined,
      undefined,
      undefined,
    ]);
  });

  it("is found and placed: each record deleted, and each flipped bit of each", async () => {
    for (const { seq, stream, streamSeq, event } of await store.auditRead(0, 10)) {
      const gone = open(damaged(store, { entry: { seq, now: undefined } }));
      expect(await gone.verify(stream)).toEqual({ flaw: "event_missing", stream, sequence: streamSeq });
      expect(await gone.verify(stream === "acme" ? "globex" : "acme"), "another organisation's log").toBeUndefined();
      expect(await gone.verifyAll()).toMatchObject({ flaw: "event_missing", sequence: seq });
      const value = [stream, streamSeq, event];
      for (let bit = 0; bit < bitsOf(value); bit += STEP) {
        const finding = await open(damaged(store, { entry: { seq, now: flip(value, bit) } })).verify(stream);
        expect(finding, `record ${seq} bit ${bit}: ${JSON.stringify(flip(value, bit))}`).toMatchObject({ stream });
      }
    }
  });

  it.each([
    ["audit_checkpoints", "acme", "acme"],
    ["audit_checkpoints", "/all", "/all"],
    ["audit_log_keys", "current", "/all"],
  ])("is found: each flipped bit of %s/%s, and that it is gone", async (coll, id, stream) => {
    const whole = (await store.get(coll, id))?.doc;
    const found = async (now: unknown) => {
      const log = open(damaged(store, { doc: { coll, id, now } }));
      return stream === "/all" ? log.verifyAll() : log.verify(stream);
    };
    expect(await found(undefined)).toBeDefined();
    for (let bit = 0; bit < bitsOf(whole); bit += STEP)
      expect(await found(flip(whole, bit)), `bit ${bit}: ${JSON.stringify(flip(whole, bit))}`).toBeDefined();
  });

  it("keeps no organisation from working, and is told by health and metrics: all checkpoints deleted, a record deleted on disk", async () => {
    const directory = await mkdtemp(join(tmpdir(), "audit-damage-"));
    try {
      let disk = await openLevelRigStore(directory);
      const shared = await openEmbeddedVault({
        store: openMemoryStore({ collections: vaultCollections }),
        crypto: nodeCrypto,
        random: systemRandom,
        clock: settableClock(0),
        unseal: { kind: "key", key: new Uint8Array(32) },
      });
      const first = await openRig({ store: disk, vault: shared });
      for (const org of ["acme", "globex"]) await first.admin(org)("POST", "/api/v1/workspaces", { name: "w" });
      await first.close();
      const { doc } = (await disk.list("audit", "stream", ["globex"], { limit: 1, offset: 1 })).items[0] as Stored;
      await disk.close();

      const raw = new ClassicLevel<string, string>(directory);
      await raw.del(`a/${String(doc["seq"]).padStart(16, "0")}`);
      await raw.close();
      disk = await openLevelRigStore(directory);
      const second = await openRig({ store: disk, vault: shared });
      const verdict = async (rig: typeof second, org: string) => (await rig.admin(org)("POST", "/api/v1/audit/verify", {})).body;
      expect(await verdict(second, "globex")).toMatchObject({ valid: false, flaw: "event_missing", sequence: 2 });
      expect(await verdict(second, "acme")).toMatchObject({ valid: true, flaw: null, sequence: null });
      for (const path of ["audit", "audit?limit=1&offset=1", "audit/stats", "activity"])
        expect([path, (await second.admin("globex")("GET", `/api/v1/${path}`)).status]).toEqual([path, 200]);
      expect((await second.anonymous("GET", "/health")).body.components["audit_log"].status).toBe("unhealthy");
      await second.close();

      const { items } = await disk.list("audit_checkpoints", "id", [], { limit: 10 }).catch(() => ({ items: [] as Stored[] }));
      const ids = items.length > 0 ? items.map(({ id }) => id) : ["acme", "globex", "/all", "/instance"];
      await disk.commit({ commitId: "drop", dels: ids.map((id) => ({ coll: "audit_checkpoints", id })) });
      const third = await openRig({ store: disk, vault: shared });
      for (const org of ["acme", "globex"]) {
        expect((await third.admin(org)("POST", "/api/v1/workspaces", { name: "still" })).status).toBe(201);
        expect(await verdict(third, org)).toMatchObject({ valid: false, flaw: "checkpoint_missing" });
      }
      expect((await third.anonymous("GET", "/metrics")).text).toMatch(/^gateway_audit_log_damaged [1-9]/m);
      await third.close();
      await disk.close();
    } finally {
      await rm(directory, { recursive: true, force: true });
    }
  });
});
