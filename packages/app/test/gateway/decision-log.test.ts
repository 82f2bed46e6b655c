import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openLogger } from "@seneschal/adapters/logging";
import { systemRandom } from "@seneschal/adapters/system";
import type { AuditMessage, DecisionEvent } from "@seneschal/core/audit";
import { serveS3 } from "@seneschal/server-s3";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import { prepareData } from "../../src/compose/prepare-data.ts";
import { processSettings } from "../../src/compose/process-settings.ts";
import { startProcess } from "../../src/compose/start-process.ts";
import { devIssuer } from "../../src/gateway/index.ts";
import { decisionsOf } from "../../src/platform/index.ts";
import { testServer } from "./backend.ts";
import { openRig, type Rig, type RigOptions } from "./rig.ts";
import { rootKey } from "./root-key.ts";

const base64 = (text: string): string => Buffer.from(text).toString("base64");
const MASK = `package system.log

mask contains "/input/metadata/patient"

mask contains {"op": "upsert", "path": "/input/subject/roles", "value": "***"}

drop if input.path == "nothing/of/it"
`;
let dir = "";
beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), "seneschal-gateway-decisions-"));
});
afterAll(() => rm(dir, { recursive: true, force: true }));
const mask = async (source: string): Promise<string> => {
  const path = join(dir, `${Buffer.from(systemRandom(8)).toString("hex")}.rego`);
  await writeFile(path, source);
  return path;
};

interface Told {
  readonly type: string;
  readonly org: string;
  readonly result: string;
  readonly decisions: readonly DecisionEvent[];
}

/** The audit events of a gateway with the decisions behind each, in their order. */
async function told({ store }: Rig, after = 0): Promise<readonly Told[]> {
  const entries = await store.auditRead(after, 500);
  const known = await decisionsOf(
    store,
    entries.map(({ event }) => `${event["id"]}`),
  );
  return entries.map(({ event }) => ({
    type: `${event["event_type"]}`,
    org: `${event["org_id"]}`,
    result: `${event["result"]}`,
    decisions: (known.get(`${event["id"]}`) ?? []) as unknown as readonly DecisionEvent[],
  }));
}

