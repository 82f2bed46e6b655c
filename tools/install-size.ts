/**
 * What an import costs: each package is packed, installed alone in an empty folder, imported, and bundled whole by esbuild and by Vite.
 * The table stands in docs/benchmarks.md, beside the same of packages that serve for the like. Fails when one is larger than its bound.
 * `npm run size [-- NAME...]`; needs `npm run build` first.
 */
import { execFileSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { brotliCompressSync } from "node:zlib";
import { build as esbuild } from "esbuild";
import { build as vite } from "vite";
import { openRegistry, packAll } from "./own-registry.ts";

interface Subject {
  /** What is installed, and said in the table. */
  readonly name: string;
  /** What is imported; the package's main entry where absent. */
  readonly entry?: string;
  /** What a page would take of it; nothing where it is for servers. */
  readonly bundled?: string;
  /** Bounds: megabytes (10^6 bytes) of all installed files, kilobytes (10^3) of the minified bundle after brotli. */
  readonly megabytes?: number;
  readonly kilobytes?: number;
}

const OURS: readonly Subject[] = [
  { name: "@seneschal/kernel", bundled: 'export * from "@seneschal/kernel"', megabytes: 2, kilobytes: 5 },
  {
    name: "@seneschal/core",
    entry: "@seneschal/core/keys",
    bundled: 'export * from "@seneschal/core/keys"',
    megabytes: 4,
    kilobytes: 30,
  },
  { name: "@seneschal/crypto", bundled: 'export * from "@seneschal/crypto"', megabytes: 12, kilobytes: 60 },
  { name: "@seneschal/quota", bundled: 'export * from "@seneschal/quota"', megabytes: 12, kilobytes: 30 },
  { name: "@seneschal/rego", bundled: 'export * from "@seneschal/rego"', megabytes: 16, kilobytes: 200 },
  {
    name: "@seneschal/contract",
    bundled: 'export { client } from "@seneschal/contract"; export { gatewayContract } from "@seneschal/contract/gateway"',
    megabytes: 12,
    kilobytes: 120,
  },
  { name: "@seneschal/governance", megabytes: 40 },
  { name: "@seneschal/adapters", entry: "@seneschal/adapters/memory", megabytes: 40 },
  { name: "@seneschal/server-fetch", megabytes: 16 },
  { name: "@seneschal/server-express", megabytes: 20 },
  { name: "@seneschal/server-fastify", megabytes: 30 },
];

/** In the versions that are tested here. */
const PEERS: readonly Subject[] = [
  { name: "jose", bundled: 'export * from "jose"' },
  { name: "@cedar-policy/cedar-wasm", entry: "@cedar-policy/cedar-wasm/nodejs" },
  { name: "@open-policy-agent/opa-wasm", bundled: 'export { default } from "@open-policy-agent/opa-wasm"' },
  { name: "casbin", bundled: 'export * from "casbin"' },
];

const asked = process.argv.slice(2);
const dir = mkdtempSync(join(tmpdir(), "seneschal-size-"));
const problems: string[] = [];
try {
  const packed = await packAll(join(dir, "packed"));
  const registry = await openRegistry(packed, join(dir, "packed"));
  console.log("| package | installed | packages | import | bundle by esbuild | by Vite |\n|---|---|---|---|---|---|");
  try {
    for (const [i, subject] of [...OURS, ...PEERS].entries())
      if (asked.length === 0 || asked.some((part) => subject.name.includes(part)))
        await measure(subject, join(dir, String(i)), registry.install);
  } finally {
    registry.close();
  }
} finally {
  rmSync(dir, { recursive: true, force: true });
}
for (const problem of problems) console.error(problem);
process.exitCode = problems.length === 0 ? 0 : 1;

async function measure(subject: Subject, folder: string, install: (into: string, spec: string) => Promise<void>): Promise<void> {
  const { name, entry = name, bundled, megabytes = Infinity, kilobytes = Infinity } = subject;
  const version = lockedVersion(name);
  await install(folder, version === undefined ? name : `${name}@${version}`);
  const installed = bytesUnder(join(folder, "node_modules")) / 1e6;
  const { packages } = JSON.parse(readFileSync(join(folder, "package-lock.json"), "utf8"));
  const count = Object.keys(packages).length - 1;
  const bundles = bundled === undefined ? [] : await bundle(folder, bundled);
  if (installed > megabytes) problems.push(`${name}: ${installed.toFixed(1)} MB are installed, at most ${megabytes} may be`);
  for (const [by, size] of bundles)
    if (size > kilobytes) problems.push(`${name}: ${size.toFixed(1)} kB are bundled by ${by}, at most ${kilobytes} may be`);
  const cells = [
    version === undefined ? name : `${name} ${version}`,
    `${installed.toFixed(1)} MB`,
    count,
    `${importMs(folder, entry).toFixed(0)} ms`,
    ...["esbuild", "Vite"].map(
      (by) =>
        bundles
          .find(([each]) => each === by)?.[1]
          .toFixed(1)
          ?.concat(" kB") ?? "",
    ),
  ];
  console.log(`| ${cells.join(" | ")} |`);
}

/** The version that the repository's lock has of a package of others, where it has one. */
function lockedVersion(name: string): string | undefined {
  return JSON.parse(readFileSync("package-lock.json", "utf8")).packages[`node_modules/${name}`]?.version;
}

function bytesUnder(folder: string): number {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((each) => each.isFile())
    .reduce((sum, file) => sum + statSync(join(file.parentPath, file.name)).size, 0);
}

/** Of new processes, the middle of five: the machine's disk and other work disturb single ones. */
function importMs(folder: string, entry: string): number {
  const program = `const at = performance.now(); await import(${JSON.stringify(entry)}); console.log(performance.now() - at)`;
  const times = Array.from({ length: 5 }, () =>
    Number(execFileSync(process.execPath, ["--input-type=module", "-e", program], { cwd: folder, encoding: "utf8" })),
  );
  return times.sort((a, b) => a - b)[2] as number;
}

/** Kilobytes of the minified modules after brotli. */
async function bundle(folder: string, code: string): Promise<readonly (readonly [string, number])[]> {
  const file = join(folder, "page.js");
  writeFileSync(file, code);
  const { outputFiles } = await esbuild({
    entryPoints: [file],
    absWorkingDir: folder,
    bundle: true,
    minify: true,
    format: "esm",
    platform: "browser",
    // casbin asks for it where it finds it.
    external: ["fs"],
    write: false,
  });
  const built = await vite({
    root: folder,
    configFile: false,
    logLevel: "error",
    build: { write: false, modulePreload: false, rolldownOptions: { input: file, preserveEntrySignatures: "strict" } },
  });
  const chunks = [built].flat().flatMap((each) => ("output" in each ? each.output : []));
  const kilobytes = (texts: readonly (string | Uint8Array)[]): number =>
    texts.reduce((sum, text) => sum + brotliCompressSync(text).length, 0) / 1e3;
  return [
    ["esbuild", kilobytes(outputFiles.map(({ contents }) => contents))],
    ["Vite", kilobytes(chunks.map((chunk) => (chunk.type === "chunk" ? chunk.code : chunk.source)))],
  ];
}
