import { createHash } from "node:crypto";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openLogger } from "@seneschal/adapters/logging";
import { openMemoryStore } from "@seneschal/adapters/memory";
import { systemRandom } from "@seneschal/adapters/system";
import type { AuditMessage } from "@seneschal/core/audit";
import { serve } from "@seneschal/server-fastify";
import { serveS3 } from "@seneschal/server-s3";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { prepareData } from "../../src/compose/prepare-data.ts";
import { processSettings } from "../../src/compose/process-settings.ts";
import { type RunningProcess, startProcess } from "../../src/compose/start-process.ts";
import { governanceSchema } from "../../src/governance/index.ts";
import { forgetDecisions } from "../../src/platform/index.ts";
import { cut, startStubModel, stream, textsOf } from "./stub-model.ts";

const WAIT = { timeout: 30_000 };
const KEY = `sk_${"k".repeat(40)}`;
const DECISION = `package governance

decision := {"allowed": input.user.role == "analyst", "policy_id": "p", "policy_name": "P", "reasons": []}
`;
const LOG = `package system.log

mask contains "/input/user/user_id"

mask contains {"op": "upsert", "path": "/input/user/role", "value": "***"} if input.input.user.role == "intern"

drop if input.input.operation_type == "VIEW"
`;

describe("the decision log", () => {
  let dir = "";
  let running: RunningProcess | undefined;
  let url = "";
  beforeEach(async () => {
    dir = await mkdtemp(join(tmpdir(), "seneschal-decisions-"));
    await writeFile(join(dir, "decision.rego"), DECISION);
    await writeFile(join(dir, "log.rego"), LOG);
  });
  afterEach(async () => {
    await running?.stop();
    running = undefined;
    await rm(dir, { recursive: true, force: true });
  });
  const start = async (files: readonly string[], sinks?: object, more: object = {}) => {
    await prepareData(join(dir, "data"), systemRandom);
    const config = processSettings.parse({
      services: ["governance"],
      data_dir: join(dir, "data"),
      governance: {
        server: { port: 0, instance_id: "here" },
        api_keys: [{ id: "k1", sha256: createHash("sha256").update(KEY).digest("hex"), org: "acme", scopes: ["admin"] }],
        policy_files: files.map((name) => join(dir, name)),
        audit_sinks: sinks ?? {
          decisions: { kind: "file", path: join(dir, "decisions.jsonl"), tells: "decisions" },
          events: { kind: "file", path: join(dir, "events.jsonl") },
        },
        ...more,
      },
    });
    running = await startProcess(config, { serve, serveS3, log: openLogger({ level: "silent" }), version: "test" });
    url = running.services[0]?.url ?? "";
  };
  const evaluate = async (operation: string, role: string) => {
    const response = await fetch(`${url}/api/v1/evaluate`, {
      method: "POST",
      headers: { authorization: `Bearer ${KEY}`, "content-type": "application/json" },
      body: JSON.stringify({
        operation_type: operation,
        source_resources: ["crm.customers"],
        user_context: { user_id: "ada@example.org", role, department: "sales" },
      }),
    });
    return { status: response.status, body: (await response.json()) as Record<string, unknown> };
  };
  const lines = async (name: string): Promise<readonly AuditMessage[]> => {
    const text = await readFile(join(dir, name), "utf8").catch(() => "");
    return text.split("\n").flatMap((line) => (line === "" ? [] : [JSON.parse(line) as AuditMessage]));
  };

  it("tells each decision once in OPA's form, masked before it is written, without those that are dropped; events go where they went", async () => {
    await start(["decision.rego", "log.rego"]);
    const yes = await evaluate("READ", "analyst");
    await evaluate("VIEW", "analyst");
    const no = await evaluate("READ", "intern");
    await vi.waitUntil(async () => (await lines("decisions.jsonl")).length >= 2, WAIT);
    await vi.waitUntil(async () => (await lines("events.jsonl")).length >= 3, WAIT);
    const told = await lines("decisions.jsonl");
    expect(told.map(({ id }) => id)).toEqual([yes.body["decision_id"], no.body["decision_id"]]);
    expect(told[0]).toMatchObject({
      service: "governance",
      stream: "acme",
      type: "read",
      outcome: "success",
      event: {
        decision_id: yes.body["decision_id"],
        labels: { app: "seneschal", id: "here", version: "test" },
        bundles: { governance: { revision: expect.stringMatching(/^[0-9a-f]{12}$/) } },
        path: "governance/decision",
        input: { operation_type: "READ", user: { role: "analyst", department: "sales" } },
        result: { allowed: true, policy_id: "p" },
        requested_by: "k1",
        timestamp: expect.stringMatching(/Z$/),
        metrics: { timer_rego_query_eval_ns: expect.any(Number) },
        erased: ["/input/user/user_id"],
      },
    });
    expect(told[1]).toMatchObject({
      outcome: "denied",
      event: { input: { user: { role: "***" } }, erased: ["/input/user/user_id"], masked: ["/input/user/role"] },
    });
    expect((await lines("events.jsonl")).map(({ type }) => type)).toEqual(["read", "view", "read"]);
    expect((await lines("events.jsonl"))[0]?.event).toMatchObject({ operation_type: "READ", policy_id: "p" });
    expect(JSON.stringify(told)).not.toContain("ada@example.org");
  });

  it("of a policy that says nothing of the log tells the whole input, and of one that fails an error", async () => {
    await writeFile(
      join(dir, "decision.rego"),
      `package governance\n\ndecision := input.nothing.here\n\ndecision := 1 if input.user.role == "both"\n\ndecision := 2 if input.user.role == "both"\n`,
    );
    await start(["decision.rego"]);
    await evaluate("READ", "analyst");
    expect((await evaluate("READ", "both")).status).toBe(500);
    await vi.waitUntil(async () => (await lines("decisions.jsonl")).length >= 2, WAIT);
    const [undefinedOne, failed] = (await lines("decisions.jsonl")).map(({ event }) => event);
    expect(undefinedOne).toMatchObject({ input: { user: { user_id: "ada@example.org" } } });
    expect(Object.keys(undefinedOne ?? {})).not.toContain("result");
    expect(failed).toMatchObject({ error: { code: "eval_conflict_error" } });
  });

  it("is masked by `system.log` from whatever package it is written in", async () => {
    await writeFile(join(dir, "log.rego"), 'package system\n\nlog.mask contains "/input/user"\n');
    await start(["decision.rego", "log.rego"]);
    await evaluate("READ", "analyst");
    await vi.waitUntil(async () => (await lines("decisions.jsonl")).length >= 1, WAIT);
    expect((await lines("decisions.jsonl"))[0]?.event).toMatchObject({ erased: ["/input/user"] });
  });

  it.each([
    ['package system.log\n\nmask(x) := {"/input"} if x', "log.rego:3"],
    ["package system.log\n\ndrop(x) if x", "log.rego:3"],
    ["package system\n\nlog.mask(x) := x", "log.rego:3"],
  ])("has no mask and no drop that nobody calls: %j is refused at the start", async (source, place) => {
    await writeFile(join(dir, "log.rego"), `${source}\n`);
    await expect(start(["decision.rego", "log.rego"])).rejects.toThrow(place);
  });

  it("tells what is decided of prompts and completions, whole and streamed, denied and failed, and no value of them", async () => {
    const model = await startStubModel();
    try {
      const decides = `model_decision := {"allowed": d, "policy_id": "m", "policy_name": "M", "reasons": []} if d := input.model != "no"

model_decision := 1 if input.model == "both"
`;
      await writeFile(join(dir, "decision.rego"), `${DECISION}\n${decides}`);
      await writeFile(join(dir, "log.rego"), 'package system.log\n\nmask contains "/input/subject/id"\n');
      await start(["decision.rego", "log.rego"], undefined, { models: { upstream: model.url } });
      const ask = async (named: string, stream: boolean) => {
        const response = await fetch(`${url}/v1/chat/completions`, {
          method: "POST",
          headers: { authorization: `Bearer ${KEY}`, "content-type": "application/json" },
          body: JSON.stringify({ model: named, stream, messages: [{ role: "user", content: "my card is 4111 1111 1111 1111" }] }),
        });
        await response.text();
        return [response.status, response.headers.get("x-decision-id")];
      };
      const [status, id] = await ask("stub-1", false);
      expect(status).toBe(200);
      model.answer(({ path, body }, response) => stream(path, cut(textsOf(body), 5), response));
      expect((await ask("stub-1", true))[0]).toBe(200);
      expect((await ask("no", false))[0]).toBe(403);
      expect((await ask("both", false))[0]).toBe(500);
      await vi.waitUntil(async () => (await lines("decisions.jsonl")).length >= 6, WAIT);
      const told = await lines("decisions.jsonl");
      const event = (one: AuditMessage) => one.event as Record<string, Record<string, unknown> | undefined>;
      expect(told.map((one) => [one.type, one.outcome, event(one)["path"], event(one)["result"]?.["allowed"]])).toEqual([
        ["prompt", "success", "governance/model_decision", true],
        ["completion", "success", "governance/model_decision", true],
        ["prompt", "success", "governance/model_decision", true],
        ["completion", "success", "governance/model_decision", true],
        ["prompt", "denied", "governance/model_decision", false],
        ["prompt", "denied", "governance/model_decision", undefined],
      ]);
      expect(event(told[0] as AuditMessage)).toMatchObject({
        decision_id: id,
        input: { direction: "prompt", model: "stub-1", entities: ["CREDIT_CARD"] },
        erased: ["/input/subject/id"],
      });
      expect(event(told[1] as AuditMessage)).toMatchObject({ input: { direction: "completion" } });
      expect(event(told[5] as AuditMessage)).toMatchObject({ error: { code: "eval_conflict_error" } });
      expect(JSON.stringify(told)).not.toContain("4111");
    } finally {
      await model.close();
    }
  });

  it("keeps no decision where no sink tells decisions", async () => {
    await start(["decision.rego"], { events: { kind: "file", path: join(dir, "events.jsonl") } });
    await evaluate("READ", "analyst");
    await vi.waitUntil(async () => (await lines("events.jsonl")).length >= 1, WAIT);
    expect(await lines("decisions.jsonl")).toEqual([]);
  });

  it("is told by data governance and the gateway: other services refuse the setting", () => {
    const sinks = { d: { kind: "file", path: "/tmp/d.jsonl", tells: "decisions" } };
    for (const service of ["scheduler", "storage"])
      expect(() => processSettings.parse({ services: [service], [service]: { audit_sinks: sinks } })).toThrow("no decisions");
  });
});

it("decisions that every sink has heard are deleted, and none that one has not", async () => {
  const store = openMemoryStore(governanceSchema);
  const puts = Array.from({ length: 1201 }, (_, i) => ({
    coll: "decisions",
    id: `d${i}`,
    doc: { at: i * 1000, documents: 1, events: ["{}"] },
  }));
  for (let i = 0; i < puts.length; i += 400) await store.commit({ commitId: `c${i}`, puts: puts.slice(i, i + 400) });
  let n = 0;
  const commitId = () => `f${n++}`;
  await forgetDecisions(store, 3_600_000, commitId);
  expect(await store.count("decisions", "by_time", [])).toBe(1200);
  await forgetDecisions(store, 3_600_000 + 1_199_999, commitId);
  expect((await store.list("decisions", "by_time", [], { limit: 10 })).items.map(({ id }) => id)).toEqual(["d1200"]);
  await store.close();
});
