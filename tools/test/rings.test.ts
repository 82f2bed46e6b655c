/** Each ring of purity fires: a breach of every kind is planted in a tree under the repository's own rules. */
import { spawnSync } from "node:child_process";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type FixtureTree, fixtureTree, ROOT } from "./fixture-tree.ts";

const PURE = ["kernel", "core", "governance", "crypto", "quota", "rego", "contract"];
const ALL = readdirSync(join(ROOT, "packages"));
/** Of the gateway, the lowest first. */
const FLOORS = ["ground", "people", "custody", "workspaces", "partners", "oversight"];
const bin = (name: string): string => join(ROOT, "node_modules/.bin", name);

function run(command: string, args: readonly string[], cwd: string): string {
  const result = spawnSync(command, args, { cwd, encoding: "utf8", maxBuffer: 64 << 20 });
  if (result.error !== undefined) throw result.error;
  return result.stdout;
}

describe("the compiler ring", () => {
  const hosts: Readonly<Record<string, string>> = {
    "node builtin": 'import { readFileSync } from "node:fs"; export const it = readFileSync;',
    process: "export const it = process;",
    Buffer: "export const it = Buffer;",
    fetch: "export const it = fetch;",
    setTimeout: "export const it = setTimeout;",
    console: "export const it = console;",
    crypto: "export const it = crypto;",
    TextEncoder: "export const it = TextEncoder;",
    URL: "export const it = URL;",
    structuredClone: "export const it = structuredClone;",
    document: "export const it = document;",
  };
  const file = (name: string): string => `${name.replace(/\W/g, "-").toLowerCase()}.ts`;
  let tree: FixtureTree;
  beforeAll(() => {
    const files = PURE.flatMap((pure) =>
      Object.entries(hosts).map(([name, text]) => [`packages/${pure}/src/${file(name)}`, text] as const),
    );
    tree = fixtureTree(ALL, Object.fromEntries(files));
  });
  afterAll(() => tree.remove());

  test.each(PURE)("%s knows no host", (pure) => {
    const out = run(
      process.execPath,
      [join(ROOT, "node_modules/typescript-7/bin/tsc"), "-p", `packages/${pure}`, "--noEmit", "--pretty", "false"],
      tree.path,
    );
    for (const name of Object.keys(hosts))
      expect(out, name).toMatch(new RegExp(`src/${file(name).replace(".", "\\.")}\\(\\d+,\\d+\\): error TS`));
    expect(out).not.toContain("src/index.ts");
  });
});

