import { type FSWatcher, watch } from "node:fs";
import { type FileHandle, open, readdir } from "node:fs/promises";
import { join } from "node:path";

/** What LevelDB writes and deletes much of: logs and tables. */
const bulky = /\.(log|ldb)$/;
/** So many are held, the newest: those are merged and deleted soonest. */
const maxHeld = 256;

/**
 * Holds the files of a LevelDB directory open until they are gone from it. LevelDB deletes files while it holds the lock that every
 * read takes, 1 ms for a table and 5 ms for a log, of which nearly all is giving back their pages; of a file that is still
 * open somewhere these are given back when it is closed, here by another thread. A file that is missed is only deleted
 * slower. Returns what ends it.
 */
export async function holdFiles(directory: string): Promise<() => Promise<void>> {
  const held = new Map<string, Promise<FileHandle | undefined>>();
  const release = async (name: string): Promise<void> => {
    const file = held.get(name);
    held.delete(name);
    await (await file)?.close().catch(() => undefined);
  };
  const look = (name: string): void => {
    if (!bulky.test(name)) return;
    if (held.has(name)) {
      void release(name);
      return;
    }
    const file = open(join(directory, name));
    held.set(
      name,
      file.catch(() => undefined),
    );
    const [oldest] = held.keys();
    if (held.size > maxHeld && oldest !== undefined) void release(oldest);
  };
  let watcher: FSWatcher | undefined;
  try {
    // A name is told of when it comes and when it goes.
    watcher = watch(directory, { persistent: false }, (event, name) => event === "rename" && name !== null && look(name));
    watcher.on("error", () => watcher?.close());
    const names = (await readdir(directory)).filter((name) => bulky.test(name)).sort();
    for (const name of names.slice(-maxHeld)) if (!held.has(name)) look(name);
  } catch {
    // Without a watcher nothing is held.
  }
  return async () => {
    watcher?.close();
    await Promise.all([...held.keys()].map(release));
  };
}
