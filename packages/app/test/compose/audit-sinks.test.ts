import { createHash } from "node:crypto";
import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createServer } from "node:tls";
import { openLogger } from "@seneschal/adapters/logging";
import { systemRandom } from "@seneschal/adapters/system";
import type { AuditMessage } from "@seneschal/core/audit";
import { serve } from "@seneschal/server-fastify";
import { serveS3 } from "@seneschal/server-s3";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { prepareData } from "../../src/compose/prepare-data.ts";
import { processSettings } from "../../src/compose/process-settings.ts";
import { type RunningProcess, startProcess } from "../../src/compose/start-process.ts";
import { auditSinksSetting, loadConfig } from "../../src/platform/index.ts";
import { testCa } from "../platform/test-pki.ts";

const WAIT = { timeout: 30_000 };
const TOKEN = "an-admin-token-of-thirty-two-characters";

let dir = "";
let running: RunningProcess | undefined;
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), "seneschal-audit-out-"));
});
afterEach(async () => {
  await running?.stop();
  running = undefined;
  await rm(dir, { recursive: true, force: true });
});

it("what a service records is told as it is stored: by the gateway over TLS on both sides, by data governance and storage to files; none of it holds a secret", async () => {
  const ca = await testCa("SIEM");
  const [server, client] = [await ca.issue("CN=localhost", { usage: "server" }), await ca.issue("CN=gateway")];
  await writeFile(join(dir, "ca.pem"), ca.pem);
  await writeFile(join(dir, "client.pem"), client.cert);
  await writeFile(join(dir, "client-key.pem"), client.key, { mode: 0o600 });
  let came = "";
  const mutual = { cert: server.cert, key: server.key, ca: ca.pem, requestCert: true, rejectUnauthorized: true };
  const siem = createServer(mutual, (socket) => {
    socket
      .on("error", () => undefined)
      .on("data", (piece) => {
        came += piece;
      });
  });
  await new Promise<void>((resolve) => siem.listen(0, "localhost", resolve));
  await prepareData(join(dir, "data"), systemRandom);
  const key = `sk_${"k".repeat(40)}`;
  const config = processSettings.parse({
    services: ["gateway", "governance", "storage"],
    data_dir: join(dir, "data"),
    gateway: {
      server: { port: 0, instance_id: "here" },
      audit_sinks: {
        siem: {
          kind: "syslog",
          url: `tls://localhost:${(siem.address() as AddressInfo).port}`,
          required: true,
          ca_file: join(dir, "ca.pem"),
          cert_file: join(dir, "client.pem"),
          key_file: join(dir, "client-key.pem"),
          events: ["auth.*"],
        },
      },
    },
    governance: {
      server: { port: 0, instance_id: "here" },
      api_keys: [{ id: "k1", sha256: createHash("sha256").update(key).digest("hex"), org: "acme", scopes: ["admin"] }],
      audit_sinks: { file: { kind: "file", path: join(dir, "governance.jsonl") } },
    },
    storage: {
      server: { port: 0, instance_id: "here" },
      s3: { port: 0 },
      grpc: {},
      admin: { tokens: [{ id: "ops", role: "cluster-admin", sha256: createHash("sha256").update(TOKEN).digest("hex") }] },
      audit_sinks: { file: { kind: "file", path: join(dir, "storage.jsonl"), from: "beginning" } },
    },
  });
  running = await startProcess(config, { serve, serveS3, log: openLogger({ level: "silent" }), version: "test" });
  const [gateway = "", governance = "", storage = ""] = running.services.map(({ url }) => url);
  const bearer = (token: string) => ({ authorization: `Bearer ${token}`, "content-type": "application/json" });
  await fetch(`${gateway}/api/v1/workspaces`, { headers: bearer("eyJhbGciOiJIUzI1NiJ9.e30.c2VjcmV0LXNpZ25hdHVyZQ") });
  const classified = await fetch(`${governance}/api/v1/classify`, {
    method: "POST",
    headers: bearer(key),
    body: JSON.stringify({ query: "my ssn is 536-22-8726" }),
  });
  expect(classified.status).toBe(200);
  await fetch(`${storage}/ui/api/tenants`, { method: "POST", headers: bearer(TOKEN), body: JSON.stringify({ id: "acme" }) });
  const lines = async (name: string): Promise<readonly AuditMessage[]> => {
    const text = await readFile(join(dir, name), "utf8").catch(() => "");
    return text.split("\n").flatMap((line) => (line === "" ? [] : [JSON.parse(line) as AuditMessage]));
  };
  await vi.waitUntil(() => came.includes('"auth.failure"'), WAIT);
  await vi.waitUntil(async () => (await lines("governance.jsonl")).length > 0, WAIT);
  await vi.waitUntil(async () => (await lines("storage.jsonl")).length > 0, WAIT);

  const told = JSON.parse(came.slice(came.indexOf("] {") + 2).split(/}\d+ </)[0] ?? "") as AuditMessage;
  expect(told).toMatchObject({
    service: "gateway",
    instance: "here",
    type: "auth.failure",
    stream: "/instance",
    outcome: "denied",
  });
  expect(told.event).toMatchObject({ event_type: "auth.failure", metadata: { route: "listWorkspaces", code: "invalid_token" } });
  expect((await lines("governance.jsonl"))[0]).toMatchObject({ service: "governance", type: "classify", stream: "acme" });
  expect((await lines("storage.jsonl"))[0]).toMatchObject({ service: "storage", stream: "storage", seq: 1, stream_seq: 1 });
  const everything = came + JSON.stringify([await lines("governance.jsonl"), await lines("storage.jsonl")]);
  for (const secret of [key, TOKEN, "c2VjcmV0LXNpZ25hdHVyZQ", "536-22-8726", "PRIVATE KEY"])
    expect(everything).not.toContain(secret);

  // What came is counted when it has come: a sink may have it a moment before.
  for (const url of [gateway, governance, storage])
    await vi.waitUntil(
      async () => /^[a-z]+_audit_sink_events_total\{sink="\w+"\} [1-9]/m.test(await (await fetch(`${url}/metrics`)).text()),
      WAIT,
    );
  expect((await (await fetch(`${gateway}/health`)).json()) as unknown).toMatchObject({
    components: { audit_sinks: { status: "healthy" } },
  });
  await new Promise((resolve) => siem.close(resolve));
});

