import type { JsonObject } from "../json.ts";
import { emptyHead } from "../log/entry.ts";
import type { LogEntry, LogHead, ReplicatedLog } from "../ports/replicated-log.ts";
import type { LogPlace, LogUnderTest } from "./log-under-test.ts";
import { seededIntegers } from "./seeded-integers.ts";
import { refuses, type SuiteRunner } from "./suite.ts";

/** The entry that continues `head` with one command per name. */
function entryAfter(head: LogHead, batchId: string, commands: readonly JsonObject[] = [{ id: batchId }]): LogEntry {
  return { v: 1, seq: head.seq + 1, batchId, prevHash: "", at: 1000 + head.seq, commands };
}

/**
 * Every law of the ReplicatedLog port as a test. Only what the capabilities leave out is skipped.
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { test } from "node:test";
 * import { createMemoryLog } from "@seneschal/adapters/memory";
 * import { replicatedLogSuite } from "@seneschal/kernel/testing";
 * replicatedLogSuite({ test: (name, body) => void test(name, body), equal: assert.deepStrictEqual }, {
 *   capabilities: { durable: true, shared: true },
 *   place: async () => {
 *     const log = createMemoryLog();
 *     return { open: async () => log.open(), destroy: async () => {} };
 *   },
 * });
 * ```
 */
