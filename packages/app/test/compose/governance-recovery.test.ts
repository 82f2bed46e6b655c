import { createHash } from "node:crypto";
import { cp, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openLogger } from "@seneschal/adapters/logging";
import { systemClock, systemRandom } from "@seneschal/adapters/system";
import { serve } from "@seneschal/server-fastify";
import { afterEach, expect, test } from "vitest";
import { governanceServiceSettings } from "../../src/compose/service-settings.ts";
import { governanceService } from "../../src/governance/service.ts";
import { startService } from "../../src/platform/index.ts";

const admin = "key-of-the-admin";
const cleanups: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

async function folder(): Promise<string> {
  const path = await mkdtemp(join(tmpdir(), "seneschal-governance-"));
  cleanups.push(() => rm(path, { recursive: true, force: true }));
  return path;
}

/** A governance service as `seneschal serve` starts it, on the default store. */
async function machine(directory: string) {
  const config = governanceServiceSettings.parse({
    api_keys: [{ id: "admin", scopes: ["admin"], sha256: createHash("sha256").update(admin).digest("hex") }],
    classification: { threads: 0 },
  });
  const service = await startService(governanceService(directory), config, {
    serve,
    listen: { port: 0 },
    clock: systemClock,
    random: systemRandom,
    log: openLogger({ level: "silent" }),
    version: "test",
  });
  let running = true;
  const stop = async () => {
    if (running) await service.stop();
    running = false;
  };
  cleanups.push(stop);
  const call = async (method: string, path: string, body?: unknown, headers: Record<string, string> = {}, key = admin) => {
    const reply = await fetch(`${service.url}/api/v1/${path}`, {
      method,
      headers: {
        authorization: `Bearer ${key}`,
        ...(body === undefined ? {} : { "content-type": "application/json" }),
        ...headers,
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    // biome-ignore lint/suspicious/noExplicitAny: a test reads whatever came
    return { status: reply.status, body: (await reply.json()) as any };
  };
  return { call, stop };
}

const request = {
  operation_type: "EXPORT",
  source_resources: ["crm.customers"],
  destination_resource: "dwh.customers",
  user_context: { user_id: "ada", role: "analyst", department: "sales" },
};

test("governance/ and governance-audit-key.pem of a stopped machine, and nothing else of it, are the service on a clean one", async () => {
  const here = await folder();
  const lost = await machine(here);
  const columns = { id: { type: "int" }, ssn: { type: "text" } };
  await lost.call("PUT", "resources/crm.customers", { tier: "INTERNAL", columns });
  await lost.call("PUT", "resources/dwh.customers", { tier: "CONFIDENTIAL" });
  await lost.call("POST", "evaluate", request);
  const keyed = { "idempotency-key": "key-of-ci" };
  const wish = { name: "ci", scopes: ["classify", "evaluate", "lineage:read", "audit:read"] };
  const issued = await lost.call("POST", "api-keys", wish, keyed);
  expect(issued.status, JSON.stringify(issued.body)).toBe(201);
  const told = async ({ call }: typeof lost) => ({
    resource: (await call("GET", "resources/crm.customers")).body,
    records: (await call("POST", "audit/query", {})).body.records,
    keys: (await call("GET", "api-keys")).body.api_keys.map(({ last_used_at: _, ...key }: { last_used_at: string }) => key),
    judged: (await call("POST", "evaluate", request, {}, issued.body.api_key)).body.policy_evaluation.policy_name,
  });
  const before = await told(lost);
  expect(before.resource.columns.ssn).toMatchObject({ type: "text" });
  expect(before.records.length).toBeGreaterThan(0);
  const checkpoint = (await lost.call("GET", "audit/checkpoint")).body;
  await lost.stop();

  const clean = await folder();
  for (const kept of ["governance", "governance-audit-key.pem"])
    await cp(join(here, kept), join(clean, kept), { recursive: true });
  const restored = await machine(clean);
  const after = await told(restored);
  const old = new Set(before.records.map(({ id }: { id: string }) => id));
  expect({ ...after, records: after.records.filter(({ id }: { id: string }) => old.has(id)) }).toEqual(before);
  const { size, root, verifier_key } = checkpoint;
  const verified = (await restored.call("POST", "audit/verify", { size, root })).body;
  expect(verified, "the log continues the checkpoint that was kept elsewhere").toMatchObject({
    valid: true,
    missing: 0,
    checked_client_checkpoint: true,
  });
  expect((await restored.call("GET", "audit/checkpoint")).body.verifier_key).toBe(verifier_key);
  // A request that was carried out is known by its idempotency key: the API key is not made a second time.
  const repeated = await restored.call("POST", "api-keys", wish, keyed);
  expect([repeated.status, repeated.body.error?.code]).toEqual([409, "REPLY_NOT_KEPT"]);
});
