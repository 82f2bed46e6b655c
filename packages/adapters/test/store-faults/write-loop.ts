/**
 * Child process of the fault tests: eight callers write without end; each acknowledged number is printed. After an error
 * it prints what later calls answer and ends.
 *
 * usage: write-loop.ts DIRECTORY|DATABASE-URL FIRST
 */
import { openLevelStore } from "@seneschal/adapters/level";
import { openPostgresStore } from "@seneschal/adapters/postgres";
import { faultSchema, writeOf } from "./fault-schema.ts";

const [place = "", first = "1"] = process.argv.slice(2);
const store = place.startsWith("postgres:")
  ? await openPostgresStore({ url: place, ...faultSchema })
  : await openLevelStore({ path: place, ...faultSchema });
let next = Number(first);
let failed = false;

async function caller(): Promise<void> {
  while (!failed) {
    const n = next;
    next += 1;
    try {
      await store.commit(writeOf(n));
      process.stdout.write(`ack ${n}\n`);
    } catch (error) {
      failed = true;
      process.stdout.write(`failed ${(error as { code?: string }).code}\n`);
    }
  }
}

await Promise.all(Array.from({ length: 8 }, caller));
const later = await store.commit(writeOf(next)).catch((error: { code?: string }) => error.code);
const read = await store.get("things", first);
const checked = await store.checkWrites?.().catch((error: { code?: string }) => error.code);
process.stdout.write(`later ${String(later)}\nchecked ${String(checked)}\nread ${read?.id}\n`);