it("the manual shows a configuration that is one, and names every setting of a sink", async () => {
  const manual = await readFile(new URL("../../../../docs/audit-sinks.md", import.meta.url), "utf8");
  const text = /```yaml\n([\s\S]*?)```/.exec(manual)?.[1] ?? "";
  const { gateway } = loadConfig(processSettings, { file: { name: "audit-sinks.md", text } });
  expect(Object.values(gateway.audit_sinks).map(({ kind }) => kind)).toEqual(["syslog", "file", "webhook", "otlp"]);
  const explained = [...manual.matchAll(/^\| (`[a-z_]+`(?:, `[a-z_]+`)*) \|/gm)].flatMap(
    ([, names = ""]) => names.match(/\w+/g) ?? [],
  );
  const settings = Object.keys(auditSinksSetting.def.innerType.valueType.shape);
  expect(settings.filter((name) => !explained.includes(name))).toEqual([]);
});

it("while a required sink is too far behind every request that may record is a 503 with Retry-After, probes answer and say why, and it ends by itself", async () => {
  await prepareData(join(dir, "data"), systemRandom);
  const path = join(dir, "mount", "audit.jsonl");
  const config = processSettings.parse({
    services: ["gateway"],
    data_dir: join(dir, "data"),
    gateway: { server: { port: 0 }, audit_sinks: { disk: { kind: "file", path, required: true, max_lag: "5s" } } },
  });
  running = await startProcess(config, { serve, serveS3, log: openLogger({ level: "silent" }), version: "test" });
  const url = running.services[0]?.url ?? "";
  const ask = async (route: string) => {
    const response = await fetch(`${url}${route}`, { headers: { authorization: "Bearer none" } });
    return { status: response.status, retry: response.headers.get("retry-after"), body: await response.text() };
  };
  expect((await ask("/api/v1/workspaces")).status).toBe(401);
  await vi.waitUntil(async () => (await ask("/ready")).status === 503, WAIT);
  expect(await ask("/api/v1/workspaces")).toMatchObject({
    status: 503,
    retry: "5",
    body: expect.stringContaining('"reason":"audit_sink_behind"'),
  });
  expect(JSON.parse((await ask("/health")).body)).toMatchObject({ components: { audit_sinks: { status: "unhealthy" } } });
  await vi.waitUntil(
    async () => (await ask("/health")).body.includes('"background: audit sink disk":{"status":"unhealthy"'),
    WAIT,
  );
  expect((await ask("/live")).status).toBe(200);
  expect((await ask("/metrics")).body).toMatch(/^gateway_audit_sink_lag_seconds\{sink="disk"\} [1-9]/m);
  await mkdir(join(dir, "mount"));
  await vi.waitUntil(async () => (await ask("/ready")).status === 200, WAIT);
  expect((await ask("/api/v1/workspaces")).status).toBe(401);
});

