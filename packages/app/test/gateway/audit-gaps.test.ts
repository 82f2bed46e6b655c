import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openLogger } from "@seneschal/adapters/logging";
import { openMemoryStore, settableClock } from "@seneschal/adapters/memory";
import { nodeCrypto } from "@seneschal/adapters/node-crypto";
import { systemRandom } from "@seneschal/adapters/system";
import { openEmbeddedVault, vaultCollections } from "@seneschal/adapters/vault";
import { wholeLog } from "@seneschal/crypto/audit-log";
import { isCoded, type JsonObject } from "@seneschal/kernel";
import type { AuditEntry, DocumentStore, Stored, Vault } from "@seneschal/kernel/ports";
import { ClassicLevel } from "classic-level";
import { beforeAll, describe, expect, it } from "vitest";
import { acceptanceText } from "../../src/gateway/ground/audit/gaps.ts";
import { auditLog } from "../../src/gateway/ground/audit/log.ts";
import { transact } from "../../src/gateway/ground/store/unit-of-work.ts";
import { acceptAuditGap, gatewaySchema } from "../../src/gateway/index.ts";
import { openLevelRigStore } from "./level-store.ts";
import { openRig } from "./rig.ts";

/** Somebody with write access to the database: what an audit entry is for every reader; `undefined`: it is gone. */
type Hand = (entry: AuditEntry) => AuditEntry | undefined;

/** A store whose audit entries are what a hand makes of them. */
function under(store: DocumentStore, intruder: { hand: Hand }): DocumentStore {
  const passed = (entry: AuditEntry): AuditEntry[] => [intruder.hand(entry)].filter((now) => now !== undefined);
  const item = (stored: Stored): Stored[] => {
    const { seq, stream, stream_seq, event } = stored.doc as never as AuditEntry & { stream_seq: number };
    return passed({ seq, stream, streamSeq: stream_seq, event }).map((now) => ({
      ...stored,
      doc: { seq, stream, stream_seq: now.streamSeq, event: now.event },
    }));
  };
  return {
    ...store,
    auditRead: async (after, limit) => (await store.auditRead(after, limit)).flatMap(passed),
    list: async (coll, ...rest) => {
      const page = await store.list(coll, ...rest);
      return coll === "audit" ? { ...page, items: page.items.flatMap(item) } : page;
    },
  };
}

const STREAMS = ["acme", "globex", "acme", "acme", "globex", "acme"];
const without =
  (...gone: readonly number[]): Hand =>
  (entry) =>
    gone.includes(entry.seq) ? undefined : entry;

