import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { scanSegment } from "./scan-segment.ts";

/** Where the bytes of an extent lie: its frame, of `size` bytes, begins at `at` in the file `path`. */
export interface StoredExtent {
  readonly name: string;
  readonly path: string;
  readonly at: number;
  readonly size: number;
}

/** What is in a device directory, by name, read from outside: for inspection, and for tests that do harm to it. */
export async function storedExtents(directory: string): Promise<readonly StoredExtent[]> {
  const found = new Map<string, StoredExtent>();
  for (const file of (await readdir(join(directory, "segments"))).sort()) {
    const path = join(directory, "segments", file);
    for (const { name, at, size, live } of (await scanSegment(path)).frames) if (live) found.set(name, { name, path, at, size });
  }
  return [...found.values()].sort((a, b) => (a.name < b.name ? -1 : 1));
}
