import { checkArgument, checkOptions } from "../argument.ts";
import { bytesToText } from "../builtins/bytes.ts";
import type { Source } from "../syntax/ast.ts";
import { parseModule } from "../syntax/parse-module.ts";
import { type BundleLimits, bundleIntake } from "./bundle-limits.ts";
import { type BundleFile, type BundleKey, verifyBundle } from "./bundle-signature.ts";
import { LoadError } from "./load-error.ts";
import { mergeDocuments, mergeValues } from "./merge-documents.ts";

export interface BundleOptions {
  /** What the signatures are verified with. A bundle without signatures is refused then, and a signed one without a key. */
  readonly key?: BundleKey;
  /** Reads a signed bundle without verifying it. */
  readonly skipVerify?: boolean;
  /** What the files may come to; {@link DEFAULT_BUNDLE_LIMITS} where it says nothing. */
  readonly limits?: Partial<BundleLimits>;
}

export interface Bundle {
  readonly sources: readonly Source[];
  readonly data: Readonly<Record<string, unknown>>;
  readonly revision: string;
  /** Paths that the bundle owns, without slashes at their ends; `""` is everything. */
  readonly roots: readonly string[];
}

interface Manifest {
  readonly revision: string;
  readonly roots: readonly string[];
  readonly version: "v0" | "v1" | undefined;
  readonly fileVersions: Readonly<Record<string, "v0" | "v1">>;
}

const DATA = /(^|\/)data\.(json|yaml|yml)$/;
const UNDERSTOOD = new Set(["revision", "roots", "rego_version", "file_rego_versions", "metadata", "wasm"]);

/**
 * A bundle from its files: `.rego` files, `data.json` and `data.yaml` at the paths of their directories, `.manifest` and
 * `.signatures.json`. Throws {@link LoadError} if the files are more than the limits, two files define one path, something stands outside of
 * the manifest's roots, or the signatures do not cover every file as it is.
 *
 * @example
 * ```ts
 * import { readBundle } from "@seneschal/rego";
 * const file = (path: string, text: string) => ({ path, bytes: new TextEncoder().encode(text) });
 * const { sources, data } = readBundle([file("p.rego", "package p\n"), file("roles/data.json", '{"ada": "admin"}')]);
 * console.log(sources.length, data); // 1 { roles: { ada: 'admin' } }
 * ```
 */
export function readBundle(files: readonly BundleFile[], options: BundleOptions = {}): Bundle {
  checkOptions("options", options, { key: "object?", skipVerify: "boolean?", limits: "object?" });
  checkArgument("files", files, "array");
  const admit = bundleIntake(options.limits);
  for (const { path, bytes } of files) admit(path, bytes.length);
  const byPath = new Map<string, BundleFile>();
  for (const file of files) {
    const path = file.path.replace(/^(\.?\/)+/, "");
    if (path.split("/").includes("..")) throw new LoadError("bundle_invalid", `${file.path} leads out of the bundle`);
    if (byPath.has(path)) throw new LoadError("bundle_invalid", `${path} is there twice`);
    byPath.set(path, { ...file, path });
  }
  const signatures = byPath.get(".signatures.json");
  if (options.skipVerify !== true) verify([...byPath.values()], signatures, options.key);
  const manifest = readManifest(byPath.get(".manifest"));
  const sources: Source[] = [];
  const documents = [];
  for (const { path, bytes } of [...byPath.values()].sort((a, b) => (a.path < b.path ? -1 : 1))) {
    if (path === "patch.json") throw new LoadError("bundle_invalid", "delta bundles are not read");
    if (path.endsWith(".rego")) {
      const version = manifest.fileVersions[`/${path}`] ?? manifest.fileVersions[path] ?? manifest.version;
      sources.push({ name: path, source: textOf(path, bytes), ...(version === undefined ? {} : { version }) });
    } else if (DATA.test(path)) documents.push({ name: path, path: path.split("/").slice(0, -1), text: textOf(path, bytes) });
  }
  const data = mergeDocuments(documents);
  checkRoots(manifest.roots, sources, data);
  return { sources, data, revision: manifest.revision, roots: manifest.roots };
}

