import { execFile } from "node:child_process";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type NfsRig, openNfsRig } from "../storage/nfs-rig.ts";
import { pattern } from "../storage/rig.ts";

const run = promisify(execFile);
/** They say how they are used and fail, where they are installed. */
const installed = await run("nfs-ls").then(
  () => true,
  (error: { readonly code?: unknown }) => error.code !== "ENOENT",
);

describe.skipIf(!installed)("libnfs (skipped: libnfs-utils is not installed)", () => {
  let nfs: NfsRig;
  let directory: string;
  const big = Buffer.from(pattern(10_000_000, 11));
  beforeAll(async () => {
    nfs = await openNfsRig({ capacityBytes: 512 << 20, exports: [{}, { path: "/closed", clients: ["192.0.2.1"] }] });
    directory = await mkdtemp(join(tmpdir(), "seneschal-nfs-"));
    await writeFile(join(directory, "big"), big);
  });
  afterAll(async () => {
    await nfs.dispose();
    await rm(directory, { recursive: true, force: true });
  });
  const url = (path: string) =>
    `nfs://127.0.0.1${path}?nfsport=${nfs.port}&mountport=${nfs.port}&version=3&uid=1000&gid=1000&auto-traverse-mounts=0`;
  const client = (command: string, ...args: string[]) =>
    run(command, args, { cwd: directory, maxBuffer: 64 << 20, encoding: "buffer", timeout: 60_000 });

  test("what nfs-cp copies is what S3 reads, and comes back the same", async () => {
    await client("nfs-cp", "big", url("/data/big"));
    expect((await nfs.get("big")).equals(big)).toBe(true);
    await client("nfs-cp", url("/data/big"), "big.back");
    expect((await readFile(join(directory, "big.back"))).equals(big)).toBe(true);
  });

  test("what S3 wrote is listed by nfs-ls, with its size and kind, and read by nfs-cat", async () => {
    await nfs.put("dir/from S3", Buffer.from("by S3\n"));
    expect(String((await client("nfs-cat", url("/data/dir/from S3"))).stdout)).toBe("by S3\n");
    const { stdout } = await client("nfs-ls", url("/data"));
    expect(String(stdout)).toMatch(/^d.* dir$/m);
    expect(String(stdout)).toMatch(/^-rw.* 10000000 big$/m);
    expect(String((await client("nfs-ls", "-R", url("/data"))).stdout)).toContain("from S3");
  });

  test("an export is not mounted from elsewhere", async () => {
    await expect(client("nfs-ls", url("/closed"))).rejects.toThrow(/Command failed/);
  });
});
