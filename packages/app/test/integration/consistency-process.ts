/**
 * One gateway of the consistency test, as JSON on the command line: the PostgreSQL address, the namespace, how far its clock is ahead, and
 * the key of the tokens' issuer. Serves without TLS, and says its port on standard output.
 */

import { staticKeys, tokenVerifier } from "@seneschal/adapters/jwt";
import { openLogger } from "@seneschal/adapters/logging";
import { openMetrics } from "@seneschal/adapters/metrics";
import { nodeCrypto } from "@seneschal/adapters/node-crypto";
import { embeddedPolicyEngine } from "@seneschal/adapters/policy";
import { openPostgresStore } from "@seneschal/adapters/postgres";
import { systemClock, systemRandom } from "@seneschal/adapters/system";
import { openEmbeddedVault, vaultCollections } from "@seneschal/adapters/vault";
import { dispatcher, type Hooks } from "@seneschal/contract";
import { unwatched } from "@seneschal/contract/testing";
import { serve } from "@seneschal/server-fastify";
import { devIssuer, gatewaySchema, gatewaySettings, openGateway } from "../../src/gateway/index.ts";
import { openBackground } from "../../src/platform/index.ts";

/** What a process of the consistency test is started with. */
export interface ConsistencyStart {
  readonly url: string;
  readonly namespace: string;
  /** Milliseconds. */
  readonly ahead: number;
  /** PEM. */
  readonly issuerKey: string;
}

const { url, namespace, ahead, issuerKey } = JSON.parse(process.argv[2] ?? "{}") as ConsistencyStart;
const clock = { now: () => systemClock.now() + ahead };
const parts = { crypto: nodeCrypto, random: systemRandom, clock };
const store = await openPostgresStore({
  url,
  namespace,
  ...gatewaySchema,
  collections: { ...gatewaySchema.collections, ...vaultCollections },
});
const vault = await openEmbeddedVault({ ...parts, store, unseal: { kind: "key", key: new Uint8Array(32).fill(9) } });
const { issuer, audience, publicKey } = devIssuer(issuerKey);
const verifier = tokenVerifier({
  keys: staticKeys(publicKey),
  issuer,
  audiences: [audience],
  clockSkewMs: 300_000,
  now: clock.now,
});
const gateway = await openGateway({
  ...parts,
  store,
  vault,
  policy: embeddedPolicyEngine(),
  version: "test",
  config: gatewaySettings.parse({ auth: { mtls: { required: false } } }),
  log: openLogger({ level: "error" }),
  metrics: openMetrics({ prefix: "gateway", version: "test" }),
  background: openBackground(openLogger({ level: "silent" }), {
    backgroundFailure: () => undefined,
    backgroundFailing: () => undefined,
  }),
  health: async () => ({ status: "healthy", ready: true, components: {} }),
  tokens: [{ ...verifier, method: "jwt" }],
});
const hooks: Hooks = {
  ...unwatched,
  ...gateway.hooks,
  now: clock.now,
  requestId: () => Buffer.from(systemRandom(16)).toString("hex"),
  onError: (error, { id }) => process.stderr.write(`${id}: ${error instanceof Error ? error.stack : error}\n`),
};
const server = await serve(dispatcher(gateway.endpoints(hooks), hooks), { port: 0 });
await gateway.start?.();
process.stdout.write(`${server.port}\n`);
