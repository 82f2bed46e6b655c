import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { run } from "../src/run.ts";
import { scriptedHost } from "./scripted-host.ts";

describe("seneschal serve", () => {
  let cwd = "";
  beforeAll(async () => {
    cwd = await mkdtemp(join(tmpdir(), "seneschal-serve-"));
  });
  afterAll(() => rm(cwd, { recursive: true, force: true }));

  it.each([[[]], [["--json"]]])("writes JSON lines, as its log is, and nothing else on standard output: %j", async (flags) => {
    const host = scriptedHost({ cwd, interrupted: Promise.resolve() });
    const settings = [`data_dir=${cwd}/data`, "log.level=silent", "scheduler.server.port=0", "scheduler.server.host=127.0.0.1"];
    const code = await run(["serve", "--services", "scheduler", ...settings.flatMap((s) => ["--set", s]), ...flags], host);
    expect([code, host.errors]).toEqual([0, []]);
    const lines = host.lines.flatMap((text) => text.split("\n")).map((line): unknown => JSON.parse(line));
    expect(lines).toEqual([{ services: [{ name: "scheduler", url: expect.stringMatching(/^http:/) }] }]);
    expect(host.ready()).toBe(1);
  });

  it("says as JSON, too, why it did not start, and ends with the code of that", async () => {
    const host = scriptedHost({ cwd, interrupted: Promise.resolve() });
    // Port 1 is nobody's.
    const etcd = { kind: "etcd", endpoints: ["http://127.0.0.1:1"], etcd_try_timeout: "50ms", etcd_total_timeout: "100ms" };
    await writeFile(
      join(cwd, "etcd.json"),
      JSON.stringify({
        data_dir: `${cwd}/none`,
        log: { level: "silent" },
        services: ["scheduler"],
        scheduler: { storage: etcd },
      }),
    );
    const code = await run(["serve", "--config", join(cwd, "etcd.json")], host);
    expect([code, host.errors]).toEqual([3, []]);
    expect(host.lines.map((line): unknown => JSON.parse(line))).toEqual([
      { error: { code: "no_quorum", message: expect.any(String), details: {} } },
    ]);
    expect(await run(["serve", "--config", join(cwd, "none.yaml")], host)).toBe(2);
    expect(JSON.parse(host.lines.at(-1) ?? "")).toMatchObject({ error: { code: expect.any(String) } });
    expect(host.ready()).toBe(0);
  });

  it("serves by processes in front where a setting says so, as its metrics and its health tell", async () => {
    let end = (): void => {};
    const host = scriptedHost({ cwd, interrupted: new Promise((resolve) => (end = resolve)) });
    const settings = [`data_dir=${cwd}/fronts`, "log.level=silent", "scheduler.server.port=0", "scheduler.server.processes=1"];
    const served = run(["serve", "--services", "scheduler", ...settings.flatMap((s) => ["--set", s])], host);
    try {
      await vi.waitUntil(() => host.lines.length > 0, { timeout: 60_000 });
      const { url } = (host.json()["services"] as { url: string }[])[0] ?? { url: "" };
      expect(await (await fetch(`${url}/health`)).json()).toMatchObject({ components: { processes: { status: "healthy" } } });
      const metrics = await (await fetch(`${url}/metrics`)).text();
      expect(metrics).toMatch(/^scheduler_server_processes 1$/m);
      expect(metrics).toMatch(/^scheduler_server_processes_replaced_total 0$/m);
    } finally {
      end();
      expect(await served).toBe(0);
    }
  });

  it.each(["a hangup", "a change of its file"])("takes its settings in anew at %s, and serves on", async (cause) => {
    const config = (limit: number): string => `
services: [scheduler]
data_dir: ${cwd}/reloaded
reload_interval: ${cause === "a hangup" ? "0s" : "5ms"}
log: { level: silent }
scheduler:
  server: { port: 0 }
  rate_limit: { anonymous: { limit: ${limit} } }
`;
    await writeFile(join(cwd, "seneschal.yaml"), config(1000));
    let end = (): void => {};
    const host = scriptedHost({ cwd, interrupted: new Promise((resolve) => (end = resolve)) });
    const served = run(["serve", "-c", "seneschal.yaml"], host);
    try {
      await vi.waitUntil(() => host.lines.length > 0, { timeout: 30_000 });
      const { url } = (host.json()["services"] as { url: string }[])[0] ?? { url: "" };
      const ask = async (): Promise<number> => (await fetch(`${url}/api/v1/auth/discovery`)).status;
      expect(await ask()).toBe(200);
      await writeFile(join(cwd, "seneschal.yaml"), "services: [no-such-service]");
      host.hangup();
      expect(await ask()).toBe(200);
      await writeFile(join(cwd, "seneschal.yaml"), config(1));
      if (cause === "a hangup") host.hangup();
      await vi.waitUntil(async () => (await ask()) === 429, { timeout: 30_000 });
    } finally {
      end();
      expect(await served).toBe(0);
    }
  });
});
