import { ClassicLevel } from "classic-level";

/** All keys, as byte strings, and values of a directory that no store has open. */
export async function entriesOf(path: string): Promise<ReadonlyMap<string, string>> {
  const db = new ClassicLevel<Buffer, string>(path, { keyEncoding: "buffer", valueEncoding: "utf8" });
  const entries = (await db.iterator().all()).map(([key, value]) => [key.toString("latin1"), value] as const);
  await db.close();
  return new Map(entries);
}

/** Writes entries into a directory that no store has open, and deletes others. */
export async function alter(path: string, puts: Iterable<readonly [string, string]>, dels: Iterable<string> = []): Promise<void> {
  const db = new ClassicLevel<Buffer, string>(path, { keyEncoding: "buffer", valueEncoding: "utf8" });
  await db.open();
  const batch = db.batch();
  for (const [key, value] of puts) batch.put(Buffer.from(key, "latin1"), value);
  for (const key of dels) batch.del(Buffer.from(key, "latin1"));
  await batch.write();
  await db.close();
}