describe("an accepted gap of a gateway's audit log", () => {
  let vault: Vault;
  beforeAll(async () => {
    vault = await openEmbeddedVault({
      store: openMemoryStore({ collections: vaultCollections }),
      crypto: nodeCrypto,
      random: systemRandom,
      clock: settableClock(0),
      unseal: { kind: "key", key: new Uint8Array(32) },
    });
  });

  let commits = 0;
  const commitId = (): string => `c${commits++}`;
  const eventAt = (at: number): JsonObject => ({
    id: `e${at}`,
    workspace: "",
    timestamp: "2026-01-01T00:00:00.000Z",
    event_type: "t",
    actor: "a",
    metadata: { n: at },
  });
  /** Its first `signed` records under checkpoints, the others unsigned. */
  async function logOf(streams: readonly string[], signed = 0) {
    const memory = openMemoryStore(gatewaySchema);
    const intruder: { hand: Hand } = { hand: (entry) => entry };
    const store = under(memory, intruder);
    const open = () =>
      auditLog({
        store,
        vault,
        crypto: nodeCrypto,
        random: systemRandom,
        instance: "i",
        log: openLogger({ level: "silent" }),
        commitId,
      });
    const append = (stream: string) => memory.commit({ commitId: commitId(), audit: [{ stream, event: eventAt(commits) }] });
    await open().seal();
    for (const stream of streams.slice(0, signed)) await append(stream);
    await open().seal();
    for (const stream of streams.slice(signed)) await append(stream);
    const accept = (first: number, last = first) =>
      transact(store, commitId, (unit) => open().acceptGap(unit, { first, last }, { reason: "a disk", now: 0 })).then(
        (note) => (note === undefined ? "known" : "accepted"),
        (error: unknown) => (isCoded(error, "audit_gap_refused") ? error.details["reason"] : Promise.reject(error)),
      );
    const verdicts = async () => {
      const log = open();
      return { all: await log.verifyAll(), acme: await log.verify("acme"), globex: await log.verify("globex") };
    };
    const gaps = async () => {
      const log = open();
      await log.seal();
      return { all: await log.gaps(wholeLog), acme: await log.gaps("acme"), globex: await log.gaps("globex") };
    };
    const size = async (stream: string): Promise<unknown> => (await memory.get("audit_checkpoints", stream))?.doc["size"];
    return { memory, intruder, open, append, accept, verdicts, gaps, size };
  }
  const whole = { all: undefined, acme: undefined, globex: undefined };
  const at = (number: number) => [{ first: number, last: number }];

  it.each([0, 2])(
    "is each single unsigned record that was removed, and nothing else; then all goes on and names it (%i signed)",
    async (signed) => {
      for (let gone = signed + 1; gone < STREAMS.length; gone += 1) {
        const { memory, intruder, open, append, accept, verdicts, gaps, size } = await logOf(STREAMS, signed);
        intruder.hand = without(gone);
        const missing = { flaw: "event_missing", stream: wholeLog, sequence: gone };
        if (signed > 0) expect((await verdicts()).all).toEqual(missing);
        await expect(open().seal()).rejects.toMatchObject({ finding: missing });
        for (let other = 1; other <= STREAMS.length + 1; other += 1) {
          const why = other <= signed ? "signed" : other > STREAMS.length ? "end" : "present";
          if (other !== gone) expect([other, await accept(other)]).toEqual([other, why]);
        }
        expect(await accept(gone, gone + 1)).toBe("present");
        expect(await accept(signed + 1, STREAMS.length)).toBe("present");
        await expect(open().seal()).rejects.toMatchObject({ finding: missing });

        expect([await accept(gone), await accept(gone)]).toEqual(["accepted", "known"]);
        const stream = STREAMS[gone - 1] as string;
        const number = STREAMS.slice(0, gone).filter((name) => name === stream).length;
        expect((await gaps()).all).toEqual(at(gone));
        expect(await verdicts()).toEqual(whole);
        for (const name of ["acme", "globex"]) await append(name);
        expect(await gaps()).toEqual({ acme: [], globex: [], all: at(gone), [stream]: at(number) });
        expect(await verdicts()).toEqual(whole);
        expect([await size(wholeLog), await size("acme"), await size("globex")]).toEqual([8, 5, 3]);

        for (const { seq, stream: name } of await memory.auditRead(0, 10)) {
          const other = name as "acme" | "globex";
          if (seq === gone) {
            intruder.hand = (entry) => entry;
            const back = await verdicts();
            expect([back.all, back[other]]).toMatchObject([{ sequence: gone }, { sequence: number }]);
            continue;
          }
          intruder.hand = without(gone, seq);
          const removed = await verdicts();
          expect([removed.all, removed[other]]).toMatchObject([
            { flaw: "event_missing", sequence: seq },
            { flaw: "event_missing" },
          ]);
          const edited: Hand = (entry) => ({ ...entry, event: { ...entry.event, actor: "b" } });
          intruder.hand = (entry) => (entry.seq === gone ? undefined : entry.seq === seq ? edited(entry) : entry);
          const altered = await verdicts();
          expect([altered.all, altered[other]]).toMatchObject([{ flaw: "root_differs" }, { flaw: "root_differs" }]);
        }
      }
    },
  );

  it("is never a record that a checkpoint has signed; what comes is signed all the same", async () => {
    for (let gone = 1; gone <= 4; gone += 1) {
      const { intruder, accept, verdicts, gaps, size } = await logOf(STREAMS, 4);
      intruder.hand = without(gone);
      expect(await accept(gone)).toBe("signed");
      expect(await gaps()).toEqual({ all: [], acme: [], globex: [] });
      expect(await size(wholeLog)).toBe(6);
      expect((await verdicts()).all).toMatchObject({ flaw: "event_missing", sequence: gone });
    }
  });

  it("covers a run of records of several organisations, and is one for each", async () => {
    const { intruder, append, accept, verdicts, gaps } = await logOf(STREAMS);
    intruder.hand = without(1, 2, 3, 5);
    expect(await accept(1, 2)).toBe("accepted");
    expect(await accept(3)).toBe("accepted");
    expect(await accept(5)).toBe("accepted");
    for (const name of ["acme", "globex"]) await append(name);
    expect(await gaps()).toEqual({
      all: [
        { first: 1, last: 3 },
        { first: 5, last: 5 },
      ],
      acme: [{ first: 1, last: 2 }],
      globex: [{ first: 1, last: 2 }],
    });
    expect(await verdicts()).toEqual(whole);
  });

  it("is no more of an organisation's records than of the whole log's: other numbers that are left out stay a flaw", async () => {
    const late = await logOf(["globex", "acme", "acme", "acme", "globex"], 1);
    const renumbered =
      (seq: number): Hand =>
      (entry) =>
        entry.seq === seq ? { ...entry, streamSeq: entry.streamSeq + 1 } : entry;
    late.intruder.hand = (entry) => (entry.seq === 3 ? undefined : renumbered(5)(entry));
    expect(await late.accept(3)).toBe("accepted");
    expect(await late.gaps()).toEqual({ all: at(3), acme: at(2), globex: [] });
    expect(await late.verdicts()).toMatchObject({
      all: undefined,
      acme: undefined,
      globex: { flaw: "event_missing", sequence: 2 },
    });

    const elsewhere = await logOf(["globex", "acme", "acme", "globex", "globex", "acme"], 1);
    elsewhere.intruder.hand = (entry) => (entry.seq === 3 ? undefined : renumbered(5)(entry));
    expect(await elsewhere.accept(3)).toBe("accepted");
    expect(await elsewhere.gaps()).toEqual({ all: at(3), acme: at(2), globex: [] });
    expect((await elsewhere.verdicts()).globex).toMatchObject({ flaw: "event_missing", sequence: 3 });
  });

  it("is none when the acceptance is gone, of another key, or one bit of it is another", async () => {
    const id = "3-3";
    const { memory, intruder, accept, verdicts, gaps, open } = await logOf(STREAMS, 2);
    intruder.hand = without(3);
    const write = (doc: unknown) =>
      memory.commit({
        commitId: commitId(),
        ...(doc === undefined
          ? { dels: [{ coll: "audit_gaps", id }] }
          : { puts: [{ coll: "audit_gaps", id, doc: doc as JsonObject }] }),
      });
    /** What the store takes for no document of the collection is not there. */
    const put = (doc: unknown) => write(doc).catch(() => write(undefined));
    const foreign = await (async () => {
      const { signNote } = await import("@seneschal/crypto/merkle");
      const seed = new Uint8Array(32).fill(7);
      const key = { name: "seneschal-audit", publicKey: nodeCrypto.ed25519PublicKey(seed) };
      const text = acceptanceText("i", { first: 3, last: 3 }, "2026-01-01T00:00:00.000Z", "r");
      return { first: 3, last: 3, note: await signNote(text, key, (message) => nodeCrypto.ed25519Sign(seed, message)) };
    })();
    await put(foreign);
    await expect(open().seal()).rejects.toMatchObject({ finding: { flaw: "event_missing", sequence: 3 } });
    expect(await accept(3)).toBe("accepted");
    const signed = (await memory.get("audit_gaps", id))?.doc as JsonObject;
    const bytes = Buffer.from(JSON.stringify(signed));
    const flipped = (bit: number): unknown => {
      const other = Buffer.from(bytes);
      other[bit >> 3] = (other[bit >> 3] as number) ^ (1 << (bit & 7));
      try {
        return JSON.parse(other.toString());
      } catch {
        return undefined;
      }
    };
    const step = process.env["FC_RUNS"] === undefined ? 37 : 1;
    for (const sealed of [false, true]) {
      for (let bit = 0; bit < bytes.length * 8; bit += step) {
        await put(flipped(bit));
        const what = `${sealed} bit ${bit}: ${JSON.stringify(flipped(bit))}`;
        if (sealed) {
          const { all, acme, globex } = await verdicts();
          expect([all, acme, globex], what).toMatchObject([{ flaw: "event_missing", sequence: 3 }, { sequence: 2 }, undefined]);
        } else await expect(open().seal(), what).rejects.toMatchObject({ finding: { flaw: "event_missing", sequence: 3 } });
      }
      await put(undefined);
      if (sealed) expect((await verdicts()).all).toMatchObject({ flaw: "event_missing", sequence: 3 });
      await put(signed);
      expect(await gaps()).toEqual({ all: at(3), acme: at(2), globex: [] });
      expect(await verdicts()).toEqual(whole);
    }
  });

  it("is accepted of a store on disk, where one record was deleted before anything was signed behind it", async () => {
    const directory = await mkdtemp(join(tmpdir(), "audit-gaps-"));
    const open = (store: DocumentStore) =>
      auditLog({
        store,
        vault,
        crypto: nodeCrypto,
        random: systemRandom,
        instance: "i",
        log: openLogger({ level: "silent" }),
        commitId,
      });
    try {
      let disk = await openLevelRigStore(directory);
      await open(disk).seal();
      for (const stream of STREAMS) await disk.commit({ commitId: commitId(), audit: [{ stream, event: eventAt(commits) }] });
      await disk.close();
      const raw = new ClassicLevel<string, string>(directory);
      await raw.del(`a/${"3".padStart(16, "0")}`);
      await raw.close();
      disk = await openLevelRigStore(directory);
      const log = open(disk);
      await expect(log.seal()).rejects.toMatchObject({ finding: { flaw: "event_missing", sequence: 3 } });
      await transact(disk, commitId, (unit) => log.acceptGap(unit, { first: 3, last: 3 }, { reason: "a disk", now: 0 }));
      for (const stream of [wholeLog, "acme", "globex"])
        expect([stream, await open(disk).verify(stream)]).toEqual([stream, undefined]);
      await log.seal();
      expect([await log.gaps(wholeLog), await log.gaps("acme"), await log.gaps("globex")]).toEqual([at(3), at(2), []]);
      await disk.close();
    } finally {
      await rm(directory, { recursive: true, force: true });
    }
  });

  it("is recorded in the instance's own stream, and every verification of the organisation's names it", async () => {
    const intruder: { hand: Hand } = { hand: (entry) => entry };
    const store = under(openMemoryStore(gatewaySchema), intruder);
    const rig = await openRig({ store });
    const acme = rig.admin("acme");
    expect((await acme("POST", "/api/v1/workspaces", { name: "before" })).status).toBe(201);
    await rig.gateway.services.audit.seal();
    const seq = Number((await rig.store.get("audit_checkpoints", wholeLog))?.doc["size"]) + 1;
    intruder.hand = without(seq);
    for (const name of ["lost", "behind"]) expect((await acme("POST", "/api/v1/workspaces", { name })).status).toBe(201);
    const verify = async () => (await acme("POST", "/api/v1/audit/verify", {})).body;
    const size = Number((await rig.store.get("audit_checkpoints", "acme"))?.doc["size"]);
    const gap = { first: seq, last: seq };
    const done = await acceptAuditGap(rig.gateway.services, { ...gap, reason: "a disk", now: rig.clock.now() });
    expect(done).toEqual({ ...gap, accepted: true, log: { valid: true, flaw: null, sequence: null, accepted_gaps: [gap] } });
    expect(await verify()).toMatchObject({ valid: true, flaw: null, accepted_gaps: [{ first: size + 1, last: size + 1 }] });
    const { items } = await rig.store.list("audit", "by_type", ["/instance", "audit.gap.accept"], { limit: 10 });
    expect(items.map(({ doc }) => doc["event"])).toMatchObject([
      { actor: "system:operator", metadata: { ...gap, reason: "a disk", note: expect.stringContaining("seneschal.audit.gap/") } },
    ]);
    await rig.close();
  });
});
