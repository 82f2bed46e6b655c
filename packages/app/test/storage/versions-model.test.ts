import { type Retention, type Versioning, versionIdOf } from "@seneschal/core/storage";
import fc from "fast-check";
import { expect, test } from "vitest";
import { collectGarbage } from "../../src/storage/jobs/collect-garbage.ts";
import { changeBucket, createBucket, deleteBucket } from "../../src/storage/objects/buckets.ts";
import { deleteObject } from "../../src/storage/objects/delete-object.ts";
import { listKeys, listVersions } from "../../src/storage/objects/list-keys.ts";
import { putObject } from "../../src/storage/objects/put-object.ts";
import { headObject, readObject } from "../../src/storage/objects/read-object.ts";
import { holdLegally, retain } from "../../src/storage/objects/versions.ts";
import { bytesOf, collect, openRig, pattern } from "./rig.ts";

interface ModelVersion {
  readonly id: string;
  /** Absent: a delete marker. */
  readonly body?: Buffer;
  retention?: Retention;
  held: boolean;
}

const dayMs = 86_400_000;
const key = fc.constantFrom("a", "b", "b/c", `${"long".repeat(160)}1`, `${"long".repeat(160)}2`);
const step = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({ do: fc.constant("put"), key, size: fc.constantFrom(0, 10, 5000), seed: fc.nat(3) }),
  },
  { weight: 3, arbitrary: fc.record({ do: fc.constant("delete"), key }) },
  { weight: 4, arbitrary: fc.record({ do: fc.constant("remove"), key, which: fc.nat(5), bypass: fc.boolean() }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constantFrom("Enabled", "Suspended") }) },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constantFrom("GOVERNANCE", "COMPLIANCE", "release"),
      key,
      which: fc.nat(5),
      days: fc.nat(4),
      bypass: fc.boolean(),
    }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constantFrom("hold", "unhold"), key, which: fc.nat(5) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constantFrom("gc", "day", "restart") }) },
);
type Step = { do: string; key?: string; size?: number; seed?: number; which?: number; days?: number; bypass?: boolean };

