import { cp, mkdtemp, readFile, rm, unlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { settableClock } from "@seneschal/adapters/memory";
import { serve } from "@seneschal/server-fastify";
import { afterEach, expect, test } from "vitest";
import { type Harness, NOON, startScheduler } from "./harness.ts";

const cleanups: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

const clock = settableClock(NOON);

/** A scheduler on a log of its own on disk. `tidy` moves old entries of the audit chain to the log's archive. */
async function machine(backups?: string, path?: string) {
  const directory = path ?? (await mkdtemp(join(tmpdir(), "scheduler-drill-")));
  if (path === undefined) cleanups.push(() => rm(directory, { recursive: true }));
  if (backups !== undefined) await cp(backups, join(directory, "backups"), { recursive: true });
  const turns: (() => Promise<void>)[] = [];
  const storage = { kind: "level", path: directory, backups: join(directory, "backups"), audit_kept: 100 };
  const repeat = (ms: number, work: () => Promise<void>) => {
    if (ms === 60_000) turns.push(work);
    return { stop: async () => undefined };
  };
  const s = await startScheduler(serve, { storage }, { repeat }, clock);
  let running = true;
  const stop = async () => {
    if (running) await s.stop();
    running = false;
  };
  cleanups.push(stop);
  const tidy = async () => {
    for (const turn of turns) await turn();
  };
  return { s, directory, backups: storage.backups, tidy, stop };
}

const edit = async (s: Harness, from: number, to: number) => {
  for (let i = from; i < to; i++)
    await s.ok("root", "PUT", "/api/v1/tenants/physics", { max_nodes: 100 + i, reason: `edit ${i}` });
};

/** The whole audit chain, oldest first. */
// biome-ignore lint/suspicious/noExplicitAny: a test reads whatever came
async function chainOf(s: Harness): Promise<readonly any[]> {
  const entries = [];
  for (let offset = 0; ; offset += 100) {
    const page = await s.ok("root", "GET", `/api/v1/audit?limit=100&offset=${offset}`);
    entries.push(...page);
    if (page.length < 100) return entries.reverse();
  }
}

const restore = (s: Harness, backup_id: string) => s.call("root", "POST", "/api/v1/admin/backup/restore", { backup_id });
const verify = (s: Harness, backup_id: string) => s.ok("root", "POST", "/api/v1/admin/backup/verify", { backup_id });

test("a backup, and nothing else of the lost log, is the scheduler on an empty one: who raised a quota is not forgotten", async () => {
  const lost = await machine();
  await lost.s.cluster(3, { node_hours_budget: 1 });
  const running = await lost.s.submit("ada");
  await lost.s.cycle();
  await lost.s.pass(2);
  await lost.s.cycle();
  await edit(lost.s, 0, 380);
  await lost.tidy();
  const told = async (s: Harness) => ({
    chain: await chainOf(s),
    edits: await s.ok("root", "GET", "/api/v1/tenants/physics/edits"),
    usage: await s.ok("chief", "GET", "/api/v1/tenants/physics/usage"),
    budget: await s.ok("root", "GET", "/api/v1/events?type=budget_exhausted"),
  });
  const before = await told(lost.s);
  expect(before.chain.length).toBeGreaterThan(380);
  expect(before.edits.length).toBeGreaterThan(99);
  expect(before.budget).toHaveLength(1);
  const { backup_id: id } = await lost.s.ok("root", "POST", "/api/v1/admin/backup");
  await lost.stop();

  const clean = await machine(lost.backups);
  expect(await verify(clean.s, id)).toMatchObject({ success: true });
  expect((await restore(clean.s, id)).body).toMatchObject({ success: true, message: "backup restored" });
  const after = await told(clean.s);
  expect(after.chain.slice(0, before.chain.length)).toEqual(before.chain);
  expect(after.chain.slice(before.chain.length)).toMatchObject([{ action: "state.restore", user_id: "root" }]);
  expect({ ...after, chain: before.chain }).toEqual(before);
  expect((await clean.s.ok("ada", "GET", `/api/v1/allocations/${running}`)).status_reason).toBe("restored from a backup");

  // The chain goes on, into the archive and over a restart; restoring again takes nothing of it back.
  await edit(clean.s, 380, 700);
  await clean.tidy();
  expect((await restore(clean.s, id)).status).toBe(200);
  const whole = await chainOf(clean.s);
  expect(whole.slice(0, before.chain.length)).toEqual(before.chain);
  expect(whole.map(({ id }) => Number(id))).toEqual(Array.from({ length: whole.length }, (_, i) => i + 1));
  await clean.stop();
  const again = await machine(undefined, clean.directory);
  expect(await chainOf(again.s)).toEqual(whole);
});

test("a chain that would be lost is not restored over, nor a damaged one restored; a backup of before tells what it lacks", async () => {
  const lost = await machine();
  await lost.s.cluster(0);
  await edit(lost.s, 0, 360);
  await lost.tidy();
  const { backup_id: id } = await lost.s.ok("root", "POST", "/api/v1/admin/backup");
  await lost.stop();

  const other = await machine(lost.backups);
  await other.s.cluster(0);
  const refused = await restore(other.s, id);
  expect([refused.status, refused.body.error.code]).toEqual([409, "ownership_conflict"]);
  expect(await chainOf(other.s)).toHaveLength(1);

  const clean = await machine(lost.backups);
  const audit = join(clean.backups, `${id}.audit`);
  const good = await readFile(audit, "utf8");
  for (const bad of [good.replace('"user":"root"', '"user":"eve!"'), "", good + good]) {
    await writeFile(audit, bad);
    expect(await verify(clean.s, id)).toMatchObject({ success: false });
    expect((await restore(clean.s, id)).status).toBe(400);
  }
  // Earlier versions wrote the state alone.
  await unlink(audit);
  expect(await verify(clean.s, id)).toMatchObject({ success: true });
  expect((await restore(clean.s, id)).body).toMatchObject({ success: true, message: expect.stringContaining("audit chain") });
  expect((await clean.s.ok("root", "GET", "/api/v1/tenants/physics")).max_nodes).toBe(459);
  expect(await chainOf(clean.s)).toMatchObject([{ action: "state.restore" }]);
});
