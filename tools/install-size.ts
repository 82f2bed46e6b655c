/**
 * What an import costs: each package is packed, installed alone in an empty folder, and each of its entries imported and bundled whole by esbuild and by Vite.
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
  /** What is imported of a package of others; of ours, every entry is. */
  readonly entry?: string;
  /** What some of its entries need and others do not: installed once the package alone is measured. */
  readonly beside?: readonly string[];
  /** Each entry is what a page may take, too; otherwise it is for servers. */
  readonly bundled?: true;
  /** Bounds: megabytes (10^6 bytes) of all installed files, kilobytes (10^3) of each entry, whole, minified, after brotli, and of single ones. */
  readonly megabytes?: number;
  readonly kilobytes?: number;
  readonly kilobytesOf?: Readonly<Record<string, number>>;
}

const OURS: readonly Subject[] = [
  { name: "@seneschal/kernel", bundled: true, megabytes: 2, kilobytes: 15 },
  // The rules of a storage node are most of it, and of what is installed the examples of every function.
  { name: "@seneschal/core", bundled: true, megabytes: 5, kilobytes: 30, kilobytesOf: { "@seneschal/core/storage": 36 } },
  { name: "@seneschal/crypto", bundled: true, megabytes: 12, kilobytes: 60 },
  { name: "@seneschal/quota", bundled: true, megabytes: 12, kilobytes: 30 },
  {
    name: "@seneschal/rego",
    bundled: true,
    megabytes: 16,
    kilobytes: 210,
    kilobytesOf: { "@seneschal/rego/runtime": 42, "@seneschal/rego/runtime/libraries": 160 },
  },
  { name: "@seneschal/contract", bundled: true, megabytes: 14, kilobytes: 120 },
  // Lexica are most of it: names of people, of towns (50 kilobytes) and of medicine (70).
  { name: "@seneschal/governance", bundled: true, megabytes: 40, kilobytes: 740 },
  { name: "@seneschal/adapters", beside: ["@seneschal/governance", "@seneschal/rego"], megabytes: 40 },
  { name: "@seneschal/server-fetch", bundled: true, megabytes: 16, kilobytes: 120 },
  { name: "@seneschal/server-node", megabytes: 16 },
  { name: "@seneschal/server-express", megabytes: 20 },
  { name: "@seneschal/server-fastify", megabytes: 30 },
  { name: "@seneschal/server-grpc" },
  { name: "@seneschal/server-nfs" },
  { name: "@seneschal/server-s3" },
  { name: "@seneschal/app" },
];

/** In the versions that are tested here. */
const PEERS: readonly Subject[] = [
  { name: "jose", bundled: true },
  { name: "@cedar-policy/cedar-wasm", entry: "@cedar-policy/cedar-wasm/nodejs" },
  { name: "@open-policy-agent/opa-wasm", bundled: true },
  { name: "casbin", bundled: true },
];

const asked = process.argv.slice(2);
const dir = mkdtempSync(join(tmpdir(), "seneschal-size-"));
const problems = readdirSync("packages")
  .filter((folder) => folder !== "cli" && !OURS.some(({ name }) => name === `@seneschal/${folder}`))
  .map((folder) => `${folder} is not measured`);
try {
  const packed = await packAll(join(dir, "packed"));
  const registry = await openRegistry(packed, join(dir, "packed"));
  console.log("| entry | installed | packages | import | bundle by esbuild | by Vite |\n|---|---|---|---|---|---|");
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

async function measure(
  subject: Subject,
  folder: string,
  install: (into: string, ...specs: string[]) => Promise<void>,
): Promise<void> {
  const {
    name,
    entry = name,
    beside = [],
    bundled = false,
    megabytes = Infinity,
    kilobytes = Infinity,
    kilobytesOf = {},
  } = subject;
  const version = lockedVersion(name);
  await install(folder, version === undefined ? name : `${name}@${version}`);
  const installed = bytesUnder(join(folder, "node_modules")) / 1e6;
  const { packages } = JSON.parse(readFileSync(join(folder, "package-lock.json"), "utf8"));
  if (installed > megabytes) problems.push(`${name}: ${installed.toFixed(1)} MB are installed, at most ${megabytes} may be`);
  const from = beside.length > 0 ? `${folder}-beside` : folder;
  if (from !== folder) await install(from, name, ...beside);
  // Of the package, once.
  let whole: readonly (string | number)[] = [`${installed.toFixed(1)} MB`, Object.keys(packages).length - 1];
  for (const one of OURS.includes(subject) ? entriesOf(from, name) : [entry]) {
    const bundles = bundled ? await bundle(from, one) : ["", ""];
    const most = kilobytesOf[one] ?? kilobytes;
    for (const size of bundles)
      if (Number.parseFloat(size) > most) problems.push(`${one}: ${size} are bundled, at most ${most} may be`);
    const called = version === undefined ? one : `${name} ${version}`;
    console.log(`| ${[called, ...whole, `${importMs(from, one).toFixed(0)} ms`, ...bundles].join(" | ")} |`);
    whole = ["", ""];
  }
}

/** What is imported of a package of ours; inputs and suites for tests are for those who have a test runner. */
function entriesOf(folder: string, name: string): readonly string[] {
  const { exports } = JSON.parse(readFileSync(join(folder, "node_modules", name, "package.json"), "utf8"));
  const paths = Object.keys(exports).filter((path) => !/^\.\/(package\.json|arbitraries|testing)$/.test(path));
  return paths.map((path) => name + path.slice(1));
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

/** Milliseconds of the processor: what other work is on the machine shows least there. Of new processes, the middle of three. */
function importMs(folder: string, entry: string): number {
  const program = `const from = process.cpuUsage(); await import(${JSON.stringify(entry)}); const { user, system } = process.cpuUsage(from); console.log((user + system) / 1000)`;
  const times = Array.from({ length: 3 }, () =>
    Number(execFileSync(process.execPath, ["--input-type=module", "-e", program], { cwd: folder, encoding: "utf8" })),
  );
  return times.sort((a, b) => a - b)[1] as number;
}

/** Kilobytes of the minified modules after brotli, by esbuild and by Vite. */
async function bundle(folder: string, entry: string): Promise<readonly [string, string]> {
  const file = join(folder, "page.js");
  // Whatever it exports: a default alone is not in "*".
  writeFileSync(file, `import * as all from ${JSON.stringify(entry)};\nexport { all };\n`);
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
  const kilobytes = (texts: readonly (string | Uint8Array)[]): string =>
    `${(texts.reduce((sum, text) => sum + brotliCompressSync(text).length, 0) / 1e3).toFixed(1)} kB`;
  return [
    kilobytes(outputFiles.map(({ contents }) => contents)),
    kilobytes(chunks.map((chunk) => (chunk.type === "chunk" ? chunk.code : chunk.source))),
  ];
}
