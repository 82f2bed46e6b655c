import { nodeCrypto } from "@seneschal/adapters/node-crypto";
import { systemRandom } from "@seneschal/adapters/system";
import { connectVault } from "@seneschal/adapters/vault";
import { startVaultEmulator } from "@seneschal/adapters/vault/emulator";
import { afterAll, describe } from "vitest";
import { migrateVaultSuite } from "./migrate-vault-suite.ts";

describe("keys move from an embedded vault to the emulator", () => {
  const emulator = startVaultEmulator({ crypto: nodeCrypto, random: systemRandom, now: Date.now });
  afterAll(async () => (await emulator).close());
  migrateVaultSuite({
    label: "move",
    runs: Number(process.env["FC_RUNS"] ?? 3),
    open: async () => {
      const { address, rootToken: token } = await emulator;
      return connectVault({ address, auth: { kind: "token", token }, now: Date.now });
    },
  });
});
