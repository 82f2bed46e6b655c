import { mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { diskOf, fileStamp, listFiles, makeDirectory, readBytes, readText, writeAside } from "@seneschal/adapters/files";
import { afterAll, beforeAll, expect, test } from "vitest";

let dir = "";
beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), "seneschal-files-"));
});
afterAll(() => rm(dir, { recursive: true, force: true }));

test("a file that is written aside has its name only once it is whole, and is its owner's alone", async () => {
  const into = join(dir, "made", "for-it");
  const file = await writeAside(into, "a.part", ["one", Buffer.from("two")]);
  expect(await listFiles(into)).toEqual(["a.part"]);
  await writeFile(join(into, "a"), "before");
  await file.moveTo("a");
  expect(await readdir(into)).toEqual(["a"]);
  expect(await readText(join(into, "a"))).toBe("onetwo");
  expect((await readBytes(join(into, "a"))).equals(await readFile(join(into, "a")))).toBe(true);
  expect((await stat(join(into, "a"))).mode & 0o777).toBe(0o600);
  expect((await stat(into)).mode & 0o777).toBe(0o700);
  const broken = writeAside(into, "b.part", pieces());
  await expect(broken).rejects.toThrow("no more");
  expect(await listFiles(into)).not.toContain("b");
});

async function* pieces(): AsyncGenerator<string> {
  yield "half";
  throw new Error("no more");
}

test("a directory that is there stays as it is, one that is not there has no files", async () => {
  const open = join(dir, "open");
  await mkdir(open, { mode: 0o755 });
  await makeDirectory(open);
  expect((await stat(open)).mode & 0o777).toBe(0o755);
  expect(await listFiles(join(dir, "nowhere"))).toEqual([]);
  await expect(listFiles(join(open, "..", "open", "\0"))).rejects.toThrow();
});

test("the stamp of a file changes with its bytes and with the file; what is not there has none", async () => {
  const path = join(dir, "stamped");
  await writeFile(path, "one");
  const first = await fileStamp(path);
  expect(await fileStamp(path)).toBe(first);
  await writeFile(path, "another");
  const second = await fileStamp(path);
  expect(second).not.toBe(first);
  await (await writeAside(dir, "stamped.part", ["another"])).moveTo("stamped");
  expect(await fileStamp(path)).not.toBe(second);
  for (const ask of [fileStamp, readText, readBytes, diskOf])
    await expect(ask(join(dir, "gone"))).rejects.toMatchObject({ code: "ENOENT" });
});
