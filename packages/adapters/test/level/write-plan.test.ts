import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openLevelStore } from "@seneschal/adapters/level";
import type { JsonObject } from "@seneschal/kernel";
import { expect, test } from "vitest";
import { entriesOf } from "./level-entries.ts";

test('an audit event costs its entry and a key per index but "seq"; stream, commit ids and head cost one key each per batch', async () => {
  const path = await mkdtemp(join(tmpdir(), "level-keys-"));
  try {
    const store = await openLevelStore({
      path,
      collections: {},
      auditIndexes: { by_n: { key: ({ event }) => [(event as JsonObject)["n"] as number] } },
    });
    const event = (n: number): Promise<unknown> => store.commit({ commitId: `c${n}`, audit: [{ stream: "s", event: { n } }] });
    await event(1);
    await Promise.all([2, 3, 4].map(event));
    await store.close();
    const kinds = new Map<string, number>();
    for (const key of (await entriesOf(path)).keys()) {
      const kind = /^(?:i\/audit\/[a-z_]+|m\/[a-z]+|[a-z])/.exec(key)?.[0] ?? key;
      kinds.set(kind, (kinds.get(kind) ?? 0) + 1);
    }
    expect(Object.fromEntries(kinds)).toEqual({
      a: 4,
      "i/audit/by_n": 4,
      "i/audit/stream": 4,
      s: 1,
      w: 2,
      "m/format": 1,
      "m/head": 1,
      "m/indexes": 1,
    });
  } finally {
    await rm(path, { recursive: true });
  }
});
