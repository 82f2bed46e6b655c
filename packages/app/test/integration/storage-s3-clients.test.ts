import { execFile } from "node:child_process";
import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { pattern } from "../storage/rig.ts";
import { openS3Rig, type S3Rig } from "../storage/s3-rig.ts";

const run = promisify(execFile);
const answers = (command: string, ...args: string[]) =>
  run(command, args).then(
    () => true,
    () => false,
  );
const has = {
  aws: await answers("aws", "--version"),
  rclone: await answers("rclone", "version"),
  s3cmd: await answers("s3cmd", "--version"),
};

let s3: S3Rig;
let directory: string;
const big = Buffer.from(pattern(20 << 20, 11));
const small = Buffer.from("small file\n");
beforeAll(async () => {
  s3 = await openS3Rig({ capacityBytes: 512 << 20 });
  directory = await mkdtemp(join(tmpdir(), "seneschal-clients-"));
  await writeFile(join(directory, "big"), big);
  await writeFile(join(directory, "small"), small);
  // Older awscli presigns with Signature V2 unless it is told not to.
  await mkdir(join(directory, ".aws"));
  await writeFile(join(directory, ".aws", "config"), "[default]\ns3 =\n  signature_version = s3v4\n");
});
afterAll(async () => {
  await s3.dispose();
  await rm(directory, { recursive: true, force: true });
});

/** A clean environment: clients must not read this machine's configuration. */
const environment = () => {
  const { AWS_CA_BUNDLE: _bundle, AWS_PROFILE: _profile, ...env } = process.env;
  return {
    ...env,
    HOME: directory,
    AWS_ACCESS_KEY_ID: s3.keys.access_key,
    AWS_SECRET_ACCESS_KEY: s3.keys.secret_key,
    AWS_DEFAULT_REGION: "us-east-1",
  };
};

describe.skipIf(!has.aws)("awscli (skipped: not installed)", () => {
  const aws = async (...args: string[]) =>
    (await run("aws", ["--endpoint-url", s3.gateway.url, ...args], { env: environment(), cwd: directory })).stdout;
  test("make a bucket, copy both ways with multipart, list, sync, presign, copy, remove", async () => {
    await aws("s3", "mb", "s3://aws-bucket");
    await aws("s3", "cp", "big", "s3://aws-bucket/dir/big");
    await aws("s3", "cp", "small", "s3://aws-bucket/small file+%20.txt");
    expect(await aws("s3", "ls", "s3://aws-bucket/")).toMatch(/PRE dir\/[\s\S]*small file\+%20\.txt/);
    await aws("s3", "cp", "s3://aws-bucket/dir/big", "big.back");
    expect((await readFile(join(directory, "big.back"))).equals(big)).toBe(true);
    await aws("s3", "cp", "s3://aws-bucket/dir/big", "s3://aws-bucket/copy/big");
    const url = (await aws("s3", "presign", "s3://aws-bucket/copy/big")).trim();
    const fetched = await fetch(url);
    expect(fetched.status).toBe(200);
    expect(Buffer.from(await fetched.arrayBuffer()).equals(big)).toBe(true);
    await aws("s3", "sync", "s3://aws-bucket/", "synced");
    expect((await readFile(join(directory, "synced/copy/big"))).equals(big)).toBe(true);
    await aws("s3", "rm", "--recursive", "s3://aws-bucket");
    await aws("s3", "rb", "s3://aws-bucket");
    await expect(aws("s3", "ls", "s3://aws-bucket")).rejects.toThrow(/NoSuchBucket/);
  });
  test("commands for what is not built fail by name, and change nothing", async () => {
    await aws("s3", "mb", "s3://aws-empty");
    await aws("s3", "mb", "s3://aws-kept");
    await aws("s3", "cp", "small", "s3://aws-kept/src");
    await aws("s3", "cp", "small", "s3://aws-kept/dst");
    const before = (await s3.rig.store.changes(0, 100_000)).length;
    const dst = ["--bucket", "aws-kept", "--key", "dst"];
    const refused: [RegExp, string[]][] = [
      ...["metrics", "inventory", "analytics", "intelligent-tiering"].map((what): [RegExp, string[]] => [
        /NotImplemented/,
        [`delete-bucket-${what}-configuration`, "--bucket", "aws-empty", "--id", "x"],
      ]),
      [/NotImplemented/, ["rename-object", ...dst, "--rename-source", "aws-kept/src"]],
      [/NotImplemented/, ["put-object", ...dst, "--write-offset-bytes", "4", "--body", "small"]],
      [
        /NotImplemented/,
        ["put-bucket-request-payment", "--bucket", "aws-kept", "--request-payment-configuration", "Payer=Requester"],
      ],
      [/AccessControlListNotSupported/, ["put-object-acl", ...dst, "--acl", "public-read"]],
      [/InvalidBucketAclWithObjectOwnership/, ["create-bucket", "--bucket", "aws-public", "--acl", "public-read"]],
      [/NotImplemented/, ["get-bucket-accelerate-configuration", "--bucket", "aws-kept"]],
      [/NotImplemented/, ["list-bucket-metrics-configurations", "--bucket", "aws-kept"]],
      [/PreconditionFailed/, ["delete-object", ...dst, "--if-match", '"deadbeef"']],
      [/PreconditionFailed/, ["delete-object", ...dst, "--if-match-size", "3"]],
      [/NoSuchVersion/, ["delete-object", ...dst, "--version-id", "v1"]],
    ];
    for (const [reason, args] of refused) {
      const outcome = await aws("s3api", ...args).catch((error: { stderr: string }) => error);
      // An older client does not know every command; then it sends nothing.
      if (typeof outcome === "object" && /Invalid choice|Unknown options/.test(outcome.stderr)) continue;
      expect([args[0], outcome]).toEqual([args[0], expect.objectContaining({ stderr: expect.stringMatching(reason) })]);
    }
    for (const object of ["Key=dst,VersionId=v1", 'Key=dst,ETag="deadbeef"']) {
      const said = await aws("s3api", "delete-objects", "--bucket", "aws-kept", "--delete", `Objects=[{${object}}]`).catch(
        (error: { stderr: string }) => error.stderr,
      );
      expect(said).toMatch(/NoSuchVersion|PreconditionFailed|Unknown/);
    }
    expect((await s3.rig.store.changes(0, 100_000)).length).toBe(before);
  });
});

