import { describe, expect, test } from "vitest";
import * as z from "zod";
import { gatewayContract } from "../src/gateway/index.ts";
import { governanceContract } from "../src/governance/index.ts";
import { type Contract, secret, secretFields } from "../src/index.ts";
import { schedulerContract } from "../src/scheduler/index.ts";
import { schemasWithin } from "../src/schema-parts.ts";
import { storageContract } from "../src/storage/index.ts";

const contracts: Readonly<Record<string, Contract>> = {
  gateway: gatewayContract,
  governance: governanceContract,
  scheduler: schedulerContract,
  storage: storageContract,
};

/** Names that the fields of secrets have, and of whatever looks like one. */
const telling =
  /(^|_)(secret|secrets|token|tokens|password|passphrase|private_key|api_key|secret_key|recovery_codes|shares|plaintext|provisioning_url|secret_id|otp|totp)(_|$)/;

/** What is called so and is no secret. */
const open: Readonly<Record<string, string>> = {
  total_shares: "a number",
  required_shares: "a number",
  shares_required: "a number",
  shares_needed: "a number",
  shares_collected: "a number",
  shares_submitted: "a number",
  verifying_shares: "public by construction",
  encrypted_shares: "sealed to their custodians",
  private_key_type: "the name of an algorithm",
  api_key_id: "the name of a key",
  token_expiry: "a time",
};

const last = (path: string): string => path.replaceAll("[]", "").split(".").at(-1) ?? "";

describe.each(Object.entries(contracts))("replies of %s", (_, contract) => {
  test("every field that is named as a secret is marked as one", () => {
    for (const [id, { reply }] of Object.entries(contract)) {
      if (reply === undefined) continue;
      const marked = secretFields(reply);
      for (const [, path] of schemasWithin(reply, "reply")) {
        if (!telling.test(last(path)) || open[last(path)] !== undefined) continue;
        expect(
          marked.some((field) => field.startsWith(path) || path.startsWith(field)),
          `${id}: ${path}`,
        ).toBe(true);
      }
    }
  });

  test("every route that says it shows something once is marked", () => {
    for (const [id, { method, summary, reply }] of Object.entries(contract))
      if (method === "POST" && /\bonce\b/.test(summary) && /shown|shows/.test(summary))
        expect(secretFields(reply), id).not.toEqual([]);
  });
});

test("these routes show secrets, and no other", () => {
  const showing = Object.values(contracts).flatMap((contract) =>
    Object.entries(contract).flatMap(([id, { reply }]) => (secretFields(reply).length > 0 ? [id] : [])),
  );
  expect(showing.sort()).toMatchInlineSnapshot(`
    [
      "bootstrapAdmin",
      "completeCeremony",
      "completeRecovery",
      "createAdmin",
      "createApiKey",
      "createCredential",
      "createService",
      "decrypt",
      "decryptBatch",
      "enableMfa",
      "enrollmentSetup",
      "generateCrk",
      "getEmergencyAccess",
      "getSession",
      "issueCertificate",
      "openSession",
      "rotateApiKey",
      "rotateService",
      "updateAdmin",
      "verifyMfa",
    ]
  `);
});

test("what is made of a marked schema is marked, wherever it stands", () => {
  const token = secret(z.string());
  for (const made of [token.min(1), token.optional(), z.array(token), z.record(z.string(), token), z.union([z.null(), token])])
    expect(secretFields(z.object({ made })), made.def.type).toHaveLength(1);
  expect(secretFields(z.object({ other: z.string() }))).toEqual([]);
});
