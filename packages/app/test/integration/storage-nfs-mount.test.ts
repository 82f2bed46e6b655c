import { execFile, spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdtemp, readFile, rm, rmdir, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify, stripVTControlCharacters } from "node:util";
import { systemClock } from "@seneschal/adapters/system";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type NfsRig, openNfsRig } from "../storage/nfs-rig.ts";
import { pattern } from "../storage/rig.ts";
import { type MountKind, mountNfs } from "./mount-nfs.ts";

const run = promisify(execFile);

interface Mounted {
  readonly nfs: NfsRig;
  /** Where the export is, and a directory beside it. */
  readonly at: string;
  readonly beside: string;
  /** Why it is not mounted. */
  readonly refused?: string;
  dispose(): Promise<void>;
}

/** A node with an export, mounted where that is allowed. */
async function openMounted(kind: MountKind, exported: Record<string, unknown>): Promise<Mounted> {
  const beside = await mkdtemp(join(tmpdir(), "seneschal-mount-"));
  const at = await mkdtemp(join(tmpdir(), "seneschal-mounted-"));
  const nfs = await openNfsRig({
    capacityBytes: 512 << 20,
    exports: [exported],
    nfs: { max_connections: 256 },
    extra: { clock: systemClock },
  });
  const mounted = await mountNfs(kind, nfs.port, "/data", at).catch((error: unknown) => String(error));
  return {
    nfs,
    at,
    beside,
    ...(typeof mounted === "string" && { refused: mounted }),
    async dispose() {
      if (typeof mounted !== "string") await mounted();
      await nfs.dispose();
      await rm(beside, { recursive: true, force: true });
      // Never what may still be mounted.
      await rmdir(at);
    },
  };
}

describe.each([
  ["the kernel's own client", "kernel"],
  ["the kernel over FUSE", "fuse"],
] as const)("an export that is mounted by %s", (_, kind) => {
  let mounted: Mounted;
  beforeAll(async () => {
    mounted = await openMounted(kind, { squash: "root", uid: 65_534, gid: 65_534 });
  });
  afterAll(() => mounted.dispose());
  /** What a shell says to commands in the export; `$1` is the directory beside it. It goes there itself: this process answers it only once it runs. */
  const shell = async (commands: string): Promise<string> => {
    const args = ["-euc", `cd "$2"; ${commands}`, "sh", mounted.beside, mounted.at];
    const { stdout } = await run("sh", args, { env: { ...process.env, LC_ALL: "C" } });
    return stdout;
  };

  test("what programs write is what S3 reads once they closed it, and the other way round", async ({ skip }) => {
    skip(mounted.refused !== undefined, mounted.refused);
    const { nfs, beside } = mounted;
    const bytes = Buffer.from(pattern(5_000_000, 3));
    await writeFile(join(beside, "big"), bytes);
    await shell(`mkdir -p a/b; cp "$1/big" a/b/big; cmp "$1/big" a/b/big`);
    expect((await nfs.get("a/b/big")).equals(bytes)).toBe(true);
    await shell("printf middle | dd of=a/b/big bs=1 seek=4194301 conv=notrunc 2>/dev/null; truncate -s 4200000 a/b/big");
    bytes.write("middle", 4_194_301);
    expect((await nfs.get("a/b/big")).equals(bytes.subarray(0, 4_200_000))).toBe(true);
    await shell(
      "mv a/b/big a/small; rmdir a/b; truncate -s 3 a/small; printf more >> a/small; ln -s small a/link; rm -f nothing",
    );
    expect(String(await nfs.get("a/small"))).toBe(`${bytes.subarray(0, 3)}more`);
    await nfs.put("by/S3", Buffer.from("put by S3"));
    expect(await shell("cat by/S3; find . | sort; cat a/link | tail -c 4; stat -c %u:%s a/small")).toBe(
      "put by S3.\n./a\n./a/link\n./a/small\n./by\n./by/S3\nmore65534:7\n",
    );
    expect(await shell("rm -r a by; ls -A")).toBe("");
  });

  test("what NFS has no word for is refused to programs by its own name, and nothing is changed", async ({ skip }) => {
    skip(mounted.refused !== undefined, mounted.refused);
    await shell("mkdir refused; echo text > refused/file; printf 0123456789 > refused/other");
    for (const [command, why] of [
      ["ln refused/file refused/second", "Operation not supported"],
      ["mkfifo refused/pipe", "Operation not supported"],
      ["mkdir refused/file", "File exists"],
      ["rmdir refused", "Directory not empty"],
      ["mv refused refused/inside", "subdirectory of itself"],
      [`touch refused/${"n".repeat(256)}`, "File name too long"],
      ["chown 7 refused/file", "Operation not permitted"],
      ["truncate -s 6G refused/other", "File too large"],
    ] as const)
      await expect(shell(command), command).rejects.toThrow(why);
    expect(await shell("ls -A refused; cat refused/*; rm -r refused")).toBe("file\nother\ntext\n0123456789");
  });
});

