/** Packs every package, runs publint and attw (ESM only) on it, and publishes it to nobody. Needs `npm run build` first. */
import { execFile } from "node:child_process";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { delimiter, resolve } from "node:path";

interface Manifest {
  readonly name: string;
  readonly exports?: Readonly<Record<string, string | Readonly<Record<string, string>>>>;
}

// Two at a time, and of one package one after the other: packing writes into its folder.
const folders = readdirSync("packages").sort().values();
let failed = 0;
await Promise.all([check(), check()]);
process.exitCode = failed > 0 ? 1 : 0;

async function check(): Promise<void> {
  for (const folder of folders) if (!(await isFit(folder))) failed++;
}

async function isFit(folder: string): Promise<boolean> {
  const cwd = `packages/${folder}`;
  const manifest = JSON.parse(readFileSync(`${cwd}/package.json`, "utf8")) as Manifest;
  const missing = Object.values(manifest.exports ?? {})
    .flatMap((entry) => (typeof entry === "string" ? [entry] : Object.values(entry)))
    .filter((file) => !existsSync(`${cwd}/${file}`));
  for (const file of missing) console.error(`${manifest.name}: exports names ${file}, which does not exist`);

  const publint = await run(cwd, "publint", ["--strict"]);
  // A package whose entries are all commands has no types to check.
  const attw =
    manifest.exports === undefined ||
    (await run(cwd, "attw", ["--pack", ".", "--profile", "esm-only", "--no-emoji", "-f", "ascii"]));
  const published = await run(cwd, "npm", ["publish", "--dry-run"]);
  const ok = missing.length === 0 && publint && attw && published;
  console.log(`${ok ? "ok  " : "BAD "} ${manifest.name}`);
  return ok;
}

function run(cwd: string, command: string, args: readonly string[]): Promise<boolean> {
  const path = `${resolve("node_modules/.bin")}${delimiter}${process.env["PATH"]}`;
  return new Promise((settle) => {
    execFile(command, args, { cwd, env: { ...process.env, PATH: path }, maxBuffer: 1 << 28 }, (error, stdout, stderr) => {
      if (error !== null) console.error(stdout, stderr);
      settle(error === null);
    });
  });
}
