import { type Retention, versionIdOf } from "@seneschal/core/storage";
import fc from "fast-check";
import { expect, test } from "vitest";
import { collectGarbage } from "../../src/storage/jobs/collect-garbage.ts";
import { expireVersions } from "../../src/storage/jobs/expire-versions.ts";
import { changeBucket } from "../../src/storage/objects/buckets.ts";
import { listUploads, listVersions } from "../../src/storage/objects/list-keys.ts";
import { headObject, readObject } from "../../src/storage/objects/read-object.ts";
import { filesOf, mountData, openNfsRig, statusName } from "./nfs-rig.ts";
import { collect, openRig, pattern } from "./rig.ts";
import { openS3Rig, type S3Rig } from "./s3-rig.ts";
import { signedFetch } from "./signed-fetch.ts";

/** A version of a key as the model has it, the latest of a key first. */
interface Version {
  /** Unknown until a listing tells it: NFS has no word for it. */
  id?: string;
  /** Absent: a delete marker. */
  readonly body?: Buffer;
  retention?: Retention;
  held: boolean;
  modified: number;
  superseded?: number;
}
/** What clients of NFS wrote and did not commit. */
type Written = readonly { readonly at: number; readonly data: Buffer }[];

interface Rules {
  /** Days until a current version expires. */
  readonly expire?: number;
  /** Days until a version of the past does, beyond so many newer ones. */
  readonly past?: number;
  readonly newer?: number;
  /** Days until an upload is given up. */
  readonly abort?: number;
}

type State = "none" | "Enabled" | "Suspended" | "lock" | "lock by default";

const dayMs = 86_400_000;
const defaultDays = 2;
const bucket = "bucket";
const keys = ["a", "b", "c"];
const key = fc.constantFrom(...keys);
const size = fc.constantFrom(1, 10, 5000);
const step = fc.oneof(
  { weight: 5, arbitrary: fc.record({ do: fc.constantFrom("put"), key, size, seed: fc.nat(9) }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constantFrom("delete", "get", "copy"), key, to: key }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constantFrom("removeVersion"), key, which: fc.nat(4), bypass: fc.boolean() }) },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constantFrom("GOVERNANCE", "COMPLIANCE", "hold", "unhold"),
      key,
      which: fc.nat(4),
      days: fc.integer({ min: 1, max: 3 }),
      bypass: fc.boolean(),
    }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constantFrom("Enabled", "Suspended", "begin"), key }) },
  {
    weight: 6,
    arbitrary: fc.record({
      do: fc.constantFrom("write"),
      key,
      at: fc.constantFrom(0, 3, 4500),
      size,
      seed: fc.nat(9),
      stable: fc.boolean(),
    }),
  },
  {
    weight: 6,
    arbitrary: fc.record({ do: fc.constantFrom("commit", "read", "unlink", "rename", "truncate"), key, to: key, size }),
  },
  { weight: 3, arbitrary: fc.record({ do: fc.constantFrom("day", "lifecycle") }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constantFrom("restart", "crash", "collect") }) },
);
type Step = {
  readonly do: string;
  readonly key?: string;
  readonly to?: string;
  readonly size?: number;
  readonly seed?: number;
  readonly which?: number;
  readonly days?: number;
  readonly bypass?: boolean;
  readonly at?: number;
  readonly stable?: boolean;
};

const untouched = { kind: "DONT_CHANGE", value: undefined } as const;
const nothing = { mode: undefined, uid: undefined, gid: undefined, size: undefined, atime: untouched, mtime: untouched };

/** Bytes with what was written over them. */
function over(base: Buffer, written: Written): Buffer {
  return written.reduce<Buffer>((bytes, { at, data }) => {
    const next = Buffer.alloc(Math.max(bytes.length, at + data.length));
    next.set(bytes);
    next.set(data, at);
    return next;
  }, base);
}

/** Midnight behind so many days. */
const midnight = (from: number, days: number) => Math.ceil((from + days * dayMs) / dayMs) * dayMs;

