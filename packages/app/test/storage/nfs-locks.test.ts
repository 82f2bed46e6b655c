import type { Retention } from "@seneschal/core/storage";
import { afterEach, describe, expect, test } from "vitest";
import { createBucket } from "../../src/storage/objects/buckets.ts";
import { headObject, readObject } from "../../src/storage/objects/read-object.ts";
import { holdLegally, openVersion, retain } from "../../src/storage/objects/versions.ts";
import { mountData, type NfsRig, openNfsRig, statusName } from "./nfs-rig.ts";
import { collect, pattern } from "./rig.ts";

let nfs: NfsRig;
afterEach(() => nfs.dispose());

const day = 86_400_000;
const untouched = { kind: "DONT_CHANGE", value: undefined } as const;
const nothing = { mode: undefined, uid: undefined, gid: undefined, size: undefined, atime: untouched, mtime: untouched };
const bytes = pattern(100_000);

/** What keeps a version, and until when it does. */
const locks = {
  COMPLIANCE: (now: number) => ({ mode: "COMPLIANCE", until: now + day }),
  GOVERNANCE: (now: number) => ({ mode: "GOVERNANCE", until: now + day }),
  "a legal hold": () => undefined,
} as const satisfies Record<string, (now: number) => Retention | undefined>;

/** A mount of a bucket with object lock, the object `kept` in it under a lock, and another one beside it. */
async function mounted(versioning: "Enabled" | "Suspended", lock: keyof typeof locks) {
  nfs = await openNfsRig({ exports: [{ bucket: "locked" }] });
  const { objects, context } = nfs.rig.node;
  await createBucket(objects, "alpha", "locked", "us-east-1", { versioning, object_lock: {} });
  await nfs.put("kept", bytes, "locked");
  await nfs.put("other", Buffer.from("other"), "locked");
  const { version_id = "null" } = await headObject(objects, "alpha", "locked", "kept");
  const at = { tenant: "alpha", bucket: "locked", key: "kept", version: version_id };
  const retention = locks[lock](context.clock.now());
  if (retention === undefined) await holdLegally(objects, at, true);
  else await retain(objects, at, retention, "holder");
  const { client, walk, handle: dir, read } = await mountData(nfs);
  const handle = Buffer.from(await walk("kept"));
  const place = (name: string) => ({ dir, name: Buffer.from(name) });
  const data = Buffer.from("overwritten");
  const write = (stable: "UNSTABLE" | "FILE_SYNC") =>
    client.call("WRITE", { handle, offset: 0n, count: data.length, stable, data });
  const resize = (size: bigint) => client.call("SETATTR", { handle, attributes: { ...nothing, size }, guard: undefined });
  const how = { kind: "UNCHECKED", value: { ...nothing, size: 0n } } as const;
  const calls: Readonly<Record<string, () => Promise<{ readonly status: number }>>> = {
    "a synchronous write": () => write("FILE_SYNC"),
    "a write and its COMMIT": async () => {
      const { status } = await write("UNSTABLE");
      return status === 0 ? client.call("COMMIT", { handle, offset: 0n, count: 0 }) : { status };
    },
    "a truncation to nothing": () => resize(0n),
    "a truncation": () => resize(10n),
    "an extension": () => resize(200_000n),
    "CREATE with a size over it": () => client.call("CREATE", { where: place("kept"), how }),
    "a rename over it": () => client.call("RENAME", { from: place("other"), to: place("kept") }),
    "a rename of it": () => client.call("RENAME", { from: place("kept"), to: place("moved") }),
    "its removal": () => client.call("REMOVE", place("kept")),
  };
  /** What is kept, by its version: the bytes, and what keeps them. */
  const kept = async () => {
    const { doc } = await openVersion(objects, at);
    const same = (await collect(readObject(objects, doc))).equals(Buffer.from(bytes));
    return { same, retention: doc.retention, legal_hold: doc.legal_hold };
  };
  return { calls, kept, read, held: { same: true, retention, legal_hold: retention === undefined ? true : undefined } };
}

describe.each(Object.keys(locks) as (keyof typeof locks)[])("an object under %s", (lock) => {
  test("in a bucket that keeps versions: every change makes another version, and the one that is locked stays as it is", async () => {
    const { calls, kept, held } = await mounted("Enabled", lock);
    expect(await kept()).toEqual(held);
    for (const [what, call] of Object.entries(calls)) {
      const status = statusName((await call()).status);
      // What is renamed is not there any more for its removal.
      expect([what, status]).toEqual([what, what === "its removal" ? "ENOENT" : "OK"]);
      expect([what, await kept()]).toEqual([what, held]);
    }
  });

  test("where a change would take its place: EACCES by every call, and bytes, length and neighbours are as they were", async () => {
    const { calls, kept, held, read } = await mounted("Suspended", lock);
    for (const [what, call] of Object.entries(calls)) {
      expect([what, statusName((await call()).status)]).toEqual([what, "EACCES"]);
      expect([what, await kept()]).toEqual([what, held]);
      expect(String((await read("other")).data)).toBe("other");
      await expect(read("moved")).rejects.toThrow("ENOENT");
    }
    if (lock === "a legal hold") return;
    nfs.rig.clock.advance(day);
    for (const [what, call] of Object.entries(calls)) {
      const gone = what === "its removal";
      expect([what, statusName((await call()).status)]).toEqual([what, gone ? "ENOENT" : "OK"]);
    }
  });
});
