/** The blocks of docs/property-testing.md are one program, and its laws hold. */
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { sourceOptions } from "../source-options.ts";
import { ROOT } from "./fixture-tree.ts";

test("the page's program runs", () => {
  const page = readFileSync(join(ROOT, "docs/property-testing.md"), "utf8");
  const blocks = [...page.matchAll(/^```ts\n([\s\S]*?)^```/gm)].map(([, block = ""]) => block);
  expect(blocks.length).toBeGreaterThanOrEqual(5);
  const dir = mkdtempSync(join(ROOT, "tools/test/.property-testing-"));
  try {
    writeFileSync(join(dir, "main.ts"), blocks.join("\n"));
    const result = spawnSync(process.execPath, [...sourceOptions, join(dir, "main.ts")], { encoding: "utf8" });
    expect({ said: result.stdout, errors: result.stderr.replace(/^\(.*\n?/gm, ""), status: result.status }).toEqual({
      said: "every law holds\n",
      errors: "",
      status: 0,
    });
  } finally {
    rmSync(dir, { recursive: true });
  }
});
