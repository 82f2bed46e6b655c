import {
  checkObject,
  checkWrite,
  currentAgain,
  judgeDeletion,
  lockedByDefault,
  type ObjectVersion,
  ordinalOf,
  ordinalOfId,
  type Succession,
  succeedByReplica,
  succeedVersion,
  versionIdOf,
} from "@seneschal/core/storage";
import { isCoded } from "@seneschal/kernel";
import fc from "fast-check";
import { expect, test } from "vitest";
import { deletions, objectVersions, versionings } from "../../src/arbitraries/index.ts";

const start = Date.UTC(2026, 0, 1);
const codeOf = (work: () => unknown): string => {
  try {
    work();
    return "";
  } catch (error) {
    if (isCoded(error)) return error.code;
    throw error;
  }
};
const kept = ({ legal_hold, retention }: ObjectVersion, now: number, bypass = false): boolean =>
  legal_hold === true || (retention !== undefined && retention.until > now && !(bypass && retention.mode === "GOVERNANCE"));

const writes = fc.record({ made: objectVersions(start), later: fc.integer({ min: -3, max: 3 }) });
/** A version elsewhere, of a time around that of ours. */
const copies = fc.record({
  made: objectVersions(start),
  replica: fc
    .tuple(fc.integer({ min: start - 9, max: start + 9 }), fc.nat(2))
    .map(([at, n]) => at.toString(16).padStart(12, "0") + String(n).repeat(20)),
});
const steps = fc.array(
  fc.oneof(
    { weight: 4, arbitrary: writes },
    { weight: 2, arbitrary: copies },
    { weight: 1, arbitrary: fc.constant("remove" as const) },
    { weight: 1, arbitrary: versionings.filter((to) => to !== undefined) },
  ),
  { maxLength: 24 },
);

test("whatever is written and copied, in whatever order and by whatever clock: the current version is the last one, names are used once, and a version goes only where one of the same name comes", () => {
  fc.assert(
    fc.property(versionings, steps, fc.array(fc.nat(255), { minLength: 240, maxLength: 240 }), (first, history, bytes) => {
      let versioning = first;
      let current: ObjectVersion | undefined;
      let past: ObjectVersion[] = [];
      let now = start;
      let at = 0;
      // What repeats after so many bytes is made different by its ordinal.
      const random = (n: number) => Uint8Array.from({ length: n }, () => bytes[at++ % bytes.length] ?? 0);
      for (const step of history) {
        const before = [...past, ...(current === undefined ? [] : [current])];
        if (step === "Enabled" || step === "Suspended") {
          versioning = step;
          continue;
        }
        if (step === "remove") {
          if (current === undefined) continue;
          const latest = past.toSorted((a, b) => ordinalOf(b) - ordinalOf(a) || (versionIdOf(a) < versionIdOf(b) ? -1 : 1))[0];
          past = past.filter((version) => version !== latest);
          current = latest && currentAgain(latest);
          expect(current?.superseded_at).toBeUndefined();
          continue;
        }
        let next: Succession | undefined;
        if ("replica" in step) {
          const known = before.some((version) => versionIdOf(version) === step.replica);
          const code = codeOf(() => {
            next = succeedByReplica(
              { ...(versioning && { versioning }) },
              { made: step.made, before: current, known },
              step.replica,
              now,
            );
          });
          expect(code).toBe(versioning !== "Enabled" ? "InvalidRequest" : known ? "OperationAborted" : "");
        } else {
          now += step.later;
          const unnamed = past.find((version) => versionIdOf(version) === "null");
          const code = codeOf(() => {
            next = succeedVersion(
              { ...(versioning && { versioning }) },
              { made: step.made, before: current, unnamed },
              now,
              random,
            );
          });
          const replaced = before.filter((version) => versioning !== "Enabled" && versionIdOf(version) === "null");
          expect(code).toBe(replaced.some((version) => kept(version, now)) ? "ObjectLocked" : "");
        }
        if (next === undefined) continue;
        const { made, gone } = next;
        if (next.past !== undefined) past.push(next.past);
        past = past.filter((version) => !gone.includes(version));
        if (next.current) current = made;
        const after = [...past, ...(current === undefined ? [] : [current])].map(versionIdOf);
        expect(new Set(after).size).toBe(after.length);
        expect(new Set([...after, ...gone.map(versionIdOf)])).toEqual(new Set([...before.map(versionIdOf), versionIdOf(made)]));
        for (const version of gone) expect([versionIdOf(version), versionIdOf(made)]).toEqual(["null", "null"]);
        if (versioning !== undefined && current !== undefined)
          for (const version of past) expect(ordinalOf(current)).toBeGreaterThanOrEqual(ordinalOf(version));
        for (const version of past) expect(version.superseded_at).toBeDefined();
        expect(current?.superseded_at).toBeUndefined();
        if (made.version_id !== undefined && made.version_id !== "null")
          expect(ordinalOfId(made.version_id)).toBe(ordinalOf(made));
        // A copy has its time from its name, and says the same as what it was copied from.
        if (versioning !== undefined) expect(made.modified_at).toBe(ordinalOf(made));
        expect(made.replica).toBe("replica" in step ? true : undefined);
      }
    }),
  );
});

