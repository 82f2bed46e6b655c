import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { createDirectorySync } from "../../src/devices/directory-sync.ts";

async function place() {
  const directory = await mkdtemp(join(tmpdir(), "seneschal-sync-"));
  return { directory, sync: createDirectorySync(directory), dispose: () => rm(directory, { recursive: true, force: true }) };
}

test("who asks while a sync runs shares the next one, never the running one", async () => {
  const { sync, dispose } = await place();
  const first = sync.sync();
  expect(sync.sync()).toBe(first);
  // Now it runs: it may have begun before what the next caller did.
  await Promise.resolve().then(() => Promise.resolve());
  const second = sync.sync();
  expect(second).not.toBe(first);
  expect(sync.sync()).toBe(second);
  await Promise.all([first, second]);
  await sync.idle();
  await dispose();
});

test("a failed sync fails its callers and not the next ones", async () => {
  const { directory, sync, dispose } = await place();
  await rm(directory, { recursive: true });
  await expect(sync.sync()).rejects.toMatchObject({ code: "ENOENT" });
  await mkdir(directory);
  await sync.sync();
  await dispose();
});