async function run(state: State, rules: Rules, steps: readonly Step[]): Promise<void> {
  let nfs = await openNfsRig({ rig: await openRig({ devices: 3, data: 2, parity: 1, tenants: ["alpha"] }) });
  const now = () => nfs.rig.clock.now();
  const start = now();
  const openGateway = async (): Promise<S3Rig> => {
    const at = now();
    const opened = await openS3Rig({ rig: nfs.rig });
    nfs.rig.clock.set(at);
    return opened;
  };
  let s3 = await openGateway();
  let files = await mountData(nfs);
  const locked = state.startsWith("lock");
  let versioning: "Enabled" | "Suspended" | undefined = locked ? "Enabled" : state === "none" ? undefined : (state as "Enabled");
  const common = { id: "rule", enabled: true, filter: {}, form: "filter" as const };
  const { expire, past, newer, abort } = rules;
  await changeBucket(nfs.rig.node.objects, "alpha", bucket, "test", (it) => ({
    ...it,
    ...(versioning && { versioning }),
    ...(locked && {
      object_lock:
        state === "lock" ? {} : { default: { mode: "GOVERNANCE" as const, unit: "days" as const, count: defaultDays } },
    }),
    lifecycle: [
      {
        ...common,
        ...(expire !== undefined && { expiration: { days: expire } }),
        ...(past !== undefined && { noncurrent: { days: past, ...(newer !== undefined && { newer }) } }),
        ...(abort !== undefined && { abort }),
      },
    ],
  }));

  const model = new Map<string, Version[]>();
  const written = new Map<string, Written>();
  const uploads = new Map<string, { readonly key: string; readonly at: number }>();
  const of = (k: string): Version[] => model.get(k) ?? [];
  const current = (k: string): Buffer | undefined => of(k)[0]?.body;
  /** What readers by NFS see. */
  const seen = (k: string): Buffer | undefined => {
    const base = current(k);
    return base === undefined ? undefined : over(base, written.get(k) ?? []);
  };
  const kept = (v: Version, bypass: boolean): boolean =>
    v.held || (v.retention !== undefined && v.retention.until > now() && !(v.retention.mode === "GOVERNANCE" && bypass));

  /** A new latest version, or a delete marker, as the versioning has it. */
  const push = (k: string, body: Buffer | undefined, id?: string): void => {
    if (versioning === undefined) {
      model.set(k, body === undefined ? [] : [{ body, held: false, modified: now() }]);
      return;
    }
    const own = id ?? (versioning === "Suspended" ? "null" : undefined);
    const before = of(k).filter((v) => versioning !== "Suspended" || v.id !== "null");
    const first = before[0];
    if (first !== undefined && first.superseded === undefined) first.superseded = now();
    const byDefault = state === "lock by default" && body !== undefined;
    const retention = byDefault ? { retention: { mode: "GOVERNANCE", until: now() + defaultDays * dayMs } as const } : {};
    model.set(k, [
      { ...(own !== undefined && { id: own }), ...(body && { body }), ...retention, held: false, modified: now() },
      ...before,
    ]);
  };
  const drop = (k: string, version: Version): void => {
    const left = of(k).filter((v) => v !== version);
    if (left[0] !== undefined) delete left[0].superseded;
    model.set(k, left);
  };
  /** What was written of a file becomes durable, where there is one. */
  const settle = (k: string): void => {
    const bytes = seen(k);
    if (bytes !== undefined && written.has(k)) push(k, bytes);
    written.delete(k);
  };

  const expireModel = (): void => {
    for (const k of keys) {
      const versions = [...of(k)];
      for (const [i, v] of versions.entries()) {
        if (!of(k).includes(v)) continue;
        const days = (from: number, count: number | undefined) => count !== undefined && midnight(from, count) <= now();
        if (i === 0 && v.body !== undefined && days(v.modified, expire)) push(k, undefined);
        else if (i === 0 && v.body === undefined && versions.length === 1 && days(v.modified, expire)) drop(k, v);
        else if (i > 0 && days(v.superseded ?? v.modified, past) && i - 1 >= (newer ?? 0) && !kept(v, false)) drop(k, v);
      }
    }
    for (const [id, { at }] of uploads) if (abort !== undefined && midnight(at, abort) <= now()) uploads.delete(id);
  };

  /** Every version is listed as the model has it; what NFS could not tell is learnt from there. */
  const check = async (after: Step): Promise<void> => {
    const said = `after ${JSON.stringify(after)}`;
    const query = { bucket, prefix: "", delimiter: "", after: "", limit: 1000 };
    const { items } = await listVersions(nfs.rig.node.objects, query);
    for (const k of keys) {
      const listed = items.filter((item) => item.key === k);
      const shape = (list: readonly { marker: boolean; size: number; retention: Retention | undefined; held: boolean }[]) =>
        list.map((v) => `${v.marker ? "marker" : v.size} ${JSON.stringify(v.retention ?? null)} ${v.held}`);
      expect(
        shape(
          listed.map((v) => ({
            marker: v.delete_marker === true,
            size: v.size,
            retention: v.retention && { mode: v.retention.mode, until: v.retention.until },
            held: v.legal_hold === true,
          })),
        ),
        `${k} ${said}`,
      ).toEqual(
        shape(
          of(k).map((v) => ({ marker: v.body === undefined, size: v.body?.length ?? 0, retention: v.retention, held: v.held })),
        ),
      );
      for (const [i, v] of of(k).entries()) {
        const found = listed[i];
        v.id ??= versionIdOf(found ?? {});
        expect(versionIdOf(found ?? {}), `${k} ${said}`).toBe(v.id);
        expect(found?.superseded_at, `${k} ${said}`).toBe(v.superseded);
        expect(found?.modified_at).toBeGreaterThanOrEqual(start);
        // A file is changed later than it was, if only by a millisecond; a rename keeps its time.
        v.modified = found?.modified_at ?? v.modified;
      }
    }
    const begun = await listUploads(nfs.rig.node.objects, query);
    expect(begun.items.map(({ id }) => id).sort(), said).toEqual([...uploads.keys()].sort());
    expect(await files.list("/"), said).toEqual(keys.filter((k) => current(k) !== undefined));
  };

  const ask = (method: string, k: string, more: Omit<Parameters<typeof signedFetch>[1], "path" | "method"> = {}) =>
    signedFetch(s3, { method, path: `/${bucket}/${k}`, ...more });
  const outcome = (work: Promise<{ readonly status: number }>): Promise<string> =>
    work.then(
      ({ status }) => statusName(status),
      (error: Error) => error.message,
    );
  const entry = (k: string) => ({ dir: files.handle, name: Buffer.from(k) });
  const reopen = async (end: "restart" | "crash"): Promise<void> => {
    await s3.gateway.close();
    nfs = await nfs[end]();
    s3 = await openGateway();
    const client = await nfs.client();
    files = { client, handle: files.handle, ...filesOf(client, files.handle) };
  };
  const readsAs = async (k: string): Promise<void> => {
    const expected = seen(k);
    if (expected === undefined) expect(await outcome(files.walk(`/${k}`).then(() => ({ status: 0 })))).toBe("ENOENT");
    else expect((await files.read(`/${k}`)).data.equals(expected), `${k} by NFS`).toBe(true);
    const got = await ask("GET", k);
    expect(got.status, `${k} by S3`).toBe(current(k) === undefined ? 404 : 200);
    const stored = current(k);
    if (stored !== undefined) expect((await nfs.get(k)).equals(stored), `${k} by S3`).toBe(true);
  };

  try {
    for (const s of steps) {
      const [k, to] = [s.key ?? "", s.to ?? ""];
      const there = seen(k) !== undefined;
      const chosen = of(k)[(s.which ?? 0) % Math.max(1, of(k).length)];
      const bypass: Record<string, string> = s.bypass === true ? { "x-amz-bypass-governance-retention": "true" } : {};
      if (s.do === "put") {
        const body = Buffer.from(pattern(s.size ?? 0, (s.seed ?? 0) + 1));
        const { status, headers } = await ask("PUT", k, { body });
        expect(status).toBe(200);
        push(k, body, headers.get("x-amz-version-id") ?? undefined);
      } else if (s.do === "delete") {
        expect((await ask("DELETE", k)).status).toBe(204);
        push(k, undefined);
      } else if (s.do === "get" || s.do === "read") await readsAs(k);
      else if (s.do === "copy") {
        const source = current(k);
        const { status } = await ask("PUT", to, {
          headers: { "x-amz-copy-source": `${bucket}/${k}`, "x-amz-metadata-directive": "REPLACE" },
        });
        expect(status).toBe(source === undefined ? 404 : 200);
        if (source !== undefined) push(to, source);
      } else if (s.do === "removeVersion" && chosen?.id !== undefined) {
        const { status } = await ask("DELETE", k, { query: { versionId: chosen.id }, headers: bypass });
        const stays = kept(chosen, s.bypass === true);
        expect(status).toBe(stays ? 403 : 204);
        if (!stays) drop(k, chosen);
      } else if ((s.do === "GOVERNANCE" || s.do === "COMPLIANCE") && chosen?.body !== undefined && locked) {
        const until = now() + (s.days ?? 1) * dayMs;
        const { retention } = chosen;
        const bound =
          retention !== undefined && retention.until > now() && !(retention.mode === "GOVERNANCE" && s.bypass === true);
        const allowed = !bound || (s.do === retention.mode && until >= retention.until);
        const body = Buffer.from(
          `<Retention><Mode>${s.do}</Mode><RetainUntilDate>${new Date(until).toISOString()}</RetainUntilDate></Retention>`,
        );
        const { status } = await ask("PUT", k, { query: { retention: "", versionId: chosen.id ?? "" }, headers: bypass, body });
        expect(status).toBe(allowed ? 200 : 403);
        if (allowed) chosen.retention = { mode: s.do, until };
      } else if ((s.do === "hold" || s.do === "unhold") && chosen?.body !== undefined && locked) {
        const body = Buffer.from(`<LegalHold><Status>${s.do === "hold" ? "ON" : "OFF"}</Status></LegalHold>`);
        expect((await ask("PUT", k, { query: { "legal-hold": "", versionId: chosen.id ?? "" }, body })).status).toBe(200);
        chosen.held = s.do === "hold";
      } else if ((s.do === "Enabled" || s.do === "Suspended") && !locked) {
        const body = Buffer.from(`<VersioningConfiguration><Status>${s.do}</Status></VersioningConfiguration>`);
        expect((await signedFetch(s3, { method: "PUT", path: `/${bucket}`, query: { versioning: "" }, body })).status).toBe(200);
        versioning = s.do;
        // What was written without versions is called so from now on.
        for (const one of keys) for (const v of of(one)) v.id ??= "null";
      } else if (s.do === "begin") {
        const { text } = await ask("POST", k, { query: { uploads: "" } });
        uploads.set(/<UploadId>([^<]+)</.exec(text)?.[1] ?? "", { key: k, at: now() });
      } else if (s.do === "write") {
        if (!there) {
          const how = { kind: "UNCHECKED" as const, value: nothing };
          expect(await outcome(files.client.call("CREATE", { where: entry(k), how }))).toBe("OK");
          // A new file, which has nothing of the one that was there.
          written.delete(k);
          push(k, Buffer.alloc(0));
        }
        const data = Buffer.from(pattern(s.size ?? 1, (s.seed ?? 0) + 20));
        const stable = s.stable === true ? "FILE_SYNC" : "UNSTABLE";
        const handle = await files.walk(`/${k}`);
        const call = { handle, offset: BigInt(s.at ?? 0), count: data.length, stable, data } as const;
        expect(await outcome(files.client.call("WRITE", call))).toBe("OK");
        written.set(k, [...(written.get(k) ?? []), { at: s.at ?? 0, data }]);
        if (s.stable === true) settle(k);
      } else if (s.do === "commit") {
        const call = async () => files.client.call("COMMIT", { handle: await files.walk(`/${k}`), offset: 0n, count: 0 });
        expect(await outcome(call())).toBe(there ? "OK" : "ENOENT");
        if (there) settle(k);
      } else if (s.do === "truncate" && there) {
        settle(k);
        const length = s.size ?? 0;
        const attributes = { ...nothing, size: BigInt(length) };
        const call = async () =>
          files.client.call("SETATTR", { handle: await files.walk(`/${k}`), attributes, guard: undefined });
        expect(await outcome(call())).toBe("OK");
        const next = Buffer.alloc(length);
        next.set((current(k) as Buffer).subarray(0, length));
        push(k, next);
      } else if (s.do === "unlink") {
        expect(await outcome(files.client.call("REMOVE", entry(k)))).toBe(there ? "OK" : "ENOENT");
        if (there) {
          push(k, undefined);
          written.delete(k);
        }
      } else if (s.do === "rename") {
        expect(await outcome(files.client.call("RENAME", { from: entry(k), to: entry(to) }))).toBe(there ? "OK" : "ENOENT");
        if (there && k !== to) {
          const moved = written.get(k);
          push(to, current(k) as Buffer);
          push(k, undefined);
          written.delete(k);
          // Its bytes go with a file, those that wait too; what was written to the one that it takes the place of is gone.
          if (moved === undefined) written.delete(to);
          else written.set(to, moved);
        }
      } else if (s.do === "day") nfs.rig.clock.set(now() + dayMs);
      else if (s.do === "lifecycle") {
        await expireVersions(nfs.rig.node.parts);
        expireModel();
      } else if (s.do === "restart") {
        for (const one of keys) settle(one);
        await reopen("restart");
      } else if (s.do === "crash") {
        written.clear();
        await reopen("crash");
      } else if (s.do === "collect") await collectGarbage(nfs.rig.node.parts);
      await check(s);
    }
    await collectGarbage(nfs.rig.node.parts);
    for (const k of keys) {
      await readsAs(k);
      for (const v of of(k)) {
        const got = await fetchVersion(s3, k, v.id ?? "null");
        expect(got === undefined ? undefined : Buffer.compare(got, v.body ?? Buffer.alloc(0)), `${k} ${v.id}`).toBe(
          v.body === undefined ? undefined : 0,
        );
      }
    }
  } finally {
    await s3.gateway.close();
    await nfs.dispose();
  }
}

