/**
 * Packs every package twice, which must give the same bytes, and installs the CLI in an empty folder as a stranger would, from a registry
 * that has our tarballs: what is there afterwards must be what is locked here. Needs `npm run build` first.
 */
import { execFile, execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { promisify } from "node:util";
import { type Lock, shrinkwrapOf } from "./shrinkwrap.ts";

interface Packed {
  readonly name: string;
  readonly version: string;
  readonly filename: string;
  readonly integrity: string;
  readonly files: readonly { readonly path: string }[];
}

const problems: string[] = [];
const dir = mkdtempSync(join(tmpdir(), "seneschal-install-"));
const npm = async (args: readonly string[], cwd: string): Promise<string> =>
  (await promisify(execFile)("npm", [...args], { cwd, maxBuffer: 2 ** 26 })).stdout;

try {
  const packed = await pack("first");
  const again = await pack("second");
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
console.log(problems.length === 0 ? "ok   packs twice alike, and installs what is locked" : "BAD  packing or installing");
process.exitCode = problems.length === 0 ? 0 : 1;

async function pack(to: string): Promise<readonly Packed[]> {
  const folder = join(dir, to);
  mkdirSync(folder);
  const folders = readdirSync("packages").sort();
  return Promise.all(
    folders.map(async (name) => {
      const [tarball] = JSON.parse(await npm(["pack", "--json", "--pack-destination", folder], resolve("packages", name)));
      const integrity = `sha512-${createHash("sha512")
        .update(readFileSync(join(folder, tarball.filename)))
        .digest("base64")}`;
      return { ...tarball, integrity } as Packed;
    }),
  );
}

/** `npm install @seneschal/cli`, where ours is the registry of the scope. */
async function install(packed: readonly Packed[]): Promise<void> {
  const server = createServer(({ url = "" }, response) => {
    const path = decodeURIComponent(url.slice(1));
    const tarball = packed.find(({ filename }) => path === `tarballs/${filename}`);
    const asked = packed.find(({ name }) => path === name);
    if (tarball !== undefined) response.end(readFileSync(join(dir, "first", tarball.filename)));
    else if (asked !== undefined)
      response.end(JSON.stringify(packument(asked, `http://${request()}/tarballs/${asked.filename}`)));
    else response.writeHead(404).end("{}");
  });
  const request = (): string => `127.0.0.1:${(server.address() as AddressInfo).port}`;
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  try {
    const folder = join(dir, "stranger");
    mkdirSync(folder);
    writeFileSync(join(folder, "package.json"), '{"private":true}');
    writeFileSync(join(folder, ".npmrc"), `@seneschal:registry=http://${request()}/\n`);
    await npm(["install", "@seneschal/cli", "--ignore-scripts", "--prefer-offline", "--no-audit", "--no-fund"], folder);
    compare(join(folder, "node_modules/@seneschal/cli"));
    const said = execFileSync(join(folder, "node_modules/.bin/seneschal"), ["--version"], { encoding: "utf8" }).trim();
    if (!said.endsWith(packed.find(({ name }) => name === "@seneschal/cli")?.version ?? "?"))
      problems.push(`the installed command says: ${said}`);
  } finally {
    server.close();
    server.closeAllConnections();
  }
}

/** What the registry says of a package that has one version. */
function packument(packed: Packed, tarball: string): object {
  const folder = packed.name.replace("@seneschal/", "");
  const manifest = JSON.parse(readFileSync(`packages/${folder}/package.json`, "utf8"));
  const shrinkwrapped = packed.files.some(({ path }) => path === "npm-shrinkwrap.json");
  const version = {
    ...manifest,
    ...(shrinkwrapped ? { _hasShrinkwrap: true } : {}),
    dist: { tarball, integrity: packed.integrity },
  };
  return { name: packed.name, "dist-tags": { latest: packed.version }, versions: { [packed.version]: version } };
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
