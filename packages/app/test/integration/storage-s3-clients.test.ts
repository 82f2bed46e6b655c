import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readFileSync } from "node:fs";
import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { get } from "node:https";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { buffer } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { createBucket } from "../../src/storage/objects/buckets.ts";
import { listKeys } from "../../src/storage/objects/list-keys.ts";
import { putObject } from "../../src/storage/objects/put-object.ts";
import { headObject, readObject } from "../../src/storage/objects/read-object.ts";
import { storeCa } from "../storage/grpc-rig.ts";
import { bytesOf as bodyOf, collect, pattern } from "../storage/rig.ts";
import { openS3Rig, type S3Rig } from "../storage/s3-rig.ts";

const run = promisify(execFile);
const answers = (command: string, ...args: string[]) =>
  run(command, args).then(
    () => true,
    () => false,
  );
/** Where `tools/install-peers.sh` puts what the distribution has not. */
const python = fileURLToPath(new URL("../../../../.peers/s3/bin/python", import.meta.url));
const has = {
  aws: await answers("aws", "--version"),
  rclone: await answers("rclone", "version"),
  s3cmd: await answers("s3cmd", "--version"),
  restic: await answers("restic", "version"),
  terraform: await answers("terraform", "version"),
  s3fs: existsSync("/dev/fuse") && (await answers("s3fs", "--version")),
  python: await answers(python, "-c", "import boto3, duckdb, duckdb_extension_httpfs, minio, s3fs"),
};

const page = readFileSync(new URL("../../../../docs/storage.md", import.meta.url), "utf8");
const domain = "s3.example.org";
let s3: S3Rig;
let directory: string;
let ca: string;
/** What docs/storage.md has a client export: nothing of this machine's configuration. */
let env: Record<string, string>;
const big = Buffer.from(pattern(20 << 20, 11));
const small = Buffer.from("small file\n");

/** The block of docs/storage.md that says this, for the gateway of this test. */
function documented(said: string): string {
  const found = [...page.matchAll(/```\w+\n([\s\S]*?)```/g)].find(([, block]) => block?.includes(said))?.[1];
  if (found === undefined) throw new Error(`docs/storage.md has no block with ${said}`);
  return found.replaceAll(domain, new URL(s3.gateway.url).host).replaceAll("/etc/ssl/store.pem", join(directory, "ca.pem"));
}
const put = (name: string, content: string | Buffer) => writeFile(join(directory, name), content);

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), "seneschal-clients-"));
  const authority = await storeCa("Clients CA");
  ca = authority.pem;
  const tls = await authority.issue("CN=s3", { names: ["127.0.0.1", domain, `*.${domain}`] });
  s3 = await openS3Rig({ capacityBytes: 512 << 20, gateway: { domain, tls } });
  const exported = Object.fromEntries(
    [...documented("AWS_CA_BUNDLE").matchAll(/\b([A-Z_]+)=(\S+)/g)].map(([, name = "", value = ""]) => [name, value]),
  );
  env = {
    ...exported,
    AWS_ACCESS_KEY_ID: s3.keys.access_key,
    AWS_SECRET_ACCESS_KEY: s3.keys.secret_key,
    PATH: process.env["PATH"] ?? "",
    HOME: directory,
  };
  await Promise.all([put("ca.pem", ca), put("big", big), put("small", small)]);
});
afterAll(async () => {
  await s3.dispose();
  await rm(directory, { recursive: true, force: true });
});

/** Runs a client to its end; gives what it printed. */
const client = async (command: string, args: readonly string[], more: Record<string, string> = {}, cwd = directory) =>
  (await run(command, args, { env: { ...env, ...more }, cwd, maxBuffer: 16 << 20 })).stdout;

/** What lies in a bucket, whichever client put it there. */
const create = (bucket: string) => createBucket(s3.rig.node.objects, "alpha", bucket, "us-east-1");
const changes = async () => (await s3.rig.store.changes(0, 100_000)).length;
const keysOf = async (bucket: string, prefix = "") => {
  const query = { bucket, prefix, delimiter: "", after: "", limit: 1000 };
  return (await listKeys(s3.rig.node.objects, query)).items.map(({ key }) => key);
};
const bytesOf = async (bucket: string, key: string) => {
  const object = await headObject(s3.rig.node.objects, "alpha", bucket, key);
  return collect(readObject(s3.rig.node.objects, object));
};

