/** A file system that is really full: whoever uploads hears it in the words of the protocol, and nothing half is left. */
import { execFileSync, spawnSync } from "node:child_process";
import { createHmac, randomBytes } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { collectGarbage } from "../../src/storage/jobs/collect-garbage.ts";
import { mountData, type NfsRig, okOf, openNfsRig, statusName } from "../storage/nfs-rig.ts";
import { openS3Rig, type S3Rig, sdk } from "../storage/s3-rig.ts";

/** What `directory` holds is on a file system of so many bytes; false where none may be mounted. */
function mountSmall(directory: string, bytes: number): boolean {
  return (
    process.platform === "linux" && spawnSync("mount", ["-t", "tmpfs", "-o", `size=${bytes}`, "none", directory]).status === 0
  );
}

const before = process.env["TMPDIR"];
const disk = mkdtempSync(join(tmpdir(), "seneschal-small-"));
const mounted = mountSmall(disk, 32 << 20);

if (!mounted) {
  rmSync(disk, { recursive: true });
  it.skip("no file system may be mounted here", () => {});
} else
  describe("a storage node whose disk is full", () => {
    let s3: S3Rig;
    let nfs: NfsRig;
    const kept = new Map<string, Buffer>();
    const refused: string[] = [];
    beforeAll(async () => {
      // The devices believe that they have more than the disk has.
      process.env["TMPDIR"] = disk;
      s3 = await openS3Rig();
      nfs = await openNfsRig({ rig: s3.rig });
      await s3.client().send(new sdk.CreateBucketCommand({ Bucket: "docs" }));
    });
    afterAll(async () => {
      await nfs?.leave();
      await s3?.dispose();
      if (before === undefined) delete process.env["TMPDIR"];
      else process.env["TMPDIR"] = before;
      execFileSync("umount", ["-l", disk]);
      rmSync(disk, { recursive: true, force: true });
    });

    /** The status of an upload; anything that is no answer fails the test. */
    const upload = async (key: string, body: Buffer): Promise<number> => {
      try {
        await s3.client().send(new sdk.PutObjectCommand({ Bucket: "docs", Key: key, Body: body }));
        kept.set(key, body);
        return 200;
      } catch (error) {
        const { name, $metadata } = error as { name: string; $metadata?: { httpStatusCode?: number } };
        expect([name, $metadata?.httpStatusCode]).toEqual(["InsufficientStorage", 507]);
        refused.push(key);
        return 507;
      }
    };
    const read = async (key: string): Promise<Buffer> => {
      const { Body } = await s3.client().send(new sdk.GetObjectCommand({ Bucket: "docs", Key: key }));
      return Buffer.from((await Body?.transformToByteArray()) ?? []);
    };

    it("answers every PUT, small and larger than what is read away, with 200 or InsufficientStorage", async () => {
      for (let at = 0; refused.length < 3; at += 1) {
        expect(at).toBeLessThan(40);
        await upload(`object-${at}`, randomBytes(3 << 20));
      }
      expect(kept.size).toBeGreaterThan(2);
      expect(await upload("large", randomBytes(25 << 20))).toBe(507);
    });

    it("answers a part of a multipart upload so, and the upload can be given up", async () => {
      const of = { Bucket: "docs", Key: "parts" };
      const { UploadId } = await s3.client().send(new sdk.CreateMultipartUploadCommand(of));
      const part = new sdk.UploadPartCommand({ ...of, UploadId, PartNumber: 1, Body: randomBytes(20 << 20) });
      await expect(s3.client().send(part)).rejects.toMatchObject({
        name: "InsufficientStorage",
        $metadata: { httpStatusCode: 507 },
      });
      await s3.client().send(new sdk.AbortMultipartUploadCommand({ ...of, UploadId }));
      refused.push("parts");
    });

    it("answers a write by NFS that is to be durable with ENOSPC, and the file has what it had", async () => {
      const files = await mountData(nfs);
      const nothing = { mode: undefined, uid: undefined, gid: undefined, size: undefined };
      const untouched = { kind: "DONT_CHANGE", value: undefined } as const;
      const where = { dir: await files.walk(""), name: Buffer.from("f") };
      const value = { ...nothing, atime: untouched, mtime: untouched, mode: 0o644 };
      const { handle } = okOf(await files.client.call("CREATE", { where, how: { kind: "UNCHECKED", value } }));
      const bytes = randomBytes(1 << 20);
      let full = false;
      for (let at = 0; !full && at < 16; at += 1) {
        const data = createHmac("sha256", String(at)).update(bytes).digest();
        const call = { handle: handle as Uint8Array, offset: BigInt(at << 20), count: 1 << 20, stable: "FILE_SYNC" as const };
        const { status } = await files.client.call("WRITE", { ...call, data: Buffer.concat([data, bytes.subarray(32)]) });
        expect(["OK", "ENOSPC"]).toContain(statusName(status));
        full = statusName(status) === "ENOSPC";
      }
      expect(full).toBe(true);
    });

    it("has whole what was acknowledged and nothing of the rest, and takes more once there is room", async () => {
      for (const [key, body] of kept) expect((await read(key)).equals(body), key).toBe(true);
      for (const key of refused) await expect(read(key), key).rejects.toMatchObject({ name: "NoSuchKey" });
      expect(await s3.rig.store.count("storage_staged", "by_time", [])).toBe(0);
      for (const key of kept.keys()) await s3.client().send(new sdk.DeleteObjectCommand({ Bucket: "docs", Key: key }));
      // A segment whose frames are deleted is given back a moment later: a refusal is tried again.
      const again = async (): Promise<number> => {
        s3.rig.clock.set(s3.rig.clock.now() + 2 * 86_400_000);
        await collectGarbage(s3.rig.node.parts);
        s3.rig.clock.set(Date.now());
        return upload("again", randomBytes(3 << 20));
      };
      await expect.poll(again).toBe(200);
    });
  });
