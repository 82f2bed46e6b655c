import { openLogger } from "@seneschal/adapters/logging";
import { settableClock } from "@seneschal/adapters/memory";
import { systemRandom } from "@seneschal/adapters/system";
import { contract, type ErrorTable, endpoints, type Serve } from "@seneschal/contract";
import { gatewayErrors } from "@seneschal/contract/gateway";
import { governanceErrors } from "@seneschal/contract/governance";
import { schedulerErrors } from "@seneschal/contract/scheduler";
import { storageHttpErrors } from "@seneschal/contract/storage";
import { CodedError } from "@seneschal/kernel";
import * as express from "@seneschal/server-express";
import * as fastify from "@seneschal/server-fastify";
import { describe, expect, it } from "vitest";
import * as z from "zod";
import { type BuiltService, defineService, startService } from "../../src/platform/index.ts";

const routes = contract({
  fail: {
    method: "GET",
    path: "/fail/:code",
    summary: "",
    tag: "",
    auth: "public",
    status: 200,
    params: z.strictObject({ code: z.string() }),
    reply: z.strictObject({}),
  },
});

const tables: readonly (readonly [string, ErrorTable])[] = [
  ["gateway", gatewayErrors],
  ["governance", governanceErrors],
  ["scheduler", schedulerErrors],
  ["storage", storageHttpErrors],
];
const servers: readonly (readonly [string, Serve])[] = [
  ["fastify", fastify.serve],
  ["express", express.serve],
];

function start(
  serve: Serve,
  errors: ErrorTable,
  more: { readonly fails?: () => unknown; readonly atMost?: number; readonly signal?: AbortSignal } = {},
) {
  const lines: string[] = [];
  const definition = defineService({
    name: "demo",
    contract: routes,
    settings: z.strictObject({}),
    info: { title: "demo", errors },
    build: async (): Promise<BuiltService> => {
      const failure = more.fails?.();
      if (failure !== undefined) throw failure;
      return {
        limits: "off",
        hooks: { errors, authenticate: () => undefined, authorise: () => {} },
        endpoints: (hooks) =>
          endpoints(
            routes,
            {
              fail: (_, { params }) => {
                throw new CodedError(params.code, "not now");
              },
            },
            undefined,
            hooks,
          ),
      };
    },
  });
  const log = openLogger({ level: "info", destination: { write: (line) => void lines.push(line) } });
  let url = (_: string): void => {};
  const listens = new Promise<string>((resolve) => {
    url = resolve;
  });
  const watched: Serve = async (dispatch, options) => {
    const server = await serve(dispatch, options);
    url(server.url);
    return server;
  };
  const service = startService(
    definition,
    {},
    {
      serve: watched,
      listen: { port: 0 },
      clock: settableClock(0),
      random: systemRandom,
      log,
      version: "test",
      wait: { atMost: more.atMost ?? 0, every: 5, ...(more.signal && { signal: more.signal }) },
    },
  );
  return { service, listens, lines };
}

describe.each(servers)("on %s", (_, serve) => {
  it.each(tables)("every 503 of the %s's catalogue says when to return", async (_service, errors) => {
    const codes = Object.entries(errors.codes).flatMap(([code, status]) => (status === 503 ? [code] : []));
    expect(codes.length).toBeGreaterThan(0);
    const service = await start(serve, errors).service;
    try {
      for (const code of codes) {
        const answer = await fetch(`${service.url}/fail/${code}`);
        expect([code, answer.status, Number(answer.headers.get("retry-after"))]).toEqual([code, 503, expect.any(Number)]);
        expect(Number(answer.headers.get("retry-after"))).toBeGreaterThan(0);
      }
    } finally {
      await service.stop();
    }
  });

  it("a start whose database does not answer listens, lives, is not ready and says so; once it is there the same port serves", async () => {
    let there = false;
    const { service, listens, lines } = start(serve, gatewayErrors, {
      fails: () => (there ? undefined : new CodedError("store_unavailable", "the database does not answer")),
      atMost: 60_000,
    });
    const url = await listens;
    const ask = async (path: string) => {
      const answer = await fetch(`${url}${path}`);
      return [answer.status, answer.headers.get("retry-after"), await answer.json()];
    };
    expect(await ask("/live")).toEqual([200, null, { status: "alive" }]);
    const waits = { error: expect.objectContaining({ code: "SERVICE_UNAVAILABLE" }) };
    for (const path of ["/ready", "/health", "/fail/x"]) expect(await ask(path)).toEqual([503, "5", waits]);
    there = true;
    const running = await service;
    try {
      expect(running.url).toBe(url);
      expect((await ask("/fail/NOT_FOUND"))[0]).toBe(404);
      const said = lines.map((line) => JSON.parse(line) as { level: string; message: string });
      expect(said[0]).toMatchObject({ level: "warn", message: "the start waits for what the service needs" });
      expect(said.map(({ message }) => message)).toContain("what the start waited for is there");
    } finally {
      await running.stop();
    }
  });

  it("a start waits neither for ever nor for a mistake, and ends when it is told to", async () => {
    const never = () => new CodedError("vault_unavailable", "the vault does not answer");
    await expect(start(serve, gatewayErrors, { fails: never, atMost: 20 }).service).rejects.toMatchObject({
      code: "vault_unavailable",
    });
    const mistake = start(serve, gatewayErrors, { fails: () => new CodedError("config_invalid", "no"), atMost: 60_000 });
    await expect(mistake.service).rejects.toMatchObject({ code: "config_invalid" });
    const end = new AbortController();
    const { service, listens } = start(serve, gatewayErrors, { fails: never, atMost: 60_000, signal: end.signal });
    const url = await listens;
    end.abort();
    await expect(service).rejects.toThrow();
    await expect(fetch(`${url}/live`)).rejects.toThrow();
  });
});
