import { randomBytes } from "node:crypto";
import { openMemoryStore } from "@seneschal/adapters/memory";
import type { Serve } from "@seneschal/contract";
import type { DocumentStore } from "@seneschal/kernel/ports";
import { serve as express } from "@seneschal/server-express";
import { serve as fastify } from "@seneschal/server-fastify";
import { gatewaySchema } from "../../src/gateway/index.ts";

const servers: Readonly<Record<string, Serve>> = { express, fastify };

/** The server that the suites run on: `TEST_SERVER`, which the test configurations set to each in turn. */
export function testServer(): Serve {
  const name = process.env["TEST_SERVER"] ?? "express";
  const serve = servers[name];
  if (serve === undefined) throw new Error(`TEST_SERVER names no server: ${name}`);
  return serve;
}

/** An empty store: in memory, or a namespace of its own in the PostgreSQL of `TEST_DATABASE`. */
export async function openTestStore(): Promise<DocumentStore> {
  const url = process.env["TEST_DATABASE"];
  if (url === undefined) return openMemoryStore(gatewaySchema);
  const { openPostgresStore } = await import("@seneschal/adapters/postgres");
  return openPostgresStore({ ...gatewaySchema, url, namespace: `t_${randomBytes(8).toString("hex")}` });
}
