/** Whoever keeps a port is held to its laws: an adapter without the port's suite is half. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { ROOT } from "./fixture-tree.ts";

const read = (folder: string): readonly string[] =>
  readdirSync(join(ROOT, folder), { recursive: true, encoding: "utf8" })
    .filter((path) => path.endsWith(".ts"))
    .map((path) => readFileSync(join(ROOT, folder, path), "utf8"));

/** Ports that have a suite, by its name. */
const suites = new Map(
  [...readFileSync(join(ROOT, "packages/kernel/src/testing/index.ts"), "utf8").matchAll(/\b(\w+)Suite\b/g)].map(
    ([suite, port = ""]) => [suite, port[0]?.toUpperCase() + port.slice(1)],
  ),
);
const tests = ["adapters", "app"].flatMap((name) => read(`packages/${name}/test`));
const { exports } = JSON.parse(readFileSync(join(ROOT, "packages/adapters/package.json"), "utf8"));
const entries = Object.values<{ readonly "@seneschal/source"?: string }>(exports)
  .flatMap(({ "@seneschal/source": source }) =>
    source === undefined ? [] : [readFileSync(join(ROOT, "packages/adapters", source), "utf8")],
  )
  .join("\n");

/** What a folder of the adapters opens: values that an entry exports, and the types that they are said to be. */
function opened(folder: string): readonly (readonly [name: string, type: string])[] {
  const sources = read(`packages/adapters/src/${folder}`).join("\n");
  const functions = [...sources.matchAll(/^export (?:async )?function (\w+)[\s\S]*?\): (.+) \{$/gm)];
  const constants = [...sources.matchAll(/^export const (\w+): (.+?) =/gm)];
  const interfaces = new Map(
    [...sources.matchAll(/^export interface (\w+)([\s\S]*?)^\}$/gm)].map(([, name = "", body = ""]) => [name, body]),
  );
  return [...functions, ...constants].flatMap(([, name = "", type = ""]) => {
    // An interface that extends a port, or opens it, stands for it.
    const whole = type.replace(
      /\w+/g,
      (word) => `${word} ${(interfaces.get(word) ?? "").match(/extends [^{]+|\): .+;$/gm)?.join(" ") ?? ""}`,
    );
    return new RegExp(`\\b${name}\\b`).test(entries) ? [[name, whole] as const] : [];
  });
}

const openers = readdirSync(join(ROOT, "packages/adapters/src"), { withFileTypes: true })
  .filter((folder) => folder.isDirectory())
  .flatMap(({ name: folder }) =>
    opened(folder).flatMap(([name, type]) =>
      [...suites].flatMap(([suite, port]) => (new RegExp(`\\b${port}\\b`).test(type) ? [[folder, name, suite] as const] : [])),
    ),
  );

test("the openers that there are were found", () => {
  expect(suites.size).toBeGreaterThan(8);
  expect(new Set(openers.map(([, , suite]) => suite))).toEqual(new Set(suites.keys()));
});

test.each(openers)("%s: %s is held to the port's laws by %s", (_, name, suite) => {
  const holds = (text: string) => new RegExp(`\\b${name}\\b`).test(text) && text.includes(`${suite}(`);
  expect(tests.some(holds)).toBe(true);
});
