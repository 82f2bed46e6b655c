import { connect } from "node:net";
import { buffer } from "node:stream/consumers";
import { httpCases, httpSuite, sampleService } from "@seneschal/contract/testing";
import { type Listener, listener } from "@seneschal/server-node";
import fastify, { type FastifyInstance } from "fastify";
import { describe, expect, test } from "vitest";
import { plugin } from "../src/index.ts";

/** What Fastify refuses itself before the service is asked: content types and escapes that it cannot read. */
const NOT_OF_A_PLUGIN = new Set([
  "QUERY is a method like any other",
  "no content type is refused",
  "an invalid content type is refused",
  "a malformed percent escape is refused",
  "an escape that is not UTF-8 is refused",
  "a malformed escape in an unknown path is not found",
]);

describe.each([
  ["/services/keys", "/services/keys"],
  ["/services/:tenant/keys/", "/services/acme/keys"],
])("registered at %s, Fastify answers the shared case table", (prefix, basePath) => {
  httpSuite({
    test: (name, body) => test.skipIf(NOT_OF_A_PLUGIN.has(name))(name, body),
    equal: (actual, expected, message) => expect(actual, message).toEqual(expected),
    basePath,
    async serve(dispatch, options) {
      let below: Listener | undefined;
      const app = fastify({
        serverFactory(handler) {
          below = listener(handler, dispatch, { port: 0, ...options });
          return below.server;
        },
      });
      await app.register(plugin, { prefix, dispatch });
      await app.ready();
      return (below as unknown as Listener).listen();
    },
    exchange(port, bytes) {
      const socket = connect(port, "127.0.0.1");
      socket.write(bytes);
      return buffer(socket);
    },
  });
});

test("what is left out of the table is in it", () => {
  expect([...NOT_OF_A_PLUGIN].filter((name) => !httpCases.some((one) => one.name === name))).toEqual([]);
});

const json = { "content-type": "application/json" };
const bolt = { method: "POST", headers: { ...json, authorization: "Bearer good" }, body: '{"name":"bolt"}' };

async function served(build: (app: FastifyInstance) => Promise<void>) {
  const app = fastify();
  await build(app);
  const at = await app.listen({ port: 0, host: "127.0.0.1" });
  return {
    async ask(path: string, options: RequestInit = {}) {
      const reply = await fetch(at + path, { redirect: "manual", ...options });
      return { status: reply.status, headers: reply.headers, text: await reply.text() };
    },
    close: () => app.close(),
  };
}

