import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { AuditMessage } from "@seneschal/core/audit";
import { type AuditRecord, auditHash } from "@seneschal/quota";
import { serve } from "@seneschal/server-fastify";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { type Harness, startScheduler } from "./harness.ts";

let dir = "";
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), "scheduler-sinks-"));
});
afterEach(() => rm(dir, { recursive: true, force: true }));

const edit = (s: Harness, from: number, to: number) =>
  Promise.all(
    Array.from({ length: to - from }, (_, i) =>
      s.ok("root", "PUT", "/api/v1/tenants/physics", { max_nodes: 100 + from + i, reason: `edit ${from + i}` }),
    ),
  );

/** A scheduler on the same directory each time; `tidy` moves old entries of the chain to the log's archive. */
async function started(more: object) {
  const turns: (() => Promise<void>)[] = [];
  const repeat = (ms: number, work: () => Promise<void>) => {
    if (ms === 60_000) turns.push(work);
    return { stop: async () => undefined };
  };
  const storage = { kind: "level", path: join(dir, "log"), audit_kept: 100 };
  const s = await startScheduler(serve, { storage, ...more }, { repeat });
  return { s, tidy: async () => void (await Promise.all(turns.map((turn) => turn()))) };
}

test("the whole audit chain comes to a sink in order, what is archived of it too, and goes on over restarts where it stood", async () => {
  const first = await started({});
  await first.s.cluster(0);
  await edit(first.s, 0, 380);
  await first.tidy();
  await first.s.stop();

  const file = join(dir, "audit.jsonl");
  const told = async (): Promise<readonly AuditMessage[]> =>
    (await readFile(file, "utf8").catch(() => ""))
      .split("\n")
      .filter((line) => line !== "")
      .map((line) => JSON.parse(line) as AuditMessage);
  const sinks = {
    audit_sinks: {
      file: { kind: "file", path: file, from: "beginning", required: true },
      edits: { kind: "file", path: join(dir, "edits.jsonl"), events: ["tenant.create"], from: "beginning" },
    },
  };
  for (const [from, to] of [
    [380, 382],
    [382, 384],
  ] as const) {
    const { s } = await started(sinks);
    await edit(s, from, to);
    await vi.waitUntil(async () => (await told()).length === to + 1, { timeout: 30_000 });
    // Counted once it is written down how far the sink is.
    const counted = /^scheduler_audit_sink_events_total\{sink="file"\} [1-9]/m;
    await vi.waitUntil(async () => counted.test(await (await fetch(`${s.service.url}/metrics`)).text()), { timeout: 30_000 });
    expect((await s.service.health()).components).toMatchObject({ audit_sinks: { status: "healthy" } });
    await s.stop();
  }
  const messages = await told();
  expect(messages.map(({ seq }) => seq)).toEqual(messages.map((_, at) => at + 1));
  let head = "";
  for (const { seq, service, stream, type, actor, event } of messages) {
    const { hash, ...record } = event as unknown as AuditRecord;
    head = auditHash(head, record);
    // A SIEM proves the chain by what it was told.
    expect([hash, record.seq, service, stream, type, actor]).toEqual([
      head,
      seq,
      "scheduler",
      "scheduler",
      record.action,
      record.user,
    ]);
  }
  const some = (await readFile(join(dir, "edits.jsonl"), "utf8")).trim().split("\n");
  expect(some.map((line) => (JSON.parse(line) as AuditMessage).type)).toEqual(["tenant.create"]);
});
