import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { connect } from "node:net";
import { buffer } from "node:stream/consumers";
import { httpSuite, sampleService } from "@seneschal/contract/testing";
import { listener } from "@seneschal/server-node";
import express, { type Express } from "express";
import { describe, expect, test } from "vitest";
import { middleware } from "../src/index.ts";

describe.each([
  ["/services/keys", "/services/keys"],
  ["/services/:tenant/keys", "/services/acme/keys"],
])("mounted at %s, Express answers the shared case table", (path, basePath) => {
  httpSuite({
    test: (name, body) => test(name, body),
    equal: (actual, expected, message) => expect(actual, message).toEqual(expected),
    basePath,
    serve(dispatch, options) {
      const app = express();
      app.disable("x-powered-by");
      app.use(path, middleware(dispatch));
      return listener(app, dispatch, { port: 0, ...options }).listen();
    },
    exchange(port, bytes) {
      const socket = connect(port, "127.0.0.1");
      socket.write(bytes);
      return buffer(socket);
    },
  });
});

const json = { "content-type": "application/json" };
const bolt = { method: "POST", headers: { ...json, authorization: "Bearer good" }, body: '{"name":"bolt"}' };

async function served(build: (app: Express) => void) {
  const app = express();
  build(app);
  const server = app.listen(0, "127.0.0.1");
  await once(server, "listening");
  const at = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    async ask(path: string, options: RequestInit = {}) {
      const reply = await fetch(at + path, { redirect: "manual", ...options });
      return { status: reply.status, headers: reply.headers, text: await reply.text() };
    },
    close: () => server.close(),
  };
}

describe("in an Express application that has routes of its own", () => {
  test("several services stand beside them, whatever parser comes before or after", async () => {
    const { ask, close } = await served((app) => {
      app.get("/own", (_, response) => void response.send("own"));
      app.use("/a", middleware(sampleService()));
      app.use("/b/c", middleware(sampleService()));
      app.use(express.json());
      app.post("/own", (request, response) => void response.json(request.body));
    });
    expect((await ask("/own")).text).toBe("own");
    expect((await ask("/own", { ...bolt })).text).toBe('{"name":"bolt"}');
    for (const base of ["/a", "/b/c"]) {
      expect((await ask(`${base}/widgets`, bolt)).status).toBe(201);
      expect((await ask(`${base}/links`)).headers.get("location")).toBe(`${base}/widgets/w1`);
      expect((await ask(`${base}/nowhere`)).text).toContain('"NOT_FOUND"');
    }
    expect((await ask("/widgets/health")).text).not.toContain("ok");
    close();
  });

  test("what is not the service's goes to the routes behind it, where it is told so, and is seen by no hook of the service", async () => {
    const { ask, close } = await served((app) => {
      app.use("/keys", middleware(sampleService(), { unmatched: "next" }));
      app.use(middleware(sampleService(), { unmatched: "next" }));
      app.use((request, response) => void response.status(418).send(request.originalUrl));
    });
    for (const path of ["/own?x=1", "/keys/own", "/keysmith", "/nowhere/%zz"])
      expect(await ask(path)).toMatchObject({ status: 418, text: path });
    expect((await ask("/keys/widgets/health")).status).toBe(200);
    expect((await ask("/widgets/health")).status).toBe(200);
    // The path is the service's, the method is not: that is the service's to say.
    expect((await ask("/widgets/health", { method: "DELETE" })).status).toBe(405);
    expect((await ask("/own")).headers.get("x-request-id")).toBeNull();
    close();
  });

  test("its middleware sees replies: headers that it set stay, its cookies stay beside the service's, what it refuses stays refused", async () => {
    const { ask, close } = await served((app) => {
      app.use((request, response, next) => {
        response.setHeader("strict-transport-security", "max-age=1");
        response.setHeader("cache-control", "public");
        response.cookie("host", "1").vary("origin");
        if (request.headers["x-blocked"] === undefined) next();
        else response.sendStatus(403);
      });
      app.use("/keys", middleware(sampleService()));
    });
    const { headers } = await ask("/keys/links");
    expect(headers.getSetCookie()).toEqual(["host=1; Path=/", "session=1; Path=/keys/widgets; HttpOnly"]);
    expect(headers.get("strict-transport-security")).toBe("max-age=1");
    expect(headers.get("vary")).toBe("origin");
    // Of what both have said, the service knows better what may be kept.
    expect(headers.get("cache-control")).toBe("no-store");
    expect((await ask("/keys/links", { headers: { "x-blocked": "1" } })).status).toBe(403);
    close();
  });

  test("a mount whose path is made of what a caller sent puts nothing of it into a header", async () => {
    const { ask, close } = await served((app) => app.use("/:tenant/keys", middleware(sampleService())));
    expect((await ask("/acme/keys/links")).headers.get("set-cookie")).toContain("Path=/acme/keys/widgets;");
    for (const tenant of ["a;Domain=evil.test", "a,b"]) {
      const { status, headers } = await ask(`/${tenant}/keys/links`);
      expect(headers.get("set-cookie"), tenant).toBeNull();
      expect(status, tenant).toBeGreaterThanOrEqual(400);
    }
    // What the caller escapes stays escaped.
    for (const tenant of ["<b>", '"', "%0d%0aset-cookie:a=b", "%3bDomain=evil.test"])
      expect((await ask(`/${tenant}/keys/links`)).headers.get("set-cookie") ?? "", tenant).not.toMatch(/[<"\r\n]|;Domain/i);
    close();
  });
});
