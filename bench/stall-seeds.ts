import type { SERVICE_NAMES } from "../tools/service-contracts.ts";

/** One request as the most powerful caller of a service. */
export type Ask = (method: string, path: string, body?: string) => Promise<{ readonly status: number; readonly text: string }>;

/** What a service holds before it is measured: paths that lead to it, and bodies that cost more with it than any that a schema tells, both by operation id. */
export interface Seed {
  readonly params?: Readonly<Record<string, string>>;
  readonly bodies?: Readonly<Record<string, readonly string[]>>;
}

/** Records of an audit log. */
const EVENTS = 10_000;
const CONNECTIONS = 32;

/** Fills each service with some thousand records of what its routes read. */
export const seeds: Readonly<Record<(typeof SERVICE_NAMES)[number], (ask: Ask) => Promise<Seed>>> = {
  async gateway(ask) {
    const workspaces = "/api/v1/workspaces";
    const { id } = await made(ask, "POST", workspaces, { name: "stall" });
    const one = `${workspaces}/${id}`;
    await many(EVENTS, () => made(ask, "POST", `${one}/encrypt`, { plaintext: "AAAA" }));
    const plaintext = "A".repeat(5 << 20);
    const { ciphertext } = await made(ask, "POST", `${one}/encrypt`, { plaintext });
    const items = (name: string, text: unknown) => ({ items: Array.from({ length: 100 }, () => ({ [name]: text, context })) });
    const context = Object.fromEntries(Array.from({ length: 32 }, (_, i) => [`key-${i}`, `value-${i}`]));
    const small = await made(ask, "POST", `${one}/encrypt`, { plaintext: "A".repeat(60_000), context });
    const branches = Array.from({ length: 9000 }, (_, i) => ` else := false if input.a == ${i}`)
      .join("")
      .slice(0, 250_000);
    const dear = [
      `package p\n\nallow if input.a == 0${branches.replace(/ else(?!.* else).*$/, "")}\n`,
      `package p\n\nx := ${"[".repeat(400)}1${"]".repeat(400)}\n`,
    ];
    const since = { since: "2020-01-01T00:00:00Z" };
    return {
      params: {
        ...Object.fromEntries(["encrypt", "decrypt"].map((name) => [name, `${one}/${name}`])),
        encryptBatch: `${one}/encrypt-batch`,
        decryptBatch: `${one}/decrypt-batch`,
        exportWorkspace: `${one}/export`,
        getWorkspace: one,
        updateWorkspace: one,
        listAudit: "/api/v1/audit?limit=1000&actor=x&event_type=encrypt",
        listActivity: "/api/v1/activity?limit=1000",
        auditStats: "/api/v1/audit/stats?since=2020-01-01T00:00:00Z",
      },
      bodies: texts({
        encrypt: [{ plaintext }, { plaintext, context }],
        decrypt: [{ ciphertext }],
        encryptBatch: [items("plaintext", "A".repeat(50_000)), items("plaintext", "AAAA")],
        decryptBatch: [items("ciphertext", small.ciphertext)],
        generateCrk: [{ total_shares: 255, threshold: 255 }],
        startGenerationCeremony: [{ total_shares: 255, threshold: 255 }],
        createPolicy: dear.map((rego, i) => ({ name: `dear-${i}`, workspace: id, rego })),
        updatePolicy: dear.map((rego) => ({ rego })),
        validatePolicy: dear.map((rego) => ({ rego })),
        evaluatePolicy: [{ actor: "a", operation: "encrypt", workspace: id }],
        exportAudit: [{ format: "csv", ...since }],
        exportActivity: [{ format: "json", ...since }],
        verifyAudit: [{}],
        summaryReport: [since],
        subjectAccessReport: [{ subject_id: "nobody" }],
        accessReviewReport: [since],
        exportReport: [{ type: "summary", format: "html", ...since }],
      }),
    };
  },

  async governance(ask) {
    const question = { operation_type: "read", source_resources: ["stall/n0"], user_context: { user_id: "u", role: "analyst" } };
    await many(EVENTS, () => made(ask, "POST", "/api/v1/evaluate", question));
    const link = (from: string, to: string, i: number) => lineageEvent([from], [to], `j${from}${i}`);
    const chain = Array.from({ length: 300 }, (_, i) => link(`n${i}`, `n${i + 1}`, i));
    const star = Array.from({ length: 700 }, (_, i) => link("n0", `leaf${i}`, i));
    await made(ask, "POST", "/api/v1/lineage/batch", [...chain, ...star]);
    const here = `/api/v1/lineage/${encodeURIComponent("stall/n0")}`;
    const f = `SELECT ${"f(".repeat(45)}`;
    const sql = (query: string, dialect = "mssql") => lineageEvent(["n0"], ["n1"], "sql", { query, dialect });
    const select = (columns: number): string =>
      `INSERT INTO n1 SELECT ${Array.from({ length: columns }, (_, i) => `CASE WHEN a${i} > 1 THEN b${i} ELSE coalesce(c${i}, 0) END AS x${i}`).join(", ")} FROM n0`;
    const names = (n: number, name: string) => Array.from({ length: n }, (_, i) => `${name}${i}`);
    const wide = lineageEvent(names(1500, "in"), names(1500, "out"), "wide");
    const schema = { schema: { fields: names(3200, "email_").map((name) => ({ name, type: "text" })) } };
    const fields = Object.fromEntries(
      names(1300, "c").map((name) => [name, { inputFields: [{ namespace: "stall", name: "n0", field: name }] }]),
    );
    const described = { ...lineageEvent(["n0"], [], "described"), outputs: [{ namespace: "stall", name: "d", facets: schema }] };
    const columns = {
      ...lineageEvent(["n0"], [], "columns"),
      outputs: [{ namespace: "stall", name: "c", facets: { columnLineage: { fields } } }],
    };
    const rows = Array.from({ length: 8000 }, (_, i) => ({ email: `a${i}@example.org`, ssn: "536-22-8726" }));
    return {
      params: {
        getLineage: `${here}?depth=100&limit=1000`,
        getUpstream: `${here}/upstream?depth=100&limit=1000`,
        getDownstream: `${here}/downstream?depth=100&limit=1000`,
        viewLineage: `${here}/view?depth=100`,
        listAudit: "/api/v1/audit?limit=1000&operation_type=none",
        putResource: `/api/v1/resources/${encodeURIComponent("stall/n0")}`,
        listResources: "/api/v1/resources?limit=1000",
      },
      bodies: texts({
        classify: [
          { query: f },
          { query: f, context: { dialect: "mssql" } },
          { query: "ada@example.org 4111 1111 1111 1111 ".repeat(14_000) },
          { query: JSON.stringify(rows) },
        ],
        evaluate: [{ ...question, source_resources: names(100, "stall/n") }],
        ingestLineage: [sql(f), sql(select(600)), wide, described, columns],
        ingestLineageBatch: [
          Array.from({ length: 100 }, () => sql("INSERT INTO n1 SELECT a, b FROM n0 JOIN x ON a = b")),
          Array.from({ length: 50 }, () => wide),
          Array.from({ length: 40 }, () => described),
          Array.from({ length: 40 }, () => columns),
          names(1000, "r").map((run) => ({ ...lineageEvent(["n0"], ["n1"], "j"), run: { runId: run } })),
        ],
        queryAudit: [{ limit: 1000, operation_types: ["NONE"] }],
        verifyAudit: [{}],
      }),
    };
  },

  async scheduler(ask) {
    await made(ask, "POST", "/api/v1/tenants", { name: "stall", max_nodes: 1_000_000 });
    let node = 0;
    await many(1000, () => made(ask, "POST", "/api/v1/nodes", { id: `n${node}`, group: `g${node++ >> 5}` }));
    await many(2000, () => made(ask, "POST", "/api/v1/allocations", { tenant: "stall", nodes: 4 }));
    const tenant = "/api/v1/tenants/stall";
    return {
      params: {
        getTenant: tenant,
        updateTenant: tenant,
        getTenantUsage: `${tenant}/usage?days=90`,
        listAllocations: "/api/v1/allocations?limit=1000",
        listNodes: "/api/v1/nodes?limit=1000",
      },
      bodies: texts({ submitAllocation: [{ tenant: "stall", nodes: 900, gpu_type: "h100" }], runCycle: [{}], backup: [{}] }),
    };
  },

  async storage(ask) {
    let tenant = 0;
    await many(100, () => made(ask, "POST", "/ui/api/ops/tenants", { tenant_id: `stall-${tenant++}` }));
    return {};
  },
};

