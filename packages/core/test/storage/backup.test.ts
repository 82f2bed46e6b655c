import {
  type BackupManifest,
  backupFacts,
  checkBackupFile,
  claimRestore,
  expiredBackups,
  type RestoreClaim,
  snapshotOf,
  snapshotOrder,
  takeSnapshot,
} from "@seneschal/core/storage";
import { isCoded } from "@seneschal/kernel";
import fc from "fast-check";
import { expect, test } from "vitest";
import { keptBackups } from "../../src/arbitraries/index.ts";

const NOON = Date.UTC(2026, 5, 1, 12);
const dayMs = 86_400_000;

test("what is being written stays, and of the rest what was made in time does: torsos and what is older go", () => {
  fc.assert(
    fc.property(keptBackups(NOON), fc.subarray(["a", "b", "c", "d", "e"]), fc.nat(9), (kept, writing, retentionDays) => {
      const gone = expiredBackups(kept, { writing, retentionDays, now: NOON });
      for (const { id, made } of kept) {
        const inTime = made !== undefined && Date.parse(made) >= NOON - retentionDays * dayMs;
        expect(gone.includes(id)).toBe(!writing.includes(id) && !inTime);
      }
      // What stayed stays when it is looked at again, and a longer time keeps no less.
      const rest = kept.filter(({ id }) => !gone.includes(id));
      expect(expiredBackups(rest, { writing, retentionDays, now: NOON })).toEqual([]);
      expect(gone).toEqual(
        expect.arrayContaining([...expiredBackups(kept, { writing, retentionDays: retentionDays + 1, now: NOON })]),
      );
    }),
  );
});

test("every attempt of a job writes the same snapshot, and snapshots are named in the order of their seconds", () => {
  const jobs = fc.record({ id: fc.uuid(), created_at: fc.integer({ min: 0, max: Date.UTC(2100, 0) }) });
  fc.assert(
    fc.property(jobs, jobs, (one, other) => {
      expect(snapshotOf(one)).toBe(snapshotOf({ ...one }));
      expect(snapshotOf(one)).toMatch(/^\d{14}-[0-9a-f]{8}$/);
      const second = (ms: number) => Math.floor(ms / 1000);
      if (second(one.created_at) < second(other.created_at)) expect(snapshotOf(one) < snapshotOf(other)).toBe(true);
    }),
  );
});

test("a file of a backup passes as it was written alone: any other length or digest, and any other file, is corrupt", () => {
  const file = fc.record({ bytes: fc.nat(2), sha256: fc.constantFrom("ab", "cd") });
  fc.assert(
    fc.property(file, fc.constantFrom("snapshot.tar", "other", "constructor"), file, (written, name, read) => {
      const check = () => checkBackupFile("s", { "snapshot.tar": written }, name, read);
      if (name === "snapshot.tar" && written.bytes === read.bytes && written.sha256 === read.sha256) check();
      else expect(check).toThrow(expect.objectContaining({ code: "backup_corrupt", details: { backup: "s", file: name } }));
    }),
  );
});

test("the key of a manifest is sealed over every other member of it", () => {
  const manifest = {
    format: "seneschal-backup/1",
    snapshot_id: "s",
    vault: "v",
    files: {},
    key: "sealed",
  } as unknown as BackupManifest;
  expect({ ...backupFacts(manifest), key: "sealed" }).toEqual(manifest);
  expect(backupFacts(manifest)).not.toHaveProperty("key");
});

test("a cluster is claimed empty and once: by whatever restores in whatever order, one snapshot alone goes on, with the claim that it began with", () => {
  const attempt = fc.record({
    snapshot: fc.constantFrom("one", "two"),
    holds: fc.subarray(["storage_buckets", "storage_chunks"]),
    readOnly: fc.boolean(),
  });
  fc.assert(
    fc.property(fc.array(attempt, { maxLength: 8 }), (attempts) => {
      let before: RestoreClaim | undefined;
      for (const { snapshot, ...facts } of attempts) {
        try {
          const claim = claimRestore(snapshot, { before, ...facts });
          expect(claim.snapshot).toBe(snapshot);
          if (before === undefined) expect([facts.holds, claim.read_only]).toEqual([[], facts.readOnly]);
          else expect(claim).toEqual(before);
          before = claim;
        } catch (error) {
          expect(isCoded(error, "restore_not_empty")).toBe(true);
          if (before === undefined) expect(facts.holds).not.toEqual([]);
          else expect(before.snapshot).not.toBe(snapshot);
        }
      }
    }),
  );
});

/**
 * How the keys move while a backup is made: each gets new versions, or those before become current again. One that does both meanwhile may be missed:
 * a snapshot is of no one moment.
 */
