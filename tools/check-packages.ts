/** Packs every package and runs publint and attw (ESM only) on it. Needs `npm run build` first. */
import { spawnSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync } from "node:fs";

interface Manifest {
  readonly name: string;
  readonly exports?: Readonly<Record<string, Readonly<Record<string, string>>>>;
}

let failed = 0;
for (const folder of readdirSync("packages").sort()) {
  const cwd = `packages/${folder}`;
  const manifest = JSON.parse(readFileSync(`${cwd}/package.json`, "utf8")) as Manifest;
  const missing = Object.values(manifest.exports ?? {})
    .flatMap((entry) => Object.values(entry))
    .filter((file) => !existsSync(`${cwd}/${file}`));
  for (const file of missing) console.error(`${manifest.name}: exports names ${file}, which does not exist`);

  const publint = run(cwd, "publint", ["--strict"]);
  // A package whose entries are all commands has no types to check.
  const attw =
    manifest.exports === undefined
      ? true
      : run(cwd, "attw", ["--pack", ".", "--profile", "esm-only", "--no-emoji", "-f", "ascii"]);
  const ok = missing.length === 0 && publint && attw;
  console.log(`${ok ? "ok  " : "BAD "} ${manifest.name}`);
  if (!ok) failed++;
}
process.exitCode = failed > 0 ? 1 : 0;

function run(cwd: string, command: string, args: readonly string[]): boolean {
  const result = spawnSync(`../../node_modules/.bin/${command}`, args, { cwd, encoding: "utf8" });
  if (result.status === 0) return true;
  console.error(result.stdout, result.stderr);
  return false;
}
