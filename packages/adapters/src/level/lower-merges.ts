import { readdir } from "node:fs/promises";
import { getPriority, setPriority } from "node:os";

/** So much nicer: behind all that answers requests, but near enough that merges keep up with writes. */
const nicer = 5;
const nicest = 19;

let looked = false;

/**
 * Opens a database, and puts the thread in which LevelDB merges behind all others. It is one for all databases of a process and works for 100 ms at a time, for which two cores that
 * serve requests have no third. The first to `merge`, even nothing, starts it. Linux counts priorities by thread, but nobody says which one is LevelDB's: it is the
 * one that is new. Where that is not certain, or there is no `/proc`, all stay as they are.
 */
export async function lowerMerges(open: () => Promise<void>, merge: () => Promise<void>): Promise<void> {
  if (looked) return open();
  looked = true;
  // Asking starts the threads of Node's own pool, so that they are not new afterwards.
  const before = new Set(await threads());
  await open();
  await merge();
  const [fresh, ...more] = (await threads()).filter((id) => !before.has(id));
  if (fresh === undefined || more.length > 0) return;
  try {
    setPriority(fresh, Math.min(nicest, getPriority(fresh) + nicer));
  } catch {
    // The thread has its priority from elsewhere.
  }
}

async function threads(): Promise<readonly number[]> {
  const names = await readdir("/proc/self/task").catch(() => []);
  return names.map(Number);
}