describe.skipIf(!has.rclone)("rclone (skipped: not installed)", () => {
  const rclone = async (...args: string[]) => {
    const options = `:s3,provider=Other,access_key_id=${s3.keys.access_key},secret_access_key=${s3.keys.secret_key},endpoint="${s3.gateway.url}":`;
    return (
      await run(
        "rclone",
        args.map((a) => a.replace("REMOTE:", options)),
        { env: environment(), cwd: directory },
      )
    ).stdout;
  };
  test("copy, check by checksum, list, move, purge", async () => {
    await rclone("mkdir", "REMOTE:rclone-bucket");
    await rclone("copy", "--s3-upload-cutoff", "8M", "--s3-chunk-size", "5M", "big", "REMOTE:rclone-bucket/a/b");
    await rclone("copy", "small", "REMOTE:rclone-bucket/a");
    expect((await rclone("lsf", "-R", "REMOTE:rclone-bucket")).trim().split("\n").sort()).toEqual([
      "a/",
      "a/b/",
      "a/b/big",
      "a/small",
    ]);
    await rclone("copy", "REMOTE:rclone-bucket/a/b/big", "rback");
    expect((await readFile(join(directory, "rback/big"))).equals(big)).toBe(true);
    await rclone("check", "rback", "REMOTE:rclone-bucket/a/b");
    await rclone("moveto", "REMOTE:rclone-bucket/a/small", "REMOTE:rclone-bucket/moved");
    expect(await rclone("cat", "REMOTE:rclone-bucket/moved")).toBe("small file\n");
    await rclone("purge", "REMOTE:rclone-bucket");
    expect(await rclone("lsd", "REMOTE:")).not.toContain("rclone-bucket");
  });
});

describe.skipIf(!has.s3cmd)("s3cmd (skipped: not installed)", () => {
  const s3cmd = async (...args: string[]) => {
    const { host } = new URL(s3.gateway.url);
    const options = [
      "--no-ssl",
      "--host",
      host,
      "--host-bucket",
      host,
      "--access_key",
      s3.keys.access_key,
      "--secret_key",
      s3.keys.secret_key,
      "--no-progress",
    ];
    return (await run("s3cmd", [...options, ...args], { env: environment(), cwd: directory })).stdout;
  };
  test("make a bucket, put with multipart, list, get, copy, delete", async () => {
    await s3cmd("mb", "s3://s3cmd-bucket");
    await s3cmd("put", "big", "s3://s3cmd-bucket/dir/big");
    await s3cmd("put", "small", "s3://s3cmd-bucket/small");
    expect(await s3cmd("ls", "-r", "s3://s3cmd-bucket")).toMatch(/dir\/big[\s\S]*small/);
    await s3cmd("get", "s3://s3cmd-bucket/dir/big", "cmd.back");
    expect((await readFile(join(directory, "cmd.back"))).equals(big)).toBe(true);
    await s3cmd("cp", "s3://s3cmd-bucket/small", "s3://s3cmd-bucket/copy");
    expect(await s3cmd("info", "s3://s3cmd-bucket/copy")).toContain("File size: 11");
    await s3cmd("del", "--recursive", "--force", "s3://s3cmd-bucket");
    await s3cmd("rb", "s3://s3cmd-bucket");
  });
});