/** Bundles as one policy. Throws {@link LoadError} where the roots of two overlap. */
export function joinBundles(bundles: readonly Bundle[]): Pick<Bundle, "sources" | "data"> {
  checkArgument("bundles", bundles, "array");
  const owned: string[] = [];
  for (const { roots } of bundles) {
    for (const root of roots) {
      const other = owned.find((path) => contains(path, root) || contains(root, path));
      if (other !== undefined) {
        throw new LoadError(
          "bundle_roots",
          `two bundles own ${JSON.stringify(root)} and ${JSON.stringify(other)}, which overlap`,
        );
      }
    }
    owned.push(...roots);
  }
  const data = mergeValues(bundles.map(({ data: value }, i) => ({ name: `bundle ${i + 1}`, path: [], value })));
  return { sources: bundles.flatMap(({ sources }) => sources), data };
}

function verify(files: readonly BundleFile[], signatures: BundleFile | undefined, key: BundleKey | undefined): void {
  if (signatures === undefined) {
    if (key !== undefined) throw new LoadError("bundle_signature", "the bundle has no .signatures.json");
    return;
  }
  if (key === undefined) throw new LoadError("bundle_signature", "the bundle is signed: a verification key is needed");
  verifyBundle(
    files.filter((file) => file !== signatures),
    textOf(signatures.path, signatures.bytes),
    key,
  );
}

function textOf(path: string, bytes: Uint8Array): string {
  const text = bytesToText(bytes);
  // bytes that are no UTF-8 become lone surrogates
  if (/\p{Surrogate}/u.test(text)) throw new LoadError("bundle_invalid", `${path} is not UTF-8`);
  return text;
}

function readManifest(file: BundleFile | undefined): Manifest {
  if (file === undefined) return { revision: "", roots: [""], version: undefined, fileVersions: {} };
  const wrong = (what: string): never => {
    throw new LoadError("bundle_invalid", `.manifest: ${what}`);
  };
  let parsed: unknown;
  try {
    parsed = JSON.parse(textOf(file.path, file.bytes));
  } catch (error) {
    if (error instanceof LoadError) throw error;
    return wrong("is not JSON");
  }
  if (typeof parsed !== "object" || parsed === null || Array.isArray(parsed)) return wrong("is no object");
  const members = parsed as Readonly<Record<string, unknown>>;
  for (const name of Object.keys(members)) if (!UNDERSTOOD.has(name)) wrong(`unknown member ${name}`);
  const { revision = "", roots = [""], rego_version: version, file_rego_versions: versions = {}, wasm = [] } = members;
  if (typeof revision !== "string") wrong("revision is no string");
  if (!Array.isArray(roots) || roots.some((root) => typeof root !== "string")) wrong("roots are no list of strings");
  if (!Array.isArray(wasm) || wasm.length > 0) wrong("wasm modules are not run");
  if (typeof versions !== "object" || versions === null) wrong("file_rego_versions is no object");
  const trimmed = (roots as readonly string[]).map((root) => root.replace(/^\/+|\/+$/g, ""));
  trimmed.forEach((root, i) => {
    const other = trimmed.slice(i + 1).find((next) => contains(root, next) || contains(next, root));
    if (other !== undefined)
      throw new LoadError("bundle_roots", `roots ${JSON.stringify(root)} and ${JSON.stringify(other)} overlap`);
  });
  const versionOf = (value: unknown) => (value === 0 ? "v0" : value === 1 ? "v1" : wrong("a Rego version is 0 or 1"));
  return {
    revision: revision as string,
    roots: trimmed,
    version: version === undefined ? undefined : versionOf(version),
    fileVersions: Object.fromEntries(Object.entries(versions as object).map(([path, value]) => [path, versionOf(value)])),
  };
}

/** Packages and data stand at or below a root. */
function checkRoots(roots: readonly string[], sources: readonly Source[], data: Readonly<Record<string, unknown>>): void {
  for (const source of sources) {
    const path = parseModule(source).module?.packagePath.join("/");
    if (path !== undefined && !roots.some((root) => contains(root, path))) {
      throw new LoadError(
        "bundle_roots",
        `${source.name}: package ${path.replaceAll("/", ".")} is outside of the manifest's roots`,
      );
    }
  }
  const walk = (value: unknown, path: string): void => {
    if (roots.some((root) => contains(root, path))) return;
    const above = roots.some((root) => contains(path, root));
    if (!above || typeof value !== "object" || value === null || Array.isArray(value)) {
      throw new LoadError("bundle_roots", `data at /${path} is outside of the manifest's roots`);
    }
    for (const [key, item] of Object.entries(value)) walk(item, path === "" ? key : `${path}/${key}`);
  };
  walk(data, "");
}

function contains(root: string, path: string): boolean {
  return root === "" || path === root || path.startsWith(`${root}/`);
}