it("a reload begins, moves and ends sinks of every service, without losing an event; a wrong one of one service changes none of any", async () => {
  const governanceKey = `sk_${"k".repeat(40)}`;
  const sha256 = (text: string) => createHash("sha256").update(text).digest("hex");
  await prepareData(join(dir, "data"), systemRandom);
  await writeFile(
    join(dir, "decision.rego"),
    'package governance\n\ndecision := {"allowed": true, "policy_id": "p", "policy_name": "P", "reasons": []}\n',
  );
  const names = ["gateway", "governance", "scheduler", "storage"] as const;
  const settings = (sinks: (service: string) => object) =>
    processSettings.parse({
      services: names,
      data_dir: join(dir, "data"),
      gateway: { server: { port: 0 }, audit_sinks: sinks("gateway") },
      governance: {
        server: { port: 0 },
        policy_files: [join(dir, "decision.rego")],
        api_keys: [{ id: "k1", sha256: sha256(governanceKey), org: "acme", scopes: ["admin"] }],
        audit_sinks: sinks("governance"),
      },
      scheduler: {
        server: { port: 0 },
        tokens: [{ id: "ops", role: "system-admin", sha256: sha256(TOKEN) }],
        audit_sinks: sinks("scheduler"),
      },
      storage: {
        server: { port: 0 },
        s3: { port: 0 },
        grpc: {},
        admin: { tokens: [{ id: "ops", role: "cluster-admin", sha256: sha256(TOKEN) }] },
        audit_sinks: sinks("storage"),
      },
    });
  const start = () =>
    startProcess(
      settings(() => ({})),
      { serve, serveS3, log: openLogger({ level: "silent" }), version: "test" },
    );
  running = await start();
  let made = 0;
  const act = async (): Promise<void> => {
    const post = async (service: number, path: string, token: string, body: object) => {
      const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
      const url = `${running?.services[service]?.url}${path}`;
      return (await fetch(url, { method: "POST", headers, body: JSON.stringify(body) })).status;
    };
    const tenant = `t${++made}`;
    expect(await post(0, "/api/v1/workspaces", "eyJhbGciOiJIUzI1NiJ9.e30.c2VjcmV0LXNpZ25hdHVyZQ", {})).toBe(401);
    const evaluation = {
      operation_type: "READ",
      source_resources: ["crm.customers"],
      user_context: { user_id: "ada", role: "analyst", department: "sales" },
    };
    expect(await post(1, "/api/v1/evaluate", governanceKey, evaluation)).toBe(200);
    expect(await post(2, "/api/v1/tenants", TOKEN, { name: tenant })).toBe(201);
    expect(await post(3, "/ui/api/ops/tenants", TOKEN, { tenant_id: tenant })).toBe(201);
  };
  const file = (name: string, more: object = {}) => ({ kind: "file", path: join(dir, `${name}.jsonl`), ...more });
  const told = async (name: string) => {
    const text = await readFile(join(dir, `${name}.jsonl`), "utf8").catch(() => "");
    return text.split("\n").flatMap((line) => (line === "" ? [] : [(JSON.parse(line) as AuditMessage).seq]));
  };
  const hears = async (name: string): Promise<void> => {
    const before = (await told(name)).length;
    await vi.waitUntil(async () => (await told(name)).length > before, WAIT);
  };
  await act();
  const decisions = { decisions: file("decisions", { tells: "decisions" }) };
  const to = (place: string) =>
    settings((service) => ({ siem: file(`${service}-${place}`), ...(service === "governance" ? decisions : {}) }));
  await running.reload(to("one"));
  await act();
  for (const service of names) await vi.waitUntil(async () => (await told(`${service}-one`)).length > 0, WAIT);
  await vi.waitUntil(async () => (await told("decisions")).length === 1, WAIT);

  const wrong = { kind: "syslog", url: "tls://127.0.0.1:1", ca_file: join(dir, "absent.pem") };
  await expect(
    running.reload(settings((service) => ({ siem: service === "storage" ? wrong : file(`${service}-wrong`) }))),
  ).rejects.toThrow();
  const heard = names.map((service) => hears(`${service}-one`));
  await act();
  await Promise.all(heard);
  for (const service of names) expect(await told(`${service}-wrong`)).toEqual([]);

  await running.reload(to("two"));
  await act();
  for (const service of names) await vi.waitUntil(async () => (await told(`${service}-two`)).length > 0, WAIT);
  await running.reload(settings(() => ({})));
  await act();
  // Each goes on where it stands, also after a restart, which is another way to the same settings.
  await running.stop();
  running = await start();
  await running.reload(to("three"));
  for (const service of names) await vi.waitUntil(async () => (await told(`${service}-three`)).length > 0, WAIT);
  for (const service of names) {
    const all = (await Promise.all(["one", "two", "three"].map((place) => told(`${service}-${place}`)))).flat();
    expect(all, service).toEqual(all.map((_, i) => (all[0] ?? 0) + i));
  }
});