const own = fileURLToPath(new URL("../../../../.peers/bin/pjdfstest", import.meta.url));
const pjdfstest = process.env["PJDFSTEST"] ?? (existsSync(own) ? own : "pjdfstest");
const floorFile = new URL("posix-suite-floor.txt", import.meta.url);
/** `POSIX_SUITE=whole` runs all cases, `POSIX_SUITE_REPORT` is where to what they say. */
const whole = process.env["POSIX_SUITE"] === "whole";

/** Why a case cannot pass, by its name and what it says; the first that fits. */
const reasons: readonly (readonly [string, RegExp])[] = [
  [
    "devices, pipes and sockets are no objects",
    /(block|char|fifo|socket|^mkfifo::.*|^mknod::.*|^open::socket_error|^open::fifo_\w+) .*(EOPNOTSUPP|mknod\(|f\(&path)/,
  ],
  ["an object has one key: no hard links", /(EOPNOTSUPP|link\(&file)/],
  ["a path has as many bytes as a key", /enametoolong_path .*File name too long/],
  ["links of directories are not counted", /^rename::updates_link_parent /],
  ["times of NFSv3 have 32 bits", /^utimensat::y2038 /],
  ["NFSv3 has no open files: one that is removed meanwhile is renamed by its client", /^unlink::open_file_not_freed /],
];

/** Two users with groups of their own, as the suite wants them. */
async function someUsers(): Promise<string> {
  const lines = async (file: string) => (await readFile(file, "utf8")).split("\n").map((line) => line.split(":"));
  const groups = new Map((await lines("/etc/group")).map(([name, , gid]) => [gid, name]));
  const users = (await lines("/etc/passwd")).filter(([, , uid, gid]) => uid !== "0" && groups.has(gid));
  const two = ["nobody", "daemon"].map((wanted) => users.find(([name]) => name === wanted));
  return JSON.stringify(two.map((user) => [user?.[0], groups.get(user?.[3])]));
}

describe.skipIf(spawnSync(pjdfstest, ["--version"]).status !== 0)(
  "the POSIX suite pjdfstest 0.2.2 (skipped: not installed)",
  () => {
    let mounted: Mounted;
    beforeAll(async () => {
      mounted = await openMounted("fuse", { squash: "none", uid: 0, gid: 0 });
    });
    afterAll(() => mounted.dispose());

    test("passes the cases of the floor; what else fails has a reason", async ({ skip }) => {
      skip(mounted.refused !== undefined, mounted.refused);
      const floor = (await readFile(floorFile, "utf8")).trim().split("\n");
      const config = join(mounted.beside, "pjdfstest.toml");
      await writeFile(
        config,
        `[features]\nutime_now = {}\nutimensat = {}\nrename_ctime = {}\n[settings]\nnaptime = 0.01\n[dummy_auth]\nentries = ${await someUsers()}\n`,
      );
      const wanted = whole ? [] : ["--exact", ...floor.map((name) => `pjdfstest::tests::${name}`)];
      const said = await run(pjdfstest, ["-c", config, "-p", mounted.at, ...wanted], {
        env: { ...process.env, RUST_BACKTRACE: "0" },
        maxBuffer: 64 << 20,
      }).catch((error: { readonly stdout: string }) => error);
      const lines = stripVTControlCharacters(said.stdout).split("\n");
      const outcomes = lines.flatMap((line, i) => {
        const [, name, outcome] = /^(\S+) +(ok|FAILED|skipped)$/.exec(line) ?? [];
        return name === undefined || outcome === undefined ? [] : [{ name, outcome, why: (lines[i + 1] ?? "").trim() }];
      });
      const of = (outcome: string) => outcomes.filter((one) => one.outcome === outcome);
      const tally = new Map<string, string[]>();
      for (const { name, why } of of("FAILED")) {
        const reason = reasons.find(([, fits]) => fits.test(`${name} ${why}`))?.[0] ?? `none: ${why}`;
        tally.set(reason, [...(tally.get(reason) ?? []), name]);
      }
      const counted = [...tally].map(([reason, names]) => `\n${names.length}: ${reason}: ${names.sort().join(" ")}`).join("");
      const report = `${outcomes.length} cases: ${of("ok").length} pass, ${of("FAILED").length} fail, ${of("skipped").length} are skipped by the suite${counted}`;
      if (process.env["POSIX_SUITE_REPORT"] !== undefined) await writeFile(process.env["POSIX_SUITE_REPORT"], report);
      console.log(report);
      const passed = new Set(of("ok").map(({ name }) => name));
      expect(floor.filter((name) => !passed.has(name))).toEqual([]);
      expect([...tally.keys()].filter((reason) => reason.startsWith("none"))).toEqual([]);
    }, 3_600_000);
  },
);
