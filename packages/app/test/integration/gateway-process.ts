/**
 * One gateway process of the federation tests, as it is composed for real: its start as JSON on the command line; on standard output one
 * line of JSON with what a client needs to be its super admin.
 */

import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { openLogger } from "@seneschal/adapters/logging";
import { openMetrics } from "@seneschal/adapters/metrics";
import { systemClock, systemRandom } from "@seneschal/adapters/system";
import { dispatcher, type Hooks } from "@seneschal/contract";
import { unwatched } from "@seneschal/contract/testing";
import { serve as expressServe } from "@seneschal/server-express";
import { serve as fastifyServe } from "@seneschal/server-fastify";
import { devCredentials, devIssuer, serverCertificate } from "../../src/gateway/index.ts";
import { buildGateway, gatewayService } from "../../src/gateway/service.ts";
import { strictBackground } from "../platform/strict-background.ts";
import type { GatewayStart } from "./gateway-instance.ts";

const start = JSON.parse(process.argv[2] ?? "{}") as GatewayStart;
const keyFile = join(start.dataDir, "unseal.key");
await readFile(keyFile).catch(() => writeFile(keyFile, Buffer.from(systemRandom(32)).toString("base64"), { mode: 0o600 }));
const config = gatewayService(start.dataDir).settings.parse({
  server: { instance_id: `gateway-of-${start.org}` },
  rate_limit: { authenticated: { limit: 1_000_000 } },
  federation: {
    allowed_targets: ["127.0.0.0/8", "10.0.0.0/8", "::1"],
    timeout: "1s",
    health_interval: "1s",
    certificate_ttl: start.certificateTtl ?? "365d",
    certificate_min_life: "0s",
  },
});
const gateway = await buildGateway(
  config,
  {
    clock: systemClock,
    random: systemRandom,
    log: openLogger({ level: "silent" }),
    version: "test",
    metrics: openMetrics({ prefix: "gateway", version: "test" }),
    health: async () => ({ status: "healthy", ready: true, components: {} }),
    background: strictBackground(openLogger({ level: "silent" })),
    server: () => undefined,
  },
  start.dataDir,
);
const now = systemClock.now();
const dev = await devCredentials(gateway.services, { organizations: [start.org], issuer: devIssuer(), now });
const tls = await serverCertificate(gateway.services, { names: ["localhost", start.host], now });
const hooks: Hooks = {
  ...unwatched,
  ...gateway.hooks,
  now: () => systemClock.now(),
  requestId: () => Buffer.from(systemRandom(16)).toString("hex"),
};
const serve = start.server === "fastify" ? fastifyServe : expressServe;
await serve(dispatcher(gateway.endpoints(hooks), hooks), {
  host: start.host,
  port: start.port,
  tls: { cert: tls.cert, key: tls.key, ca: [tls.clientCa], requestCert: true },
});
await gateway.start?.();
const admin = dev.organizations[start.org]?.admins.super_admin;
process.stdout.write(`${JSON.stringify({ ca: tls.ca, cert: admin?.certificate, key: admin?.private_key })}\n`);