describe("in a Fastify application that has routes of its own", () => {
  test("several services stand beside them, and its parsers are its own", async () => {
    const { ask, close } = await served(async (app) => {
      app.addContentTypeParser("application/json", { parseAs: "string" }, (_request, body, done) => done(null, { parsed: body }));
      await app.register(plugin, { prefix: "/a", dispatch: sampleService() });
      await app.register(plugin, { prefix: "/b/c", dispatch: sampleService() });
      app.get("/a/own", () => "own");
      app.post("/own", (request) => request.body);
    });
    expect((await ask("/a/own")).text).toBe("own");
    expect((await ask("/own", bolt)).text).toBe('{"parsed":"{\\"name\\":\\"bolt\\"}"}');
    for (const base of ["/a", "/b/c"]) {
      expect((await ask(`${base}/widgets`, bolt)).status).toBe(201);
      expect((await ask(`${base}/links`)).headers.get("location")).toBe(`${base}/widgets/w1`);
      for (const path of ["", "/", "/nowhere"]) expect((await ask(base + path)).text).toContain('"code":"NOT_FOUND"');
    }
    for (const path of ["/widgets/health", "/amber", "/b"]) expect((await ask(path)).text).toContain("Route GET:");
    await close();
  });

  test("what is not the service's goes to its not-found handler, where it is told so, and is seen by no hook of the service", async () => {
    const { ask, close } = await served(async (app) => {
      app.setNotFoundHandler((request, reply) => reply.code(418).send(request.url));
      await app.register(plugin, { prefix: "/keys", dispatch: sampleService(), unmatched: "next" });
      await app.register(plugin, { dispatch: sampleService(), unmatched: "next" });
    });
    for (const path of ["/own?x=1", "/keys/own", "/keysmith", "/keys"])
      expect(await ask(path)).toMatchObject({ status: 418, text: path });
    expect((await ask("/keys/widgets/health")).status).toBe(200);
    expect((await ask("/widgets/health")).status).toBe(200);
    expect((await ask("/widgets/health", { method: "DELETE" })).status).toBe(405);
    expect((await ask("/own")).headers.get("x-request-id")).toBeNull();
    await close();
  });

  test("its onSend hooks see replies, its cookies stay beside the service's", async () => {
    const seen: string[] = [];
    const { ask, close } = await served(async (app) => {
      app.addHook("onRequest", async (_request, reply) => {
        reply.header("set-cookie", "host=1").header("vary", "origin").header("cache-control", "public");
      });
      app.addHook("onSend", async (request, reply, payload) => {
        seen.push(`${request.url} ${reply.statusCode} ${typeof payload}`);
        reply.header("strict-transport-security", "max-age=1");
        return request.url.endsWith("/health") ? '{"changed":true}' : payload;
      });
      await app.register(plugin, { prefix: "/keys", dispatch: sampleService() });
    });
    const { headers } = await ask("/keys/links");
    expect(headers.getSetCookie()).toEqual(["host=1", "session=1; Path=/keys/widgets; HttpOnly"]);
    expect(headers.get("strict-transport-security")).toBe("max-age=1");
    expect(headers.get("vary")).toBe("origin");
    expect(headers.get("cache-control")).toBe("no-store");
    expect(await ask("/keys/widgets/health")).toMatchObject({ status: 200, text: '{"changed":true}' });
    expect((await ask("/keys/stream")).text).toBe("ABC");
    expect(seen).toEqual(["/keys/links 200 string", "/keys/widgets/health 200 string", "/keys/stream 200 object"]);
    await close();
  });

  test.each(["onRequest", "preHandler"] as const)(
    "what its %s hook refuses stays refused, whatever is asked and however",
    async (hook) => {
      const dispatch = sampleService();
      const reached: string[] = [];
      const watched = Object.assign((...[wire]: Parameters<typeof dispatch>) => {
        if (wire.broken === undefined) reached.push(`${wire.method} ${wire.target}`);
        return dispatch(wire);
      }, dispatch);
      const { ask, close } = await served(async (app) => {
        app.addHook(hook, async () => {
          throw Object.assign(new Error("not by us"), { statusCode: 403 });
        });
        await app.register(plugin, { prefix: "/keys", dispatch: watched });
      });
      for (const options of [
        {},
        { method: "PURGE" },
        { method: "QUERY" },
        { method: "OPTIONS" },
        bolt,
        { ...bolt, headers: { "content-type": "garbage" } },
        { ...bolt, headers: {}, body: new Uint8Array([1]) },
      ] as RequestInit[])
        for (const path of ["/keys", "/keys/widgets", "/keys/widgets/health", "/keys/nowhere"])
          expect((await ask(path, options)).status, `${options.method} ${path}`).toBeGreaterThanOrEqual(400);
      expect(reached).toEqual([]);
      await close();
    },
  );

  test("a content type that cannot be read is refused in the service's words", async () => {
    const { ask, close } = await served(async (app) => {
      await app.register(plugin, { prefix: "/keys", dispatch: sampleService() });
    });
    const garbage = await ask("/keys/widgets", { ...bolt, headers: { "content-type": "garbage" } });
    expect(garbage).toMatchObject({ status: 400 });
    expect(garbage.text).toContain('"code":"BAD_REQUEST"');
    await close();
  });

  test("a stream that breaks breaks the connection, and its head leaves before its first piece", async () => {
    let release = (): void => {};
    const first = new Promise<void>((resolve) => {
      release = resolve;
    });
    const answer = async () => ({
      status: 200,
      headers: { "content-type": "text/event-stream" },
      body: (async function* () {
        await first;
        yield new Uint8Array([65]);
        throw new Error("broken");
      })(),
    });
    const app = fastify();
    await app.register(plugin, { prefix: "/keys", dispatch: Object.assign(answer, { serves: () => true }) });
    const at = await app.listen({ port: 0, host: "127.0.0.1" });
    const reply = await fetch(`${at}/keys/stream`);
    expect(reply.status).toBe(200);
    release();
    await expect(reply.text()).rejects.toThrow();
    await app.close();
  });
});
