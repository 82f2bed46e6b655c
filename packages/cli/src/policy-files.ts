import { readdir, stat } from "node:fs/promises";
import { join, resolve, sep } from "node:path";
import { Readable } from "node:stream";
import { gunzipSync } from "node:zlib";
import { CodedError } from "@seneschal/kernel";
import {
  type Bundle,
  type BundleFile,
  type BundleOptions,
  type DocumentFile,
  LoadError,
  mergeDocuments,
  type RegoVersion,
  readBundle,
  type Source,
} from "@seneschal/rego/bundle";
import type { Host } from "./host.ts";
import { readBytes, readText } from "./read-file.ts";

/** What an archive may hold once it is unpacked. */
const MAX_BUNDLE_BYTES = 1_000_000_000;

/** Every `.rego` file below the paths, in order of name. Throws `usage` when there is none. */
async function regoFilesOf(host: Host, paths: readonly string[]): Promise<readonly string[]> {
  const files: string[] = [];
  for (const path of paths) {
    const names = await namesBelow(resolve(host.cwd, path));
    if (names === undefined) files.push(path);
    else files.push(...names.filter((name) => name.endsWith(".rego")).map((name) => join(path, name)));
  }
  if (files.length === 0) throw new CodedError("usage", "there is no .rego file");
  return files;
}

/** The files below a directory, in order of name; undefined for what is none. */
async function namesBelow(path: string): Promise<readonly string[] | undefined> {
  const directory = await stat(path).then(
    (facts) => facts.isDirectory(),
    () => false,
  );
  if (!directory) return undefined;
  const entries = await readdir(path, { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(path.length + 1))
    .sort();
}

/** The sources at and below the paths. */
export async function sourcesOf(host: Host, paths: readonly string[], version: RegoVersion = "v1"): Promise<readonly Source[]> {
  const sources: Source[] = [];
  for (const name of await regoFilesOf(host, paths)) {
    sources.push({ name, source: await readText(host, name), version });
  }
  return sources;
}

/** JSON and YAML files as one document, those below a directory at the path of theirs. Throws `file_invalid`. */
export async function documentsOf(host: Host, paths: readonly string[]): Promise<Readonly<Record<string, unknown>>> {
  const files: DocumentFile[] = [];
  for (const path of paths) {
    const names = await namesBelow(resolve(host.cwd, path));
    if (names === undefined) files.push({ name: path, path: [], text: await readText(host, path) });
    for (const below of names ?? []) {
      if (!/\.(json|ya?ml)$/.test(below)) continue;
      const name = join(path, below);
      files.push({ name, path: below.split(sep).slice(0, -1), text: await readText(host, name) });
    }
  }
  return loaded(() => mergeDocuments(files));
}

/** A bundle: a directory or a `.tar.gz`. Throws `file_invalid`. */
export async function bundleOf(host: Host, path: string, options: BundleOptions): Promise<Bundle> {
  const names = await namesBelow(resolve(host.cwd, path));
  const files =
    names === undefined
      ? await unpacked(host, path)
      : await Promise.all(
          names.map(async (name) => ({ path: name.split(sep).join("/"), bytes: await readBytes(host, join(path, name)) })),
        );
  return loaded(() => readBundle(files, options));
}

async function unpacked(host: Host, name: string): Promise<readonly BundleFile[]> {
  const archive = await readBytes(host, name);
  const { extract } = await import("tar-stream");
  const files: BundleFile[] = [];
  try {
    const entries = extract();
    Readable.from([gunzipSync(archive, { maxOutputLength: MAX_BUNDLE_BYTES })]).pipe(entries);
    for await (const entry of entries) {
      const chunks: Uint8Array[] = [];
      for await (const chunk of entry) chunks.push(chunk as Uint8Array);
      if (entry.header.type === "file") files.push({ path: entry.header.name, bytes: Buffer.concat(chunks) });
    }
  } catch (error) {
    throw new CodedError("file_invalid", `${name} is no bundle: neither a directory nor a .tar.gz`, {}, error);
  }
  return files;
}

/** Runs what the engine reads; what it refuses is the file's fault. */
export function loaded<T>(read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (error instanceof LoadError) throw new CodedError("file_invalid", `${error.code}: ${error.message}`, {}, error);
    throw error;
  }
}