describe.skipIf(!has.aws)("awscli (skipped: not installed)", () => {
  beforeAll(async () => {
    // Older awscli presigns with Signature V2 unless it is told not to.
    await mkdir(join(directory, ".aws"));
    await put(".aws/config", "[default]\ns3 =\n  signature_version = s3v4\n");
  });
  const aws = (...args: string[]) => client("aws", ["--endpoint-url", s3.gateway.url, ...args]);
  test("make a bucket, copy both ways with multipart, list, sync, presign, copy, remove", async () => {
    await aws("s3", "mb", "s3://aws-bucket");
    await aws("s3", "cp", "big", "s3://aws-bucket/dir/big");
    await aws("s3", "cp", "small", "s3://aws-bucket/small file+%20.txt");
    expect(await aws("s3", "ls", "s3://aws-bucket/")).toMatch(/PRE dir\/[\s\S]*small file\+%20\.txt/);
    await aws("s3", "cp", "s3://aws-bucket/dir/big", "big.back");
    expect((await readFile(join(directory, "big.back"))).equals(big)).toBe(true);
    await aws("s3", "cp", "s3://aws-bucket/dir/big", "s3://aws-bucket/copy/big");
    const url = (await aws("s3", "presign", "s3://aws-bucket/copy/big")).trim();
    const [fetched] = await once(get(url, { ca, agent: false }), "response");
    expect(fetched.statusCode).toBe(200);
    expect((await buffer(fetched)).equals(big)).toBe(true);
    await aws("s3", "sync", "s3://aws-bucket/", "synced");
    expect((await readFile(join(directory, "synced/copy/big"))).equals(big)).toBe(true);
    await aws("s3", "rm", "--recursive", "s3://aws-bucket");
    await aws("s3", "rb", "s3://aws-bucket");
    await expect(aws("s3", "ls", "s3://aws-bucket")).rejects.toThrow(/NoSuchBucket/);
  });
  test("a command for what is not built fails by name, and changes nothing: all of them are told to boto3, which starts once", async () => {
    await create("aws-empty");
    const before = await changes();
    for (const [reason, args] of [
      [/NotImplemented/, ["delete-bucket-metrics-configuration", "--bucket", "aws-empty", "--id", "x"]],
      [/AccessControlListNotSupported/, ["put-bucket-acl", "--bucket", "aws-empty", "--acl", "public-read"]],
    ] as const)
      await expect(aws("s3api", ...args)).rejects.toThrow(reason);
    expect(await changes()).toBe(before);
  });
});

describe.skipIf(!has.rclone)("rclone (skipped: not installed)", () => {
  beforeAll(() => put("rclone.conf", documented("provider = Other")));
  // It loads no bundle by that name, and by `SSL_CERT_FILE` does.
  const rclone = (...args: string[]) => client("rclone", ["--config", "rclone.conf", ...args], { AWS_CA_BUNDLE: "" });
  test("copy, check by checksum, list, move, purge", async () => {
    await rclone("mkdir", "store:rclone-bucket");
    await rclone("copy", "--s3-upload-cutoff", "8M", "--s3-chunk-size", "5M", "big", "store:rclone-bucket/a/b");
    await rclone("copy", "small", "store:rclone-bucket/a");
    expect((await rclone("lsf", "-R", "store:rclone-bucket")).trim().split("\n").sort()).toEqual([
      "a/",
      "a/b/",
      "a/b/big",
      "a/small",
    ]);
    await rclone("copy", "store:rclone-bucket/a/b/big", "rback");
    expect((await readFile(join(directory, "rback/big"))).equals(big)).toBe(true);
    await rclone("check", "rback", "store:rclone-bucket/a/b");
    await rclone("moveto", "store:rclone-bucket/a/small", "store:rclone-bucket/moved");
    expect(await rclone("cat", "store:rclone-bucket/moved")).toBe("small file\n");
    await rclone("purge", "store:rclone-bucket");
    expect(await rclone("lsd", "store:")).not.toContain("rclone-bucket");
  });
});

