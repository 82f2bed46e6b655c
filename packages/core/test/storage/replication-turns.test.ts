import {
  afterPage,
  type Bucket,
  copySent,
  copyStep,
  type ExistingScan,
  existingAwaited,
  gatherUntaken,
  lanesToSend,
  type NoRoom,
  type QueueWaits,
  queueRestMs,
  type Retry,
  retryAfter,
  scannedPage,
  scanOf,
  type WaitingCopy,
} from "@seneschal/core/storage";
import fc from "fast-check";
import { expect, test } from "vitest";
import { queuePages, replicationRules, sendings, waitingCopies } from "../../src/arbitraries/index.ts";

const later = fc.integer({ min: 0, max: 90_000 });

test("a server that does not answer is asked again, later each time, and within a minute", () => {
  fc.assert(
    fc.property(fc.constantFrom("withheld" as const, "unreached" as const), fc.integer({ min: 1, max: 20 }), (outcome, times) => {
      let retry: Retry | undefined;
      let rested = 0;
      for (let i = 0; i < times; i++) {
        const now: number = retry?.at ?? 0;
        const next = retryAfter(retry, outcome, now);
        expect(next.failures).toBe(i + 1);
        expect(next.at - now).toBeGreaterThanOrEqual(Math.max(1, rested));
        expect(next.at - now).toBeLessThanOrEqual(60_000);
        rested = next.at - now;
        retry = next;
      }
    }),
  );
});

test("a queue whose bucket takes nothing is told of once, and once when it is copied again; it rests while it is known that nothing would come of it, and no longer than a minute", () => {
  fc.assert(
    fc.property(fc.array(fc.tuple(queuePages, later), { maxLength: 20 }), (pages) => {
      let waits: QueueWaits = {};
      let now = 0;
      let stopped = false;
      for (const [{ end, crowded, size }, ms] of pages) {
        now += ms;
        if (queueRestMs(waits, now) > 0) continue;
        if (crowded) {
          const next = copySent(
            entryOf({ size }),
            {},
            { outcome: "full", there: false },
            { asked: waits.room, room: waits.room, now },
          );
          if (next.step === "no room") waits = { ...waits, room: next.room };
        }
        const after = afterPage(waits, end, crowded, now);
        expect(after.told).toBe(end === "withheld" ? (stopped ? undefined : "stopped") : stopped ? "resumed" : undefined);
        stopped = end === "withheld";
        waits = after.waits;
        const rest = queueRestMs(waits, now);
        expect(rest).toBeLessThanOrEqual(60_000);
        if (end === "withheld" || (end === "done" && crowded)) expect(rest).toBeGreaterThan(0);
        if (end === "done" && !crowded) expect(rest).toBe(0);
      }
    }),
  );
});

const entryOf = (more: Partial<WaitingCopy> = {}): WaitingCopy => ({
  destination: "west",
  into: "photos",
  bucket: "docs",
  key: "a",
  version: "v",
  ordinal: 1,
  size: 1,
  at: 0,
  ...more,
});

test("of a page each key is sent in its order or not at all: none that is held, and none behind one that is to be sent again later", () => {
  const held = fc.uniqueArray(fc.constantFrom<string>("a", "b", "c")).map((keys) => new Set(keys));
  fc.assert(
    fc.property(fc.array(waitingCopies, { maxLength: 12 }), held, later, (page, keys, now) => {
      const { lanes, waiting } = lanesToSend(page, keys, now);
      const firsts = new Map<string, WaitingCopy>();
      for (const one of [...page].sort((a, b) => a.ordinal - b.ordinal)) if (!firsts.has(one.key)) firsts.set(one.key, one);
      const late = [...firsts.values()].filter(({ due }) => due !== undefined && due > now);
      expect(new Map(waiting)).toEqual(new Map(late.map(({ key, due }) => [key, due])));
      const sent = [...firsts.keys()].filter((key) => !keys.has(key) && !late.some((one) => one.key === key));
      expect(new Set(lanes.map(([first]) => first?.key))).toEqual(new Set(sent));
      for (const lane of lanes) {
        expect(lane.every(({ key }) => key === lane[0]?.key)).toBe(true);
        expect(lane.map(({ ordinal }) => ordinal)).toEqual(lane.map(({ ordinal }) => ordinal).sort((a, b) => a - b));
        expect(lane.length).toBe(page.filter(({ key }) => key === lane[0]?.key).length);
      }
    }),
  );
});

