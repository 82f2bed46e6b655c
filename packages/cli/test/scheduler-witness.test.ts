import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it } from "vitest";
import { run } from "../src/run.ts";
import { scriptedHost } from "./scripted-host.ts";
import { openWitnessedScheduler } from "./witnessed-scheduler.ts";

/** The commands of docs/scheduler.md for a witness, as they are typed there. */
const page = await readFile(new URL("../../../docs/scheduler.md", import.meta.url), "utf8");
const [, section = ""] = page.split("### A witness of the chain");
const [KEY = "", WITNESS = "", VERIFY = ""] = [...section.matchAll(/^seneschal (.*)$/gm)].map(([, line]) => line ?? "");

it("follows a real scheduler's chain through its archive by a token that reads nothing else, and says when the archive is cut", async () => {
  const dir = await mkdtemp(join(tmpdir(), "scheduler-witness-"));
  const scheduler = await openWitnessedScheduler(dir);
  const typed = async (line: string) => {
    const host = scriptedHost({ cwd: dir });
    const reached = line.includes("--as") ? ` --url ${scheduler.url} --token wim.token` : "";
    const code = await run([...`${line}${reached}`.replace(" --as acme/auditor", "").split(" "), "--json"], host);
    return { code, told: host.json(), said: [...host.lines, ...host.errors].join("\n") };
  };
  try {
    const { told } = await typed(KEY);
    const verify = VERIFY.replace("VERIFIER_KEY", String(told["verifier_key"]));
    expect((await typed(WITNESS)).told).toMatchObject({ error: { code: "log_empty" } });
    await scheduler.edit(3);
    expect(await typed(WITNESS)).toMatchObject({ code: 0, told: { growth: "first", size: 4 } });
    await scheduler.edit(400);
    expect(await scheduler.log.archived(0)).toBeDefined();
    expect(await typed(verify)).toMatchObject({ code: 0, told: { valid: true, proven: { growth: "grown", size: 4 } } });
    const before = await readFile(join(dir, "scheduler.checkpoint"), "utf8");
    scheduler.cut = true;
    for (const line of [WITNESS, verify]) {
      const refused = await typed(line);
      expect(refused.code).not.toBe(0);
      expect(refused.said).toContain("archived audit entry");
    }
    expect(await readFile(join(dir, "scheduler.checkpoint"), "utf8")).toBe(before);
    scheduler.cut = false;
    expect(await typed(WITNESS)).toMatchObject({ code: 0, told: { growth: "grown", size: 404, kept_size: 4 } });
    const elsewhere = await fetch(`${scheduler.url}/api/v1/tenants`, { headers: { authorization: "Bearer wim" } });
    expect(elsewhere.status).toBe(403);
  } finally {
    await scheduler.stop();
    await rm(dir, { recursive: true, force: true });
  }
});