function lineageEvent(inputs: readonly string[], outputs: readonly string[], job: string, sql?: object) {
  const facet = { _producer: "https://example.org/", _schemaURL: "https://openlineage.io/spec/facets/1-0-0/SQLJobFacet.json" };
  const dataset = (name: string) => ({ namespace: "stall", name });
  return {
    eventType: "COMPLETE",
    eventTime: "2026-01-01T00:00:00Z",
    producer: "https://example.org/",
    run: { runId: job },
    schemaURL: "https://openlineage.io/spec/2-0-2/OpenLineage.json#/$defs/RunEvent",
    job: { namespace: "stall", name: job, facets: sql === undefined ? {} : { sql: { ...facet, ...sql } } },
    inputs: inputs.map(dataset),
    outputs: outputs.map(dataset),
  };
}

// biome-ignore lint/suspicious/noExplicitAny: whatever the service answers
async function made(ask: Ask, method: string, path: string, body: unknown): Promise<any> {
  const { status, text } = await ask(method, path, JSON.stringify(body));
  if (status < 200 || status > 299) throw new Error(`${method} ${path}: ${status} ${text.slice(0, 300)}`);
  return text === "" ? {} : JSON.parse(text);
}

async function many(count: number, one: () => Promise<unknown>): Promise<void> {
  let left = count;
  const lane = async (): Promise<void> => {
    while (left-- > 0) await one();
  };
  await Promise.all(Array.from({ length: CONNECTIONS }, lane));
}

function texts(bodies: Readonly<Record<string, readonly unknown[]>>): Readonly<Record<string, readonly string[]>> {
  return Object.fromEntries(Object.entries(bodies).map(([id, list]) => [id, list.map((body) => JSON.stringify(body))]));
}
