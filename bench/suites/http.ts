import { Agent, createServer, type RequestListener, request } from "node:http";
import type { AddressInfo } from "node:net";
import { contract, dispatcher, endpoints, type Hooks, type Serve } from "@seneschal/contract";
import { sampleErrors } from "@seneschal/contract/testing";
import * as express from "@seneschal/server-express";
import * as fastify from "@seneschal/server-fastify";
import bareExpress from "express";
import bareFastify from "fastify";
import * as z from "zod";
import type { Bench, BenchResult } from "../bench.ts";

const routes = contract({
  noop: {
    method: "POST",
    path: "/noop",
    summary: "Nothing",
    tag: "bench",
    auth: "principal",
    action: "bench:noop",
    body: z.strictObject({ text: z.string().max(100) }),
    status: 200,
    reply: z.strictObject({ text: z.string() }),
  },
});
const hooks: Hooks = {
  errors: sampleErrors,
  now: () => Date.now(),
  requestId: () => "bench",
  authenticate: (wire) =>
    wire.headers["authorization"] === "Bearer good"
      ? { id: "b", type: "user", org: "o", roles: [], scopes: [], method: "token" }
      : undefined,
  authorise: () => {},
  rateLimit: "off",
  observe: "off",
  onError: (error) => console.error(error),
};
const dispatch = dispatcher(endpoints(routes, { noop: (_, { body }) => body }, undefined, hooks), hooks);
const BODY = JSON.stringify({ text: "hello" });

/** Requests per second over kept-alive connections, from within the same process: client and server share the core. */
async function throughput(port: number, ms = 2000, connections = 16): Promise<number> {
  const agent = new Agent({ keepAlive: true, maxSockets: connections });
  const headers = { authorization: "Bearer good", "content-type": "application/json", "content-length": BODY.length };
  const one = (): Promise<void> =>
    new Promise((resolve, reject) => {
      const asked = request({ agent, port, method: "POST", path: "/noop", headers }, (response) => {
        if (response.statusCode !== 200) reject(new Error(`status ${response.statusCode}`));
        response.resume().on("end", resolve);
      });
      asked.on("error", reject);
      asked.end(BODY);
    });
  const spin = async (duration: number): Promise<number> => {
    const until = performance.now() + duration;
    const start = performance.now();
    let done = 0;
    const worker = async (): Promise<void> => {
      while (performance.now() < until) {
        await one();
        done++;
      }
    };
    await Promise.all(Array.from({ length: connections }, worker));
    return (done * 1000) / (performance.now() - start);
  };
  await spin(ms / 4);
  const rate = await spin(ms);
  agent.destroy();
  return rate;
}

/** The peers: the same echo written by hand on each framework, without checks, limits, identity or error shape. */
async function byHand(name: "express" | "fastify" | "node:http"): Promise<number> {
  if (name === "fastify") {
    const app = bareFastify();
    app.post("/noop", (incoming) => incoming.body);
    await app.listen({ port: 0, host: "127.0.0.1" });
    const rate = await throughput((app.server.address() as AddressInfo).port);
    await app.close();
    return rate;
  }
  const app = bareExpress();
  app.post("/noop", bareExpress.json(), (incoming, response) => {
    response.json(incoming.body);
  });
  const plain: RequestListener = (incoming, response) => {
    const chunks: Buffer[] = [];
    incoming.on("data", (chunk: Buffer) => chunks.push(chunk));
    incoming.on("end", () => {
      const body: unknown = JSON.parse(Buffer.concat(chunks).toString());
      response.setHeader("content-type", "application/json").end(JSON.stringify(body));
    });
  };
  const server = createServer(name === "express" ? app : plain);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const rate = await throughput((server.address() as AddressInfo).port);
  await new Promise((resolve) => server.close(resolve));
  return rate;
}

async function served(serve: Serve): Promise<number> {
  const server = await serve(dispatch, { port: 0 });
  const rate = await throughput(server.port);
  await server.close();
  return rate;
}

/** A no-op authenticated route with a checked body and reply on both servers, against the same echo by hand. */
export const benches: readonly Bench[] = [
  {
    name: "http",
    async run(): Promise<readonly BenchResult[]> {
      const results: BenchResult[] = [];
      const row = (name: string, value: number, peer: string, peerValue: number): void => {
        results.push({ name, value, unit: "requests/s", peer, peerValue, ratio: value / peerValue });
      };
      const ceiling = await byHand("node:http");
      for (const [name, serve] of [
        ["express", express.serve],
        ["fastify", fastify.serve],
      ] as const) {
        const alone = await byHand(name);
        const value = await served(serve);
        row(`http/no-op/${name}`, value, `${name} alone`, alone);
        row(`http/no-op/${name}`, value, "node:http", ceiling);
      }
      return results;
    },
  },
];
