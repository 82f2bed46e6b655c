import { newId, sha256 } from "@seneschal/adapters/log";
import { createMemoryLog, settableClock } from "@seneschal/adapters/memory";
import { CodedError } from "@seneschal/kernel";
import { emptyHead, openReplicated, type Replicated, type ReplicatedOptions } from "@seneschal/kernel/log";
import type { LogEntry, ReplicatedLog } from "@seneschal/kernel/ports";
import { describe, expect, test } from "vitest";
import { type AllotmentCommand, allotment, bareAllotment, give, take } from "./allotment.ts";

type Allotment = typeof allotment.initial;
const clock = settableClock(1_700_000_000_000);

const open = (
  log: ReplicatedLog,
  options: Partial<ReplicatedOptions<Allotment, AllotmentCommand, unknown>> = {},
): Promise<Replicated<Allotment, AllotmentCommand, unknown>> =>
  openReplicated<Allotment, AllotmentCommand, unknown>({ log, machine: allotment, clock, sha256, newId, ...options });

const results = (proposed: readonly { readonly result: unknown }[]): unknown[] => proposed.map(({ result }) => result);

async function history(log: ReplicatedLog): Promise<readonly LogEntry[]> {
  return (await log.read(0, { limit: 10_000 })).entries;
}

/** A gate in front of append: holds the next one until it is let go. */
function gated(log: ReplicatedLog): { readonly log: ReplicatedLog; readonly held: Promise<void>; readonly release: () => void } {
  let reached: () => void = () => {};
  let release: () => void = () => {};
  const held = new Promise<void>((resolve) => {
    reached = resolve;
  });
  const open = new Promise<void>((resolve) => {
    release = resolve;
  });
  return {
    log: {
      ...log,
      append: async (head, entry) => {
        reached();
        await open;
        return log.append(head, entry);
      },
    },
    held,
    release,
  };
}

