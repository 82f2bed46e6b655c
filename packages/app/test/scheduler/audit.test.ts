import { createMemoryLog } from "@seneschal/adapters/memory";
import { auditHash } from "@seneschal/quota";
import { serve } from "@seneschal/server-fastify";
import { expect, test } from "vitest";
import { type Harness, startScheduler } from "./harness.ts";

/** Every entry of the chain, oldest first, read in pages of odd size. */
// biome-ignore lint/suspicious/noExplicitAny: a test reads whatever came
async function wholeChain(s: Harness): Promise<readonly any[]> {
  const entries = [];
  for (let offset = 0; ; offset += 77) {
    const page = await s.ok("root", "GET", `/api/v1/audit?limit=77&offset=${offset}`);
    entries.push(...page);
    if (page.length < 77) return entries.reverse();
  }
}

/** So many audited edits, many at a time. */
async function edit(s: Harness, times: number): Promise<void> {
  for (let i = 0; i < times; i += 50)
    await Promise.all(
      Array.from({ length: 50 }, (_, j) =>
        s.ok("root", "PUT", "/api/v1/tenants/physics", { max_nodes: i + j, reason: `edit ${i + j}` }),
      ),
    );
}

test("the audit chain stays whole, verifiable and pageable while all but its newest entries move to the archive", async () => {
  const shared = createMemoryLog();
  const turns: (() => Promise<void>)[] = [];
  const parts = {
    openLog: async () => shared.open(),
    repeat: (ms: number, work: () => Promise<void>) => {
      if (ms === 60_000) turns.push(work);
      return { stop: async () => undefined };
    },
  };
  const s = await startScheduler(serve, { storage: { audit_kept: 100 } }, parts);
  const other = await startScheduler(
    serve,
    { storage: { audit_kept: 100 } },
    { ...parts, repeat: () => ({ stop: async () => undefined }) },
  );
  try {
    await s.cluster(0);
    await edit(s, 650);
    const before = await wholeChain(s);
    expect(before).toHaveLength(651);
    await Promise.all(turns.map((turn) => turn()));
    expect([await shared.open().archived(0), await shared.open().archived(1)].every((piece) => piece !== undefined)).toBe(true);
    expect(await shared.open().archived(2)).toBeUndefined();
    for (const process of [s, other]) {
      await process.ok("root", "GET", "/api/v1/tenants/physics");
      const chain = await wholeChain(process);
      expect(chain).toEqual(before);
      const checkpoint = await process.ok("root", "GET", "/api/v1/audit/checkpoint");
      let head = "";
      for (const {
        id,
        timestamp,
        action,
        user_id: user,
        resource_type: resourceType,
        resource_id: resourceId,
        details,
        hash,
      } of chain) {
        const entry = { seq: Number(id), at: Date.parse(timestamp), action, user, resourceType, resourceId, details };
        head = auditHash(head, entry);
        expect(head).toBe(hash);
      }
      expect([checkpoint.head, checkpoint.entries]).toEqual([head, 651]);
    }
  } finally {
    await Promise.all([s.stop(), other.stop()]);
  }
});

test("an archived piece that is missing or was altered is told, not passed over", async () => {
  const log = createMemoryLog().open();
  let stolen = false;
  const turns: (() => Promise<void>)[] = [];
  const altered = async (piece: number): Promise<Uint8Array | undefined> => {
    const bytes = await log.archived(piece);
    const text = new TextDecoder().decode(bytes).replace('"user":"root"', '"user":"eve!"');
    return stolen ? new TextEncoder().encode(text) : undefined;
  };
  const s = await startScheduler(
    serve,
    { storage: { audit_kept: 100 } },
    {
      openLog: async () => ({ ...log, archived: altered }),
      repeat: (ms, work) => {
        if (ms === 60_000) turns.push(work);
        return { stop: async () => undefined };
      },
    },
  );
  try {
    await s.cluster(0);
    await edit(s, 400);
    await Promise.all(turns.map((turn) => turn()));
    expect((await s.call("root", "GET", "/api/v1/audit?limit=50")).status).toBe(200);
    for (stolen of [false, true]) {
      const answer = await s.call("root", "GET", "/api/v1/audit?limit=50&offset=390");
      expect([answer.status, answer.body.error.message]).toEqual([503, expect.stringContaining("archived audit entry")]);
    }
  } finally {
    await s.stop();
  }
});