test("whatever comes of sending a version: it is sent until it is settled, never again afterwards, and one whose copy is there never says that it is not", () => {
  fc.assert(
    fc.property(waitingCopies, fc.boolean(), fc.array(fc.tuple(sendings, later), { maxLength: 30 }), (first, marker, steps) => {
      let entry = first;
      let room: NoRoom | undefined;
      let now = 0;
      let there = entry.sent === true;
      const version = { delete_marker: marker };
      for (const [outcome, ms] of steps) {
        now += ms;
        const step = copyStep(entry, version, { wanted: true, room, now });
        if (step.step === "wait") {
          // What takes no room waits for none, and a wait has an end.
          expect([marker, entry.sent === true, step.until > now]).toEqual([false, false, true]);
          continue;
        }
        expect(step.step).toBe("send");
        there ||= outcome !== "unreached" && outcome !== "full";
        const next = copySent(entry, version, { outcome, there }, { asked: room, room, now });
        if (next.step === "settle") {
          expect(["taken", "refused", "denied"]).toContain(outcome);
          expect(next.state).toBe(outcome === "taken" ? "COMPLETED" : there ? "UNDESCRIBED" : "FAILED");
          expect(next.untaken).toBe(outcome === "taken" ? undefined : there ? "descriptions" : "versions");
          return;
        }
        if (next.step === "stop") expect(next.outcome).toBe(outcome);
        if (next.step === "no room") {
          expect([outcome, next.first, next.room.until > now]).toEqual(["full", room === undefined, true]);
          room = next.room;
        }
        if (next.step === "again") {
          expect([outcome, next.entry.denials, next.entry.sent === true, next.entry.due]).toEqual([
            "denied",
            (entry.denials ?? 0) + 1,
            there,
            next.due,
          ]);
          expect(next.due).toBeGreaterThan(now);
          entry = next.entry;
        }
      }
    }),
  );
});

test("what is gone, or is not to be copied there any more, is given up without being sent", () => {
  const facts = { wanted: true, room: { size: 0, failures: 1, until: 9 }, now: 0 };
  expect(copyStep(entryOf(), undefined, facts).step).toBe("give up");
  expect(copyStep(entryOf(), {}, { ...facts, wanted: false }).step).toBe("give up");
  expect(copyStep(entryOf(), {}, facts)).toEqual({ step: "wait", until: 9 });
});

test("a bucket has room again once it takes one that is as large as what it had no room for", () => {
  const sizes = fc.nat(9);
  fc.assert(
    fc.property(sizes, sizes, fc.boolean(), fc.boolean(), (size, missing, delete_marker, sent) => {
      const room: NoRoom = { size: missing, failures: 1, until: 0 };
      const entry = entryOf({ size, ...(sent && { sent }) });
      const next = copySent(entry, { delete_marker }, { outcome: "taken", there: true }, { asked: room, room, now: 1 });
      expect(next).toEqual({ step: "settle", state: "COMPLETED", roomAgain: !delete_marker && !sent && size >= missing });
      const forgotten = copySent(
        entry,
        { delete_marker },
        { outcome: "taken", there: true },
        { asked: room, room: undefined, now: 1 },
      );
      expect(forgotten).toMatchObject({ roomAgain: false });
    }),
  );
});

test("whatever interrupts it and however the rules change: a bucket is looked through from its beginning for the rules that it has, and nothing is copied before its end", () => {
  const versions = Array.from({ length: 7 }, (_, i) => ({ key: `k${i >> 1}`, version_id: `v${i}` }));
  const steps = fc.array(fc.record({ size: fc.integer({ min: 1, max: 4 }), changed: fc.boolean() }), {
    minLength: 1,
    maxLength: 20,
  });
  fc.assert(
    fc.property(replicationRules, steps, (rules, pages) => {
      let configuration = 0;
      let kept: ExistingScan | undefined;
      const seen = new Set<string>();
      for (const { size, changed } of pages) {
        if (changed) {
          configuration += 1;
          seen.clear();
        }
        const bucket = { replication: { rules, configuration: `${configuration}` } } as unknown as Bucket;
        const scan = scanOf(bucket, kept);
        if (!scan.done) {
          const at = versions.findIndex(({ key, version_id: id }) => key === scan.after && id === scan.afterVersion) + 1;
          const page = versions.slice(at, at + size);
          for (const { version_id: id } of page) seen.add(id);
          kept = scannedPage(scan, page, at + size < versions.length);
        }
        for (const { destination } of rules) {
          const about = rules.some(
            (rule) => rule.enabled && rule.existing === true && JSON.stringify(rule.destination) === JSON.stringify(destination),
          );
          expect(existingAwaited(bucket, destination, kept)).toBe(!about || seen.size === versions.length);
        }
      }
    }),
  );
});

test("each version that was not taken is told once, of one bucket and destination together, at once and then once a minute", () => {
  const happens = fc.record({ into: fc.constantFrom("one", "two"), after: later, tells: fc.boolean() });
  fc.assert(
    fc.property(fc.array(happens, { maxLength: 30 }), (steps) => {
      const untaken = gatherUntaken(60_000);
      const last = new Map<string, number>();
      const told = new Map<string, number>();
      const added = new Map<string, number>();
      const tell = (now: number) => {
        for (const { details } of untaken.due(now)) {
          const into = details["into"] as string;
          expect(now - (last.get(into) ?? Number.NEGATIVE_INFINITY)).toBeGreaterThanOrEqual(60_000);
          last.set(into, now);
          told.set(into, (told.get(into) ?? 0) + Number(details["versions"]));
        }
      };
      let now = 0;
      for (const { into, after, tells } of steps) {
        now += after;
        untaken.add(entryOf({ into }), "versions", "denied");
        added.set(into, (added.get(into) ?? 0) + 1);
        if (tells) tell(now);
      }
      tell(now + 60_000);
      expect(told).toEqual(added);
      expect(untaken.due(now + 120_000)).toEqual([]);
    }),
  );
});
