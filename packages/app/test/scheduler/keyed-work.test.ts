import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createMemoryLog } from "@seneschal/adapters/memory";
import { schedulerContract } from "@seneschal/contract/scheduler";
import { serve } from "@seneschal/server-express";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { type Harness, startScheduler } from "./harness.ts";

const clockControl = { test_clock: true };
const key = (text: string) => ({ "idempotency-key": text });

describe("what is no command of the quotas is done once by its Idempotency-Key", () => {
  let directory: string;
  let one: Harness;
  let other: Harness;
  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), "seneschal-keyed-"));
    const log = createMemoryLog();
    const settings = { ...clockControl, storage: { backups: join(directory, "backups") } };
    const parts = { openLog: async () => log.open() };
    one = await startScheduler(serve, settings, parts);
    other = await startScheduler(serve, settings, parts);
  });
  afterEach(async () => {
    await one.stop();
    await other.stop();
    await rm(directory, { recursive: true, force: true });
  });
  const backups = async () => (await readdir(join(directory, "backups"))).length;

  test("whichever process is asked again: one backup, one step of the clock, one cycle, and the first answer", async () => {
    for (const [path, body] of [
      ["cycle", undefined],
      ["backup", undefined],
      ["clock", { advance_seconds: 60 }],
    ] as const) {
      const first = await one.call("root", "POST", `/api/v1/admin/${path}`, body, key("k"));
      expect([path, first.status]).toEqual([path, 200]);
      for (const process of [one, other, one]) {
        const again = await process.call("root", "POST", `/api/v1/admin/${path}`, body, key("k"));
        expect([again.status, again.body]).toEqual([200, first.body]);
      }
      const stranger = await other.call("root", "POST", `/api/v1/admin/${path}`, { ...body, advance_seconds: 61 }, key("k"));
      expect([path, stranger.status]).toEqual([path, path === "clock" ? 422 : 400]);
    }
    const { backup_id } = await one.ok("root", "POST", "/api/v1/admin/backup", {});
    expect(await one.ok("root", "POST", "/api/v1/admin/backup/verify", { backup_id })).toMatchObject({ success: true });
  });

  test("a restore that is asked for again undoes nothing of what came after it", async () => {
    await one.ok("root", "POST", "/api/v1/tenants", { name: "physics" });
    const { backup_id } = await one.ok("root", "POST", "/api/v1/admin/backup");
    const restore = (process: Harness, body: object = { backup_id }) =>
      process.call("root", "POST", "/api/v1/admin/backup/restore", body, key("r"));
    const first = await restore(one);
    expect(first.status).toBe(200);
    await one.ok("root", "POST", "/api/v1/tenants", { name: "biology" });
    for (const process of [other, one]) {
      const again = await restore(process);
      expect([again.status, again.body]).toEqual([200, first.body]);
      expect((await process.call("root", "GET", "/api/v1/tenants/biology")).status).toBe(200);
    }
    expect((await restore(other, {})).status).toBe(422);
    expect(await backups()).toBeGreaterThan(0);
  });

  test("a refusal is an answer too; what failed here is tried again", async () => {
    const missing = { backup_id: "no-such-backup" };
    const first = await one.call("root", "POST", "/api/v1/admin/backup/restore", missing, key("n"));
    expect(first.status).toBe(404);
    const again = await other.call("root", "POST", "/api/v1/admin/backup/restore", missing, key("n"));
    expect([again.status, again.body.error.code]).toEqual([404, first.body.error.code]);
    const without = await startScheduler(serve);
    for (let i = 0; i < 3; i++)
      expect((await without.call("root", "POST", "/api/v1/admin/backup", undefined, key("b"))).status).toBe(501);
    await without.stop();
  });

  test("a key is its caller's alone, and only a well formed one is taken", async () => {
    expect((await one.call("ada", "POST", "/api/v1/admin/cycle", undefined, key("k"))).status).toBe(403);
    expect((await one.call("root", "POST", "/api/v1/admin/cycle", undefined, key("k"))).status).toBe(200);
    const odd = await one.call("root", "POST", "/api/v1/admin/backup", undefined, key("a b"));
    expect([odd.status, odd.body.error.code]).toEqual([400, "invalid_argument"]);
    expect(await readdir(directory)).not.toContain("backups");
  });
});

test("no POST of the contract refuses a caller for an Idempotency-Key", async () => {
  const s = await startScheduler(serve, clockControl);
  const posts = Object.values(schedulerContract).filter(({ method }) => method === "POST");
  expect(posts.length).toBeGreaterThan(20);
  for (const { path } of posts) {
    const { status, body } = await s.call("root", "POST", path.replace(/:\w+/g, "x"), {}, key("every"));
    expect([path, status, JSON.stringify(body)]).not.toEqual([path, 400, expect.stringContaining("idempotency-key")]);
  }
  await s.stop();
});
