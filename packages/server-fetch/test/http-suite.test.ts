import type { IncomingMessage, ServerResponse } from "node:http";
import { connect } from "node:net";
import { Readable } from "node:stream";
import { buffer } from "node:stream/consumers";
import { pipeline } from "node:stream/promises";
import type { Dispatch, Incoming, WireResponse } from "@seneschal/contract";
import { httpCases, httpSuite, sampleService } from "@seneschal/contract/testing";
import { listener } from "@seneschal/server-node";
import { describe, expect, test } from "vitest";
import { fetchHandler } from "../src/index.ts";

/** What a platform does around a fetch handler: bytes to `Request`, `Response` to bytes. Without a `Host` it has no address to name. */
function platform(dispatch: Dispatch, basePath: string) {
  const remoteAddress = (_: Request, { socket }: IncomingMessage): string => socket.remoteAddress ?? "";
  const handle = fetchHandler<[IncomingMessage]>(dispatch, { basePath, remoteAddress });
  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const { method = "GET", url = "/", rawHeaders, headers } = request;
    const pairs = Array.from({ length: rawHeaders.length / 2 }, (_, i) => rawHeaders.slice(2 * i, 2 * i + 2) as [string, string]);
    const bodiless = method === "GET" || method === "HEAD";
    // The types of the browser do not know how Node asks for a body that is sent while it is made.
    const init: RequestInit & { duplex: "half" } = {
      method,
      headers: pairs,
      duplex: "half",
      ...(bodiless ? {} : { body: Readable.toWeb(request) as ReadableStream }),
    };
    const asked = new Request(/^https?:/.test(url) ? url : `http://${headers.host ?? "localhost"}${url}`, init);
    const { status, headers: reply, body } = await handle(asked, request);
    response.writeHead(status, Object.fromEntries(reply));
    if (body === null) response.end();
    else await pipeline(Readable.fromWeb(body as never), response);
  };
  return (request: IncomingMessage, response: ServerResponse) => void answer(request, response).catch(() => response.destroy());
}

/**
 * What a `Request` cannot say: its URL has a host, whichever of two lines or of a target in absolute form the platform made it of, and no
 * dot segments; it has no version, and the lines of a header are one (which no credential is).
 */
const NOT_OF_A_REQUEST = new Set([
  ...["a dot segment is not resolved", "two host headers", "no host header", "two credentials", "two media types"],
  ...["two host headers of one host", "two host headers beside a target in absolute form, and before HTTP/1.1"],
  ...["a host header that is no host", "a host header with a user", "an empty host header"],
  "a target in absolute form that names nobody",
  "the host of a target in absolute form is the host, whatever the header says",
  "an origin that is the host header's alone is another site beside a target in absolute form",
  ...["HTTP/0.9 is refused", "HTTP/0.9 by its number is refused"],
]);

describe.each(["", "/services/keys"])("a fetch handler at %j answers the shared case table", (basePath) => {
  httpSuite({
    basePath,
    test: (name, body) => test.skipIf(NOT_OF_A_REQUEST.has(name))(name, body),
    equal: (actual, expected, message) => expect(actual, message).toEqual(expected),
    serve: (dispatch, options) => listener(platform(dispatch, basePath), dispatch, { port: 0, ...options }).listen(),
    exchange(port, bytes) {
      const socket = connect(port, "127.0.0.1");
      socket.write(bytes);
      return buffer(socket);
    },
  });
});

test("what is left out of the table is in it", () => {
  expect([...NOT_OF_A_REQUEST].filter((name) => !httpCases.some((one) => one.name === name))).toEqual([]);
});

describe("beside an application's own routes", () => {
  const at = "https://example.test";

  test("what is not the service's is undefined, and leaves no trace", async () => {
    const keys = fetchHandler(sampleService(), { basePath: "/keys", remoteAddress: "unknown", unmatched: "next" });
    expect(await keys(new Request(`${at}/own`))).toBeUndefined();
    expect(await keys(new Request(`${at}/keysmith`))).toBeUndefined();
    expect(await keys(new Request(`${at}/keys/nowhere`))).toBeUndefined();
    expect((await keys(new Request(`${at}/keys/widgets/health`)))?.status).toBe(200);
    expect((await keys(new Request(`${at}/keys/widgets/health`, { method: "DELETE" })))?.status).toBe(405);
  });

  test("a body that the application has read is a 500, never waited for", async () => {
    const keys = fetchHandler(sampleService(), { remoteAddress: "unknown" });
    const headers = { authorization: "Bearer good", "content-type": "application/json" };
    const request = new Request(`${at}/widgets`, { method: "POST", headers, body: '{"name":"nut"}' });
    await request.text();
    expect((await keys(request)).status).toBe(500);
  });

  test("a reader who leaves ends the stream's work, and a caller who hangs up is known to be gone", async () => {
    let ended = false;
    const told: string[] = [];
    const answer = async ({ onClose }: Incoming): Promise<WireResponse> => {
      onClose?.(() => told.push("gone"));
      const body = (async function* () {
        try {
          for (;;) yield new Uint8Array([65]);
        } finally {
          ended = true;
        }
      })();
      return { status: 200, headers: {}, body };
    };
    const handle = fetchHandler(Object.assign(answer, { serves: () => true }), { remoteAddress: "unknown" });
    const reader = (await handle(new Request(at))).body?.getReader();
    await reader?.read();
    await reader?.cancel();
    expect([ended, told]).toEqual([true, ["gone"]]);
    const caller = new AbortController();
    await handle(new Request(at, { signal: caller.signal }));
    caller.abort();
    expect(told).toEqual(["gone", "gone"]);
  });

  test("a base path that is none is refused at once", () => {
    for (const basePath of ["keys", "//evil.test", "/a b", "/a;b", "/a//b", "/<script>"])
      expect(() => fetchHandler(sampleService(), { basePath, remoteAddress: "unknown" }), basePath).toThrow(TypeError);
  });

  test("what says where requests come from is a function or a word, and what to do with others one of two, or it is refused at once", () => {
    for (const wrong of [
      { remoteAddress: "10.0.0.1" },
      { remoteAddress: 5 },
      {},
      { remoteAddress: "unknown", unmatched: "nxet" },
    ])
      expect(() => fetchHandler(sampleService(), wrong as never), JSON.stringify(wrong)).toThrow(/^options\.\w+: expected /);
  });
});
