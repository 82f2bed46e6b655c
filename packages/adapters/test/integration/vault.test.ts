import { connectVault, openHttpVault } from "@seneschal/adapters/vault";
import { vaultSuite } from "@seneschal/core/testing";
import { describe } from "vitest";
import { runner } from "../suite-runner.ts";

const address = process.env["VAULT_ADDR"];
const token = process.env["VAULT_TOKEN"] ?? "";

/** A real Vault or OpenBao with the transit engine mounted at `transit`. */
describe.skipIf(address === undefined)(`the HTTP vault against ${address ?? "a real server (VAULT_ADDR is not set)"}`, () => {
  const connection = connectVault({ address: address ?? "http://localhost", auth: { kind: "token", token }, now: Date.now });
  vaultSuite(runner, { label: `suite-${Date.now()}`, open: async () => openHttpVault({ connection }) });
});
