import { mkdir, mkdtemp, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { buffer } from "node:stream/consumers";
import { gzipSync } from "node:zlib";
import { type Headers, pack } from "tar-stream";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { run } from "../src/run.ts";
import { scriptedHost } from "./scripted-host.ts";

describe("a bundle on the command line", () => {
  let cwd: string;
  beforeAll(async () => {
    cwd = await mkdtemp(join(tmpdir(), "seneschal-bundles-"));
  });
  afterAll(() => rm(cwd, { recursive: true, force: true }));
  const call = async (...args: string[]) => {
    const host = scriptedHost({ cwd });
    const code = await run(["policy", ...args], host);
    return { code, lines: host.lines, errors: host.errors.join("\n") };
  };
  const archive = async (name: string, entries: readonly (readonly [Headers, string])[]): Promise<void> => {
    const out = pack();
    for (const [header, text] of entries) out.entry(header, text);
    out.finalize();
    await writeFile(join(cwd, name), gzipSync(await buffer(out)));
  };

  test.each([
    [
      "one file is more than the limit",
      [
        ["p.rego", 20],
        ["data.json", 400],
      ],
      "400",
      "data.json",
    ],
    [
      "all files together are",
      [
        ["a/data.json", 200],
        ["b/data.json", 200],
      ],
      "399",
      "b/data.json",
    ],
    ["there are more than 10,000", Array.from({ length: 10_001 }, (_, i) => [`${i}/data.json`, 0]), "100000", "10000/data.json"],
  ] as const)("is refused by the name of the file before it is read where %s", async (_, files, limit, named) => {
    // no file is what its name says: read, each would be another error
    await archive(
      "much.tar.gz",
      files.map(([name, size]) => [{ name: String(name) }, "x".repeat(Number(size))]),
    );
    const { code, lines, errors } = await call("check", "-b", "much.tar.gz", "--size-limit-bytes", limit);
    expect([code, lines]).toEqual([2, []]);
    expect(errors).toMatch(/^seneschal: bundle_limit: /);
    expect(errors).toContain(`${named}: with it the bundle has more than`);
  });

  test("is bounded where it is a directory, too", async () => {
    await mkdir(join(cwd, "much"));
    await writeFile(join(cwd, "much/data.json"), "x".repeat(400));
    const { code, errors } = await call("check", "-b", "much", "--size-limit-bytes", "399");
    expect([code, errors]).toEqual([2, expect.stringContaining("bundle_limit: data.json: with it")]);
  });

  test("is bounded by default: what unpacks to more than 64 MiB is not read, however small it is packed", async () => {
    await archive("bomb.tar.gz", [[{ name: "data.json" }, " ".repeat(65 * 1024 * 1024)]]);
    const { code, errors } = await call("check", "-b", "bomb.tar.gz");
    expect([code, errors]).toEqual([
      2,
      expect.stringContaining("bundle_limit: data.json: with it the bundle has more than 67108864"),
    ]);
  });

  test("is bounded by what its headers take, which are no files", async () => {
    const path = "x".repeat(2_000_000);
    await archive(
      "names.tar.gz",
      Array.from({ length: 30 }, () => [{ name: "p", pax: { comment: path } }, ""] as const),
    );
    const { code, errors } = await call("check", "-b", "names.tar.gz", "--size-limit-bytes", "1000");
    expect([code, errors]).toEqual([2, expect.stringContaining("bundle_limit: names.tar.gz: unpacked it has more than")]);
  });

  test.each([
    ["symlink", "/etc/passwd"],
    ["link", "data.json"],
    ["fifo", undefined],
    ["character-device", undefined],
  ] as const)("with a %s is refused by its name, and not read without it", async (type, linkname) => {
    const link = { name: "roles/data.json", type, ...(linkname === undefined ? {} : { linkname }) };
    await archive("linked.tar.gz", [
      [{ name: "data.json" }, "{}"],
      [link, ""],
    ]);
    const { code, lines, errors } = await call("check", "-b", "linked.tar.gz");
    expect([code, lines, errors]).toEqual([2, [], expect.stringContaining(`bundle_invalid: roles/data.json is a ${type}`)]);
  });

  test("that is a directory with a symlink is refused by its name", async () => {
    await mkdir(join(cwd, "linked"));
    await writeFile(join(cwd, "other.json"), "{}");
    await symlink(join(cwd, "other.json"), join(cwd, "linked/data.json"));
    const { code, errors } = await call("check", "-b", "linked/");
    expect([code, errors]).toEqual([2, expect.stringContaining("bundle_invalid: data.json is a symlink")]);
  });

  test("that breaks off is no bundle", async () => {
    await archive("whole.tar.gz", [
      [{ name: "data.json" }, JSON.stringify({ a: Array.from({ length: 500 }, (_, i) => Math.sqrt(i)) })],
    ]);
    await writeFile(join(cwd, "half.tar.gz"), (await readFile(join(cwd, "whole.tar.gz"))).subarray(0, 200));
    const { code, errors } = await call("check", "-b", "half.tar.gz");
    expect([code, errors]).toEqual([2, expect.stringContaining("half.tar.gz is no bundle")]);
  });
});
