/**
 * Writes `npm-shrinkwrap.json` of the package in the working directory from the repository's `package-lock.json`: what is installed with it
 * is what was tested here. Runs when the package is packed (`prepack`), so that there is no second lock file to keep.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { basename } from "node:path";
import { fileURLToPath } from "node:url";

interface Entry {
  readonly name?: string;
  readonly version?: string;
  readonly resolved?: string;
  readonly link?: boolean;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
  readonly peerDependencies?: Readonly<Record<string, string>>;
  readonly peerDependenciesMeta?: Readonly<Record<string, { readonly optional?: boolean }>>;
}
export interface Lock {
  readonly packages: Readonly<Record<string, Entry>>;
}

/** Said of a place in the repository's tree, or of no use to who installs. */
const LEFT_OUT = new Set(["dev", "devOptional", "optional", "peer", "link", "funding", "devDependencies", "resolved"]);

/**
 * The lock file of one workspace as a package of its own: what it reaches without development dependencies, in the versions and with the
 * checksums of the repository's lock. Other workspaces are packages of the registry there.
 *
 * @throws Error where two versions would have to lie in one place.
 */
export function shrinkwrapOf(lock: Lock, workspace: string): Lock & Readonly<Record<string, unknown>> {
  const { packages } = lock;
  const required = new Set<string>();
  const reached = new Set<string>();
  const visit = (at: string, optional: boolean): void => {
    if (required.has(at) || (optional && reached.has(at))) return;
    reached.add(at);
    if (!optional) required.add(at);
    const { dependencies = {}, optionalDependencies = {}, peerDependencies = {}, peerDependenciesMeta = {} } = packages[at] ?? {};
    const peers = Object.keys(peerDependencies).filter((name) => peerDependenciesMeta[name]?.optional !== true);
    for (const name of [...Object.keys(dependencies), ...peers, ...Object.keys(optionalDependencies)]) {
      const place = find(packages, at, name);
      const mayMiss = optional || name in optionalDependencies;
      if (place === undefined) {
        if (mayMiss) continue;
        throw new Error(`${at} needs ${name}, which is not locked`);
      }
      visit(place, mayMiss);
    }
  };
  visit(workspace, false);
  const placed: Record<string, unknown> = {};
  const places = [...reached].map((at) => ({ at, place: placeOf(packages, workspace, at) }));
  for (const { at, place } of places.sort((a, b) => (a.place < b.place ? -1 : 1))) {
    if (place in placed) throw new Error(`two packages would lie at ${place}`);
    const entry = Object.entries(packages[at] ?? {}).filter(
      ([key]) => !LEFT_OUT.has(key) && (key !== "name" || at === workspace),
    );
    placed[place] = { ...Object.fromEntries(entry), ...(required.has(at) ? {} : { optional: true }) };
  }
  const { name, version } = packages[workspace] ?? {};
  return { name, version, lockfileVersion: 3, requires: true, packages: placed as Lock["packages"] };
}

/** Where `name` is found from `at`, as Node looks for it; a workspace by its folder. */
function find(packages: Lock["packages"], at: string, name: string): string | undefined {
  for (let from = at; ; from = from.slice(0, Math.max(0, from.lastIndexOf("node_modules/") - 1))) {
    const place = `${from === "" ? "" : `${from}/`}node_modules/${name}`;
    const entry = packages[place];
    if (entry !== undefined) return entry.link === true ? entry.resolved : place;
    if (from === "") return undefined;
  }
}

/** Where a package of the repository's tree lies below the one that is installed. */
function placeOf(packages: Lock["packages"], workspace: string, at: string): string {
  if (at === workspace || at.startsWith(`${workspace}/`)) return at.slice(workspace.length).replace(/^\//, "");
  return at.replace(/^packages\/[^/]+/, (folder) => `node_modules/${packages[folder]?.name ?? `@seneschal/${basename(folder)}`}`);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const lock = JSON.parse(readFileSync(new URL("../package-lock.json", import.meta.url), "utf8")) as Lock;
  const made = shrinkwrapOf(lock, `packages/${basename(process.cwd())}`);
  writeFileSync("npm-shrinkwrap.json", `${JSON.stringify(made, null, 2)}\n`);
}
