import { spawnSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { sourceOptions } from "../../../tools/source-options.ts";

/** The examples of the doc comments run, and print what their last comment says. */
const packages = new URL("../../", import.meta.url).pathname;
const sources = ["crypto/src", "adapters/src/node-crypto", "adapters/src/vault"].flatMap((dir) =>
  readdirSync(join(packages, dir), { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".ts"))
    .map((name) => join(packages, dir, name)),
);
const examples = sources.flatMap((file) =>
  [...readFileSync(file, "utf8").matchAll(/@example\n \* ```ts\n([\s\S]*?) \* ```/g)].map((match) => ({
    file: file.slice(packages.length),
    code: (match[1] ?? "").replace(/^ \* ?/gm, ""),
  })),
);
const dir = mkdtempSync(join(packages, "crypto/test/.examples-"));
afterAll(() => rmSync(dir, { recursive: true }));

test("every example runs and prints what it promises", () => {
  expect(examples.length).toBeGreaterThan(15);
  for (const [i, { code }] of examples.entries()) writeFileSync(join(dir, `${i}.ts`), code);
  const runner = `
    import { format } from "node:util";
    const lines = [];
    console.log = (...args) => lines.push(format(...args));
    const printed = [];
    for (let i = 0; i < ${examples.length}; i++) {
      await import("./" + i + ".ts");
      printed.push(lines.splice(0));
    }
    process.stdout.write(JSON.stringify(printed));
  `;
  writeFileSync(join(dir, "run.ts"), runner);
  const result = spawnSync(process.execPath, [...sourceOptions, join(dir, "run.ts")], {
    encoding: "utf8",
  });
  expect(result.stderr.replace(/^\((?:node|Use `node).*\n?/gm, "")).toBe("");
  const printed = JSON.parse(result.stdout) as string[][];
  examples.forEach(({ file, code }, i) => {
    const promised = [...code.matchAll(/console\.log\(.*\); \/\/ (.*)$/gm)].map((match) => match[1]);
    expect(printed[i], file).toEqual(promised);
  });
});
