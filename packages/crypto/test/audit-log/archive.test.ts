import { auditRecords, damagedList, testLogForm as form, type LogDamage } from "@seneschal/crypto/arbitraries";
import {
  archiveLink,
  type LogRecord,
  manifestText,
  nextSegment,
  type SegmentManifest,
  segmentDue,
  verifyArchive,
  wholeLog,
} from "@seneschal/crypto/audit-log";
import { noteVerifierKey } from "@seneschal/crypto/merkle";
import fc from "fast-check";
import { expect, test } from "vitest";
import { archiveOf, checkpointsOf, grown, log, opened, pagesOf, type SegmentText } from "./signed-log.ts";

const verifierKey = noteVerifierKey(log.key);
const verified = async (segments: readonly SegmentText[], expectations: object = { verifierKey }) => {
  const { chain, eventsOf } = opened(segments);
  return verifyArchive(chain, eventsOf, expectations);
};
const damaged = { code: "audit_archive_damaged" };

test("an archive verifies by its segments alone, and comes to what was signed of each log; a checkpoint that was kept is reached", () =>
  fc.assert(
    fc.asyncProperty(auditRecords({ min: 1, max: 20 }), fc.integer({ min: 1, max: 8 }), fc.nat(), async (records, size, cut) => {
      const at = 1 + (cut % records.length);
      const kept = (await checkpointsOf(grown(records.slice(0, at)))).map(({ note }) => note);
      const segments = await archiveOf(records, size);
      const verdict = await verified(segments);
      expect(verdict).toMatchObject({
        instance: "one",
        segments: segments.length,
        last: records.length,
        verifier_key: verifierKey,
      });
      for (const [stream, { range }] of grown(records).grown())
        expect(verdict.logs[stream]).toMatchObject({ size: range.size, root: Buffer.from(range.root()).toString("base64") });
      for (const checkpoint of kept)
        expect(await verified(segments, { checkpoint })).toMatchObject({ checkpoint: { reached: true } });
      const [, other] = fc.sample(auditRecords({ min: at, max: at }), { numRuns: 2, seed: cut }) as [
        unknown,
        readonly LogRecord[],
      ];
      const forked = (await checkpointsOf(grown(other))).at(-1)?.note as string;
      const same = JSON.stringify(other) === JSON.stringify(records.slice(0, at));
      if (!same) await expect(verified(segments, { checkpoint: forked })).rejects.toMatchObject(damaged);
    }),
    { numRuns: 8 },
  ));

test("a record or a segment that is dropped, swapped or repeated is found, the newest segment's end apart", () =>
  fc.assert(
    fc.asyncProperty(
      auditRecords({ min: 2, max: 16 }),
      fc.integer({ min: 1, max: 5 }),
      fc.constantFrom<LogDamage>("dropped", "swapped", "repeated"),
      fc.nat(),
      async (records, size, damage, pick) => {
        const segments = await archiveOf(records, size);
        const at = pick % segments.length;
        const changed = damagedList(segments, damage, at);
        // An archive without its newest segments is whole: only what was signed later says that it goes on.
        const isBeginning = changed.every((segment, i) => segment === segments[i]) && changed.length <= segments.length;
        if (isBeginning && changed.length > 0) await verified(changed);
        else await expect(verified(changed)).rejects.toMatchObject(damaged);

        const { events, ...segment } = segments[at] as SegmentText;
        const lines = events.split("\n").slice(0, -1);
        const others = damagedList(lines, damage, pick % lines.length);
        if (others.join() === lines.join()) return;
        const now = segments.with(at, { ...segment, events: `${others.join("\n")}\n` });
        await expect(verified(now)).rejects.toMatchObject(damaged);
      },
    ),
    { numRuns: 15 },
  ));

test("each bit of a segment's events and of its manifest counts", async () => {
  const [records] = fc.sample(auditRecords({ min: 3, max: 3 }), { numRuns: 1, seed: 4 }) as [readonly LogRecord[]];
  const [segment] = (await archiveOf(records, 3)) as [SegmentText];
  for (const file of ["events", "manifest"] as const) {
    const bytes = Buffer.from(segment[file]);
    for (let bit = 0; bit < bytes.length * 8; bit += process.env["FC_RUNS"] === undefined ? 29 : 1) {
      const changed = Buffer.from(bytes);
      changed[bit >> 3] = (changed[bit >> 3] as number) ^ (1 << (bit & 7));
      const now = { ...segment, [file]: changed.toString("utf8") };
      const outcome = await verified([now]).then(
        () => "verified",
        ({ code }: { code: string }) => code,
      );
      // A manifest may be spaced otherwise: the next segment names it by its hash.
      const says = file === "events" || JSON.stringify(parsed(now.manifest)) !== JSON.stringify(parsed(segment.manifest));
      if (says) expect(["audit_archive_damaged", "unknown_version"], `${file} bit ${bit}: ${now[file]}`).toContain(outcome);
    }
  }
  const [, named] = [segment, archiveLink(segment.manifest, segment.id, [form]).name];
  const manifest = segment.manifest.replace("\n", "\n ");
  expect(() => archiveLink(manifest, segment.id, [form], named)).toThrow(/not the one that the next names/);
});

const parsed = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
};

test("a segment says of each of its logs once where it stands: a log whose note another's stands for twice is unproven", async () => {
  const [records] = fc.sample(auditRecords({ min: 6, max: 6 }), { numRuns: 1, seed: 2 }) as [readonly LogRecord[]];
  const [segment] = (await archiveOf(records, 6)) as [SegmentText];
  const { format, ...manifest } = JSON.parse(segment.manifest) as SegmentManifest;
  const without = manifest.logs.filter(({ stream }) => stream !== wholeLog);
  const logs = [...without, without[0] as (typeof without)[0]];
  const now = { ...segment, manifest: manifestText(form, { ...manifest, logs }) };
  await expect(verified([now])).rejects.toMatchObject(damaged);
});

test("a segment holds what is old enough and heard by all, in order and without a hole, and few events wait for a day more", () =>
  fc.assert(
    fc.asyncProperty(
      auditRecords({ min: 0, max: 30 }),
      fc.integer({ min: 0, max: 40_000 }),
      fc.array(fc.nat(30), { maxLength: 3 }),
      fc.integer({ min: 1, max: 7 }),
      async (records, old, heard, page) => {
        const given = { now: 86_400_000 + old, olderThan: 86_400_000, heard };
        const due = records.filter(({ seq }) => (seq - 1) * 1000 < old && heard.every((up) => seq <= up));
        expect(await nextSegment(pagesOf(records, page), segmentDue({ ...given, few: false }))).toEqual(due);
        expect(await nextSegment(pagesOf(records, page), segmentDue({ ...given, few: true }))).toEqual([]);
        const tomorrow = { ...given, now: given.now + 86_400_000 };
        const all = records.filter(({ seq }) => heard.every((up) => seq <= up));
        expect(await nextSegment(pagesOf(records, page), segmentDue({ ...tomorrow, few: true }))).toEqual(
          due.length === 0 ? [] : all,
        );
      },
    ),
  ));
