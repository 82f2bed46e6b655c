import { connect, type Socket } from "node:net";
import { Writable } from "node:stream";
import { text } from "node:stream/consumers";
import { openLogger } from "@seneschal/adapters/logging";
import { settableClock } from "@seneschal/adapters/memory";
import { systemRandom } from "@seneschal/adapters/system";
import { contract, endpoints, type Serve } from "@seneschal/contract";
import { sampleErrors } from "@seneschal/contract/testing";
import * as express from "@seneschal/server-express";
import * as fastify from "@seneschal/server-fastify";
import { describe, expect, test } from "vitest";
import * as z from "zod";
import { type BuiltService, defineService, type Platform, type StartOptions, startService } from "../../src/platform/index.ts";

const routes = contract({
  slow: {
    method: "GET",
    path: "/slow/:id",
    summary: "",
    tag: "",
    auth: "public",
    params: z.strictObject({ id: z.string() }),
    status: 200,
    reply: z.strictObject({ id: z.string() }),
  },
  ticks: { method: "GET", path: "/ticks", summary: "", tag: "", auth: "public", status: 200, produces: "text/event-stream" },
  guarded: { method: "GET", path: "/guarded", summary: "", tag: "", auth: "principal", action: "x:read", status: 204 },
  metrics: { method: "GET", path: "/metrics", summary: "", tag: "", auth: "public", status: 200, produces: "text/plain" },
});

function gate() {
  let open = (): void => {};
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { opened, open: () => open() };
}

function world(serve: Serve, more: Partial<BuiltService> = {}) {
  const events: string[] = [];
  const lines: string[] = [];
  const entered = gate();
  const release = gate();
  const gone = gate();
  let platform: Platform | undefined;
  const definition = defineService({
    name: "demo",
    contract: routes,
    settings: z.strictObject({}),
    build: async (_, given) => {
      platform = given;
      return {
        limits: "off",
        hooks: { errors: sampleErrors, authenticate: () => undefined, authorise: () => {} },
        endpoints: (hooks) =>
          endpoints(
            routes,
            {
              slow: async (_services, { params }) => {
                entered.open();
                await release.opened;
                return { id: params.id };
              },
              ticks: (_services, { request }) => {
                const closed = new Promise<void>((resolve) => request.onClose?.(resolve));
                return {
                  body: (async function* () {
                    yield new Uint8Array(Buffer.from("data: 1\n\n"));
                    await closed;
                    gone.open();
                  })(),
                };
              },
              guarded: () => {},
              metrics: async () => ({ body: await given.metrics.text(), mediaType: given.metrics.contentType }),
            },
            undefined,
            hooks,
          ),
        checks: [{ name: "store", check: async () => {} }],
        start: async () => void events.push("start"),
        stop: async () => void events.push("stop"),
        ...more,
      };
    },
  });
  const destination = new Writable({
    write(chunk, _encoding, done) {
      lines.push(String(chunk));
      done();
    },
  });
  const options: StartOptions = {
    serve,
    listen: { port: 0, grace: 60_000 },
    clock: settableClock(1_700_000_000_000),
    random: systemRandom,
    log: openLogger({ destination }),
    version: "1.2.3",
  };
  return { definition, options, events, lines, entered, release, gone, platform: () => platform };
}

async function open(port: number): Promise<Socket> {
  const socket = connect(port, "127.0.0.1");
  await new Promise<void>((resolve, reject) => socket.once("connect", () => resolve()).once("error", reject));
  return socket;
}