const directions = fc.record({ a: fc.boolean(), b: fc.boolean() });
/** What writers do between two pages of it. */
const writes = fc.array(fc.constantFrom("a" as const, "b" as const), { maxLength: 3 });
type Doc = {
  readonly version_id: string;
  readonly body: { readonly kind: "chunks"; readonly chunks: readonly { id: string; size: number; key: string }[] };
};

test("whatever moves while a snapshot is read, pages of any size: each version that stayed is restored once, where it was last, and each chunk has the references of what was restored", () => {
  fc.assert(
    fc.property(
      fc.array(writes, { minLength: 40, maxLength: 40 }),
      writes,
      directions,
      fc.integer({ min: 1, max: 3 }),
      (between, first, back, size) => {
        const current = new Map<string, Doc>();
        const past = new Map<string, Doc>();
        const chunks = new Set<string>();
        const removed = new Set<string>();
        let made = 0;
        const write = (key: "a" | "b", goesBack: boolean) => {
          const now = current.get(key);
          if (goesBack) {
            // The current one is deleted, and the latest before it is current again.
            const id = [...past.keys()].filter((name) => name.startsWith(`${key}.`)).at(-1);
            if (now !== undefined) removed.add(`${key}.${now.version_id}`);
            current.delete(key);
            const doc = id === undefined ? undefined : past.get(id);
            if (id === undefined || doc === undefined) return;
            past.delete(id);
            current.set(key, doc);
            return;
          }
          if (now !== undefined) past.set(`${key}.${now.version_id}`, now);
          made += 1;
          const names = [`c${made % 3}`, `c${made}`];
          for (const name of names) chunks.add(name);
          current.set(key, {
            version_id: `v${made}`,
            body: { kind: "chunks", chunks: names.map((id) => ({ id, size: 1, key: "" })) },
          });
        };
        for (const key of first) write(key, false);
        const there = new Set([...[...current].map(([key, { version_id: id }]) => `${key}.${id}`), ...past.keys()]);

        const intake = takeSnapshot<{ readonly refs: number }>();
        const restored = new Map<string, Map<string, Doc>>();
        const collOf = (coll: string) => restored.get(coll) ?? restored.set(coll, new Map()).get(coll) ?? new Map<string, Doc>();
        let documents = 0;
        let pages = 0;
        for (const coll of snapshotOrder) {
          const source = coll === "storage_objects" ? current : coll === "storage_versions" ? past : undefined;
          const listed = new Set<string>();
          for (;;) {
            const all: [string, unknown][] = source
              ? [...source]
              : coll === "storage_chunks"
                ? [...chunks].map((id) => [id, { refs: 99 }])
                : [];
            const page = all.filter(([id]) => !listed.has(id)).slice(0, size);
            if (page.length === 0) break;
            for (const [id] of page) listed.add(id);
            const taken = intake.take(
              coll,
              page.map(([id, doc]) => ({ id, doc: doc as never })),
            );
            documents += taken.documents;
            for (const put of taken.moved.puts) collOf(put.coll).set(put.id, put.doc as never);
            for (const del of taken.moved.dels) collOf(del.coll).delete(del.id);
            for (const { coll: to, id, doc, ifVersion } of taken.puts)
              if (ifVersion === undefined || !collOf(to).has(id)) collOf(to).set(id, doc as never);
            if (coll !== "storage_chunks") for (const key of between[pages++] ?? []) write(key, back[key]);
          }
        }
        const objects = collOf("storage_objects");
        const versions = collOf("storage_versions");
        const names = [...[...objects].map(([key, { version_id: id }]) => `${key}.${id}`), ...versions.keys()];
        expect(new Set(names).size).toBe(names.length);
        for (const name of there) if (!removed.has(name)) expect(names).toContain(name);
        expect(documents).toBe(names.length + intake.listed());
        const mentioned = new Map<string, number>();
        for (const { body } of [...objects.values(), ...versions.values()])
          for (const { id } of body.chunks) mentioned.set(id, (mentioned.get(id) ?? 0) + 1);
        expect(new Map([...intake.chunks()].map(([id, { refs }]) => [id, refs]))).toEqual(mentioned);
      },
    ),
  );
});

test("master keys replace those of an empty cluster, and nothing else is put over what is there", () => {
  const intake = takeSnapshot();
  for (const coll of snapshotOrder) {
    if (coll === "storage_chunks") continue;
    const doc = { body: { kind: "none" }, chunks: [] };
    const [put] = intake.take(coll, [{ id: `${coll}-1`, doc }]).puts;
    if (put !== undefined) expect(put.ifVersion).toBe(coll === "storage_masters" ? undefined : 0);
  }
});
