import { once } from "node:events";
import { connect } from "node:net";
import { buffer } from "node:stream/consumers";
import type { Dispatch, Incoming, WireResponse } from "@seneschal/contract";
import { httpSuite, sampleService } from "@seneschal/contract/testing";
import { describe, expect, test, vi } from "vitest";
import { handler, listener, serve } from "../src/index.ts";

const answering = (answer: (incoming: Incoming) => Promise<WireResponse>): Dispatch =>
  Object.assign(answer, { serves: () => true });

describe("node:http alone answers the shared case table", () => {
  httpSuite({
    test: (name, body) => test(name, body),
    equal: (actual, expected, message) => expect(actual, message).toEqual(expected),
    serve: (dispatch, options) => serve(dispatch, { port: 0, ...options }),
    exchange(port, bytes) {
      const socket = connect(port, "127.0.0.1");
      socket.write(bytes);
      return buffer(socket);
    },
  });
});

test("bytes that are no request are refused with what the parser made of them", async () => {
  const dispatch = answering(async ({ broken }) => ({ status: 400, headers: {}, body: Buffer.from(broken ?? "") }));
  const server = await listener(handler(dispatch), dispatch, { port: 0 }).listen();
  const socket = connect(server.port, "127.0.0.1");
  socket.write("GET / HTTP/1.1\r\ncontent-length: x\r\n\r\n");
  expect((await buffer(socket)).toString()).toMatch(/\r\n\r\nthis is not HTTP \(HPE_INVALID_CONTENT_LENGTH\)$/);
  await server.close();
});

test("an address that sends too much that is no request is told so, in status line and body alike", async () => {
  const headers = { "content-type": "application/json", "retry-after": "7" };
  const dispatch = answering(async () => ({ status: 429, headers, body: Buffer.from('{"error":{"code":"RATE_LIMITED"}}') }));
  const server = await listener(handler(dispatch), dispatch, { port: 0 }).listen();
  const socket = connect(server.port, "127.0.0.1");
  socket.write("not HTTP at all\r\n\r\n");
  const text = (await buffer(socket)).toString();
  expect(text).toMatch(/^HTTP\/1\.1 429 Too Many Requests\r\n/);
  expect(text).toContain("retry-after: 7");
  await server.close();
});

test.each([
  ["waits for a request", "", 0],
  ["has sent half of one", "POST / HTTP/1.1\r\nhost: a\r\ncontent-length: 9\r\n\r\nhalf", 1],
  ["has had its answer", "GET / HTTP/1.1\r\nhost: a\r\n\r\n", 1],
])("a server that closes drops, behind its grace, a connection that %s", async (_what, sends, requests) => {
  let asked = 0;
  const dispatch = answering(async ({ body }) => {
    asked++;
    if (typeof body === "function") await body(9).catch(() => undefined);
    return { status: 200, headers: {}, body: Buffer.from("done") };
  });
  // Nothing but the grace ends them.
  const patient = { port: 0, grace: 1, requestTimeout: 3_600_000, idleTimeout: 3_600_000 };
  const below = listener(handler(dispatch), dispatch, patient);
  const accepted = once(below.server, "connection");
  const server = await below.listen();
  const socket = connect(server.port, "127.0.0.1");
  socket.on("error", () => undefined).resume();
  const ended = once(socket, "close");
  socket.write(sends);
  await accepted;
  await vi.waitUntil(() => asked === requests, { timeout: 60_000 });
  await server.close();
  await ended;
});

describe("below a path node:http answers the shared case table", () => {
  httpSuite({
    test: (name, body) => test(name, body),
    equal: (actual, expected, message) => expect(actual, message).toEqual(expected),
    basePath: "/services/keys",
    serve: (dispatch, options) =>
      listener(handler(dispatch, { basePath: "/services/keys/" }), dispatch, { port: 0, ...options }).listen(),
    exchange(port, bytes) {
      const socket = connect(port, "127.0.0.1");
      socket.write(bytes);
      return buffer(socket);
    },
  });
});

test("what is not the service's goes to whoever comes next, where it is told so", async () => {
  const dispatch = sampleService();
  const keys = handler(dispatch, { basePath: "/keys", unmatched: "next" });
  const server = await listener(
    (request, response) => keys(request, response, () => response.writeHead(418).end(request.url)),
    dispatch,
    { port: 0 },
  ).listen();
  const ask = async (path: string, method = "GET") => {
    const reply = await fetch(server.url + path, { method });
    return `${reply.status} ${reply.status === 418 ? await reply.text() : ""}`;
  };
  for (const path of ["/", "/own", "/keysmith", "/keys", "/keys/own", "/widgets/health"])
    expect(await ask(path)).toBe(`418 ${path}`);
  expect(await ask("/keys/widgets/health")).toBe("200 ");
  expect(await ask("/keys/widgets/health", "DELETE")).toBe("405 ");
  await server.close();
});