describe.skipIf(!has.s3cmd)("s3cmd (skipped: not installed)", () => {
  beforeAll(() => put(".s3cfg", documented("host_bucket")));
  const s3cmd = (...args: string[]) => client("s3cmd", ["--no-progress", ...args]);
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

describe.skipIf(!has.python)("clients in Python (skipped: not installed)", () => {
  /** Runs a program of s3-clients/ beside the documented client that it imports. */
  const walk = async (name: string, files: Record<string, string>, ...args: string[]) => {
    const own = join(directory, name);
    await mkdir(own);
    for (const [file, content] of Object.entries(files)) await writeFile(join(own, file), content);
    const program = fileURLToPath(new URL(`s3-clients/${name}_walk.py`, import.meta.url));
    const said = await client(python, [program, ...args], { PYTHONPATH: own, PYTHONDONTWRITEBYTECODE: "1" }, own);
    return said.match(/^ok /gm)?.length ?? 0;
  };
  test("boto3: transfers with its checksums, pages, conditions, versions, locks, tags, keys of its own, signed URLs and forms, buckets below the domain", async () => {
    expect(await walk("boto3", { "client.py": documented("import boto3") }, String(s3.gateway.port))).toBe(30);
  });
  test("boto3: what is not built is refused by its name, as is a condition that is not met, and nothing has changed", async () => {
    for (const bucket of ["unbuilt", "unbuilt-empty"]) await create(bucket);
    for (const key of ["src", "dst"]) {
      const draft = { tenant: "alpha", bucket: "unbuilt", key, contentType: "", headers: {}, meta: {} };
      await putObject(s3.rig.node.objects, { ...draft, body: bodyOf(small) });
    }
    const before = await changes();
    expect(await walk("unbuilt", { "client.py": documented("import boto3") })).toBe(19);
    expect(await changes()).toBe(before);
  });
  test("minio-py: bodies without a length, composition, listings, versions, locks, policies, keys of its own, signed URLs and forms", async () => {
    expect(await walk("minio", { "client.py": documented("from minio") })).toBe(19);
  });
  test("fsspec's s3fs: files in pieces, append, globs, trees, moves, caches, transactions", async () => {
    expect(await walk("s3fs", { "client.py": documented("import fsspec") })).toBe(13);
  });
  test("DuckDB, by httpfs and over fsspec: parquet by parts and ranges, partitions, globs, CSV and JSON", async () => {
    const files = { "client.py": documented("import fsspec"), "client.sql": documented("s3_url_style") };
    expect(await walk("duckdb", files)).toBe(8);
  });
});

describe.skipIf(!has.restic)("restic (skipped: not installed)", () => {
  test("backs up, checks every byte, forgets, restores; who would prune meanwhile is refused by its lock", async () => {
    const [, repository = ""] = /`RESTIC_REPOSITORY=(\S+)`/.exec(page) ?? [];
    const own = {
      RESTIC_REPOSITORY: repository.replace(domain, new URL(s3.gateway.url).host),
      RESTIC_PASSWORD: "password",
      RESTIC_CACHE_DIR: join(directory, "restic-cache"),
    };
    const call = (...args: string[]) => client("restic", args, own);
    await call("init");
    await call("backup", "big", "small");
    const stdin = spawn("restic", ["backup", "--stdin", "--stdin-filename", "said"], { env: { ...env, ...own }, cwd: directory });
    const ended = once(stdin, "close");
    await vi.waitFor(async () => expect(await keysOf("backups", "host1/locks/")).not.toEqual([]), { timeout: 60_000 });
    await expect(call("forget", "--keep-last", "1", "--prune")).rejects.toThrow(/already locked/);
    stdin.stdin.end("said\n");
    expect(await ended).toEqual([0, null]);
    await call("forget", "--group-by", "host", "--keep-last", "2", "--prune");
    await call("check", "--read-data");
    await call("restore", "latest", "--path", join(directory, "big"), "--target", "restored");
    expect((await readFile(join(directory, "restored", "big"))).equals(big)).toBe(true);
    expect(await call("dump", "latest", "said")).toBe("said\n");
    expect(await keysOf("backups", "host1/locks/")).toEqual([]);
  });
});

describe.skipIf(!has.terraform)("Terraform (skipped: not installed)", () => {
  test("keeps its state and its workspaces; of two that apply at once one is refused, and told by whom", async () => {
    const own = join(directory, "terraform");
    await mkdir(own);
    await writeFile(join(own, "backend.tf"), documented('backend "s3"'));
    // Applied while it is waited for.
    const held = 'provisioner "local-exec" {\n    command = "until [ -e go ]; do sleep 0.1; done"\n  }';
    await writeFile(join(own, "main.tf"), `resource "terraform_data" "one" {\n  input = "value"\n  ${held}\n}\n`);
    const more = { CHECKPOINT_DISABLE: "1", TF_IN_AUTOMATION: "1", TF_CLI_ARGS: "-no-color" };
    const terraform = (...args: string[]) => client("terraform", args, more, own);
    await create("terraform");
    await terraform("init", "-input=false");
    const applied = terraform("apply", "-auto-approve");
    await vi.waitFor(async () => expect(await keysOf("terraform")).toContain("production.tfstate.tflock"), { timeout: 60_000 });
    await expect(terraform("apply", "-auto-approve")).rejects.toThrow(
      /Error acquiring the state lock[\s\S]*PreconditionFailed[\s\S]*Path: +terraform\/production\.tfstate/,
    );
    await writeFile(join(own, "go"), "");
    await applied;
    expect(await terraform("state", "list")).toBe("terraform_data.one\n");
    await terraform("workspace", "new", "other");
    await terraform("apply", "-auto-approve");
    expect(await keysOf("terraform")).toEqual(["env:/other/production.tfstate", "production.tfstate"]);
    await terraform("destroy", "-auto-approve");
    await terraform("workspace", "select", "default");
    await terraform("workspace", "delete", "other");
    expect(await terraform("workspace", "list")).toBe("* default\n\n");
    expect(await keysOf("terraform")).toEqual(["production.tfstate"]);
    expect(JSON.parse(await terraform("state", "pull"))).toMatchObject({ resources: [{ type: "terraform_data", name: "one" }] });
  });
});

describe.skipIf(!has.s3fs)("s3fs-fuse (skipped: not installed, or no /dev/fuse)", () => {
  test("a bucket is a directory: files, their modes, renames, truncation, directories, a large file", async ({ skip }) => {
    await create("photos");
    const mounted = join(directory, "photos");
    await mkdir(mounted);
    // In the foreground, so that this process ends it.
    const [, keep = "", mount = ""] = /^(.*)\n(s3fs .*)\n$/s.exec(documented("s3fs photos")) ?? [];
    await client("sh", ["-c", keep]);
    const process = spawn("sh", ["-c", `exec ${mount.replace("/mnt/photos", mounted)} -f`], { env, cwd: directory });
    const said: string[] = [];
    for (const stream of [process.stdout, process.stderr]) stream.on("data", (data) => said.push(String(data)));
    const ended = once(process, "close");
    const isMounted = () => readFileSync("/proc/mounts", "utf8").includes(` ${mounted} fuse.s3fs `);
    try {
      await vi.waitFor(() => expect(isMounted() || process.exitCode !== null).toBe(true), { timeout: 60_000 });
      if (!isMounted()) {
        if (/fuse: (?:mount failed|failed to (?:open|exec))|fusermount/.test(said.join(""))) skip("mounting is not allowed here");
        throw new Error(said.join(""));
      }
      // Not in this process, which would wait for its own gateway, nor with the directory as a child's own: it waits until that is entered.
      const script = `
        cd photos
        cp ../small a
        mkdir -p dir/below
        cp ../big dir/below/big
        cmp ../big dir/below/big
        chmod 640 a
        touch -d 2001-02-03T04:05:06Z a
        test "$(stat -c '%a %Y %s' a)" = "640 981173106 11"
        mv a "dir/é +%20"
        cmp ../small "dir/é +%20"
        printf more >>"dir/é +%20"
        test "$(tail -c 4 "dir/é +%20")" = more
        truncate -s 5 "dir/é +%20"
        ln -s "dir/é +%20" link
        test "$(cat link)" = small
        dd if=/dev/zero of=dir/below/big bs=1 seek=7000000 count=3 conv=notrunc status=none
        mv dir/below moved
        rm link
        if rmdir moved; then exit 1; fi
        test "$(find . | sort | tr '\\n' ' ')" = ". ./dir ./dir/é +%20 ./moved ./moved/big "`;
      await client("sh", ["-ec", script]);
      const changed = Buffer.from(big).fill(0, 7_000_000, 7_000_003);
      expect((await bytesOf("photos", "moved/big")).equals(changed)).toBe(true);
      expect(String(await bytesOf("photos", "dir/é +%20"))).toBe("small");
    } finally {
      if (isMounted()) await client("umount", [mounted]);
      else process.kill();
      await ended;
    }
  });
});
