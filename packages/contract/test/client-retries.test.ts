import { describe, expect, test } from "vitest";
import { isKeyed } from "../src/failures.ts";
import { gatewayContract, gatewayInfo } from "../src/gateway/index.ts";
import { governanceContract, governanceInfo } from "../src/governance/index.ts";
import { type Contract, client, type Fetch, type OpenApiInfo, openapi, paginate, type Route } from "../src/index.ts";
import { schedulerContract, schedulerInfo } from "../src/scheduler/index.ts";
import { storageContract, storageInfo } from "../src/storage/index.ts";

const services: readonly (readonly [string, Contract, Omit<OpenApiInfo, "version">])[] = [
  ["gateway", gatewayContract, gatewayInfo],
  ["governance", governanceContract, governanceInfo],
  ["scheduler", schedulerContract, schedulerInfo],
  ["storage", storageContract, storageInfo],
];

/** What a server does at each try: an answer, or none. */
type Try = { readonly status: number; readonly headers?: Record<string, string>; readonly body?: unknown } | "none";

function rig(contract: Contract, tries: readonly Try[]) {
  const sent: { readonly method: string; readonly key: string | undefined }[] = [];
  const waits: number[] = [];
  const fetch: Fetch = async (_, { method, headers }) => {
    const now = tries[Math.min(sent.length, tries.length - 1)] ?? "none";
    sent.push({ method, key: headers["idempotency-key"] });
    if (now === "none") throw new TypeError("fetch failed");
    return new Response(now.body === undefined ? null : JSON.stringify(now.body), now);
  };
  let keys = 0;
  const retries = {
    newKey: () => `key ${++keys}`.replace(" ", "-"),
    pause: async (ms: number) => void waits.push(ms),
  };
  return { api: client(contract, { baseUrl: "https://service", fetch, retries }), sent, waits };
}

/** Parameters for a path that has some. */
const params = new Proxy({}, { get: () => "x" });
/** Of a route that takes several media types, one. */
const headersOf = ({ consumes }: Route) => (Array.isArray(consumes) ? { "content-type": consumes[0] } : {});
const failure = (code: string) => ({ error: { code, message: "no", details: {} } });

describe.each(services)("a client of the %s that retries", (_, contract, { keepsAnswers = false }) => {
  const routes = Object.entries(contract);

  test("sends a key with every call that takes one, and with no other", async () => {
    const wrong: string[] = [];
    for (const [id, route] of routes) {
      const { api, sent } = rig(contract, [{ status: 404 }]);
      await (api[id] as (input: object) => Promise<unknown>)({ params, headers: headersOf(route) }).catch(() => {});
      if ((sent[0]?.key !== undefined) !== isKeyed(route, keepsAnswers)) wrong.push(id);
    }
    expect(wrong).toEqual([]);
  });

  test("repeats under one key, and repeats nothing that could be done twice, whatever answer is missing", async () => {
    for (const [id, route] of routes)
      for (const lost of ["none", { status: 502 }, { status: 503 }, { status: 504 }] as const) {
        const { api, sent } = rig(contract, [lost]);
        await (api[id] as (input: object) => Promise<unknown>)({ params, headers: headersOf(route) }).catch(() => {});
        const isAnswer = typeof lost === "object" && route.alsoStatus?.includes(lost.status) === true;
        const once =
          isAnswer ||
          !(route.method === "GET" || route.safe === true || (sent[0]?.key !== undefined && route.auth === "principal"));
        expect(sent.length, id).toBe(once ? 1 : 4);
        expect(new Set(sent.map(({ key }) => key)).size, id).toBe(1);
      }
  });

  test("comes back when a rate limit says", async () => {
    for (const [id, route] of routes) {
      const { api, sent, waits } = rig(contract, [{ status: 429, headers: { "retry-after": "7" } }, { status: 404 }]);
      await (api[id] as (input: object) => Promise<unknown>)({ params, headers: headersOf(route) }).catch(() => {});
      expect([sent.length, waits], id).toEqual([2, [7000]]);
    }
  });
});

