/**
 * Packs every package twice, which must give the same bytes, and installs the CLI in an empty folder as a stranger would, from a registry
 * that has our tarballs: what is there afterwards must be what is locked here. The libraries are installed likewise, and whatever a
 * stranger may do with them is done (`strangers.ts`). Needs `npm run build` first.
 */
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openRegistry, type Packed, packAll } from "./own-registry.ts";
import { type Lock, shrinkwrapOf } from "./shrinkwrap.ts";
import { checkStranger, openStranger } from "./strangers.ts";

const problems: string[] = [];
const dir = mkdtempSync(join(tmpdir(), "seneschal-install-"));

try {
  const packed = await packAll(join(dir, "first"));
  const again = await packAll(join(dir, "second"));
  for (const [i, { name, integrity, files }] of packed.entries()) {
    if (integrity !== again[i]?.integrity) problems.push(`${name}: two packs differ`);
    for (const { path } of files) if (/\.(tsbuildinfo|log|tgz)$/.test(path)) problems.push(`${name}: carries ${path}`);
    for (const path of ["README.md", "LICENSE", "CHANGELOG.md", "package.json"])
      if (!files.some((file) => file.path === path)) problems.push(`${name}: does not carry ${path}`);
  }
  await install(packed);
} finally {
  rmSync(dir, { recursive: true, force: true });
}
for (const problem of problems) console.error(problem);
console.log(
  problems.length === 0
    ? "ok   packs twice alike, installs what is locked, and runs outside"
    : "BAD  packing, installing or running outside",
);
process.exitCode = problems.length === 0 ? 0 : 1;

/** `npm install @seneschal/cli`, where ours is the registry of the scope; then the same of the libraries, with programs that use them. */
async function install(packed: readonly Packed[]): Promise<void> {
  const registry = await openRegistry(packed, join(dir, "first"));
  try {
    const folder = join(dir, "stranger");
    await registry.install(folder, "@seneschal/cli");
    compare(join(folder, "node_modules/@seneschal/cli"));
    const said = execFileSync(join(folder, "node_modules/.bin/seneschal"), ["--version"], { encoding: "utf8" }).trim();
    if (!said.endsWith(packed.find(({ name }) => name === "@seneschal/cli")?.version ?? "?"))
      problems.push(`the installed command says: ${said}`);
    const library = join(dir, "library");
    await openStranger(registry, library);
    problems.push(...(await checkStranger(library)));
  } finally {
    registry.close();
  }
}

/** The installed tree against the lock: each in its place, and in its version. */
function compare(installed: string): void {
  const lock = JSON.parse(readFileSync("package-lock.json", "utf8")) as Lock;
  let seen = 0;
  for (const [place, { version, optional }] of Object.entries(
    shrinkwrapOf(lock, "packages/cli").packages as Readonly<Record<string, { version?: string; optional?: boolean }>>,
  )) {
    if (place === "") continue;
    let is: string;
    try {
      is = JSON.parse(readFileSync(join(installed, place, "package.json"), "utf8")).version;
    } catch {
      if (optional !== true) problems.push(`${place} is not there`);
      continue;
    }
    seen++;
    if (is !== version) problems.push(`${place} is ${is}, locked is ${version}`);
  }
  console.log(`     ${seen} packages are installed with the command`);
}