export function replicatedLogSuite(runner: SuiteRunner, subject: LogUnderTest): void {
  const { equal } = runner;
  const { durable, shared } = subject.capabilities;
  const law = (name: string, body: (log: ReplicatedLog, place: LogPlace) => Promise<void>): void =>
    runner.test(name, async () => {
      const place = await subject.place();
      try {
        const log = await place.open();
        try {
          await body(log, place);
        } finally {
          await log.close();
        }
      } finally {
        await place.destroy();
      }
    });
  const fill = async (log: ReplicatedLog, from: LogHead, count: number): Promise<LogHead> => {
    let head = from;
    for (let n = 0; n < count; n += 1) {
      const result = await log.append(head, entryAfter(head, `fill-${head.seq + 1}`));
      equal(result.ok, true);
      head = result.head;
    }
    return head;
  };
  const readAll = async (log: ReplicatedLog, afterSeq = 0): Promise<LogEntry[]> => {
    const entries: LogEntry[] = [];
    for (;;) {
      const page = await log.read(afterSeq + entries.length, { limit: 7 });
      entries.push(...page.entries);
      if ((entries.at(-1)?.seq ?? afterSeq) >= page.head.seq) return entries;
      equal(page.entries.length > 0, true, "a page before the head is not empty");
    }
  };

  law("an empty log has head 0, no entries and no snapshot", async (log) => {
    equal(await log.read(0, { limit: 10 }), { head: emptyHead, entries: [] });
    equal(await log.loadSnapshot(), undefined);
    const status = await log.status();
    equal([status.available, status.head], [true, emptyHead]);
    equal(status.members.length > 0, true);
  });

  law("entries come back as they were appended, dense from 1, in pages", async (log) => {
    const commands = [
      { id: "a", text: '\u{1f600} \u00e9 " \\', n: [1.5, -0.1, 1e21, null, true] },
      { id: "b", nested: { x: {} } },
    ];
    const first = entryAfter(emptyHead, "first", commands);
    equal(await log.append(emptyHead, first), { ok: true, head: { seq: 1, batchId: "first" } });
    await fill(log, { seq: 1, batchId: "first" }, 19);
    const entries = await readAll(log);
    equal(entries[0], first);
    equal(
      entries.map((entry) => entry.seq),
      Array.from({ length: 20 }, (_, at) => at + 1),
    );
    equal(
      (await log.read(18, { limit: 10 })).entries.map((entry) => entry.seq),
      [19, 20],
    );
    equal(await log.read(20, { limit: 10 }), { head: { seq: 20, batchId: "fill-20" }, entries: [] });
  });

  law("of two writers at one head one wins, and the loser gets the tail with nothing written", async (log, place) => {
    const rival = shared ? await place.open() : log;
    for (let round = 0; round < 5; round += 1) {
      const { head } = await log.read(0, { limit: 1 });
      const entries = [entryAfter(head, `a${round}`), entryAfter(head, `b${round}`)] as const;
      const results = await Promise.all([log.append(head, entries[0]), rival.append(head, entries[1])]);
      equal(results.filter((result) => result.ok).length, 1);
      const winner = results[0].ok ? entries[0] : entries[1];
      const lost = results.find((result) => !result.ok);
      equal(lost, { ok: false, head: { seq: winner.seq, batchId: winner.batchId }, tail: [winner] });
      equal((await readAll(log)).length, round + 1);
    }
    if (shared) await rival.close();
  });

  law("the head is compared by sequence and batch", async (log) => {
    await fill(log, emptyHead, 2);
    const stale = await log.append({ seq: 1, batchId: "fill-1" }, entryAfter({ seq: 1, batchId: "fill-1" }, "late"));
    equal(stale.ok ? "accepted" : [stale.head, stale.tail.map((entry) => entry.batchId)], [
      { seq: 2, batchId: "fill-2" },
      ["fill-2"],
    ]);
    const foreign = { seq: 2, batchId: "another" };
    equal((await log.append(foreign, entryAfter(foreign, "x"))).ok, false);
    const ahead = { seq: 7, batchId: "fill-7" };
    equal((await log.append(ahead, entryAfter(ahead, "y"))).ok, false);
    equal((await log.append(emptyHead, entryAfter(emptyHead, "z"))).ok, false);
    equal((await readAll(log)).length, 2);
  });

  law("an append that is repeated identically is answered ok and applied once", async (log) => {
    const entry = entryAfter(emptyHead, "once");
    const first = await log.append(emptyHead, entry);
    equal(await log.append(emptyHead, entry), first);
    await fill(log, first.head, 2);
    equal(await log.append(emptyHead, entry), first);
    equal((await readAll(log)).length, 3);
  });

  law("an entry that does not continue the expected head is refused before anything is sent", async (log) => {
    const wrong = { ...entryAfter(emptyHead, "x"), seq: 2 };
    await refuses(runner, "invalid_entry", () => log.append(emptyHead, wrong));
    await refuses(runner, "invalid_entry", () => log.append(emptyHead, entryAfter(emptyHead, "")));
    for (const [afterSeq, limit] of [
      [-1, 1],
      [0, 0],
      [0.5, 1],
      [0, 1.5],
    ] as const)
      await refuses(runner, "invalid_query", () => log.read(afterSeq, { limit }));
    equal(await log.read(0, { limit: 1 }), { head: emptyHead, entries: [] });
  });

  law("a batch of 800 KB and a page of many of them pass", async (log) => {
    let head = emptyHead;
    for (let n = 1; n <= 6; n += 1) {
      const commands = Array.from({ length: 512 }, (_, at) => ({ id: `${n}-${at}`, text: "x".repeat(1500) }));
      head = (await log.append(head, entryAfter(head, `big-${n}`, commands))).head;
    }
    const entries = await readAll(log);
    equal(
      entries.map((entry) => entry.commands.length),
      Array.from({ length: 6 }, () => 512),
    );
    const stale = await log.append(emptyHead, entryAfter(emptyHead, "late"));
    equal(stale.ok ? 0 : stale.tail.every((entry, at) => entry.seq === at + 1), true, "the tail is contiguous");
  });

  law("a snapshot comes back whole; an older one never replaces a newer one; none lies beyond the head", async (log, place) => {
    await fill(log, emptyHead, 5);
    const bytes = (fillWith: number, length: number): Uint8Array =>
      new Uint8Array(length).map((_, at) => (at * 31 + fillWith) & 0xff);
    await log.saveSnapshot(2, bytes(2, 10));
    const big = bytes(4, 1_700_001);
    const saving = log.saveSnapshot(4, big);
    await saving;
    await log.saveSnapshot(3, bytes(3, 10));
    await log.saveSnapshot(4, bytes(9, 10));
    const reader = shared ? await place.open() : log;
    const loaded = await reader.loadSnapshot();
    equal(loaded?.seq, 4);
    equal(loaded?.bytes.length, big.length);
    equal(
      loaded?.bytes.every((byte, at) => byte === big[at]),
      true,
    );
    await refuses(runner, "invalid_query", () => log.saveSnapshot(6, bytes(6, 1)));
    await refuses(runner, "invalid_query", () => log.saveSnapshot(0, bytes(6, 1)));
    await log.saveSnapshot(5, bytes(5, 0));
    equal((await log.loadSnapshot())?.bytes.length, 0);
    if (shared) await reader.close();
  });

  law("truncation needs a snapshot; a reader below it is sent to the snapshot, one behind it reads on", async (log, place) => {
    let head = await fill(log, emptyHead, 10);
    await refuses(runner, "snapshot_missing", () => log.truncate(1));
    await log.saveSnapshot(6, new Uint8Array([6]));
    await refuses(runner, "snapshot_missing", () => log.truncate(7));
    await log.truncate(5);
    const reader = shared ? await place.open() : log;
    for (const afterSeq of [0, 4]) await refuses(runner, "log_truncated", () => reader.read(afterSeq, { limit: 10 }));
    equal(
      (await readAll(reader, 5)).map((entry) => entry.seq),
      [6, 7, 8, 9, 10],
    );
    await log.truncate(3);
    await log.truncate(6);
    await refuses(runner, "log_truncated", () => reader.read(5, { limit: 10 }));
    const stale = await reader.append(emptyHead, entryAfter(emptyHead, "stale"));
    equal(stale.ok ? "a truncated entry was created again" : [stale.head, stale.tail], [head, []]);
    head = await fill(log, head, 1);
    await log.saveSnapshot(11, new Uint8Array([11]));
    await log.truncate(11);
    equal(await reader.read(11, { limit: 1 }), { head, entries: [] });
    await refuses(runner, "log_truncated", () => reader.read(10, { limit: 1 }));
    await fill(reader, head, 1);
    equal((await readAll(log, 11)).length, 1);
    if (shared) await reader.close();
  });

  law("an archived piece is written once, comes back whole from any handle, and outlives truncation", async (log, place) => {
    const bytes = (from: number, length: number): Uint8Array => Uint8Array.from({ length }, (_, at) => (at * from) % 256);
    equal(await log.archived(0), undefined);
    await log.archive(0, bytes(7, 300_000));
    await log.archive(3, bytes(5, 1_000_000));
    await log.archive(0, bytes(1, 10));
    const head = await fill(log, emptyHead, 3);
    await log.saveSnapshot(head.seq, bytes(1, 1));
    await log.truncate(head.seq);
    const reader = shared ? await place.open() : log;
    for (const [piece, expected] of [
      [0, bytes(7, 300_000)],
      [3, bytes(5, 1_000_000)],
    ] as const) {
      const found = await reader.archived(piece);
      equal(found?.length, expected.length);
      equal(
        found?.every((byte, at) => byte === expected[at]),
        true,
      );
    }
    equal(await reader.archived(1), undefined);
    await refuses(runner, "invalid_query", () => log.archive(4, bytes(1, 1_000_001)));
    await refuses(runner, "invalid_query", () => log.archive(-1, bytes(1, 1)));
    await refuses(runner, "invalid_query", () => log.archived(0.5));
    if (reader !== log) await reader.close();
  });

  law("subscribe wakes behind an append of any handle, also one made before", async (log, place) => {
    const writer = shared ? await place.open() : log;
    const head = await fill(writer, emptyHead, 1);
    await new Promise<void>((resolve) => {
      const cancel = log.subscribe(0, () => {
        cancel();
        resolve();
      });
    });
    let woken: () => void = () => {};
    const later = new Promise<void>((resolve) => {
      woken = resolve;
    });
    const cancel = log.subscribe(1, () => woken());
    await fill(writer, head, 1);
    await later;
    cancel();
    if (shared) await writer.close();
  });

  law("subscribe misses nothing: reading at each wake-up sees every entry", async (log, place) => {
    const writer = shared ? await place.open() : log;
    const seen: number[] = [];
    let reading: Promise<void> = Promise.resolve();
    let done: () => void = () => {};
    const all = new Promise<void>((resolve) => {
      done = resolve;
    });
    const cancel = log.subscribe(0, (seq = 0) => {
      reading = reading.then(async () => {
        const { head, entries } = await log.read(seen.length, { limit: 100 });
        if (head.seq < seq) throw new Error(`a wake-up named ${seq}, the head is ${head.seq}`);
        seen.push(...entries.map((entry) => entry.seq));
        if (seen.length === 30) done();
      });
    });
    await fill(writer, emptyHead, 30);
    await all;
    cancel();
    await reading;
    equal(
      seen,
      Array.from({ length: 30 }, (_, at) => at + 1),
    );
    if (shared) await writer.close();
  });

  law(
    `racing writers leave one dense history in which every acknowledged entry is (seed ${subject.seed ?? 1})`,
    async (log, place) => {
      const pick = seededIntegers(subject.seed ?? 1);
      const handles = shared ? [log, await place.open(), await place.open()] : [log, log, log];
      const acknowledged: string[] = [];
      await Promise.all(
        handles.map(async (handle, writer) => {
          let head = emptyHead;
          for (let n = 0; n < (subject.rounds ?? 60); n += 1) {
            const result = await handle.append(head, entryAfter(head, `w${writer}-${n}`));
            if (result.ok) acknowledged.push(`w${writer}-${n}`);
            head = result.head;
            if (pick(4) === 0) head = (await handle.read(head.seq, { limit: 1 })).head;
          }
        }),
      );
      const history = await readAll(log);
      equal(
        history.map((entry) => entry.seq),
        history.map((_, at) => at + 1),
      );
      equal(history.map((entry) => entry.batchId).sort(), [...acknowledged].sort());
      if (shared) await Promise.all(handles.slice(1).map((handle) => handle.close()));
    },
  );

  law("close: waits for appends in flight; later calls fail with log_closed", async (log, place) => {
    const flying = log.append(emptyHead, entryAfter(emptyHead, "last"));
    await log.close();
    equal((await flying).ok, true);
    for (const call of [
      () => log.read(0, { limit: 1 }),
      () => log.append(emptyHead, entryAfter(emptyHead, "x")),
      () => log.saveSnapshot(1, new Uint8Array()),
      () => log.loadSnapshot(),
      () => log.truncate(1),
      () => log.archive(0, new Uint8Array()),
      () => log.archived(0),
      () => log.subscribe(0, () => {}),
      () => log.status(),
    ])
      await refuses(runner, "log_closed", call);
    await log.close();
    if (!durable) return;
    const again = await place.open();
    equal(
      (await readAll(again)).map((entry) => entry.batchId),
      ["last"],
    );
    await again.close();
  });

  if (durable)
    law("durable: entries, head, snapshot, truncation and archived pieces survive a reopen", async (log, place) => {
      const head = await fill(log, emptyHead, 8);
      await log.saveSnapshot(5, new Uint8Array([1, 2, 3]));
      await log.truncate(4);
      await log.archive(7, new Uint8Array([4, 5]));
      await log.close();
      const again = await place.open();
      equal(
        (await readAll(again, 4)).map((entry) => entry.seq),
        [5, 6, 7, 8],
      );
      await refuses(runner, "log_truncated", () => again.read(3, { limit: 1 }));
      equal([...((await again.loadSnapshot())?.bytes ?? [])], [1, 2, 3]);
      equal([...((await again.archived(7)) ?? [])], [4, 5]);
      equal((await again.append(head, entryAfter(head, "next"))).ok, true);
      await again.close();
    });
}