describe("a replicated state machine", () => {
  test("is not opened with a hash whose entries could not be read again, and writes nothing", async () => {
    const log = createMemoryLog().open();
    const bytes = ((data: string | Uint8Array) => Buffer.from(sha256(data), "hex")) as unknown as typeof sha256;
    for (const wrong of [bytes, () => "", (data: string | Uint8Array) => sha256(data).toUpperCase()])
      await expect(open(log, { sha256: wrong })).rejects.toThrow(
        new TypeError("sha256: expected SHA-256 of a text or bytes, as 64 hexadecimal digits"),
      );
    expect(await history(log)).toEqual([]);
  });

  test("answers every command in order; refusals and repeats cost the log nothing", async () => {
    const log = createMemoryLog().open();
    const replica = await open(log);
    const commands = [take("1", "a", 6), take("2", "a", 6), give("3", "a", 1), take("1", "a", 6)];
    const proposed = await replica.propose(commands);
    expect(results(proposed)).toEqual(["ok", "rejected: current 6 requested 6 limit 10", "ok", "ok"]);
    expect(proposed.map(({ accepted }) => accepted)).toEqual([true, false, true, false]);
    const before = await history(log);
    expect(before.map((entry) => entry.commands.map((command) => command["id"]))).toEqual([["1", "3"]]);
    expect(results(await replica.propose([take("4", "a", 9), take("1", "a", 6)]))).toEqual([
      "rejected: current 5 requested 9 limit 10",
      "ok",
    ]);
    expect(await history(log)).toEqual(before);
    expect(replica.state().inner.used).toEqual({ a: 5 });
  });

  test("what a replica appended itself it does not read back", async () => {
    const inner = createMemoryLog().open();
    let reads = 0;
    const replica = await open({
      ...inner,
      read: (afterSeq, options) => {
        reads += 1;
        return inner.read(afterSeq, options);
      },
    });
    for (let n = 1; n <= 5; n += 1) await replica.propose([take(`c${n}`, "t", 1)]);
    await replica.close();
    expect(reads, "one when it was opened").toBe(1);
  });

  test("commands that arrive while a batch is in flight travel together in the next one", async () => {
    const log = createMemoryLog().open();
    const replica = await open(log);
    await Promise.all(Array.from({ length: 64 }, (_, at) => replica.propose([take(`t${at}`, `tenant${at}`, 1)])));
    expect((await history(log)).length).toBeLessThanOrEqual(2);
    await replica.propose(Array.from({ length: 1100 }, (_, at) => take(`u${at}`, `user${at}`, 1)));
    const sizes = (await history(log)).map((entry) => entry.commands.length);
    expect(Math.max(...sizes)).toBe(512);
    expect(sizes.reduce((sum, size) => sum + size)).toBe(1164);
  });

  test("a held proposer that lost its place undoes everything and is judged again on the committed state", async () => {
    const shared = createMemoryLog();
    const gate = gated(shared.open());
    const a = await open(gate.log);
    const b = await open(shared.open());
    const pending = a.propose([take("a1", "t", 6), take("a2", "u", 1)]);
    await gate.held;
    expect(a.state().inner.used, "readers never see speculation").toEqual({});
    expect(results(await b.propose([take("b1", "t", 6)]))).toEqual(["ok"]);
    gate.release();
    expect(results(await pending)).toEqual(["rejected: current 6 requested 6 limit 10", "ok"]);
    expect(results(await b.propose([{ id: "b2", kind: "limit", limit: 3 }]))).toEqual(["ok"]);
    expect(results(await a.propose([take("a3", "t", 1)]))).toEqual(["rejected: current 6 requested 1 limit 3"]);
    expect(results(await a.propose([take("b1", "t", 6)])), "another process's command sent again is a repeat").toEqual(["ok"]);
    expect((await a.read()).inner.used).toEqual({ t: 6, u: 1 });
  });

  test("a batch of refusals is answered on the newest state, not on a stale one", async () => {
    const shared = createMemoryLog();
    const quiet = { ...shared.open(), subscribe: () => () => {} };
    const a = await open(quiet);
    const b = await open(shared.open());
    await a.propose([take("a1", "t", 10)]);
    await b.read();
    await b.propose([give("b1", "t", 10)]);
    expect(a.state().inner.used, "the replica is behind").toEqual({ t: 10 });
    expect(results(await a.propose([take("a2", "t", 10)]))).toEqual(["ok"]);
  });

  test("read sees what was acknowledged to anyone before it began", async () => {
    const shared = createMemoryLog();
    const a = await open(shared.open());
    const b = await open({ ...shared.open(), subscribe: () => () => {} });
    for (let n = 1; n <= 5; n += 1) {
      await a.propose([take(`c${n}`, "t", 1)]);
      expect((await b.read()).inner.used).toEqual({ t: n });
    }
    const reads = await Promise.all([b.read(), b.read(), b.read()]);
    expect(reads.every((state) => state === reads[0])).toBe(true);
  });

  test("a replica follows the log by itself and tells every entry once, in order", async () => {
    const shared = createMemoryLog();
    const a = await open(shared.open());
    const b = await open(shared.open());
    const seen: unknown[] = [];
    let done: () => void = () => {};
    const all = new Promise<void>((resolve) => {
      done = resolve;
    });
    b.subscribe(({ seq, results: answers, commands }) => {
      seen.push([seq, commands[0]?.["id"], answers]);
      if (seq === 3) done();
    });
    for (const n of [1, 2, 3]) await a.propose([take(`c${n}`, "t", 1)]);
    await all;
    expect(seen).toEqual([1, 2, 3].map((n) => [n, `c${n}`, ["ok"]]));
    expect(allotment.hash(b.state())).toBe(allotment.hash(a.state()));
  });

  test("the time of entries never falls, whatever the clock does", async () => {
    const jumpy = settableClock(5000);
    const log = createMemoryLog().open();
    const replica = await open(log, { clock: jumpy });
    for (const now of [5000, 9000, 100, 9500]) {
      jumpy.set(now);
      await replica.propose([take(`c${now}`, "t", 1)]);
    }
    expect((await history(log)).map((entry) => entry.at)).toEqual([5000, 9000, 9000, 9500]);
  });

  test("every entry names the hash of the one before it", async () => {
    const log = createMemoryLog().open();
    const replica = await open(log);
    for (const n of [1, 2, 3]) await replica.propose([take(`c${n}`, "t", 1)]);
    const entries = await history(log);
    const stored = (entry: LogEntry): string =>
      JSON.stringify({
        at: entry.at,
        batch_id: entry.batchId,
        commands: entry.commands.map(({ amount, id, kind, tenant }) => ({ amount, id, kind, tenant })),
        prev_hash: entry.prevHash,
        seq: entry.seq,
        v: 1,
      });
    expect(entries.map((entry) => entry.prevHash)).toEqual(["", ...entries.slice(0, 2).map((entry) => sha256(stored(entry)))]);
  });

  test("a command is taken as it is at the call; what is no JSON object or too large is refused before queueing", async () => {
    const log = createMemoryLog().open();
    const replica = await open(log);
    const command = { id: "c", kind: "take" as const, tenant: "t", amount: 1 };
    const pending = replica.propose([command]);
    command.amount = 9;
    await pending;
    expect(replica.state().inner.used).toEqual({ t: 1 });
    const huge = { ...take("h", "t", 1), padding: "x".repeat(800_000) };
    const circular: Record<string, unknown> = {};
    circular["self"] = circular;
    for (const bad of [huge, circular, 7, [1], 1n, null])
      await expect(replica.propose([bad as unknown as AllotmentCommand])).rejects.toMatchObject({ code: "invalid_command" });
    expect((await history(log)).length).toBe(1);
  });

  test("a command that the machine does not know fails its own caller and no neighbour", async () => {
    const log = createMemoryLog().open();
    const replica = await open(log);
    const strange = { id: "x", kind: "steal" } as unknown as AllotmentCommand;
    const [good, bad] = await Promise.allSettled([replica.propose([take("c", "t", 1)]), replica.propose([strange])]);
    expect(good.status).toBe("fulfilled");
    expect(bad.status).toBe("rejected");
    expect((await history(log)).length).toBe(1);
    expect(replica.health().ready).toBe(true);
  });

  for (const [name, damage, code] of [
    ["an entry of an unknown version", (entry: LogEntry) => ({ ...entry, v: 2 }), "log_version"],
    [
      "a command that this version does not know",
      (entry: LogEntry) => ({ ...entry, commands: [{ id: "x", kind: "steal" }] }),
      "log_version",
    ],
    ["a broken chain of hashes", (entry: LogEntry) => ({ ...entry, prevHash: "00" }), "log_diverged"],
    ["time that falls", (entry: LogEntry) => ({ ...entry, at: 0 }), "log_diverged"],
    [
      "a command that is not accepted again",
      (entry: LogEntry) => ({ ...entry, commands: [{ ...take("y", "t", 99) }] }),
      "log_diverged",
    ],
    [
      "a command that was applied before",
      (entry: LogEntry) => ({ ...entry, commands: [{ ...take("c", "t", 1) }] }),
      "log_diverged",
    ],
  ] as const)
    test(`a replica that meets ${name} stops for good`, async () => {
      const shared = createMemoryLog();
      const replica = await open(shared.open());
      await replica.propose([take("c", "t", 1)]);
      const other = await open(shared.open());
      await other.propose([take("d", "t", 1)]);
      await replica.read();
      const log = shared.open();
      const { head, entries } = await log.read(1, { limit: 1 });
      const prevHash = sha256((await import("@seneschal/kernel/log")).encodeEntry(entries[0] as LogEntry));
      const next: LogEntry = { v: 1, seq: 3, batchId: "forged", prevHash, at: clock.now(), commands: [{ ...take("e", "t", 1) }] };
      await log.append(head, damage(next));
      await expect(replica.read()).rejects.toMatchObject({ code });
      expect(replica.health().ready).toBe(false);
      await expect(replica.propose([take("f", "t", 1)])).rejects.toMatchObject({ code });
      expect(replica.state().inner.used).toEqual({ t: 2 });
      await expect(open(shared.open())).rejects.toMatchObject({ code });
    });

  test("a log that lost entries or was replaced is noticed, not followed", async () => {
    const shared = createMemoryLog();
    let current = shared.open();
    const replica = await open({
      ...current,
      read: (afterSeq, options) => current.read(afterSeq, options),
      subscribe: () => () => {},
    });
    await replica.propose([take("c", "t", 1)]);
    current = createMemoryLog().open();
    await expect(replica.read()).rejects.toMatchObject({ code: "log_diverged" });
    expect(replica.health()).toMatchObject({ ready: false });
  });

  test("without a quorum callers are told, nothing is held against later proposals", async () => {
    const inner = createMemoryLog().open();
    let down = false;
    const fail = (): void => {
      if (down) throw new CodedError("no_quorum", "no majority");
    };
    const log: ReplicatedLog = {
      ...inner,
      append: async (head, entry) => {
        fail();
        return inner.append(head, entry);
      },
      read: async (afterSeq, options) => {
        fail();
        return inner.read(afterSeq, options);
      },
    };
    const replica = await open(log);
    await replica.propose([take("c1", "t", 9)]);
    down = true;
    await expect(replica.propose([take("c2", "t", 1)])).rejects.toMatchObject({ code: "no_quorum" });
    await expect(replica.propose([take("c3", "t", 9)]), "a refusal needs the newest state too").rejects.toMatchObject({
      code: "no_quorum",
    });
    await expect(replica.read()).rejects.toMatchObject({ code: "no_quorum" });
    expect(replica.state().inner.used, "what is known is still shown").toEqual({ t: 9 });
    down = false;
    expect(results(await replica.propose([take("c2", "t", 1)]))).toEqual(["ok"]);
  });

  test("an unknown outcome is settled by reading where the head moved, else told; the same ids settle it", async () => {
    const inner = createMemoryLog().open();
    let lose: "reply" | "request" | "nothing" = "nothing";
    const log: ReplicatedLog = {
      ...inner,
      append: async (head, entry) => {
        if (lose !== "request") await inner.append(head, entry);
        if (lose !== "nothing") throw new CodedError("outcome_unknown", "lost");
        return { ok: true, head: { seq: entry.seq, batchId: entry.batchId } };
      },
    };
    const replica = await open(log);
    lose = "reply";
    expect(results(await replica.propose([take("c1", "t", 2)])), "applied: the log says so").toEqual(["ok"]);
    lose = "request";
    await expect(replica.propose([take("c2", "t", 2)])).rejects.toMatchObject({ code: "outcome_unknown" });
    lose = "nothing";
    expect(results(await replica.propose([take("c2", "t", 2)]))).toEqual(["ok"]);
    expect(replica.state().inner.used).toEqual({ t: 4 });
    expect((await history(inner)).length).toBe(2);
  });

  test("replay from the snapshot equals replay from zero, and a replica below the truncation starts from the snapshot", async () => {
    const shared = createMemoryLog();
    const lagging = await open({ ...shared.open(), subscribe: () => () => {} });
    const writer = await open(shared.open(), { snapshotEvery: 10, keepEntries: 5, keepMs: 0 });
    const whole = createMemoryLog().open();
    for (let n = 1; n <= 57; n += 1)
      await writer.propose([n % 3 === 0 ? give(`c${n}`, "t", 1) : take(`c${n}`, `t${n % 7}`, 1), take(`d${n}`, "t", 1)]);
    await writer.close();
    const log = shared.open();
    await expect(log.read(0, { limit: 1 })).rejects.toMatchObject({ code: "log_truncated" });
    expect((await log.loadSnapshot())?.seq).toBe(50);
    expect((await log.read(40, { limit: 100 })).entries.length).toBe(17);
    const fresh = await open(shared.open());
    expect(allotment.hash(fresh.state())).toBe(allotment.hash(writer.state()));
    expect(allotment.hash(await lagging.read())).toBe(allotment.hash(writer.state()));
    expect(results(await fresh.propose([take("c56", "t0", 1)])), "remembered ids are part of the snapshot").toEqual(["ok"]);
    expect((await log.read(57, { limit: 1 })).entries).toEqual([]);
    expect((await whole.read(0, { limit: 1 })).head).toEqual(emptyHead);
  });

  test("a log of large entries is snapshot and truncated by its bytes, however few and young the entries are", async () => {
    const shared = createMemoryLog();
    const writer = await open(shared.open(), { snapshotBytes: 10_000, keepBytes: 30_000 });
    for (let n = 1; n <= 100; n += 1)
      await writer.propose([{ ...take(`c${n}`, `t${n}`, 1), padding: "x".repeat(1000) } as unknown as AllotmentCommand]);
    await writer.close();
    const log = shared.open();
    await expect(log.read(50, { limit: 1 })).rejects.toMatchObject({ code: "log_truncated" });
    expect((await log.read(75, { limit: 100 })).entries.length).toBe(25);
    expect(allotment.hash((await open(shared.open())).state())).toBe(allotment.hash(writer.state()));
  });

  test("a crash at any step of snapshot and truncation loses nothing", async () => {
    for (const step of ["saveSnapshot before", "saveSnapshot after", "truncate before", "truncate after"]) {
      const shared = createMemoryLog();
      const inner = shared.open();
      let crashed = false;
      const crashing = (name: "saveSnapshot" | "truncate") => async (work: () => Promise<void>) => {
        if (step === `${name} before`) crashed = true;
        if (crashed) throw new Error("the process died");
        await work();
        if (step === `${name} after`) {
          crashed = true;
          throw new Error("the process died");
        }
      };
      const log: ReplicatedLog = {
        ...inner,
        saveSnapshot: (seq, bytes) => crashing("saveSnapshot")(() => inner.saveSnapshot(seq, bytes)),
        truncate: (seq) => crashing("truncate")(() => inner.truncate(seq)),
      };
      const doomed = await open(log, { snapshotEvery: 5, keepEntries: 0, keepMs: 0 });
      for (let n = 1; n <= 12; n += 1) await doomed.propose([take(`c${n}`, `t${n}`, 1)]);
      const survivor = await open(shared.open(), { snapshotEvery: 5, keepEntries: 0, keepMs: 0 });
      expect(allotment.hash(survivor.state()), step).toBe(allotment.hash(doomed.state()));
      for (let n = 13; n <= 20; n += 1) await survivor.propose([take(`c${n}`, `t${n}`, 1)]);
      await survivor.snapshot();
      expect(allotment.hash((await open(shared.open())).state()), step).toBe(allotment.hash(survivor.state()));
    }
  });

  test("a snapshot that is encoded while commands go on holds the state at its own sequence, and nothing of theirs", async () => {
    const shared = createMemoryLog();
    const inPieces: typeof allotment = {
      ...allotment,
      *encode(state) {
        const bytes = Buffer.concat([...allotment.encode(state)]);
        for (let at = 0; at < bytes.length; at += 10) yield bytes.subarray(at, at + 10);
      },
    };
    let asked = 0;
    const replica = await open(shared.open(), {
      machine: inPieces,
      pause: async () => {
        asked += 1;
        await replica.propose([take(`p${asked}`, `t${asked}`, 1)]);
      },
    });
    await replica.propose([take("c1", "t", 1), take("c2", "u", 2)]);
    const then = allotment.hash(replica.state());
    await replica.snapshot();
    expect(asked).toBeGreaterThan(5);
    const snapshot = await shared.open().loadSnapshot();
    expect(snapshot?.seq).toBe(1);
    const hashes: string[] = [];
    const machine = {
      ...allotment,
      decode: (bytes: Uint8Array) => {
        const state = allotment.decode(bytes);
        hashes.push(allotment.hash(state));
        return state;
      },
    };
    const fresh = await open(shared.open(), { machine });
    expect(hashes).toEqual([then]);
    expect(allotment.hash(fresh.state())).toBe(allotment.hash(replica.state()));
  });

  test("a damaged snapshot is refused, not used", async () => {
    const shared = createMemoryLog();
    const writer = await open(shared.open());
    await writer.propose([take("c", "t", 1)]);
    await writer.snapshot();
    const log = shared.open();
    const bytes = (await log.loadSnapshot())?.bytes as Uint8Array;
    bytes[bytes.length - 4] = "7".charCodeAt(0);
    await expect(open({ ...log, loadSnapshot: async () => ({ seq: 1, bytes }) })).rejects.toMatchObject({
      code: "snapshot_invalid",
    });
  });

  test("close waits for proposals in flight; later ones fail with log_closed", async () => {
    const log = createMemoryLog().open();
    const replica = await open(log);
    const flying = Array.from({ length: 5 }, (_, at) => replica.propose([take(`c${at}`, "t", 1)]));
    await replica.close();
    expect((await Promise.all(flying)).length).toBe(5);
    await expect(replica.propose([take("x", "t", 1)])).rejects.toMatchObject({ code: "log_closed" });
    await expect(replica.read()).rejects.toMatchObject({ code: "log_closed" });
    expect(bareAllotment.initial.used).toEqual({});
  });
});
