/** A typed client of a gateway over mTLS, and of a scheduler with a token: retried without doing anything twice, lists page by page. */

import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { mtlsFetch } from "@seneschal/adapters/http";
import { openLogger } from "@seneschal/adapters/logging";
import { startDev } from "@seneschal/app";
import { client, paginate } from "@seneschal/contract";
import { gatewayContract } from "@seneschal/contract/gateway";
import { schedulerContract } from "@seneschal/contract/scheduler";
import { isCoded } from "@seneschal/kernel";
import { serve } from "@seneschal/server-fastify";
import { serveGrpc } from "@seneschal/server-grpc";
import { serveS3 } from "@seneschal/server-s3";

// A server to call: what `seneschal dev` starts, with its certificates, tokens and addresses.
const dataDir = await mkdtemp(join(tmpdir(), "client-"));
const log = openLogger({ level: "error" });
const dev = await startDev({ dataDir, portBase: "any", serve, serveS3, serveGrpc, log, version: "example" });
const { base_urls, organizations, ca: caFile } = dev.credentials;
const { gateway: gatewayUrl = "", scheduler: schedulerUrl = "" } = base_urls;
const acme = organizations["acme"];
if (acme === undefined) throw new Error("the organisation should be there");
const { cert: certFile, key: keyFile } = acme.admins.super_admin;
const [ca = "", cert = "", key = ""] = await Promise.all([caFile, certFile, keyFile].map((file) => readFile(file, "utf8")));

// The certificate is one option: a fetch that shows it. Each POST carries an Idempotency-Key of its own, the same at each of its tries.
const identity = mtlsFetch({ ca, cert, key });
const retries = { newKey: () => crypto.randomUUID(), pause };
const gateway = client(gatewayContract, { baseUrl: gatewayUrl, fetch: identity.fetch, retries });

const names = ["books", "payroll", "merger"];
for (const name of names) await gateway.createWorkspace({ body: { name, purpose: "accounts" } });
const found: string[] = [];
for await (const { name } of paginate(gateway.listWorkspaces, { query: { limit: 2 } })) found.push(name);
console.log("workspaces:", found.sort().join(" "));

const missing = await gateway.getWorkspace({ params: { id: crypto.randomUUID() } }).catch((error: unknown) => error);
console.log("failures are coded:", isCoded(missing, "NOT_FOUND"));

// With a token: a header, which may be a function where tokens are renewed.
const anybody = mtlsFetch({ ca });
const headers = { authorization: `Bearer ${acme.scheduler["system-admin"]?.token}` };
const scheduler = client(schedulerContract, { baseUrl: schedulerUrl, fetch: anybody.fetch, headers, retries });
const tenant = await scheduler.createTenant({ body: { name: "physics", max_nodes: 2 } });
console.log("tenant:", tenant.name, tenant.max_nodes);

await Promise.all([identity.close(), anybody.close()]);
await dev.stop();
await rm(dataDir, { recursive: true, force: true });
if (found.join() !== [...names].sort().join() || !isCoded(missing, "NOT_FOUND") || tenant.max_nodes !== 2)
  throw new Error("each workspace should be listed once");
