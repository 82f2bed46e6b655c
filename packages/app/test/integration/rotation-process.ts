/**
 * One gateway of the rotation test: the PostgreSQL address and namespace on the command line, `ready` on standard output. Lines on
 * standard input command it: `jump MS` moves its clock, `run` looks for keys that are due and answers how many it rotated.
 */
import { createInterface } from "node:readline";
import { openLogger } from "@seneschal/adapters/logging";
import { openMetrics } from "@seneschal/adapters/metrics";
import { nodeCrypto } from "@seneschal/adapters/node-crypto";
import { embeddedPolicyEngine } from "@seneschal/adapters/policy";
import { openPostgresStore } from "@seneschal/adapters/postgres";
import { systemClock, systemRandom } from "@seneschal/adapters/system";
import { openEmbeddedVault, vaultCollections } from "@seneschal/adapters/vault";
import { gatewaySchema, gatewaySettings, openGateway } from "../../src/gateway/index.ts";
import { strictBackground } from "../platform/strict-background.ts";

const [url = "", namespace = ""] = process.argv.slice(2);
let ahead = 0;
const clock = { now: () => systemClock.now() + ahead };
const parts = { crypto: nodeCrypto, random: systemRandom, clock };
const store = await openPostgresStore({
  url,
  namespace,
  ...gatewaySchema,
  collections: { ...gatewaySchema.collections, ...vaultCollections },
});
const vault = await openEmbeddedVault({ ...parts, store, unseal: { kind: "key", key: new Uint8Array(32).fill(9) } });
const gateway = await openGateway({
  ...parts,
  store,
  vault,
  policy: embeddedPolicyEngine(),
  version: "test",
  config: gatewaySettings.parse({}),
  log: openLogger({ level: "silent" }),
  metrics: openMetrics({ prefix: "gateway", version: "test" }),
  background: strictBackground(openLogger({ level: "silent" })),
  health: async () => ({ status: "healthy", ready: true, components: {} }),
});
createInterface({ input: process.stdin }).on("line", async (line) => {
  const [verb, ms] = line.split(" ");
  if (verb === "jump") ahead += Number(ms);
  if (verb === "run") process.stdout.write(`${await gateway.rotation.run(clock.now())}\n`);
});
process.stdout.write("ready\n");