/** A version by its name, by S3; `undefined`: it is a delete marker. */
async function fetchVersion(s3: S3Rig, k: string, versionId: string): Promise<Buffer | undefined> {
  const { objects } = s3.rig.node;
  const { status } = await signedFetch(s3, { method: "HEAD", path: `/${bucket}/${k}`, query: { versionId } });
  if (status === 405) return undefined;
  expect(status, `${k} ${versionId}`).toBe(200);
  return collect(readObject(objects, await headObject(objects, "alpha", bucket, k, versionId)));
}

const days = fc.option(fc.integer({ min: 1, max: 3 }), { nil: undefined });
const rules = fc
  .record({ expire: days, past: days, newer: fc.option(fc.nat(2), { nil: undefined }), abort: days })
  .map((it) => Object.fromEntries(Object.entries(it).filter(([, v]) => v !== undefined)) as Rules);
const states = fc.constantFrom<State>("none", "Enabled", "Suspended", "lock", "lock by default");

test("whatever happens to a bucket by S3, by NFS and by its lifecycle, both gateways show what its history leaves, versions, locks and all", async () => {
  await fc.assert(
    fc.asyncProperty(states, rules, fc.array(step, { minLength: 5, maxLength: 30, size: "max" }) as fc.Arbitrary<Step[]>, run),
    { numRuns: Number(process.env["FC_RUNS"] ?? 30) },
  );
}, 3_600_000);