test("a deletion ends nothing that is kept, hides where the bucket has versions, and does nothing to another object than was meant", () => {
  const named = objectVersions(start).chain((version) =>
    fc.constantFrom(version, { ...version, version_id: "null", ordinal: start }),
  );
  fc.assert(
    fc.property(versionings, fc.option(named, { nil: undefined }), deletions(start), (versioning, found, asked) => {
      let step: ReturnType<typeof judgeDeletion> | undefined;
      const code = codeOf(() => {
        step = judgeDeletion({ ...(versioning && { versioning }) }, { found }, asked, start);
      });
      expect(["", "NoSuchVersion", "InvalidArgument", "PreconditionFailed", "ObjectLocked"]).toContain(code);
      if (step === undefined) return;
      const { conditions = {}, version, bypass = false, ordinal } = asked;
      if (found !== undefined && step.kind !== "nothing") {
        if (ordinal !== undefined) expect(ordinalOf(found)).toBe(ordinal);
        if (conditions.size !== undefined) expect(found.size).toBe(conditions.size);
        if (conditions.ifMatch !== undefined) expect(conditions.ifMatch.some((e) => e === "*" || e === found.etag)).toBe(true);
      }
      if (step.kind === "hide") expect([version, versioning !== undefined]).toEqual([undefined, true]);
      if (step.kind === "remove") {
        expect(step.version).toBe(found);
        expect(kept(step.version, start, bypass)).toBe(false);
        expect(version !== undefined || versioning === undefined).toBe(true);
        expect(step.early).toBe(kept({ ...step.version, legal_hold: false }, start));
      }
      if (step.kind === "nothing") expect(step.answer).toEqual({ deleted: false });
    }),
  );
});

test("a delete marker that is copied again is there already; an object under its name is no marker", () => {
  const marker = { ...fc.sample(objectVersions(start), { numRuns: 1, seed: 1 })[0], delete_marker: true } as ObjectVersion;
  const asked = { replica: "0".repeat(32) };
  const bucket = { versioning: "Enabled" } as const;
  expect(judgeDeletion(bucket, { known: marker }, asked, start)).toEqual({
    kind: "nothing",
    answer: { deleted: false, version: asked.replica, marker: true },
  });
  expect(codeOf(() => judgeDeletion(bucket, { known: { ...marker, delete_marker: false } }, asked, start))).toBe(
    "PreconditionFailed",
  );
});

test("If-Match and If-None-Match of a write speak of what is there; what is deleted is not", () => {
  const list = fc.option(fc.array(fc.constantFrom("e", "f", "*"), { maxLength: 2 }), { nil: undefined });
  fc.assert(
    fc.property(fc.option(objectVersions(start), { nil: undefined }), list, list, (existing, ifMatch, ifNoneMatch) => {
      const etag = existing?.delete_marker === true ? undefined : existing?.etag;
      const names = (asked: readonly string[]) => etag !== undefined && asked.some((one) => one === "*" || one === etag);
      const asked = { ...(ifMatch && { ifMatch }), ...(ifNoneMatch && { ifNoneMatch }) };
      const expected =
        ifMatch !== undefined && etag === undefined
          ? "NotFound"
          : (ifMatch !== undefined && !names(ifMatch)) || (ifNoneMatch !== undefined && names(ifNoneMatch))
            ? "PreconditionFailed"
            : "";
      expect(codeOf(() => checkWrite(existing, asked))).toBe(expected);
    }),
  );
});

test("nobody reads a delete marker: without a version it is not there, by its own name it may only be deleted", () => {
  fc.assert(
    fc.property(
      fc.option(objectVersions(start), { nil: undefined }),
      fc.option(fc.constant("null"), { nil: undefined }),
      (found, version) => {
        const named = version !== undefined;
        const expected =
          found === undefined
            ? named
              ? "NoSuchVersion"
              : "NotFound"
            : found.delete_marker
              ? named
                ? "MethodNotAllowed"
                : "NotFound"
              : "";
        expect(codeOf(() => checkObject(found, { bucket: "docs", version }))).toBe(expected);
      },
    ),
  );
});

test("a new version is kept as its bucket keeps new ones unless it says otherwise; a bucket without lock keeps none", () => {
  const bucket = { name: "docs", tenant: "acme", created_at: 0, region: "", deleting: false };
  const mode = { mode: "COMPLIANCE", unit: "days", count: 2 } as const;
  fc.assert(
    fc.property(objectVersions(start), (version) => {
      const asks = version.retention !== undefined || version.legal_hold === true;
      expect(codeOf(() => lockedByDefault(bucket, version, start))).toBe(asks ? "InvalidRequest" : "");
      expect(lockedByDefault({ ...bucket, object_lock: {} }, version, start)).toBe(version);
      const { retention } = lockedByDefault({ ...bucket, object_lock: { default: mode } }, version, start);
      expect(retention).toEqual(version.retention ?? { mode: "COMPLIANCE", until: start + 2 * 86_400_000 });
    }),
  );
});
