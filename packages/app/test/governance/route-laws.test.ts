import { governanceContract } from "@seneschal/contract/governance";
import { serve } from "@seneschal/server-fastify";
import { holdRouteLaws, type Subject } from "../platform/route-laws.ts";
import { type Caller, startRig } from "./rig.ts";
import { runEvent } from "./run-event.ts";

const asked = {
  operation_type: "EXPORT",
  source_resources: ["crm.customers"],
  destination_resource: "s3://warehouse",
  user_context: { user_id: "ada", role: "analyst", department: "sales" },
};
const event = runEvent({
  job: "nightly",
  inputs: [{ namespace: "db", name: "raw" }],
  outputs: [{ namespace: "db", name: "clean" }],
});

async function open(): Promise<Subject> {
  const source = async () => ({
    namespace: "postgres://db:5432",
    probe: async () => undefined,
    list: async () => ({ assets: [], skipped: 0, truncated: false }),
    sample: async () => [],
    close: async () => undefined,
  });
  const shop = { kind: "postgres", host: "db", database: "shop", user: "scanner" };
  const rig = await startRig(serve, { settings: { sources: { shop } }, source });
  const call: Subject["call"] = (by, method, path, body) =>
    rig.call(by?.startsWith("key:") ? { key: by.slice(4) } : (by as Caller), method, path, body);
  const admin = async (method: string, path: string, body?: unknown) => (await call("admin", method, path, body)).body;
  const key = (more: object = {}) => admin("POST", "/api/v1/api-keys", { name: "owner", scopes: ["approve"], ...more });
  const pending = async () => (await call("judge", "POST", "/api/v1/approvals", { request: asked, reason: "report" })).body;
  const decided = async () => {
    const { id } = await pending();
    const { api_key } = await key();
    await call(`key:${api_key}`, "POST", `/api/v1/approvals/${id}/decision`, { decision: "approve", user_id: "bob" });
    return id as string;
  };
  const lineage = () => call("writer", "POST", "/api/v1/lineage", event);
  const listed = async (answer: { id: string }) =>
    (await admin("GET", "/api/v1/api-keys")).api_keys.find(({ id }: { id: string }) => id === answer.id);
  return {
    call,
    audited: async () => (await admin("GET", "/api/v1/audit?limit=1")).total,
    close: () => rig.stop(),
    situations: {
      createApiKey: async () => ({ read: listed }),
      rotateApiKey: async () => ({ path: { id: (await key()).id } }),
      revokeApiKey: async () => ({ path: { id: (await key()).id } }),
      requestApproval: async () => ({ by: "judge" }),
      decideApproval: async () => {
        const { id } = await pending();
        return {
          by: `key:${(await key()).api_key}`,
          path: { id },
          body: { decision: "approve", user_id: "bob", duration_seconds: 120 },
          read: () => admin("GET", `/api/v1/approvals/${id}`),
        };
      },
      revokeApproval: async () => ({ path: { id: await decided() } }),
      classify: async () => ({ body: { entities: ["EMAIL_ADDRESS"] } }),
      ingestLineage: async () => ({ body: event }),
      blockEdge: async () => {
        await lineage();
        const body = { source: "db/raw", target: "db/clean", blocked: true };
        return { body, read: async () => (await admin("GET", "/api/v1/lineage/db%2Fraw")).edges[0] };
      },
      putResource: async () => ({
        path: { resource_id: "crm.customers" },
        body: {
          tier: "CONFIDENTIAL",
          accepts_tier: "PROPRIETARY",
          columns: { mail: { type: "text", tier: "PROPRIETARY", tags: ["contact"] } },
        },
      }),
      deleteResource: async () => {
        await admin("PUT", "/api/v1/resources/old", { tier: "CONFIDENTIAL" });
        return { path: { resource_id: "old" } };
      },
      startScan: async () => ({ path: { source: "shop" } }),
      erasePerson: async () => {
        await pending();
        return { path: { user_id: "ada" } };
      },
    },
  };
}

const decision = "asks for a decision; what is kept of it is its audit record";

holdRouteLaws({
  contract: governanceContract,
  open,
  by: "admin",
  otherwise: {
    classify: { "*": "texts are never kept" },
    evaluate: { "*": decision },
    createApiKey: {
      expires_in_days: ({ read: { created_at, expires_at } }) => (Date.parse(expires_at) - Date.parse(created_at)) / 86_400_000,
    },
    // An approval is of an operation, not of one under another approval.
    requestApproval: { request: ({ read }) => ({ ...read.request, approval_id: "c2FtcGxl" }) },
    decideApproval: {
      decision: ({ read }) => (read.status === "approved" ? "approve" : read.status),
      user_id: ({ read }) => read.decided_by,
      duration_seconds: ({ read: { decided_at, expires_at } }) => (Date.parse(expires_at) - Date.parse(decided_at)) / 1000,
    },
    ingestLineage: { "*": "an event of OpenLineage, which is kept whole: http.test.ts" },
    putResource: { tier: ({ read }) => read.declared.tier, tags: ({ read }) => read.declared.tags },
  },
  unsaid: {},
  elsewhere: {
    ingestLineageBatch: "events of ingestLineage, one by one: http.test.ts",
    cancelScan: "of a scan that runs: sources.test.ts",
  },
  aims: async ({ call }) => {
    await call("admin", "PUT", "/api/v1/resources/crm.customers", { tier: "CONFIDENTIAL", columns: { mail: {} } });
    const { body } = await call("judge", "POST", "/api/v1/approvals", { request: asked, reason: "report" });
    return {
      id: body.id,
      resource_id: "crm.customers",
      source: "shop",
      file: "lineage.js",
      "?column": "mail",
      "?change": "remove",
      "?from": "2026-02-01T00:00:00Z",
      "?first": "1",
    };
  },
});