describe.each<[string, Serve]>([
  ["Express", express.serve],
  ["Fastify", fastify.serve],
])("a service on %s", (_, serve) => {
  test("stops when its last request is answered, and closes what it holds after that", async () => {
    const { definition, options, events, entered, release } = world(serve);
    const service = await startService(definition, {}, options);
    const socket = await open(service.port);
    socket.write("GET /slow/1 HTTP/1.1\r\nhost: x\r\n\r\n");
    await entered.opened;
    const stopped = service.stop();
    expect(service.stop()).toBe(stopped);
    await expect(open(service.port)).rejects.toThrow("ECONNREFUSED");
    expect(events).toEqual(["start"]);
    release.open();
    expect(await text(socket)).toMatch(/^HTTP\/1.1 200[\s\S]*connection: close[\s\S]*\{"id":"1"\}$/i);
    await stopped;
    expect(events).toEqual(["start", "stop"]);
  });

  test("after the grace what still runs is dropped", async () => {
    const { definition, options, entered } = world(serve);
    const service = await startService(definition, {}, { ...options, listen: { port: 0, grace: 1 } });
    const socket = await open(service.port);
    socket.write("GET /slow/1 HTTP/1.1\r\nhost: x\r\n\r\n");
    await entered.opened;
    await service.stop();
    expect(await text(socket).catch(() => "")).toBe("");
  });

  test("idle connections do not keep it from stopping", async () => {
    const { definition, options, release } = world(serve);
    release.open();
    const service = await startService(definition, {}, options);
    const socket = await open(service.port);
    socket.write("GET /slow/1 HTTP/1.1\r\nhost: x\r\n\r\n");
    await new Promise((resolve) => socket.once("data", resolve));
    await service.stop();
    expect(await text(socket)).toBe("");
  });

  test("a stream's work ends when its reader goes", async () => {
    const { definition, options, gone } = world(serve);
    const service = await startService(definition, {}, options);
    const socket = await open(service.port);
    socket.write("GET /ticks HTTP/1.1\r\nhost: x\r\n\r\n");
    await new Promise((resolve) => socket.once("data", resolve));
    socket.destroy();
    await gone.opened;
    await service.stop();
  });

  test("a port that is taken fails the start and closes what was opened", async () => {
    const first = world(serve);
    const service = await startService(first.definition, {}, first.options);
    const second = world(serve);
    const options = { ...second.options, listen: { port: service.port } };
    await expect(startService(second.definition, {}, options)).rejects.toMatchObject({ code: "EADDRINUSE" });
    expect(second.events).toEqual(["stop"]);
    await service.stop();
  });

  test("a start that fails stops listening again", async () => {
    const { definition, options, events, platform } = world(serve, { start: () => Promise.reject(new Error("no")) });
    await expect(startService(definition, {}, options)).rejects.toThrow("no");
    expect(events).toEqual(["stop"]);
    await expect(open(platform()?.server()?.port ?? 0)).rejects.toThrow("ECONNREFUSED");
  });

  test("requests are counted and logged by operation, never by path, query or credential", async () => {
    const { definition, options, lines, release } = world(serve);
    release.open();
    const service = await startService(definition, {}, options);
    const get = (path: string, headers = {}) => fetch(`${service.url}${path}`, { headers });
    await get("/slow/hunter2");
    await get("/nowhere/hunter2?hunter2");
    await get("/guarded?hunter2=1", { authorization: "Bearer hunter2" });
    const metrics = await (await get("/metrics")).text();
    expect(metrics).toContain('demo_http_requests_total{method="GET",route="slow",status="200"} 1');
    expect(metrics).toContain('demo_http_requests_total{method="GET",route="unmatched",status="404"} 1');
    expect(metrics).toContain('demo_http_requests_total{method="GET",route="guarded",status="401"} 1');
    expect(metrics).toContain('demo_auth_attempts_total{method="token",result="failure"} 1');
    expect(metrics).toContain('demo_errors_total{code="NOT_FOUND"} 1');
    expect(metrics).toContain('demo_info{version="1.2.3"} 1');
    expect(metrics).not.toContain("hunter2");
    expect(lines.join("")).not.toContain("hunter2");
    const logged = lines
      .map((line) => JSON.parse(line) as Record<string, unknown>)
      .filter((line) => line["message"] === "request");
    expect(logged[0]).toMatchObject({
      service: "demo",
      route: "slow",
      status: 200,
      method: "GET",
      request_id: expect.stringMatching(/^[0-9a-f]{32}$/),
    });
    await service.stop();
  });

  test("limits count a caller by the connection; only a trusted proxy is believed about who stands behind it", async () => {
    const rate = { limit: 2, window: 60_000 };
    const statuses = async (trustedProxies: readonly string[]): Promise<number[]> => {
      const { definition, options, release } = world(serve, { limits: { authenticated: rate, anonymous: rate } });
      release.open();
      const service = await startService(definition, {}, { ...options, trustedProxies });
      const answers: number[] = [];
      for (const address of ["192.0.2.1", "192.0.2.2", "192.0.2.3", "203.0.113.9, 192.0.2.3", "203.0.113.8, 192.0.2.3"]) {
        const { status } = await fetch(`${service.url}/slow/a`, { headers: { "x-forwarded-for": address } });
        answers.push(status);
      }
      await service.stop();
      return answers;
    };
    // Spoofed addresses open nothing; behind a trusted proxy each address has its own limit, and what it claims itself counts for nothing.
    expect(await statuses([])).toEqual([200, 200, 429, 429, 429]);
    expect(await statuses(["127.0.0.0/8"])).toEqual([200, 200, 200, 200, 429]);
  });

  test("a method that nobody knows is no metric of its own", async () => {
    const { definition, options } = world(serve);
    const service = await startService(definition, {}, options);
    for (const method of ["PURGE", "LINK", "PROPFIND"]) await fetch(`${service.url}/nowhere`, { method });
    expect(await service.metrics.text()).toContain('demo_http_requests_total{method="GET",route="unmatched",status="404"} 3');
    await service.stop();
  });

  test("knows its own health", async () => {
    const { definition, options, platform } = world(serve);
    const service = await startService(definition, {}, options);
    expect(await service.health()).toMatchObject({ status: "healthy", ready: true });
    expect(await platform()?.health()).toMatchObject({ components: { store: { status: "healthy" } } });
    await service.stop();
  });
});