describe("the gateway's decision log", () => {
  let rig: Rig;
  let workspace = "";
  let policy = "";
  const open = async (source: string, more: RigOptions = {}) => {
    rig = await openRig({ settings: { decision_log_policy: await mask(source) }, decisionsTold: () => 0, ...more });
    const acme = rig.admin("acme");
    const key = await rootKey(acme);
    workspace = (await acme("POST", "/api/v1/workspaces", { name: "merger" })).body.id;
    const { id: identity_id } = rig.dev.organizations["acme"]?.admins.super_admin ?? {};
    await acme("POST", `/api/v1/workspaces/${workspace}/admissions`, { identity_id, identity_type: "admin" });
    const body = {
      name: "ward",
      workspace,
      rego: `package ward\n\nallow if not input.operation in {"decrypt", "archive"}\n\ndeny_reason := "not here" if not allow\n`,
    };
    const made = await acme("POST", "/api/v1/policies", { ...body, crk_signature: await key.sign("policy.create", "", body) });
    expect(made.status, made.text).toBe(201);
    policy = made.body.id;
  };
  const newest = async (): Promise<number> => (await told(rig)).length;
  afterEach(() => rig.close());

  it("has what each policy said of a request, with the event that the request records: masked before it is written, denials too", async () => {
    await open(MASK);
    const acme = rig.admin("acme");
    const context = { patient: "Ada Lovelace", ward: "7" };
    const before = await newest();
    const sealed = await acme("POST", `/api/v1/workspaces/${workspace}/encrypt`, { plaintext: base64("x"), context });
    expect(sealed.status, sealed.text).toBe(200);
    const opened = await acme("POST", `/api/v1/workspaces/${workspace}/decrypt`, { ciphertext: sealed.body.ciphertext, context });
    expect(opened.status).toBe(403);
    expect((await acme("POST", `/api/v1/workspaces/${workspace}/archive`, {})).status).toBe(403);
    expect((await rig.admin("acme", "auditor")("POST", "/api/v1/workspaces", { name: "no" })).status).toBe(403);
    const since = await told(rig, before);
    expect(since.map(({ type, result, decisions }) => [type, result, decisions.map(({ path }) => path)])).toEqual([
      ["encrypt", "success", ["gateway/authz/allow", "ward"]],
      ["policy.violation", "denied", ["gateway/authz/allow", "ward"]],
      ["policy.violation", "denied", ["gateway/authz/allow", "ward"]],
      ["auth.failure", "denied", ["gateway/authz/allow"]],
    ]);
    const [encrypt, decrypt, , created] = since;
    expect(encrypt?.decisions[0]).toMatchObject({
      decision_id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      labels: { app: "seneschal", version: "test", id: "seneschal" },
      bundles: { "gateway.authz": { revision: expect.stringMatching(/^[0-9a-f]{12}$/) } },
      input: { action: "workspace:encrypt", subject: { org: "acme", roles: "***" } },
      result: true,
      requested_by: rig.dev.organizations["acme"]?.admins.super_admin.id,
      timestamp: new Date(rig.clock.now()).toISOString(),
      metrics: { timer_rego_query_eval_ns: expect.any(Number) },
      masked: ["/input/subject/roles"],
    });
    expect(encrypt?.decisions[1]).toMatchObject({
      bundles: { [policy]: { revision: "1" } },
      input: { operation: "encrypt", workspace, metadata: { ward: "7" } },
      result: { allow: true },
      erased: ["/input/metadata/patient"],
    });
    expect(decrypt?.decisions[1]).toMatchObject({ result: { deny_reason: "not here" } });
    expect(created?.decisions[0]).toMatchObject({ result: false });
    const ids = since.flatMap(({ decisions }) => decisions.map(({ decision_id }) => decision_id));
    expect(new Set(ids).size).toBe(ids.length);
    expect(JSON.stringify(await told(rig))).not.toContain("Ada Lovelace");
  });

  it("asks about each context of a batch, and tells none of another request, nor in another organisation's log", async () => {
    await open(MASK);
    const acme = rig.admin("acme");
    const items = Array.from({ length: 100 }, (_, i) => ({ plaintext: base64("x"), context: { ward: `${i}` } }));
    const before = await newest();
    const [batch] = await Promise.all([
      acme("POST", `/api/v1/workspaces/${workspace}/encrypt-batch`, { items }),
      rig.admin("globex")("POST", "/api/v1/workspaces", { name: "theirs" }),
      acme("POST", `/api/v1/workspaces/${workspace}/invitations`, { org_id: "globex" }),
    ]);
    expect(batch.status, batch.text).toBe(200);
    const since = await told(rig, before);
    const wards = since
      .find(({ type }) => type === "encrypt")
      ?.decisions.map(({ input }) => (input as { readonly metadata?: { readonly ward: string } }).metadata?.ward)
      .filter((ward) => ward !== undefined);
    expect(new Set(wards)).toEqual(new Set(items.map(({ context }) => context.ward)));
    expect(wards?.length).toBe(100);
    for (const { org, decisions } of since) {
      for (const { input } of decisions) {
        const { subject, org_id } = input as { readonly subject?: { readonly org: string }; readonly org_id?: string };
        expect(subject?.org ?? org_id).toBe(org);
      }
    }
  });

  it.each([
    ["conflicts", "mask := [] if input.path\n\nmask := {} if input.path\n", "eval_conflict_error"],
    ["is none", "mask := 7\n", "mask_invalid"],
    ["names no pointer", 'mask contains "/input/metadata/*"\n', "mask_invalid"],
    ["is over its budget", "mask contains x if some x in numbers.range(1, 100000000)\n", "eval_limit_error"],
  ])("a mask that %s hides input and result of every decision, and says so; requests go on", async (_what, source, code) => {
    await open(`package system.log\n\n${source}`);
    const before = await newest();
    const context = { patient: "Ada Lovelace" };
    const sealed = await rig.admin("acme")("POST", `/api/v1/workspaces/${workspace}/encrypt`, {
      plaintext: base64("x"),
      context,
    });
    expect(sealed.status, sealed.text).toBe(200);
    const [encrypt] = await told(rig, before);
    const judged = encrypt?.decisions.filter(({ path }) => path === "ward") ?? [];
    expect(judged).toHaveLength(1);
    for (const decision of judged) {
      expect(decision).toMatchObject({ erased: ["/input", "/result"], mask_error: { code } });
      expect(["input" in decision, "result" in decision]).toEqual([false, false]);
    }
    expect(JSON.stringify(await told(rig))).not.toContain("Ada Lovelace");
  });

  it("leaves out what the policy drops, and everything where no sink tells decisions", async () => {
    await open('package system.log\n\ndrop if input.path == "gateway/authz/allow"\n');
    const before = await newest();
    const encrypt = () => rig.admin("acme")("POST", `/api/v1/workspaces/${workspace}/encrypt`, { plaintext: base64("x") });
    expect((await encrypt()).status).toBe(200);
    expect((await told(rig, before)).map(({ decisions }) => decisions.map(({ path }) => path))).toEqual([["ward"]]);
    await rig.close();
    await open(MASK, { decisionsTold: () => undefined });
    expect((await encrypt()).status).toBe(200);
    expect((await told(rig)).flatMap(({ decisions }) => decisions)).toEqual([]);
  });

  it("holds what no store holds, and hides what is too large to be told", async () => {
    await open("package system.log\n\nmask := set()\n");
    const key = await rootKey(rig.admin("globex"));
    const odd = async (name: string, rego: string) => {
      const body = { name, rego };
      const signed = await key.sign("policy.create", "", body);
      const made = await rig.admin("globex")("POST", "/api/v1/policies", { ...body, crk_signature: signed });
      expect(made.status, made.text).toBe(201);
    };
    await odd("odd", 'package odd\n\nallow := true\n\nsaid := "a\\u0000b"\n');
    const doubled = Array.from({ length: 5 }, (_, i) => `s${i + 1} := concat("", [${Array(16).fill(`s${i}`).join(", ")}])`);
    await odd("large", `package large\n\nallow := true\n\ns0 := "0"\n\n${doubled.join("\n\n")}\n`);
    const id = (await rig.admin("globex")("POST", "/api/v1/workspaces", { name: "odd" })).body.id;
    const identity_id = rig.dev.organizations["globex"]?.admins.super_admin.id;
    await rig.admin("globex")("POST", `/api/v1/workspaces/${id}/admissions`, { identity_id, identity_type: "admin" });
    const before = await newest();
    const sealed = await rig.admin("globex")("POST", `/api/v1/workspaces/${id}/encrypt`, { plaintext: base64("x") });
    expect(sealed.status, sealed.text).toBe(200);
    const byPath = new Map((await told(rig, before)).flatMap(({ decisions }) => decisions.map((one) => [one.path, one])));
    expect(byPath.get("odd")?.result).toMatchObject({ said: "a\u0000b" });
    expect(byPath.get("large")).toMatchObject({ erased: ["/input", "/result"], mask_error: { code: "decision_too_large" } });
  });
});

