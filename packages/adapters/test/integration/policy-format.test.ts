import { execFile } from "node:child_process";
import { cpSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { type FormatOptions, format, type RegoVersion } from "@seneschal/rego";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { filesBelow, policySuites } from "../policy/policy-suites.ts";

const { opa, sets, skip, note } = policySuites;
const run = promisify(execFile);

describe.skipIf(skip)(`fmt beside opa fmt${note}`, () => {
  let work: string;
  beforeAll(() => {
    work = mkdtempSync(join(tmpdir(), "seneschal-fmt-"));
  });
  afterAll(() => rmSync(work, { recursive: true, force: true }));

  const cases: readonly (readonly [set: string, flags: readonly string[], version: RegoVersion, options: FormatOptions])[] = [
    ["scubagear", [], "v1", {}],
    ["regal", [], "v1", {}],
    ["gatekeeper-library", ["--v0-compatible"], "v0", {}],
    ["gatekeeper-library", ["--v0-v1"], "v0", { to: "v1" }],
  ];

  test("public policy sets are equal to one run in 99 of 100 files, and in all to runs until nothing changes", async () => {
    const different: string[] = [];
    let count = 0;
    for (const [set, flags, version, options] of cases) {
      const root = join(work, `${set}${flags.join("")}`);
      cpSync(join(sets, set), root, { recursive: true });
      const files = filesBelow(root, /\.rego$/);
      const ours = new Map(
        files.map((name) => [name, format({ name, source: readFileSync(join(root, name), "utf8"), version }, options).text]),
      );
      const differing = (): readonly string[] =>
        files.filter((name) => readFileSync(join(root, name), "utf8") !== ours.get(name));
      await run(opa, ["fmt", "--write", ...flags, root]);
      different.push(...differing());
      count += files.length;
      for (let round = 0; round < 3; round++) await run(opa, ["fmt", "--write", ...flags, root]);
      expect(differing(), root).toEqual([]);
    }
    expect(different.length, different.join(", ")).toBeLessThanOrEqual(0.01 * count);
  });
});
