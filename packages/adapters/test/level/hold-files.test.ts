import { mkdtemp, readdir, readlink, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { holdFiles } from "../../src/level/hold-files.ts";

test.runIf(process.platform === "linux")(
  "logs and tables are held open from when they come until they are deleted, others not, of many the newest, and none at the end",
  async () => {
    const directory = await mkdtemp(join(tmpdir(), "hold-files-"));
    onTestFinished(() => rm(directory, { recursive: true }));
    const held = async (): Promise<string[]> => {
      const links = (await readdir("/proc/self/fd")).map((fd) => readlink(`/proc/self/fd/${fd}`).catch(() => ""));
      const names = (await Promise.all(links)).filter((name) => name.startsWith(`${directory}/`));
      return names.map((name) => name.slice(directory.length + 1)).sort();
    };
    await writeFile(join(directory, "000001.ldb"), "");
    await writeFile(join(directory, "CURRENT"), "");
    const release = await holdFiles(directory);
    await expect.poll(held).toEqual(["000001.ldb"]);
    await writeFile(join(directory, "000002.log"), "");
    await expect.poll(held).toEqual(["000001.ldb", "000002.log"]);
    await rm(join(directory, "000001.ldb"));
    await expect.poll(held).toEqual(["000002.log"]);
    await release();
    expect(await held()).toEqual([]);

    for (let n = 100; n < 400; n += 1) await writeFile(join(directory, `000${n}.ldb`), "");
    const releaseNewest = await holdFiles(directory);
    await expect.poll(async () => (await held()).length).toBe(256);
    expect((await held())[0]).toBe("000144.ldb");
    await releaseNewest();
    expect(await held()).toEqual([]);
  },
);
