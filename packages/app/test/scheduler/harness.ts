import { createHash } from "node:crypto";
import { type SettableClock, settableClock } from "@seneschal/adapters/memory";
import { systemRandom } from "@seneschal/adapters/system";
import type { Serve } from "@seneschal/contract";
import { serve as express } from "@seneschal/server-express";
import { serve as fastify } from "@seneschal/server-fastify";
import { type RunningService, startService } from "../../src/platform/index.ts";
import { type SchedulerParts, schedulerService, schedulerSettings } from "../../src/scheduler/index.ts";
import { openLog } from "../../src/scheduler/storage/open-log.ts";
import { contractLog } from "../platform/contract-log.ts";
import { checkUnsaid, watchedLog, watchRequests } from "../platform/watched-requests.ts";

export const servers: readonly (readonly [string, Serve])[] = [
  ["express", express],
  ["fastify", fastify],
];

/** Its state is the log's: what is applied is audited by the machine, `route-laws.test.ts` asks for every route. */
const schedulerWatch = watchRequests({ silent: {}, isRefusal: () => false });

export const NOON = Date.parse("2026-03-01T12:00:00.000Z");

/** Bearer tokens of the test's people: `role` or `role@tenant`. */
export const PEOPLE = [
  { id: "root", role: "system-admin", tenant: "" },
  { id: "ada", role: "user", tenant: "physics" },
  { id: "bob", role: "user", tenant: "physics" },
  { id: "eve", role: "user", tenant: "biology" },
  { id: "chief", role: "tenant-admin", tenant: "physics" },
  { id: "books", role: "accounting", tenant: "" },
  { id: "agent-1", role: "agent", tenant: "" },
  { id: "agent-2", role: "agent", tenant: "" },
] as const;
export type Person = (typeof PEOPLE)[number]["id"];

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  // biome-ignore lint/suspicious/noExplicitAny: a test reads whatever came
  readonly body: any;
}

export interface Harness {
  readonly service: RunningService;
  readonly clock: SettableClock;
  call(who: Person | undefined, method: string, path: string, body?: unknown, headers?: Record<string, string>): Promise<Answer>;
  /** Calls that must succeed; gives the body. */
  // biome-ignore lint/suspicious/noExplicitAny: a test reads whatever came
  ok(who: Person, method: string, path: string, body?: unknown): Promise<any>;
  cycle(): Promise<Answer["body"]>;
  /** A tenant `physics`, and nodes n0, n1, ... of agent-1. */
  cluster(nodes: number, tenant?: Record<string, unknown>): Promise<void>;
  /** Hours pass, and every node of agent-1 is heard from at the end of them. */
  pass(hours: number): Promise<void>;
  submit(who: Person, request?: Record<string, unknown>): Promise<string>;
  stop(): Promise<void>;
}

/** A running scheduler on a real socket, its clock in the test's hand, no background work: cycles run on demand. */
export async function startScheduler(
  serve: Serve,
  settings: Record<string, unknown> = {},
  parts: SchedulerParts = {},
  clock: SettableClock = settableClock(NOON),
): Promise<Harness> {
  const config = schedulerSettings.parse({
    tokens: PEOPLE.map(({ id, role, tenant }) => ({
      id,
      role,
      tenant,
      sha256: createHash("sha256").update(tokenOf(id)).digest("hex"),
    })),
    rate_limit: { authenticated: { limit: 1_000_000 } },
    ...settings,
    storage: { kind: "memory", ...(settings["storage"] as object | undefined) },
  });
  const contract = contractLog();
  /** What requests that only read proposed. */
  const unsaid = new Set<string>();
  const definition = schedulerService({
    openLog: async () => watchedLog(await openLog(config.storage)),
    repeat: () => ({ stop: async () => undefined }),
    ...parts,
  });
  const watched: typeof definition = {
    ...definition,
    async build(own, platform) {
      const built = await definition.build(own, platform);
      return { ...built, endpoints: (hooks) => schedulerWatch.endpoints(built.endpoints(hooks), unsaid) };
    },
  };
  const service = await startService(watched, config, {
    serve,
    listen: { port: 0 },
    clock,
    random: systemRandom,
    log: contract.log,
    version: "test",
  });
  const call: Harness["call"] = async (who, method, path, body, headers = {}) => {
    const response = await fetch(`${service.url}${path}`, {
      method,
      headers: {
        ...(who === undefined ? {} : { authorization: `Bearer ${tokenOf(who)}` }),
        ...(body === undefined ? {} : { "content-type": "application/json" }),
        ...headers,
      },
      ...(body === undefined ? {} : { body: typeof body === "string" ? body : JSON.stringify(body) }),
    });
    const text = await response.text();
    const isJson = response.headers.get("content-type")?.includes("json") === true;
    return { status: response.status, headers: response.headers, body: isJson ? JSON.parse(text) : text };
  };
  const ok: Harness["ok"] = async (who, method, path, body) => {
    const answer = await call(who, method, path, body);
    if (answer.status >= 300) throw new Error(`${method} ${path}: ${answer.status} ${JSON.stringify(answer.body)}`);
    return answer.body;
  };
  return {
    service,
    clock,
    call,
    ok,
    cycle: () => ok("root", "POST", "/api/v1/admin/cycle"),
    async cluster(nodes, tenant = {}) {
      await ok("root", "POST", "/api/v1/tenants", { name: "physics", ...tenant });
      for (let i = 0; i < nodes; i++)
        await ok("agent-1", "POST", "/api/v1/nodes", {
          id: `n${i}`,
          gpu_type: "a100",
          gpu_count: 4,
          cpu_cores: 8,
          memory_gb: 64,
        });
    },
    async pass(hours) {
      clock.advance(hours * 3_600_000);
      for (const node of await ok("root", "GET", "/api/v1/nodes"))
        if (node.state !== "booting") await ok("agent-1", "POST", `/api/v1/nodes/${node.id}/heartbeat`);
    },
    submit: async (who, request = {}) =>
      (await ok(who, "POST", "/api/v1/allocations", { tenant: "physics", entrypoint: "true", ...request })).id as string,
    async stop() {
      await service.stop();
      checkUnsaid(unsaid);
      contract.check();
    },
  };
}

export function tokenOf(id: Person): string {
  return `token-of-${id}`;
}