describe("the decision log of a gateway that runs", () => {
  let running: Awaited<ReturnType<typeof startProcess>> | undefined;
  let data = "";
  beforeEach(async () => {
    data = await mkdtemp(join(tmpdir(), "seneschal-decisions-"));
  });
  afterEach(async () => {
    await running?.stop();
    running = undefined;
    await rm(data, { recursive: true, force: true });
  });
  const issuer = devIssuer();
  const start = async (source: string) => {
    await prepareData(join(data, "data"), systemRandom);
    await writeFile(join(data, "jwt.pem"), issuer.publicKey);
    const config = processSettings.parse({
      services: ["gateway"],
      data_dir: join(data, "data"),
      auth: { jwt: { enabled: true, public_key: join(data, "jwt.pem"), issuer: issuer.issuer, audiences: [issuer.audience] } },
      gateway: {
        server: { port: 0, instance_id: "here" },
        organizations: [{ id: "acme" }],
        decision_log_policy: await mask(source),
        audit_sinks: { decisions: { kind: "file", path: join(data, "decisions.jsonl"), tells: "decisions" } },
      },
    });
    running = await startProcess(config, { serve: testServer(), serveS3, log: openLogger({ level: "silent" }), version: "test" });
  };

  it("comes to its sinks, each decision once, in OPA's form", async () => {
    await start(MASK);
    const token = issuer.token({ sub: "eve", org: "acme", roles: ["auditor"] }, Date.now());
    const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
    const response = await fetch(`${running?.services[0]?.url}/api/v1/workspaces`, {
      method: "POST",
      headers,
      body: '{"name":"x"}',
    });
    expect(response.status).toBe(403);
    const lines = async (): Promise<readonly AuditMessage[]> => {
      const text = await readFile(join(data, "decisions.jsonl"), "utf8").catch(() => "");
      return text.split("\n").flatMap((line) => (line === "" ? [] : [JSON.parse(line) as AuditMessage]));
    };
    await vi.waitUntil(async () => (await lines()).length >= 1, { timeout: 30_000 });
    expect(await lines()).toMatchObject([
      {
        service: "gateway",
        stream: "acme",
        type: "auth.failure",
        outcome: "denied",
        event: {
          labels: { app: "seneschal", id: "here", version: "test" },
          path: "gateway/authz/allow",
          input: { action: "workspace:create", subject: { id: "eve", roles: "***" } },
          result: false,
          requested_by: "eve",
        },
      },
    ]);
  });

  it.each([
    ["package system.log\n\nmask(x) := {x}\n", "is a function"],
    ["package other\n\nmask := []\n", "expected package system.log"],
    ["package system.log\n\nmask contains if {\n", ":3"],
  ])("starts with no mask that would hide nothing: %j", async (source, why) => {
    await expect(start(source)).rejects.toThrow(why);
  });
});
