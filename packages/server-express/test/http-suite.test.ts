import { once } from "node:events";
import type { IncomingMessage } from "node:http";
import { type AddressInfo, connect } from "node:net";
import { buffer } from "node:stream/consumers";
import { httpSuite, sampleService } from "@seneschal/contract/testing";
import express, { type RequestHandler } from "express";
import { describe, expect, test } from "vitest";
import { middleware, serve } from "../src/index.ts";

describe("Express answers the shared case table", () => {
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

describe("a body that the application's own parser has read", () => {
  const mounted = async (parser: RequestHandler) => {
    const app = express();
    app.use(parser);
    app.use(middleware(sampleService()));
    const server = app.listen(0, "127.0.0.1");
    await once(server, "listening");
    const answer = await fetch(`http://127.0.0.1:${(server.address() as AddressInfo).port}/widgets`, {
      method: "POST",
      headers: { authorization: "Bearer good", "content-type": "application/json" },
      body: JSON.stringify({ name: "nut" }),
    });
    server.close();
    await answer.text();
    return answer.status;
  };

  test("is answered, by its bytes where they were kept and else with a 500, and never waited for", async () => {
    const keep = (request: IncomingMessage & { rawBody?: Buffer }, _: unknown, bytes: Buffer): void => {
      request.rawBody = bytes;
    };
    expect(await mounted(express.json({ verify: keep }))).toBe(201);
    expect(await mounted(express.raw({ type: "*/*" }))).toBe(201);
    expect(await mounted(express.text({ type: "*/*" }))).toBe(201);
    expect(await mounted(express.json())).toBe(500);
  });
});
