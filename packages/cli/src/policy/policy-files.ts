import { readdir, stat } from "node:fs/promises";
import { join, resolve, sep } from "node:path";
import { Readable, Transform } from "node:stream";
import { pipeline } from "node:stream/promises";
import { createGunzip } from "node:zlib";
import { CodedError } from "@seneschal/kernel";
import {
  type Bundle,
  type BundleFile,
  type BundleLimits,
  type BundleOptions,
  bundleIntake,
  DEFAULT_BUNDLE_LIMITS,
  type DocumentFile,
  LoadError,
  mergeDocuments,
  type RegoVersion,
  readBundle,
  type Source,
} from "@seneschal/rego/bundle";
import type { Host } from "../host.ts";
import { readBytes, readText } from "../read-file.ts";

/** What the headers of an archive's file and the padding of its end take, at most. */
const HEADER_BYTES = 4096;

/** Every `.rego` file below the paths, in order of name, and after them those that `--data` names besides. */
async function regoFilesOf(
  host: Host,
  paths: readonly string[],
  data: readonly string[],
  ignored: Ignored,
): Promise<readonly string[]> {
  const files = new Map<string, string>();
  const add = (name: string): void => {
    const place = resolve(host.cwd, name);
    if (!files.has(place)) files.set(place, name);
  };
  for (const path of paths) {
    const names = await namesBelow(resolve(host.cwd, path), ignored);
    if (names === undefined) {
      if (!isDocument(path)) add(path);
    } else for (const name of names) if (isRego(name)) add(join(path, name));
  }
  for (const path of data) {
    const names = await namesBelow(resolve(host.cwd, path), ignored);
    if (names === undefined && isRego(path)) add(path);
    for (const name of names ?? []) if (isRego(name)) add(join(path, name));
  }
  return [...files.values()];
}

/** True for a file below a directory that `--ignore` passes over. */
export type Ignored = (name: string) => boolean;

const ignoresNothing: Ignored = () => false;

/** A sign that is escaped, a set of signs, any other one. */
const SIGNS = /\\(.)|\[(?:[^\]\\]|\\.)+\]|[^[\]\\]/gsu;

/**
 * What patterns of `--ignore` pass over, as those of OPA do: each is of one name, of a file or of a directory on the way to it, with `*`, `?`, `[a-z]`, `[^a-z]` and a backslash before a sign that means itself
 * (Go's `filepath.Match`). Throws `usage` for one that is none.
 */
export function ignoredBy(patterns: readonly string[]): Ignored {
  const all = patterns.map((pattern) => {
    const wrong = (cause?: unknown) => new CodedError("usage", `--ignore: ${pattern} is no pattern of names`, {}, cause);
    if (pattern.replace(SIGNS, "") !== "" || pattern === "") throw wrong();
    const source = pattern.replace(SIGNS, (sign, escaped?: string) => {
      if (sign.startsWith("[")) return sign;
      if (escaped === undefined && (sign === "*" || sign === "?")) return sign === "*" ? "[^/]*" : "[^/]";
      return (escaped ?? sign).replace(/[$()*+./?[\\\]^{|}-]/, "\\$&");
    });
    try {
      return new RegExp(`^${source}$`, "su");
    } catch (error) {
      throw wrong(error);
    }
  });
  return (name) => name.split(sep).some((part) => all.some((pattern) => pattern.test(part)));
}

const isRego = (name: string): boolean => name.endsWith(".rego");
const isDocument = (name: string): boolean => /\.(json|ya?ml)$/.test(name);

interface Entry {
  /** Below the directory that was asked for. */
  readonly name: string;
  readonly kind: "file" | "symlink" | "special file";
}