describe("a client that retries", () => {
  const body = { name: "books", purpose: "accounts" };

  test("waits longer each time, and for a first try that is still at work", async () => {
    const { api, sent, waits } = rig(gatewayContract, ["none", { status: 409, body: failure("CONFLICT") }, { status: 503 }]);
    await expect(api["createWorkspace"]?.({ body } as never)).rejects.toMatchObject({ details: { status: 503 } });
    expect([sent.length, waits]).toEqual([4, [250, 500, 1000]]);
  });

  test("does not wait for what is an hour away, nor after it was aborted, and takes the conflict of a first try, or a quota's refusal, for an answer", async () => {
    const far = rig(gatewayContract, [{ status: 429, headers: { "retry-after": "3600" } }]);
    await expect(far.api["listWorkspaces"]?.({} as never)).rejects.toMatchObject({ details: { status: 429 } });
    const aborted = rig(gatewayContract, ["none"]);
    await expect(aborted.api["listWorkspaces"]?.({ signal: AbortSignal.abort() } as never)).rejects.toThrow("fetch failed");
    const other = rig(gatewayContract, [{ status: 409, body: failure("CONFLICT") }]);
    await expect(other.api["createWorkspace"]?.({ body, headers: { "Idempotency-Key": "mine" } } as never)).rejects.toThrow();
    const quota = rig(schedulerContract, [{ status: 429, body: failure("quota_exceeded") }]);
    await expect(quota.api["submitAllocation"]?.({ body: { tenant: "physics" } } as never)).rejects.toMatchObject({
      code: "quota_exceeded",
    });
    expect([far, aborted, other, quota].map(({ sent }) => sent.length)).toEqual([1, 1, 1, 1]);
  });
});

describe("a list page by page", () => {
  test("every operation that takes an offset can be walked: its reply is a list, or one list and a total", () => {
    const walked = services.flatMap(([, contract, info]) => {
      const document = openapi(contract, { ...info, version: "1" }) as { components: { schemas: Record<string, Schema> } };
      return Object.entries(contract).flatMap(([id, { query, reply }]) => {
        if (query?.shape["offset"] === undefined) return [];
        const { type, properties = {} } = resolved(operation(document, id), document.components.schemas);
        if (type === "array") return [{ id, lists: 1, total: true, reply: true }];
        const lists = Object.values(properties).filter(
          (member) => resolved(member, document.components.schemas).type === "array",
        );
        return [{ id, lists: lists.length, total: "total" in properties, reply: reply !== undefined }];
      });
    });
    expect(walked.length).toBeGreaterThan(20);
    expect(walked.filter(({ lists, total, reply }) => lists !== 1 || !total || !reply)).toEqual([]);
  });

  test("gives every item once, asks for no page more than there are, and stops when its reader does", async () => {
    const all = Array.from({ length: 7 }, (_, i) => ({ id: i }));
    const asked: unknown[] = [];
    const list = async ({ query }: { readonly query: { readonly limit: number; readonly offset?: unknown } }) => {
      asked.push(query.offset);
      const from = Number(query.offset);
      return { things: all.slice(from, from + query.limit), count: 0, total: all.length };
    };
    const found: number[] = [];
    for await (const { id } of paginate(list, { query: { limit: 3 } })) found.push(id);
    expect([found, asked]).toEqual([
      [0, 1, 2, 3, 4, 5, 6],
      [0, 3, 6],
    ]);
    for await (const { id } of paginate(list, { query: { limit: 3, offset: 5 } })) if (id === 5) break;
    expect(asked).toHaveLength(4);
    await expect(paginate(async () => ({ things: 7 })).next()).rejects.toMatchObject({ code: "client_protocol" });
  });

  test("a list without a total ends with a page that is not full", async () => {
    for (const [there, limit, calls] of [
      [7, 3, 3],
      [6, 3, 3],
      [0, 3, 1],
      [2, undefined, 2],
    ] as const) {
      let asked = 0;
      const list = async ({ query }: { readonly query: { readonly limit?: number | undefined; readonly offset?: unknown } }) => {
        asked++;
        return Array.from({ length: there }, (_, i) => i).slice(
          Number(query.offset),
          Number(query.offset) + (query.limit ?? 100),
        );
      };
      const found: number[] = [];
      for await (const each of paginate(list, { query: { limit } })) found.push(each);
      expect([found.length, asked]).toEqual([there, calls]);
    }
  });
});

interface Schema {
  readonly $ref?: string;
  readonly type?: string;
  readonly properties?: Readonly<Record<string, Schema>>;
}

// biome-ignore lint/suspicious/noExplicitAny: a document is walked freely
function operation(document: any, id: string): Schema {
  const operations = Object.values(document.paths).flatMap((path) => Object.values(path as object)) as { operationId?: string }[];
  // biome-ignore lint/suspicious/noExplicitAny: a document is walked freely
  const found = operations.find(({ operationId }) => operationId === id) as any;
  return found.responses["200"].content["application/json"].schema;
}

function resolved(schema: Schema, schemas: Readonly<Record<string, Schema>>): Schema {
  return schema.$ref === undefined ? schema : resolved(schemas[schema.$ref.split("/").at(-1) ?? ""] ?? {}, schemas);
}
