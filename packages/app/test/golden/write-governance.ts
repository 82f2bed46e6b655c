import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { directoryBackups } from "@seneschal/adapters/backups";
import { openLevelStore } from "@seneschal/adapters/level";
import { serve } from "@seneschal/server-express";
import { expect, vi } from "vitest";
import { governanceSchema } from "../../src/governance/index.ts";
import { column, memorySource } from "../governance/memory-source.ts";
import { type Caller, NOON, startRig } from "../governance/rig.ts";
import { runEvent } from "../governance/run-event.ts";
import { tellSink } from "./tell-sink.ts";

interface ApiKey {
  readonly id: string;
  readonly key: string;
}

/** What is known of a directory: `governance.json` beside the store that a release wrote. */
export interface GovernanceFacts {
  /** PEM. */
  readonly checkpoint_key: string;
  /** How many segments its archive has, in `governance-archive`; absent: it has none. */
  readonly segments?: number;
  /** Every path that the release answered with 200. */
  readonly asked: readonly string[];
  /** API keys; the first may decide, the second asked. */
  readonly owner: ApiKey;
  readonly agent: ApiKey;
  /** An approval that was given, one that `agent` waits for, and one that a key of the configuration waits for. */
  readonly given: string;
  readonly pending: string;
  readonly waiting: string;
}

/** Writes what data governance keeps, and what is known of it: `governance`, `governance-archive` and `governance.json`. */
export async function writeGovernance(directory: string): Promise<void> {
  const pem = join(directory, "checkpoint.pem");
  const store = await openLevelStore({ ...governanceSchema, path: join(directory, "governance") });
  const archive = join(directory, "governance-archive");
  const source = memorySource();
  source.tables.set("people", { columns: [column("mail", "text", "ada@example.org")] });
  const rig = await startRig(serve, {
    store,
    checkpointKey: pem,
    source: source.open,
    archive: directoryBackups(archive),
    decisionsTold: () => NOON,
    settings: {
      sources: { shop: { kind: "postgres", host: "db", database: "shop", user: "scanner" } },
      audit: { archive: { to: { directory: archive }, after: "1h" } },
    },
  });
  const ask = async (by: Caller, method: string, path: string, body?: unknown, headers?: Record<string, string>) => {
    const answer = await rig.call(by, method, path, body, headers);
    if (answer.status >= 300) throw new Error(`${method} ${path}: ${answer.status} ${JSON.stringify(answer.body)}`);
    return answer.body;
  };
  try {
    const key = async (name: string, scopes: readonly string[]): Promise<ApiKey> => {
      const { id, api_key } = await ask("admin", "POST", "/api/v1/api-keys", { name, scopes });
      return { id, key: api_key };
    };
    const owner = await key("owner", ["approve"]);
    const agent = await key("agent", ["classify", "evaluate"]);
    const columns = { email: { type: "text", tier: "PROPRIETARY", tags: ["contact"] }, id: { type: "int" } };
    await ask("admin", "PUT", "/api/v1/resources/crm.customers", { tier: "PROPRIETARY", columns, owners: ["ada"] });
    const inputs = [{ namespace: "", name: "crm.customers" }];
    const outputs = [{ namespace: "mart", name: "people" }];
    await ask("writer", "POST", "/api/v1/lineage", runEvent({ job: "nightly", inputs, outputs }));
    await ask("admin", "PUT", "/api/v1/lineage-edges", { source: "crm.customers", target: "mart/people", blocked: true });
    const request = {
      operation_type: "EXPORT",
      source_resources: ["crm.customers"],
      user_context: { user_id: "ada", role: "analyst", department: "sales" },
    };
    const wanted = { request, reason: "report", duration_seconds: 86_400 };
    const asking = async (by: Caller): Promise<string> => (await ask(by, "POST", "/api/v1/approvals", wanted)).id;
    const given = await asking("judge");
    await ask({ key: owner.key }, "POST", `/api/v1/approvals/${given}/decision`, { decision: "approve", user_id: "bob" });
    const pending = await asking({ key: agent.key });
    const waiting = await asking("judge");
    await ask("judge", "POST", "/api/v1/evaluate", { ...request, approval_id: given });
    await ask("judge", "POST", "/api/v1/classify", { query: "ada@example.org" }, { "idempotency-key": "kept-key" });
    const scanned = async () => (await ask("reader", "GET", "/api/v1/sources")).sources[0].last_scan?.state;
    await vi.waitFor(async () => expect(await scanned()).toBe("succeeded"), { timeout: 120_000 });
    const scratch = mkdtempSync(join(tmpdir(), "golden-"));
    await tellSink(store, rig.clock, scratch);
    rmSync(scratch, { recursive: true });
    rig.clock.set(NOON + 2 * 3_600_000);
    if ((await rig.archive(rig.clock.now())).length !== 1) throw new Error("not archived");
    await ask("admin", "GET", "/api/v1/audit/checkpoint");
    const asked = [
      ...["api-keys", "approvals", `approvals/${given}`, `approvals/${pending}`, "audit?limit=100", "audit/checkpoint"],
      ...["audit/decision-log", "tiers", "resources", "resources/crm.customers", "lineage/crm.customers"],
      ...["lineage/crm.customers/downstream", "lineage/mart%2Fpeople/upstream", "lineage-runs", "lineage/crm.customers/view"],
    ].map((path) => `/api/v1/${path}`);
    for (const path of asked) await ask("admin", "GET", path);
    const facts: GovernanceFacts = {
      checkpoint_key: readFileSync(pem, "utf8"),
      segments: 1,
      asked,
      owner,
      agent,
      given,
      pending,
      waiting,
    };
    writeFileSync(join(directory, "governance.json"), JSON.stringify(facts));
  } finally {
    await rig.stop();
    await store.close();
    rmSync(pem, { force: true });
  }
}
