/** The same bytes get the same answer from both servers: status, every header but the date, body. */
import { connect } from "node:net";
import { buffer } from "node:stream/consumers";
import { httpCases, parseResponse, requestBytes, sampleService } from "@seneschal/contract/testing";
import * as express from "@seneschal/server-express";
import * as fastify from "@seneschal/server-fastify";
import { expect, test } from "vitest";

async function answer(port: number, bytes: Uint8Array) {
  const socket = connect(port, "127.0.0.1");
  socket.write(bytes);
  return parseResponse(await buffer(socket));
}

test(`Express and Fastify differ in 0 of ${httpCases.length} requests`, async () => {
  const open = (options: { readonly requestTimeout?: number }) =>
    Promise.all([express, fastify].map(({ serve }) => serve(sampleService(), { port: 0, ...options })));
  const servers = await open({});
  const different: unknown[] = [];
  for (const one of httpCases) {
    const { requestTimeout } = one;
    const asked = requestTimeout === undefined ? servers : await open({ requestTimeout });
    const [first, second] = await Promise.all(asked.map(({ port }) => answer(port, requestBytes(one))));
    if (JSON.stringify(first) !== JSON.stringify(second)) different.push({ name: one.name, first, second });
    if (asked !== servers) await Promise.all(asked.map((server) => server.close()));
  }
  await Promise.all(servers.map((server) => server.close()));
  expect(different).toEqual([]);
});