describe("the graph ring", () => {
  const rows: readonly (readonly [rule: string, file: string, text: string])[] = [
    ...PURE.map((pure) => ["pure-no-node", `packages/${pure}/src/node.ts`, 'import "node:fs";'] as const),
    ...PURE.map((pure) => ["pure-npm-allow-list", `packages/${pure}/src/npm.ts`, 'import "express";'] as const),
    ...PURE.map((pure) => ["pure-knows-pure", `packages/${pure}/src/outward.ts`, 'import "@seneschal/adapters";'] as const),
    ["kernel-knows-nobody", "packages/kernel/src/domain.ts", 'import "@seneschal/core/storage";'],
    ["kernel-knows-nobody", "packages/kernel/src/library.ts", 'import "zod";'],
    ["core-knows-the-kernel", "packages/core/src/sibling.ts", 'import "@seneschal/crypto";'],
    ["core-domains-apart", "packages/core/src/keys/other.ts", 'import "../storage/thing.ts";'],
    ["rego-knows-nobody", "packages/rego/src/sibling.ts", 'import "@seneschal/kernel";'],
    ["crypto-quota-governance-know-the-kernel", "packages/quota/src/sibling.ts", 'import "@seneschal/crypto";'],
    ["crypto-quota-governance-know-the-kernel", "packages/crypto/src/domain.ts", 'import "@seneschal/core/storage";'],
    ["crypto-quota-governance-know-the-kernel", "packages/governance/src/domain.ts", 'import "@seneschal/core/storage";'],
    ["contract-knows-core", "packages/contract/src/sibling.ts", 'import "@seneschal/rego";'],
    ["adapters-know-the-pure-ring", "packages/adapters/src/contract.ts", 'import "@seneschal/contract";'],
    ["app-knows-no-server", "packages/app/src/server.ts", 'import "@seneschal/server-express";'],
    ["app-opens-no-socket", "packages/app/src/socket.ts", 'import { connect } from "node:net"; export const it = connect;'],
    ["app-opens-no-file", "packages/app/src/file.ts", 'import { readFile } from "node:fs/promises"; export const it = readFile;'],
    ["app-speaks-no-grpc", "packages/app/src/grpc.ts", 'import type { Server } from "@grpc/grpc-js"; export type It = Server;'],
    ["servers-know-the-contract", "packages/server-express/src/app.ts", 'import "@seneschal/app";'],
    ["servers-know-the-contract", "packages/server-node/src/adapters.ts", 'import "@seneschal/adapters";'],
    ["cross-package-by-name", "packages/app/src/path.ts", 'import "../../core/src/index.ts";'],
    ...FLOORS.slice(0, -1).map(
      (floor, i) =>
        [
          `gateway-${floor}-knows-what-is-below`,
          `packages/app/src/gateway/${floor}/upward.ts`,
          `import "../${FLOORS[i + 1]}/index.ts";`,
        ] as const,
    ),
    [
      "gateway-oversight-knows-what-is-below",
      "packages/app/src/gateway/oversight/past-the-door.ts",
      'import "../people/room.ts";',
    ],
    ["gateway-people-knows-what-is-below", "packages/app/src/gateway/people/composition.ts", 'import "../index.ts";'],
    ["gateway-floors-by-their-doors", "packages/app/src/compose/past-the-door.ts", 'import "../gateway/people/room.ts";'],
    ["storage-cluster-knows-what-is-below", "packages/app/src/storage/cluster/upward.ts", 'import "../objects/room.ts";'],
    ["no-circular", "packages/quota/src/about.ts", 'import "./round.ts";'],
    ["no-unresolvable", "packages/quota/src/nowhere.ts", 'import "./nowhere-at-all.ts";'],
    ["no-undeclared-dependency", "packages/adapters/src/undeclared.ts", 'import "express";'],
  ];
  let found: readonly { readonly rule: string; readonly from: string }[];
  beforeAll(() => {
    const files = Object.fromEntries(rows.map(([, file, text]) => [file, `${text}\nexport {};\n`]));
    const tree = fixtureTree(ALL, {
      ...files,
      "packages/core/src/storage/thing.ts": "export {};\n",
      "packages/core/src/storage/index.ts": "export {};\n",
      "packages/quota/src/round.ts": 'import "./about.ts";\nexport {};\n',
      ...Object.fromEntries(FLOORS.map((floor) => [`packages/app/src/gateway/${floor}/index.ts`, "export {};\n"])),
      "packages/app/src/gateway/index.ts": "export {};\n",
      "packages/app/src/gateway/people/room.ts": "export {};\n",
      "packages/app/src/gateway/oversight/by-the-doors.ts": 'import "../ground/index.ts";\nimport "../partners/index.ts";\n',
      "packages/app/src/storage/objects/room.ts": 'import "../keys/room.ts";\n',
      "packages/app/src/storage/keys/room.ts": "export {};\n",
      "packages/app/src/fine.ts": 'import "@seneschal/contract";\nexport {};\n',
    });
    const out = run(bin("depcruise"), ["packages", "--config", ".dependency-cruiser.cjs", "--output-type", "json"], tree.path);
    tree.remove();
    const { summary } = JSON.parse(out) as { summary: { violations: { from: string; rule: { name: string } }[] } };
    found = summary.violations.map(({ from, rule }) => ({ rule: rule.name, from }));
  });

  test.each(rows)("%s catches %s", (rule, from) => {
    expect(found).toContainEqual({ rule, from });
  });

  test("what the rules allow is not reported", () => {
    expect(found.filter(({ from }) => /\/(?:fine|by-the-doors|objects\/room)\.ts$/.test(from))).toEqual([]);
  });
});

describe("the lint ring", () => {
  const rows: readonly (readonly [rule: string, text: string])[] = [
    ["lint/correctness/noNodejsModules", 'import "node:fs";'],
    ["lint/correctness/noUndeclaredDependencies", 'import "express";'],
    ["lint/style/noRestrictedGlobals", "export const it = process.env;"],
    ["lint/style/noRestrictedGlobals", "export const it = crypto.randomUUID();"],
    ["lint/style/noRestrictedGlobals", "setTimeout(() => {}, 1);"],
    ["plugin", "export const it = Date.now();"],
    ["plugin", "export const it = new Date();"],
    ["plugin", "export const it = Math.random();"],
    ["plugin", "export const it = { ...{ a: 1 }, b: 2 };"],
    ["lint/suspicious/noExplicitAny", "export const it = (x: any) => x;"],
    ["lint/suspicious/noConsole", 'console.log("x");'],
    ["lint/style/noNonNullAssertion", "export const it = (x?: string) => x!;"],
    ["lint/nursery/noFloatingPromises", "async function it(): Promise<void> {}\nexport function other(): void {\n  it();\n}"],
  ];
  let found: readonly { readonly category: string; readonly file: string }[];
  beforeAll(() => {
    const files = PURE.flatMap((pure) =>
      rows.map(([, text], i) => [`packages/${pure}/src/breach-${i}.ts`, `${text}\n`] as const),
    );
    const tree = fixtureTree(ALL, Object.fromEntries(files));
    const out = run(bin("biome"), ["lint", "--reporter=json", "--max-diagnostics=none", "packages"], tree.path);
    tree.remove();
    const { diagnostics } = JSON.parse(out) as {
      diagnostics: { category: string; location: { path: string | { file: string } } }[];
    };
    found = diagnostics.map(({ category, location: { path } }) => ({
      category,
      file: typeof path === "string" ? path : path.file,
    }));
  });

  test.each(PURE.flatMap((pure) => rows.map(([rule, text], i) => [pure, rule, text, i] as const)))(
    "in %s %s catches %s",
    (pure, rule, _, i) => {
      expect(found).toContainEqual({ category: rule, file: expect.stringContaining(`packages/${pure}/src/breach-${i}.ts`) });
    },
  );
});
