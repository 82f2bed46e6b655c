import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openLevelStore } from "@seneschal/adapters/level";
import { expect, test } from "vitest";
import { createBucket } from "../../src/storage/objects/buckets.ts";
import { putObject } from "../../src/storage/objects/put-object.ts";
import { headObject, readObject } from "../../src/storage/objects/read-object.ts";
import { storageSchema } from "../../src/storage/schema.ts";
import { bytesOf, collect, openRig, operator, pattern } from "./rig.ts";

test("metadata that rots while the node runs is found by the scrub: reads go on, nothing is written or collected, and it does not start again", async () => {
  const directory = await mkdtemp(join(tmpdir(), "seneschal-damage-"));
  const path = join(directory, "metadata");
  const store = await openLevelStore({ ...storageSchema, path });
  const rig = await openRig({ extra: { store } });
  try {
    const { objects } = rig.node;
    await createBucket(objects, "alpha", "docs", "us-east-1");
    const put = (key: string) =>
      putObject(objects, {
        tenant: "alpha",
        bucket: "docs",
        key,
        body: bytesOf(pattern(9000)),
        contentType: "",
        headers: {},
        meta: {},
      });
    await put("k");
    await store.expunge?.();
    await rig.devices.get("d0")?.write(`${"ab".repeat(32)}.0.dead`, pattern(10));
    const scrub = async () => {
      await rig.node.scrub({ kind: "cluster" }, operator);
      await rig.node.jobs.drain();
    };
    await scrub();
    const [table = ""] = (await readdir(path)).filter((name) => name.endsWith(".ldb"));
    const bytes = await readFile(join(path, table));
    (bytes[40] as number) ^= 2;
    await writeFile(join(path, table), bytes);

    rig.clock.set(rig.clock.now() + 25 * 3_600_000);
    await scrub();
    expect(rig.node.monitor.alerts()).toContainEqual(
      expect.objectContaining({ severity: "critical", subject: "metadata", message: expect.stringContaining(table) }),
    );
    expect((await rig.extents("d0")).some(({ name }) => name.endsWith(".dead"))).toBe(true);
    await expect(put("new")).rejects.toMatchObject({ code: "ShardUnavailable" });
    expect(await collect(readObject(objects, await headObject(objects, "alpha", "docs", "k")))).toHaveLength(9000);
  } finally {
    await rig.dispose();
    await store.close();
  }
  await expect(openLevelStore({ ...storageSchema, path })).rejects.toMatchObject({ code: "store_damaged" });
  await rm(directory, { recursive: true, force: true });
});