const run = (lock: boolean) => async (steps: readonly Step[], pageSize: number) => {
  let rig = await openRig({ devices: 3, data: 2, parity: 1, tenants: ["alpha"] });
  const objects = () => rig.node.objects;
  await createBucket(objects(), "alpha", "docs", "us-east-1", lock ? { versioning: "Enabled", object_lock: {} } : {});
  let versioning: Versioning | undefined = lock ? "Enabled" : undefined;
  const model = new Map<string, ModelVersion[]>();
  const of = (k: string) => model.get(k) ?? [];
  const target = (k: string, version?: string) => ({ tenant: "alpha", bucket: "docs", key: k, version });
  const kept = (v: ModelVersion, bypass: boolean) =>
    v.held ||
    (v.retention !== undefined && v.retention.until > rig.clock.now() && !(v.retention.mode === "GOVERNANCE" && bypass));
  const outcome = (work: Promise<unknown>) =>
    work.then(
      () => "done",
      (e: { code: string }) => e.code,
    );
  /** What the bucket's versioning makes of a new latest version. */
  const push = (k: string, id: string, body?: Buffer) =>
    model.set(k, [{ id, held: false, ...(body && { body }) }, ...of(k).filter((v) => v.id !== id)]);
  try {
    for (const s of steps) {
      const k = s.key ?? "";
      const chosen = of(k)[(s.which ?? 0) % Math.max(1, of(k).length)];
      if (s.do === "put") {
        const body = Buffer.from(pattern(s.size ?? 0, (s.seed ?? 0) + 1));
        const draft = { ...target(k), contentType: "", headers: {}, meta: {}, body: bytesOf(body) };
        push(k, versionIdOf(await putObject(objects(), draft)), body);
      } else if (s.do === "delete") {
        const done = await deleteObject(objects(), "alpha", "docs", k);
        if (versioning === undefined) model.set(k, []);
        else push(k, done.version ?? "");
      } else if (s.do === "remove" && chosen !== undefined) {
        const options = { version: chosen.id, bypass: s.bypass ?? false };
        const expected = kept(chosen, options.bypass) ? "ObjectLocked" : "done";
        expect(await outcome(deleteObject(objects(), "alpha", "docs", k, options))).toBe(expected);
        if (expected === "done")
          model.set(
            k,
            of(k).filter((v) => v !== chosen),
          );
      } else if ((s.do === "Enabled" || s.do === "Suspended") && !lock) {
        versioning = s.do;
        const chosenState = s.do;
        await changeBucket(objects(), "alpha", "docs", "versioning", (b) => ({ ...b, versioning: chosenState }));
      } else if (["GOVERNANCE", "COMPLIANCE", "release"].includes(s.do) && chosen?.body !== undefined && lock) {
        const until = rig.clock.now() + (s.days ?? 0) * dayMs;
        const next = s.do === "release" ? undefined : ({ mode: s.do as Retention["mode"], until } as const);
        const before = chosen.retention;
        const bound = before !== undefined && before.until > rig.clock.now() && !(before.mode === "GOVERNANCE" && s.bypass);
        const allowed = !bound || (next !== undefined && next.mode === before.mode && next.until >= before.until);
        expect(await outcome(retain(objects(), target(k, chosen.id), next, s.bypass === true ? "bypass" : "holder"))).toBe(
          allowed ? "done" : "ObjectLocked",
        );
        if (allowed && next === undefined) delete chosen.retention;
        if (allowed && next !== undefined) chosen.retention = next;
      } else if ((s.do === "hold" || s.do === "unhold") && chosen?.body !== undefined && lock) {
        await holdLegally(objects(), target(k, chosen.id), s.do === "hold");
        chosen.held = s.do === "hold";
      } else if (s.do === "gc") await collectGarbage(rig.node.parts);
      else if (s.do === "day") rig.clock.set(rig.clock.now() + dayMs);
      else if (s.do === "restart") {
        await rig.node.jobs.stop();
        rig = await rig.restart();
      }
    }
    // Every version is listed once, in order, page by page, and reads as it was written.
    const bytewise = (a: string, b: string) => Buffer.compare(Buffer.from(a), Buffer.from(b));
    const keys = [...model.keys()].filter((k) => of(k).length > 0).sort(bytewise);
    const listed: string[] = [];
    let after = "";
    let afterVersion: string | undefined;
    for (;;) {
      const page = await listVersions(objects(), {
        bucket: "docs",
        prefix: "",
        delimiter: "",
        after,
        limit: pageSize,
        afterVersion,
      });
      for (const v of page.items) listed.push(`${v.key} ${versionIdOf(v)} ${v.latest} ${v.delete_marker === true}`);
      if (page.next === undefined) break;
      after = page.next;
      afterVersion = versionIdOf(page.items.at(-1) ?? {});
    }
    expect(listed).toEqual(keys.flatMap((k) => of(k).map((v, i) => `${k} ${v.id} ${i === 0} ${v.body === undefined}`)));
    const current = await listKeys(objects(), { bucket: "docs", prefix: "", delimiter: "", after: "", limit: 1000 });
    expect(current.items.map((o) => o.key)).toEqual(keys.filter((k) => of(k)[0]?.body !== undefined));
    for (const k of keys)
      for (const [i, v] of of(k).entries())
        for (const version of i === 0 ? [undefined, v.id] : [v.id]) {
          const read = async () => collect(readObject(objects(), await headObject(objects(), "alpha", "docs", k, version)));
          if (v.body !== undefined) expect((await read()).equals(v.body)).toBe(true);
          else expect(await outcome(read())).toBe(version === undefined ? "NotFound" : "MethodNotAllowed");
        }
    // What is kept keeps its bucket, and what is not leaves nothing behind.
    let left = 0;
    for (const k of keys)
      for (const v of of(k))
        if (kept(v, true)) left += 1;
        else await deleteObject(objects(), "alpha", "docs", k, { version: v.id, bypass: true });
    expect(await outcome(deleteBucket(objects(), "alpha", "docs"))).toBe(left === 0 ? "done" : "BucketNotEmpty");
    if (left === 0) {
      await collectGarbage(rig.node.parts);
      expect(await rig.store.count("storage_chunks", "by_id", [])).toBe(0);
      expect(await rig.store.count("storage_versions", "by_key", [])).toBe(0);
    }
  } finally {
    await rig.dispose();
  }
};

const runs = { numRuns: Number(process.env["FC_RUNS"] ?? 40) };
const history = fc.array(step, { maxLength: 30 }) as fc.Arbitrary<Step[]>;

test("whatever happens to a bucket, its versions are those that its history leaves, in order, and read as written", () =>
  fc.assert(fc.asyncProperty(history, fc.integer({ min: 1, max: 4 }), run(false)), runs));

test("no history ends a legal hold or a retention before its time but by what may", () =>
  fc.assert(fc.asyncProperty(history, fc.integer({ min: 1, max: 4 }), run(true)), runs));
