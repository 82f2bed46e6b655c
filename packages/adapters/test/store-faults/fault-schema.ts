import type { Commit } from "@seneschal/kernel/ports";
import type { StoreSchema } from "@seneschal/kernel/store";

/** What the fault tests write. */
export const faultSchema = {
  collections: {
    things: { indexes: { by_group: { key: (doc) => [doc["group"] as number, doc["n"] as number] } } },
    twins: { indexes: { by_n: { key: (doc) => [doc["n"] as number], unique: true } } },
  },
} satisfies StoreSchema;

/** The nth commit: two documents in two collections, three index entries, one audit event. */
export function writeOf(n: number): Commit {
  return {
    commitId: `write-${n}`,
    puts: [
      { coll: "things", id: String(n), doc: { n, group: n % 7, text: "x".repeat(200) }, ifVersion: 0 },
      { coll: "twins", id: `twin-${n}`, doc: { n }, ifVersion: 0 },
    ],
    audit: [{ stream: `s${n % 3}`, event: { n } }],
  };
}
