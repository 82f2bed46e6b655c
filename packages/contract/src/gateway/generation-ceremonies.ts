import { defaultKdf, generationStatuses } from "@seneschal/core/keys";
import * as z from "zod";
import type { Contract } from "../route.ts";
import { crk, namedCustodians, seats, shareIndex } from "./crk.ts";
import { aliased, base64, idParam, inBase64, organizationId, timestamp } from "./shapes.ts";

const kdfParams = z.object({ time: z.int(), memory: z.int(), threads: z.int() }).meta({ id: "KdfParams" });

/** The cost that the custodian's argon2id had. A floor is enforced: 19 MiB, two passes. */
const kdfInput = z
  .strictObject({
    time: z.int().min(2).max(100),
    memory: z.int().min(19_456).max(4_194_304).meta({ description: "KiB" }),
    threads: z.int().min(1).max(64),
  })
  .default(defaultKdf);

const encryptedShare = z
  .object({
    crk_id: z.uuid(),
    index: z.int(),
    custodian_name: z.string(),
    custodian_id: z.string(),
    encrypted_data: inBase64(),
    salt: inBase64(),
    kdf_time: z.int(),
    kdf_memory: z.int(),
    kdf_threads: z.int(),
  })
  .meta({ id: "EncryptedCrkShare" });

const generationCeremony = z
  .object({
    id: z.uuid(),
    org_id: organizationId,
    total_shares: z.int(),
    threshold: z.int(),
    status: z.enum(generationStatuses),
    seed_entries: z.array(z.object({ index: z.int(), custodian_name: z.string(), salt: inBase64(), kdf_params: kdfParams })),
    seats,
    encrypted_shares: z.array(encryptedShare),
    crk: crk.nullable(),
    started_by: z.string(),
    started_at: timestamp,
    expires_at: timestamp,
    completed_at: timestamp.nullable(),
    created_at: timestamp,
    updated_at: timestamp,
  })
  .meta({ id: "GenerationCeremony" });

const count = z
  .int()
  .min(-(2 ** 31))
  .max(2 ** 31);
const route = { tag: "crk", auth: "principal", status: 200, errors: [409, 422, 503] } as const;
const base = "/api/v1/crk/generate-ceremony";

/** The password-protected key ceremony. */
export const generationCeremonyRoutes = {
  startGenerationCeremony: {
    ...route,
    method: "POST",
    path: `${base}/start`,
    summary: "Start a ceremony in which each custodian's share is sealed under a password only they know",
    action: "crk:ceremony",
    body: aliased(
      z.strictObject({ org_id: organizationId.optional(), total_shares: count, threshold: count, custodians: namedCustodians }),
      { shares: "total_shares" },
    ),
    bodyLimit: 1 << 20,
    reply: generationCeremony,
  },
  seedGenerationCeremony: {
    ...route,
    method: "POST",
    path: `${base}/:id/seed`,
    summary: "A custodian's seed: the key derived from the password, never the password",
    action: "crk:submit",
    entity: "generation-ceremony",
    params: idParam,
    body: aliased(
      z.strictObject({
        index: z.int(),
        custodian_name: z.string().max(256).default(""),
        derived_key: base64(32, 32),
        salt: base64(16, 64),
        kdf_params: kdfInput,
      }),
      { encryption_key: "derived_key" },
    ),
    status: 204,
  },
  getGenerationCeremony: {
    ...route,
    method: "GET",
    path: `${base}/:id`,
    summary: "Status of a generation ceremony",
    action: "crk:read",
    entity: "generation-ceremony",
    params: idParam,
    reply: generationCeremony,
  },
  completeGenerationCeremony: {
    ...route,
    method: "POST",
    path: `${base}/:id/complete`,
    summary: "Make the key, seal the shares, forget the derived keys",
    action: "crk:ceremony",
    entity: "generation-ceremony",
    params: idParam,
    reply: generationCeremony,
  },
  cancelGenerationCeremony: {
    ...route,
    method: "DELETE",
    path: `${base}/:id`,
    summary: "Cancel a generation ceremony",
    action: "crk:ceremony",
    entity: "generation-ceremony",
    params: idParam,
    status: 204,
  },
  getEncryptedShare: {
    ...route,
    method: "GET",
    path: "/api/v1/crk/shares/:crk_id/:index",
    summary: "A custodian's sealed share",
    action: "crk:read-share",
    params: z.strictObject({ crk_id: z.uuid(), index: shareIndex }),
    reply: encryptedShare,
  },
} as const satisfies Contract;
