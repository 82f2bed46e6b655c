/** Packs every package, runs publint and attw (ESM only) on it, and publishes it to nobody. Needs `npm run build` first. */
import { spawnSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { delimiter, resolve } from "node:path";

interface Manifest {
  readonly name: string;
  readonly exports?: Readonly<Record<string, string | Readonly<Record<string, string>>>>;
}

let failed = 0;
for (const folder of readdirSync("packages").sort()) {
  const cwd = `packages/${folder}`;
  const manifest = JSON.parse(readFileSync(`${cwd}/package.json`, "utf8")) as Manifest;
  const missing = Object.values(manifest.exports ?? {})
    .flatMap((entry) => (typeof entry === "string" ? [entry] : Object.values(entry)))
    .filter((file) => !existsSync(`${cwd}/${file}`));
  for (const file of missing) console.error(`${manifest.name}: exports names ${file}, which does not exist`);

  const publint = run(cwd, "publint", ["--strict"]);
  // A package whose entries are all commands has no types to check.
  const attw =
    manifest.exports === undefined
      ? true
      : run(cwd, "attw", ["--pack", ".", "--profile", "esm-only", "--no-emoji", "-f", "ascii"]);
  const published = run(cwd, "npm", ["publish", "--dry-run"]);
  const ok = missing.length === 0 && publint && attw && published;
  console.log(`${ok ? "ok  " : "BAD "} ${manifest.name}`);
  if (!ok) failed++;
}
process.exitCode = failed > 0 ? 1 : 0;

function run(cwd: string, command: string, args: readonly string[]): boolean {
  const path = `${resolve("node_modules/.bin")}${delimiter}${process.env["PATH"]}`;
  const result = spawnSync(command, args, { cwd, encoding: "utf8", env: { ...process.env, PATH: path } });
  if (result.status === 0) return true;
  console.error(result.stdout, result.stderr);
  return false;
}
