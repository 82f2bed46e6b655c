/**
 * What a stranger does with the packages, in a folder with nothing else: installs them from the registry, imports and requires every entry, compiles
 * the programs that our pages and doc comments show under both ways of resolution, runs those of the pages, and bundles for a browser.
 */
import { execFile } from "node:child_process";
import { cpSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { basename, join, resolve } from "node:path";
import { promisify } from "node:util";
import { build as esbuild } from "esbuild";
import { build as vite } from "vite";
import type { OwnRegistry } from "./own-registry.ts";
import { commentPrograms, pageProgram, pages, saidOf } from "./shown-programs.ts";

/** The programs of the examples, by what each shows. A new example is one of them by itself. */
const PROGRAMS = readdirSync("examples").filter((file) => file.endsWith(".ts"));

/** What doc comments and pages show beside those. */
const SHOWN = [...commentPrograms(), ...pages.flatMap((page) => pageProgram(page) ?? [])];

/** How long a program may take; on a crowded machine some take a minute. */
const RUN_MS = 300_000;

const TYPES = ["@types/node", "@types/express"];

/** What runs in a page as it does in Node: every pure entry is in the bundle. */
const PAGE = "src/browser-page.ts";

/** Every entry that can be imported. */
export function entriesOfAll(): readonly string[] {
  return readdirSync("packages")
    .sort()
    .flatMap((folder) => {
      const { name, exports = {} } = JSON.parse(readFileSync(`packages/${folder}/package.json`, "utf8"));
      return Object.keys(exports)
        .filter((path) => path !== "./package.json")
        .map((path) => name + path.slice(1));
    });
}

/** Installs everything of ours with what it may need beside it, in the versions of our lock; the programs and the page lie in the folder afterwards. */
export async function openStranger(registry: OwnRegistry, folder: string): Promise<void> {
  const { packages } = JSON.parse(readFileSync("package-lock.json", "utf8")) as {
    packages: Record<string, { version: string; devDependencies?: object }>;
  };
  const ours = readdirSync("packages").filter((name) => name !== "cli");
  const manifests = ours.map((name) => JSON.parse(readFileSync(`packages/${name}/package.json`, "utf8")));
  const beside = new Set([
    ...TYPES,
    ...importedByPrograms(),
    ...manifests.flatMap(({ peerDependencies = {} }) => Object.keys(peerDependencies)),
  ]);
  const others = [...beside]
    .filter((name) => !name.startsWith("@seneschal/") && packages[`node_modules/${name}`] !== undefined)
    .map((name) => `${name}@${packages[`node_modules/${name}`]?.version}`);
  await registry.install(folder, ...manifests.map(({ name }) => name), ...others);
  writeFileSync(
    join(folder, "package.json"),
    readFileSync(join(folder, "package.json"), "utf8").replace("{", '{"type":"module",'),
  );
  mkdirSync(join(folder, "src/shown"), { recursive: true });
  for (const file of PROGRAMS) cpSync(join("examples", file), join(folder, "src", file));
  for (const { name, code } of SHOWN) writeFileSync(join(folder, "src/shown", `${name}.ts`), code);
}

/** What is wrong, a line each. */
export async function checkStranger(folder: string): Promise<readonly string[]> {
  const entries = entriesOfAll();
  const problems: string[] = [];
  const step = async (name: string, work: () => Promise<void>): Promise<void> => {
    const started = performance.now();
    try {
      await work();
      console.log(`     ${name} (${((performance.now() - started) / 1000).toFixed(1)} s)`);
    } catch (error) {
      const { stdout = "", stderr = "", killed } = error as { stdout?: string; stderr?: string; killed?: boolean };
      const late = killed === true ? ` (ended behind ${RUN_MS / 1000} s)` : "";
      problems.push(`${name}: ${error instanceof Error ? error.message : error}${late}\n${stdout}${stderr}`);
    }
  };
  await step(`${entries.length} entries by import and by require`, () => bothWays(folder, entries));
  await step(`${PROGRAMS.length} programs and all entries by nodenext`, () => compileStranger(folder, "nodenext"));
  await step("the same by bundler", () => compileStranger(folder, "bundler"));
  await step(`${SHOWN.length} programs of doc comments and pages`, () => runShown(folder));
  const programs = [...PROGRAMS];
  const running = async (): Promise<void> => {
    for (let file = programs.shift(); file !== undefined; file = programs.shift())
      await step(`examples/${file}`, () => run(folder, ["--no-warnings", join("out", `${basename(file as string, ".ts")}.js`)]));
  };
  await Promise.all([running(), running()]);
  for (const [name, bundle] of [
    ["esbuild", bundleByEsbuild],
    ["Vite", bundleByVite],
  ] as const)
    await step(`the page by ${name}`, async () => void (await import(await bundle(folder))));
  return problems;
}

/** One file for browsers. */
export async function bundleByEsbuild(folder: string): Promise<string> {
  const outfile = join(folder, "page-by-esbuild.mjs");
  const entryPoints = [join(folder, PAGE)];
  await esbuild({ entryPoints, absWorkingDir: folder, outfile, bundle: true, minify: true, format: "esm", platform: "browser" });
  return outfile;
}

/** The same by the other bundler. */
export async function bundleByVite(folder: string): Promise<string> {
  await vite({
    root: folder,
    configFile: false,
    logLevel: "error",
    build: {
      outDir: "by-vite",
      lib: { entry: join(folder, PAGE), formats: ["es"], fileName: () => "page.mjs" },
    },
  });
  return join(folder, "by-vite/page.mjs");
}

/** Both give the same names, and the same objects: there is one copy of each module. */
async function bothWays(folder: string, entries: readonly string[]): Promise<void> {
  writeFileSync(
    join(folder, "both-ways.cjs"),
    `(async () => {
  for (const entry of ${JSON.stringify(entries)}) {
    const [imported, required] = [await import(entry), require(entry)];
    for (const name of Object.keys(imported))
      if (required[name] !== imported[name]) throw new Error(entry + ": " + name + " is another by require");
  }
})();`,
  );
  await run(folder, ["--no-warnings", "both-ways.cjs"]);
}

/** All programs, and all entries by `import` and, in CommonJS, by `require`; those of nodenext are left as JavaScript in `out`. */
export async function compileStranger(folder: string, resolution: "nodenext" | "bundler"): Promise<void> {
  const entries = entriesOfAll();
  const listed = (line: (entry: string, name: string) => string): string =>
    entries.map((entry, i) => `${line(entry, `entry${i}`)}\n`).join("");
  writeFileSync(
    join(folder, "src/entries.ts"),
    listed((entry, name) => `export * as ${name} from "${entry}";`),
  );
  writeFileSync(
    join(folder, "src/required.cts"),
    listed((entry, name) => `import ${name} = require("${entry}"); void ${name};`),
  );
  const compilerOptions = {
    target: "ES2022",
    module: resolution === "nodenext" ? "nodenext" : "esnext",
    moduleResolution: resolution,
    lib: ["ES2023", "DOM", "DOM.Iterable"],
    types: ["node"],
    strict: true,
    skipLibCheck: true,
    allowImportingTsExtensions: true,
    rewriteRelativeImportExtensions: true,
    ...(resolution === "nodenext" ? { rootDir: "src", outDir: "out" } : { noEmit: true }),
  };
  const file = join(folder, `tsconfig.${resolution}.json`);
  const include = resolution === "nodenext" ? ["src"] : ["src/**/*.ts"];
  writeFileSync(file, JSON.stringify({ compilerOptions, include }));
  await run(folder, [resolve("node_modules/typescript-7/bin/tsc"), "-p", file]);
}

/** All that doc comments and pages show, one after the other in one process: each runs, logs what it says that it logs, and leaves nothing open. */
async function runShown(folder: string): Promise<void> {
  const cwd = join(folder, "shown");
  mkdirSync(cwd);
  writeFileSync(
    join(cwd, "shown.json"),
    JSON.stringify(SHOWN.map(({ name, file, code }) => ({ name, file, said: saidOf(code) }))),
  );
  writeFileSync(
    join(cwd, "run.mjs"),
    `import { readFileSync } from "node:fs";
import { format, isDeepStrictEqual } from "node:util";
const { log } = console;
const limit = (name) => setTimeout(() => {
  console.error(name + " does not end: " + process.getActiveResourcesInfo());
  process.exit(1);
}, 60_000).unref();
for (const { name, file, said } of JSON.parse(readFileSync("shown.json", "utf8"))) {
  const lines = [];
  console.log = (...given) => void lines.push(format(...given).replaceAll("\\n", "\\\\n"));
  const late = limit(name);
  try {
    await import("../out/shown/" + name + ".js");
    if (!isDeepStrictEqual(lines, said)) throw new Error(format("it says that it logs", said, "and logs", lines));
  } catch (error) {
    console.error(file, error);
    process.exitCode = 1;
  }
  clearTimeout(late);
}
console.log = log;
limit("one of them");
`,
  );
  await run(cwd, ["--no-warnings", "run.mjs"]);
}

function importedByPrograms(): readonly string[] {
  const codes = [...PROGRAMS.map((file) => readFileSync(join("examples", file), "utf8")), ...SHOWN.map(({ code }) => code)];
  return codes
    .flatMap((code) => [...code.matchAll(/from "((?:@[^/"]+\/)?[^/":]+)/g)].map(([, name = ""]) => name))
    .filter((name) => !name.startsWith(".") && name !== "node");
}

const run = async (cwd: string, args: readonly string[]): Promise<void> =>
  void (await promisify(execFile)(process.execPath, [...args], { cwd, timeout: RUN_MS, maxBuffer: 2 ** 24 }));
