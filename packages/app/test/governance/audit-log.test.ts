import { openMemoryStore } from "@seneschal/adapters/memory";
import type { JsonObject } from "@seneschal/kernel";
import type { DocumentStore } from "@seneschal/kernel/ports";
import fc from "fast-check";
import { beforeEach, describe, expect, test } from "vitest";
import { AuditLog } from "../../src/governance/audit/audit-log.ts";
import { openCheckpointSigner } from "../../src/governance/audit/open-checkpoint-signer.ts";
import { governanceSchema } from "../../src/governance/schema.ts";

const signer = await openCheckpointSigner(undefined, "test");
const NOW = Date.UTC(2026, 0, 1);

describe("the audit log of governance", () => {
  let store: DocumentStore;
  let count = 0;
  beforeEach(() => {
    store = openMemoryStore(governanceSchema);
  });
  const record = async (stream: string, times = 1): Promise<void> => {
    for (let i = 0; i < times; i++) {
      count += 1;
      const event = { id: `e${count}`, user_id: "u", timestamp: new Date(NOW + count).toISOString() };
      await store.commit({ commitId: `c${count}`, audit: [{ stream, event }] });
    }
  };
  const sizes = async (stream: string) => {
    const { items } = await store.list("audit_checkpoints", "by_size", [stream], { limit: 100 });
    return items.map(({ doc }) => doc["size"]);
  };

  test("one round of signing counts every stream with new records, and no other", async () => {
    const log = new AuditLog(store, signer);
    await log.checkpointAll(NOW);
    await record("a", 3);
    await record("b", 70);
    await log.checkpointAll(NOW);
    await record("a");
    await log.checkpointAll(NOW);
    await log.checkpointAll(NOW);
    expect([await sizes("a"), await sizes("b")]).toEqual([[3, 4], [70]]);
    for (const [stream, records] of [
      ["a", 4],
      ["b", 70],
    ] as const)
      expect(await log.verify(stream)).toMatchObject({ valid: true, records, missing: 0 });
  });

  test("the newest checkpoints of each log are kept, and vouch for all of it; those of before there was a bound go page by page", async () => {
    const before = new AuditLog(store, signer);
    for (let i = 0; i < 80; i++) {
      await record("a");
      await before.checkpointAll(NOW);
    }
    const log = new AuditLog(store, signer, 3);
    for (let i = 0; i < 4; i++) {
      await record("a");
      if (i % 2 === 0) await record("b");
      await log.checkpointAll(NOW);
    }
    expect([await sizes("a"), await sizes("b")]).toEqual([
      [82, 83, 84],
      [1, 2],
    ]);
    expect(await log.verify("a")).toMatchObject({ valid: true, records: 84, checkpoints: 3, missing: 0 });
    expect((await log.consistency("a", 5, 84)).proven?.first_root).toBe((await log.consistency("a", 5, 6)).proven?.first_root);
    const fresh = new AuditLog(store, signer, 3);
    await record("a");
    expect(await fresh.checkpoint("a", NOW)).toMatchObject({ size: 85 });
  });

  test("a log that is followed in between is signed as one that is not", async () => {
    const followed = new AuditLog(store, signer);
    for (let i = 0; i < 5; i++) {
      await record("a", 30);
      await followed.follow();
    }
    await Promise.all([followed.follow(), followed.follow()]);
    const checkpoint = await followed.checkpoint("a", NOW);
    expect(checkpoint).toMatchObject({ size: 150, root: (await followed.verify("a")).root });
  });

  test("records that it hears of in their order are not read again, and those that it does not hear of are not missed", async () => {
    let reads = 0;
    const watched: DocumentStore = {
      ...store,
      auditRead: async (after, limit) => {
        const entries = await store.auditRead(after, limit);
        reads += entries.length;
        return entries;
      },
    };
    const log = new AuditLog(watched, signer);
    const heard = async (stream: string): Promise<void> => {
      count += 1;
      const draft = { stream, event: { id: `e${count}`, user_id: "u", timestamp: new Date(NOW + count).toISOString() } };
      const result = await store.commit({ commitId: `c${count}`, audit: [draft, draft] });
      if (result.ok) log.committed([draft, draft], result.audit);
    };
    await record("a");
    await log.follow();
    expect(reads).toBe(1);
    for (let i = 0; i < 10; i++) await heard("a");
    await log.follow();
    expect(reads).toBe(1);
    // A stream that was not met yet, and a record of somebody else.
    await heard("b");
    await heard("a");
    await record("a");
    await heard("a");
    await log.follow();
    expect(reads).toBe(8);
    const [followed] = await Promise.all([log.checkpointAll(NOW), heard("a"), heard("b")]);
    expect(followed).toBeUndefined();
    await log.checkpointAll(NOW);
    const fresh = new AuditLog(watched, signer);
    await record("a");
    await fresh.checkpointAll(NOW);
    for (const [stream, records] of [
      ["a", 29],
      ["b", 4],
    ] as const)
      expect(await fresh.verify(stream)).toMatchObject({ valid: true, records });
    expect((await sizes("a")).at(-1)).toBe(29);
  });

  test("what it hears of is signed as it was written, whatever order its callers' clocks and commits came in", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.record({ stream: fc.constantFrom("a", "b"), at: fc.nat(5), follow: fc.boolean() })),
        async (heard) => {
          const own = openMemoryStore(governanceSchema);
          const log = new AuditLog(own, signer);
          for (const [n, { stream, at, follow }] of heard.entries()) {
            const event = { id: `e${n}`, user_id: "u", timestamp: new Date(NOW + at).toISOString() };
            const result = await own.commit({ commitId: `c${n}`, audit: [{ stream, event }] });
            if (result.ok) log.committed([{ stream, event }], result.audit);
            if (follow) await log.follow();
          }
          await log.checkpointAll(NOW);
          for (const stream of ["a", "b"]) expect(await log.verify(stream)).toMatchObject({ valid: true });
        },
      ),
    );
  });

  test("a record that is committed while others are signed is signed next", async () => {
    await record("a");
    await record("b");
    const log = new AuditLog(
      {
        ...store,
        list: async (coll, ...rest) => {
          const page = await store.list(coll, ...rest);
          if (coll === "audit_checkpoints" && meanwhile !== undefined) {
            const next = meanwhile;
            meanwhile = undefined;
            await next();
          }
          return page;
        },
      },
      signer,
    );
    let meanwhile: (() => Promise<void>) | undefined;
    await log.follow();
    meanwhile = async () => {
      const draft = { stream: "a", event: { id: "late", user_id: "u", timestamp: new Date(NOW).toISOString() } };
      const result = await store.commit({ commitId: "late", audit: [draft] });
      if (result.ok) log.committed([draft], result.audit);
    };
    await log.checkpointAll(NOW);
    const restarted = new AuditLog(store, signer);
    await restarted.checkpointAll(NOW);
    expect([await sizes("a"), await sizes("b")]).toEqual([[1, 2], [1]]);
    await log.checkpointAll(NOW);
    expect(await log.verify("a")).toMatchObject({ valid: true, records: 2, checkpoints: 2 });
  });

  test("after a restart nothing that is signed is read again", async () => {
    await record("a", 100);
    await record("b", 5);
    await new AuditLog(store, signer).checkpointAll(NOW);
    await record("a", 2);
    const read: unknown[] = [];
    const watched: DocumentStore = {
      ...store,
      auditRead: async (after, limit) => {
        const entries = await store.auditRead(after, limit);
        read.push(...entries.map(({ seq }) => seq));
        return entries;
      },
      list: (coll, ...rest) => {
        if (coll === "audit") read.push(coll);
        return store.list(coll, ...rest);
      },
    };
    const log = new AuditLog(watched, signer);
    await log.checkpointAll(NOW);
    expect(read).toEqual([106, 107]);
    expect([await sizes("a"), await sizes("b")]).toEqual([[100, 102], [5]]);
    expect(await log.verify("a")).toMatchObject({ valid: true, records: 102, checkpoints: 2 });
  });

  test("checkpoints of earlier versions, which say only root and size, are gone on from", async () => {
    await record("a", 100);
    await record("idle", 3);
    const first = new AuditLog(store, signer);
    await first.checkpointAll(NOW);
    for (const id of ["a/100", "idle/3"]) {
      const { peaks: _, seq: __, ...doc } = (await store.get("audit_checkpoints", id))?.doc ?? {};
      await store.commit({ commitId: id, puts: [{ coll: "audit_checkpoints", id, doc }] });
    }
    await record("a", 2);
    await new AuditLog(store, signer).checkpointAll(NOW);
    await record("idle");
    const log = new AuditLog(store, signer);
    await log.checkpointAll(NOW);
    for (const [stream, records] of [
      ["a", 102],
      ["idle", 4],
    ] as const)
      expect(await log.verify(stream)).toMatchObject({ valid: true, records, checkpoints: 2 });
  });

  test("of two processes none writes over what the other has signed, and both go on", async () => {
    const [one, other] = [new AuditLog(store, signer), new AuditLog(store, signer)];
    let kept: readonly unknown[] = [];
    for (let i = 0; i < 4; i++) {
      await record("a", 10);
      await record(i % 2 === 0 ? "b" : "c");
      await Promise.all([one.checkpointAll(NOW), other.checkpointAll(NOW + 1)]);
      const { items } = await store.list("audit_checkpoints", "by_size", ["a"], { limit: 10 });
      expect(items.slice(0, i)).toEqual(kept);
      kept = items;
    }
    expect(await sizes("a")).toEqual([10, 20, 30, 40]);
    expect([await sizes("b"), await sizes("c")]).toEqual([
      [1, 2],
      [1, 2],
    ]);
    expect(await new AuditLog(store, signer).verify("a")).toMatchObject({ valid: true, records: 40 });
  });

  test("a refused checkpoint is tried again, not without end, and nothing is forgotten", async () => {
    await record("a");
    let refusals = 1;
    const refusing: DocumentStore = {
      ...store,
      commit: (commit) => (refusals-- > 0 ? Promise.resolve({ ok: false, failed: [], unique: [] }) : store.commit(commit)),
    };
    const log = new AuditLog(refusing, signer);
    await log.checkpointAll(NOW);
    expect(await sizes("a")).toEqual([1]);
    await record("a");
    refusals = 1000;
    await expect(log.checkpointAll(NOW)).rejects.toMatchObject({ code: "service_unavailable" });
    refusals = 0;
    await log.checkpointAll(NOW);
    expect(await sizes("a")).toEqual([1, 2]);
  });

  test("who asks for the checkpoint of one stream has no other signed, and nothing is passed over for it after a restart", async () => {
    await record("a", 2);
    await record("b", 2);
    expect(await new AuditLog(store, signer).checkpoint("b", NOW)).toMatchObject({ size: 2 });
    expect(await sizes("a")).toEqual([]);
    const log = new AuditLog(store, signer);
    await log.checkpointAll(NOW);
    expect([await sizes("a"), await sizes("b")]).toEqual([[2], [2]]);
  });

  describe("of checkpoints that somebody else wrote or took away", () => {
    const rewrite = async (id: string, change: (doc: JsonObject) => JsonObject): Promise<void> => {
      const { doc } = (await store.get("audit_checkpoints", id)) ?? { doc: {} };
      await store.commit({ commitId: `rewrite ${id}`, puts: [{ coll: "audit_checkpoints", id, doc: change(doc) }] });
    };
    beforeEach(async () => {
      const log = new AuditLog(store, signer);
      for (let i = 0; i < 2; i++) {
        await record("a", 3);
        await record("b", 3);
        await log.checkpointAll(NOW);
      }
    });
    const goesOn = async (): Promise<void> => {
      await record("a", 5);
      await record("b");
      const log = new AuditLog(store, signer);
      await log.checkpointAll(NOW);
      expect([(await sizes("a")).at(-1), (await sizes("b")).at(-1)]).toEqual([11, 7]);
      expect((await log.checkpoint("a", NOW))?.root).toBe((await log.verify("a")).root);
      expect(await log.verify("b")).toMatchObject({ valid: true, records: 7 });
    };

    test("one that is gone is made up for from the records", async () => {
      await store.commit({ commitId: "gone", dels: [{ coll: "audit_checkpoints", id: "a/6" }] });
      await goesOn();
    });

    test.each([
      ["a sequence that was never reached", (doc: JsonObject) => Object.assign({}, doc, { seq: 1e12 })],
      ["peaks of another log", (doc: JsonObject) => Object.assign({}, doc, { peaks: [...(doc["peaks"] as string[])].reverse() })],
      ["peaks that are none", (doc: JsonObject) => Object.assign({}, doc, { peaks: ["AA=="] })],
      ["a root of its own", (doc: JsonObject) => Object.assign({}, doc, { root: Buffer.alloc(32).toString("base64") })],
      ["another's note", (doc: JsonObject) => Object.assign({}, doc, { note: "none" })],
    ])("%s is not gone on from", async (_, change) => {
      await rewrite("a/6", change);
      await goesOn();
    });
  });

  test("behind a record that was taken out nothing is counted or proven, and verification says so", async () => {
    await record("a", 200);
    const whole = await new AuditLog(store, signer).checkpoint("a", NOW);
    const cut: DocumentStore = {
      ...store,
      auditRead: async (after, limit) =>
        (await store.auditRead(after, limit + 1)).filter(({ streamSeq }) => streamSeq !== 50).slice(0, limit),
      list: async (coll, index, prefix, options) => {
        const page = await store.list(coll, index, prefix, options);
        return coll === "audit" ? { ...page, items: page.items.filter(({ doc }) => doc["stream_seq"] !== 50) } : page;
      },
    };
    const log = new AuditLog(cut, signer);
    await record("a");
    expect((await log.checkpoint("a", NOW))?.size).toBe(201);
    expect(await log.verify("a")).toMatchObject({ valid: false, records: 49, first_bad_checkpoint: 200, missing: 152 });
    expect(await log.verify("a", { size: 200, root: whole?.root ?? "" })).toMatchObject({ valid: false, checkpoints: 3 });
    await expect(log.proof("a", 51, {})).rejects.toMatchObject({ code: "log_invalid" });
    const fresh = new AuditLog(
      { ...cut, list: async (coll, ...rest) => (coll === "audit_checkpoints" ? { items: [] } : cut.list(coll, ...rest)) },
      signer,
    );
    await fresh.follow();
    await expect(fresh.checkpointAll(NOW)).rejects.toMatchObject({ code: "log_invalid" });
  });

  test("verification names, and never throws for, each record that is gone and each flipped bit of a checkpoint or a record", async () => {
    for (let round = 0; round < 2; round += 1) {
      await record("a", 2);
      await new AuditLog(store, signer).checkpointAll(NOW);
    }
    const step = process.env["FC_RUNS"] === undefined ? 5 : 1;
    for (const coll of ["audit", "audit_checkpoints"]) {
      const { items } = await store.list(coll, coll === "audit" ? "stream" : "by_size", ["a"], { limit: 10 });
      for (const { id, doc } of items) {
        const part = coll === "audit" ? (doc["event"] as JsonObject) : doc;
        const verdictOn = (now: JsonObject | undefined) => {
          const damaged: DocumentStore = {
            ...store,
            list: async (from, ...rest) => {
              const page = await store.list(from, ...rest);
              const change = (item: (typeof page.items)[0]) => {
                if (from !== coll || item.id !== id) return [item];
                if (now === undefined) return [];
                return [{ ...item, doc: coll === "audit" ? { ...item.doc, event: now } : now }];
              };
              return { ...page, items: page.items.flatMap(change) };
            },
          };
          return new AuditLog(damaged, signer).verify("a");
        };
        if (coll === "audit") expect((await verdictOn(undefined)).valid).toBe(false);
        const text = Buffer.from(JSON.stringify(part));
        for (let bit = 0; bit < text.length * 8; bit += step) {
          const changed = Buffer.from(text);
          changed[bit >> 3] = (changed[bit >> 3] as number) ^ (1 << (bit & 7));
          let now: JsonObject;
          try {
            now = JSON.parse(changed.toString()) as JsonObject;
          } catch {
            continue;
          }
          const { valid, first_bad_checkpoint } = await verdictOn(now);
          expect([valid, typeof first_bad_checkpoint], `${coll} ${id} bit ${bit}: ${changed}`).toEqual([false, "number"]);
        }
      }
    }
    expect(await new AuditLog(store, signer).verify("a")).toMatchObject({ valid: true });
  });

  test("claims are judged where they stand: of the right size and root alone", async () => {
    await record("a", 9);
    const log = new AuditLog(store, signer);
    const roots: string[] = [];
    for (let size = 0; size <= 9; size++) {
      const part = {
        ...store,
        list: async (...args: Parameters<DocumentStore["list"]>) => {
          const page = await store.list(...args);
          return { ...page, items: page.items.filter(({ doc }) => (doc["stream_seq"] as number) <= size) };
        },
      };
      roots.push((await new AuditLog(part, signer).verify("a")).root);
    }
    expect(new Set(roots).size).toBe(10);
    for (const [size, root] of roots.entries()) {
      for (let claimed = 0; claimed <= 10; claimed++) {
        const { valid, first_bad_checkpoint } = await log.verify("a", { size: claimed, root });
        expect([valid, first_bad_checkpoint]).toEqual(claimed === size ? [true, null] : [false, claimed]);
      }
    }
  });
});
