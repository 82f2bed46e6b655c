import { bytes, layout, rangeOf } from "./layout.ts";
import type { LevelDb } from "./open-level.ts";

/** Layout 2 is complete, what it has no use for is still being deleted. */
const clearing = "2, clearing 1";
/** Where layout 1 kept commit id by sequence, sequence by commit id, and the index that `a/` answers now. */
const old = { ids: "q/", seqs: "t/", index: "i/audit/seq/" } as const;
/** So many commit ids, of 1 KiB at most, become one batch. */
const chunk = 1000;

/**
 * Brings layout 1 to layout 2: commit ids by batches, no index `seq` of audit. Gives the layout then; another one stays as it
 * is. Each step may be cut off anywhere and is done again from its start.
 */
export async function upgradeLayout(db: LevelDb, found: string | undefined): Promise<string | undefined> {
  if (found !== "1" && found !== clearing) return found;
  if (found === "1") {
    await batchIds(db);
    await db.put(bytes(layout.format), clearing, { sync: true });
  }
  for (const prefix of Object.values(old)) await db.clear(rangeOf(prefix));
  await db.put(bytes(layout.format), "2", { sync: true });
  return "2";
}

async function batchIds(db: LevelDb): Promise<void> {
  await db.clear(rangeOf(layout.batches));
  const entries = db.iterator({ ...rangeOf(old.ids), highWaterMarkBytes: chunk * 2048 });
  try {
    for (let read = await entries.nextv(chunk); read.length > 0; read = await entries.nextv(chunk)) {
      const [end] = read.at(-1) as [Buffer, string];
      const place = layout.batch(Number(end.subarray(old.ids.length).toString("latin1")));
      await db.put(bytes(place), JSON.stringify(read.map(([, commitId]) => commitId)), { sync: true });
    }
  } finally {
    await entries.close();
  }
}
