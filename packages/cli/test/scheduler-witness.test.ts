import { createHash } from "node:crypto";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openLogger } from "@seneschal/adapters/logging";
import { createMemoryLog, settableClock } from "@seneschal/adapters/memory";
import { systemRandom } from "@seneschal/adapters/system";
import { startService } from "@seneschal/app/platform";
import { schedulerService, schedulerSettings } from "@seneschal/app/scheduler";
import { serve } from "@seneschal/server-fastify";
import { expect, it } from "vitest";
import { run } from "../src/run.ts";
import { scriptedHost } from "./scripted-host.ts";

/** The commands of docs/scheduler.md for a witness, as they are typed there. */
const page = await readFile(new URL("../../../docs/scheduler.md", import.meta.url), "utf8");
const [, section = ""] = page.split("### A witness of the chain");
const [KEY = "", WITNESS = "", VERIFY = ""] = [...section.matchAll(/^seneschal (.*)$/gm)].map(([, line]) => line ?? "");

const sha256 = (text: string) => createHash("sha256").update(text).digest("hex");

it("follows a real scheduler's chain through its archive by a token that reads nothing else, and says when the archive is cut", async () => {
  const dir = await mkdtemp(join(tmpdir(), "scheduler-witness-"));
  const log = createMemoryLog().open();
  let cut = false;
  const turns: (() => Promise<void>)[] = [];
  const service = schedulerService({
    openLog: async () => ({ ...log, archived: async (piece) => (cut ? undefined : log.archived(piece)) }),
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
  const running = await startService(service, config, {
    serve,
    listen: { port: 0 },
    clock: settableClock(Date.parse("2026-03-01T12:00:00.000Z")),
    random: systemRandom,
    log: openLogger({ level: "silent" }),
    version: "test",
  });
  const edited = async (times: number) => {
    const send = (method: string, path: string, body: object) =>
      fetch(`${running.url}/api/v1/tenants${path}`, {
        method,
        headers: { authorization: "Bearer root", "content-type": "application/json" },
        body: JSON.stringify(body),
      });
    await send("POST", "", { name: "physics" });
    const edit = (_: unknown, at: number) => send("PUT", "/physics", { max_nodes: at, reason: `edit ${at}` });
    expect((await Promise.all(Array.from({ length: times }, edit))).every(({ status }) => status === 200)).toBe(true);
    await Promise.all(turns.map((turn) => turn()));
  };
  const typed = async (line: string) => {
    const host = scriptedHost({ cwd: dir });
    const reached = line.includes("--as") ? ` --url ${running.url} --token wim.token` : "";
    const code = await run([...`${line}${reached}`.replace(" --as acme/auditor", "").split(" "), "--json"], host);
    return { code, told: host.json(), said: [...host.lines, ...host.errors].join("\n") };
  };
  try {
    await writeFile(join(dir, "wim.token"), "wim", { mode: 0o600 });
    const { told } = await typed(KEY);
    const verify = VERIFY.replace("VERIFIER_KEY", String(told["verifier_key"]));
    expect((await typed(WITNESS)).told).toMatchObject({ error: { code: "log_empty" } });
    await edited(3);
    expect(await typed(WITNESS)).toMatchObject({ code: 0, told: { growth: "first", size: 4 } });
    await edited(400);
    expect(await log.archived(0)).toBeDefined();
    expect(await typed(verify)).toMatchObject({ code: 0, told: { valid: true, proven: { growth: "grown", size: 4 } } });
    const before = await readFile(join(dir, "scheduler.checkpoint"), "utf8");
    cut = true;
    for (const line of [WITNESS, verify]) {
      const refused = await typed(line);
      expect(refused.code).not.toBe(0);
      expect(refused.said).toContain("archived audit entry");
    }
    expect(await readFile(join(dir, "scheduler.checkpoint"), "utf8")).toBe(before);
    cut = false;
    expect(await typed(WITNESS)).toMatchObject({ code: 0, told: { growth: "grown", size: 404, kept_size: 4 } });
    const elsewhere = await fetch(`${running.url}/api/v1/tenants`, { headers: { authorization: "Bearer wim" } });
    expect(elsewhere.status).toBe(403);
  } finally {
    await running.stop();
    await rm(dir, { recursive: true, force: true });
  }
});
