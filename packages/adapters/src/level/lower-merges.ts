import { readdir } from "node:fs/promises";
import { getPriority, setPriority } from "node:os";

/** So much nicer: behind all that answers requests, but near enough that merges keep up with writes. */
const nicer = 5;
const nicest = 19;

let looked = false;

/**
 * Lets `start` make LevelDB start its thread, and puts that thread behind all others. It merges files for 100 ms at a time, in one thread for all databases of a process,
 * and two cores that serve requests have no third for it. Linux counts priorities by thread, but nobody says which one is LevelDB's: it is the one that
 * is new. Where that is not certain, or there is no `/proc`, all stay as they are.
 */
export async function lowerMerges(start: () => Promise<void>): Promise<void> {
  if (looked) return start();
  looked = true;
  // Asking starts the threads of Node's own pool, so that they are not new afterwards.
  const before = new Set(await threads());
  await start();
  const [fresh, ...more] = (await threads()).filter((id) => !before.has(id));
  if (before.size === 0 || fresh === undefined || more.length > 0) return;
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
