import { createHash } from "node:crypto";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { openLogger } from "@seneschal/adapters/logging";
import { createMemoryLog, settableClock } from "@seneschal/adapters/memory";
import { systemRandom } from "@seneschal/adapters/system";
import { startService } from "@seneschal/app/platform";
import { schedulerService, schedulerSettings } from "@seneschal/app/scheduler";
import type { ReplicatedLog } from "@seneschal/kernel/ports";
import { serve } from "@seneschal/server-fastify";

/** A scheduler whose audit chain a witness follows: its token lies in `wim.token` of the directory. */
export interface WitnessedScheduler {
  readonly url: string;
  readonly log: ReplicatedLog;
  /** What is archived cannot be read any more. */
  cut: boolean;
  /** So many audited edits; what is beyond the newest hundred is archived. */
  edit(times: number): Promise<void>;
  stop(): Promise<void>;
}

const sha256 = (text: string) => createHash("sha256").update(text).digest("hex");

export async function openWitnessedScheduler(dir: string): Promise<WitnessedScheduler> {
  const log = createMemoryLog().open();
  const turns: (() => Promise<void>)[] = [];
  const service = schedulerService({
    openLog: async () => ({ ...log, archived: async (piece) => (opened.cut ? undefined : log.archived(piece)) }),
    repeat: (ms, work) => {
      if (ms === 60_000) turns.push(work);
      return { stop: async () => undefined };
    },
  });
  const config = schedulerSettings.parse({
    tokens: [
      { id: "root", role: "system-admin", sha256: sha256("root") },
      { id: "wim", role: "auditor", sha256: sha256("wim") },
    ],
    storage: { kind: "memory", path: dir, audit_kept: 100 },
    rate_limit: { authenticated: { limit: 1_000_000 } },
  });
  const opened = { cut: false };
  const running = await startService(service, config, {
    serve,
    listen: { port: 0 },
    clock: settableClock(Date.parse("2026-03-01T12:00:00.000Z")),
    random: systemRandom,
    log: openLogger({ level: "silent" }),
    version: "test",
  });
  await writeFile(join(dir, "wim.token"), "wim", { mode: 0o600 });
  const send = (method: string, path: string, body: object) =>
    fetch(`${running.url}/api/v1/tenants${path}`, {
      method,
      headers: { authorization: "Bearer root", "content-type": "application/json" },
      body: JSON.stringify(body),
    });
  return Object.assign(opened, {
    url: running.url,
    log,
    async edit(times: number) {
      await send("POST", "", { name: "physics" });
      const edit = (_: unknown, at: number) => send("PUT", "/physics", { max_nodes: at, reason: `edit ${at}` });
      const answers = await Promise.all(Array.from({ length: times }, edit));
      if (answers.some(({ status }) => status !== 200)) throw new Error("an edit was refused");
      await Promise.all(turns.map((turn) => turn()));
    },
    stop: () => running.stop(),
  });
}