/** What stands below a directory, in order of name; undefined for what is none. */
async function entriesBelow(path: string): Promise<readonly Entry[] | undefined> {
  const directory = await stat(path).then(
    (facts) => facts.isDirectory(),
    () => false,
  );
  if (!directory) return undefined;
  const entries = await readdir(path, { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => !entry.isDirectory())
    .map(
      (entry): Entry => ({
        name: join(entry.parentPath, entry.name).slice(resolve(path).length + 1),
        kind: entry.isFile() ? "file" : entry.isSymbolicLink() ? "symlink" : "special file",
      }),
    )
    .sort((a, b) => (a.name < b.name ? -1 : 1));
}

/** The files below a directory, and the links to files, in order of name; undefined for what is none. */
async function namesBelow(path: string, ignored: Ignored): Promise<readonly string[] | undefined> {
  const entries = (await entriesBelow(path))?.filter(({ name }) => !ignored(name));
  if (entries === undefined) return undefined;
  const names: string[] = [];
  for (const { name, kind } of entries)
    if (kind === "file" || (kind === "symlink" && (await stat(join(path, name))).isFile())) names.push(name);
  return names;
}

/** The sources at and below the paths, and those that `--data` names. Throws `usage` when there is none, unless they are optional. */
export async function sourcesOf(
  host: Host,
  paths: readonly string[],
  {
    version = "v1",
    data = [],
    ignored = ignoresNothing,
  }: { readonly version?: RegoVersion; readonly data?: readonly string[]; readonly ignored?: Ignored } = {},
  need: "required" | "optional" = "required",
): Promise<readonly Source[]> {
  const names = await regoFilesOf(host, paths, data, ignored);
  if (names.length === 0 && (need === "required" || paths.length > 0)) throw new CodedError("usage", "there is no .rego file");
  const sources: Source[] = [];
  for (const name of names) {
    sources.push({ name, source: await readText(host, name), version });
  }
  return sources;
}

/**
 * JSON and YAML files as one document, those below a directory at the path of theirs: of `paths` what is named so, of `data` what is no policy. What
 * is named twice for one place is read once. Throws `file_invalid`.
 */
export async function documentsOf(
  host: Host,
  paths: readonly string[],
  data: readonly string[],
  ignored: Ignored,
): Promise<Readonly<Record<string, unknown>>> {
  const files = new Map<string, DocumentFile>();
  const add = async (name: string, path: readonly string[]): Promise<void> => {
    const key = JSON.stringify([resolve(host.cwd, name), path]);
    if (!files.has(key)) files.set(key, { name, path, text: await readText(host, name) });
  };
  const addAll = async (path: string, wanted: (name: string) => boolean): Promise<void> => {
    const names = await namesBelow(resolve(host.cwd, path), ignored);
    if (names === undefined && wanted(path)) await add(path, []);
    for (const below of names ?? []) if (isDocument(below)) await add(join(path, below), below.split(sep).slice(0, -1));
  };
  for (const path of paths) await addAll(path, isDocument);
  for (const path of data) await addAll(path, (name) => !isRego(name));
  return loaded(() => mergeDocuments([...files.values()]));
}

/** A bundle: a directory or a `.tar.gz`. Throws `file_invalid`; what is more than the limits is refused before it is read. */
export async function bundleOf(host: Host, path: string, options: BundleOptions, ignored: Ignored): Promise<Bundle> {
  const limits = { ...DEFAULT_BUNDLE_LIMITS, ...options.limits };
  const entries = await entriesBelow(resolve(host.cwd, path));
  const files =
    entries === undefined ? await unpacked(host, path, limits) : await bundleFilesOf(host, path, entries, limits, ignored);
  return loaded(() =>
    readBundle(
      files.filter((file) => !ignored(file.path)),
      options,
    ),
  );
}

async function bundleFilesOf(
  host: Host,
  path: string,
  entries: readonly Entry[],
  limits: BundleLimits,
  ignored: Ignored,
): Promise<readonly BundleFile[]> {
  const admit = bundleIntake(limits);
  const wanted = entries.filter(({ name }) => !ignored(name));
  for (const { name, kind } of wanted) {
    if (kind !== "file") throw noFile(name, kind);
    const { size } = await stat(resolve(host.cwd, path, name));
    loaded(() => admit(name, size));
  }
  const files: BundleFile[] = [];
  for (const { name } of wanted) files.push({ path: name.split(sep).join("/"), bytes: await readBytes(host, join(path, name)) });
  return files;
}

/** A link could bring in what stands outside of the bundle, and passed over it would be missing. */
function noFile(name: string, kind: string): CodedError {
  return new CodedError("file_invalid", `bundle_invalid: ${name} is a ${kind}, and a bundle has files and directories alone`);
}

async function unpacked(host: Host, name: string, limits: BundleLimits): Promise<readonly BundleFile[]> {
  const archive = await readBytes(host, name);
  const { extract } = await import("tar-stream");
  const admit = bundleIntake(limits);
  const files: BundleFile[] = [];
  // names of any length stand in headers, which are no files: the archive as a whole is bounded, too
  const most = limits.bytes + (limits.files + 1) * HEADER_BYTES;
  let taken = 0;
  const bounded = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      taken += chunk.length;
      if (taken > most) done(new LoadError("bundle_limit", `${name}: unpacked it has more than ${most} bytes`));
      else done(null, chunk);
    },
  });
  try {
    const entries = extract();
    const read = pipeline(Readable.from([archive]), createGunzip(), bounded, entries);
    // it is awaited below; what fails it ends the reading of entries first
    read.catch(() => {});
    for await (const entry of entries) {
      const { name: path, type, size = 0 } = entry.header;
      if (type !== "file" && type !== "contiguous-file" && type !== "directory") throw noFile(path, type ?? "special file");
      if (type !== "directory") admit(path, size);
      const chunks: Uint8Array[] = [];
      for await (const chunk of entry) chunks.push(chunk as Uint8Array);
      if (type !== "directory") files.push({ path, bytes: Buffer.concat(chunks) });
    }
    await read;
  } catch (error) {
    if (error instanceof CodedError) throw error;
    if (error instanceof LoadError) throw invalid(error);
    throw new CodedError("file_invalid", `${name} is no bundle: neither a directory nor a .tar.gz`, {}, error);
  }
  return files;
}

/** Runs what the engine reads; what it refuses is the file's fault. */
export function loaded<T>(read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (error instanceof LoadError) throw invalid(error);
    throw error;
  }
}

function invalid(error: LoadError): CodedError {
  return new CodedError("file_invalid", `${error.code}: ${error.message}`, {}, error);
}
