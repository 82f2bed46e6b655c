/** The gateway as the benches run it: the level store, the embedded vault, mutual TLS, no rate limits. */
import { randomBytes } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openLevelStore } from "@seneschal/adapters/level";
import { openLogger } from "@seneschal/adapters/logging";
import { openMemoryRates } from "@seneschal/adapters/memory";
import { openMetrics } from "@seneschal/adapters/metrics";
import { nodeCrypto } from "@seneschal/adapters/node-crypto";
import { embeddedPolicyEngine } from "@seneschal/adapters/policy";
import { systemClock, systemRandom } from "@seneschal/adapters/system";
import { openEmbeddedVault, vaultCollections } from "@seneschal/adapters/vault";
import {
  devCredentials,
  devIssuer,
  type Gateway,
  gatewaySchema,
  gatewaySettings,
  makeWorkspace,
  openGateway,
  serverCertificate,
  type systemCall,
} from "@seneschal/app/gateway";
import { openBackground, pooledRandom, rateLimiter } from "@seneschal/app/platform";
import { dispatcher, type Endpoint, type Hooks, type Serve } from "@seneschal/contract";
import type { DocumentStore } from "@seneschal/kernel/ports";
import { serve as serveFastify } from "@seneschal/server-fastify";
import type { Load, LoadReport } from "./load-client.ts";
import { runClient } from "./run-client.ts";

/** What the bench's stores are opened with. */
export const benchCollections = { ...gatewaySchema.collections, ...vaultCollections };

/** A gateway over a store that holds `benchCollections`; nothing listens. */
export async function openBenchGateway(store: DocumentStore): Promise<Gateway> {
  const unseal = { kind: "key", key: randomBytes(32) } as const;
  const vault = await openEmbeddedVault({ store, crypto: nodeCrypto, random: systemRandom, clock: systemClock, unseal });
  const unlimited = { limit: 1_000_000_000, window: "1m" };
  const log = openLogger({ level: "silent" });
  const metrics = openMetrics({ prefix: "gateway", version: "bench" });
  return openGateway({
    store,
    vault,
    crypto: nodeCrypto,
    policy: embeddedPolicyEngine(),
    clock: systemClock,
    random: systemRandom,
    config: gatewaySettings.parse({ rate_limit: { authenticated: unlimited, anonymous: unlimited, guarded: unlimited } }),
    log,
    metrics,
    background: openBackground(log, metrics),
    version: "bench",
    health: async () => ({ status: "healthy", ready: true, components: {} }),
  });
}

/** A workspace that the caller is admitted to. */
export async function benchWorkspace(gateway: Gateway, call: ReturnType<typeof systemCall>): Promise<string> {
  const facts = { name: "bench", classification: "CONFIDENTIAL", mode: "standard", purpose: "", crk_protected: false } as const;
  return gateway.services.transact(call, async (unit) => {
    const id = gateway.services.newId(call.now);
    await makeWorkspace(gateway.services, unit, id, { ...facts, group_id: null, participants: [] });
    return id;
  });
}

/** A gateway behind HTTPS, and an admin of `acme` who calls it from another process. */
export interface BenchServer {
  readonly workspace: string;
  readonly admin: string;
  load(call: Pick<Load, "method" | "path" | "milliseconds"> & Partial<Load>): Promise<LoadReport>;
  close(): Promise<void>;
}

/** Starts one; `more` are endpoints beside its own, `serve` is what it is served by. */
export async function openBenchServer(
  more: (hooks: Hooks) => readonly Endpoint[] = () => [],
  serve: Serve = serveFastify,
): Promise<BenchServer> {
  const path = mkdtempSync(join(tmpdir(), "seneschal-bench-"));
  const store = await openLevelStore({ ...gatewaySchema, collections: benchCollections, path });
  const gateway = await openBenchGateway(store);
  const now = (): number => Date.now();
  const dev = await devCredentials(gateway.services, { organizations: ["acme"], issuer: devIssuer(), now: now() });
  const tls = await serverCertificate(gateway.services, { names: ["localhost"], now: now() });
  const ids = pooledRandom(systemRandom);
  const hooks: Hooks = {
    ...gateway.hooks,
    now,
    requestId: () => Buffer.from(ids(16)).toString("hex"),
    rateLimit: rateLimiter("gateway", gateway.limits, openMemoryRates(systemRandom), now),
    observe: "off",
    onError: (error) => console.error(error),
  };
  const server = await serve(dispatcher([...gateway.endpoints(hooks), ...more(hooks)], hooks), {
    port: 0,
    tls: { cert: tls.cert, key: tls.key, ca: [tls.clientCa], requestCert: true },
  });
  await gateway.start?.();
  const admin = dev.organizations["acme"]?.admins.super_admin;
  if (admin === undefined) throw new Error("no admin");
  const principal = { id: admin.id, type: "admin", org: "acme", roles: ["super_admin"], scopes: [], method: "mtls" };
  const workspace = await benchWorkspace(gateway, { principal, now: now(), requestId: "" });
  const connection = { port: server.port, ca: tls.ca, cert: admin.certificate, key: admin.private_key, connections: 64 };
  return {
    workspace,
    admin: admin.id,
    load: (call) => runClient<LoadReport>("load-client.ts", { ...connection, ...call }),
    async close() {
      await server.close();
      await gateway.stop?.();
      await store.close();
      rmSync(path, { recursive: true, force: true });
    },
  };
}
