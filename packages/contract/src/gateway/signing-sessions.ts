import { signingSessionStatuses } from "@seneschal/core/keys";
import * as z from "zod";
import { jsonValue } from "../json-value.ts";
import type { Contract } from "../route.ts";
import { seats } from "./crk.ts";
import { base64, idParam, inBase64, organizationId, timestamp } from "./shapes.ts";

const commitment = z.object({ index: z.int(), hiding: inBase64(), binding: inBase64() });

const signingSession = z
  .object({
    id: z.uuid(),
    org_id: organizationId,
    crk_id: z.uuid(),
    crk_version: z.int(),
    status: z.enum([...signingSessionStatuses, "expired"]),
    threshold: z.int(),
    /** What every custodian commits to before signing. */
    round: z.object({ id: z.string(), set_id: inBase64(), epoch: z.int(), message: inBase64("The exact bytes to sign") }),
    signs: z
      .object({
        purpose: z.string().meta({ description: "For an operation `operation`; docs/signing.md has the others" }),
        payload: z.record(z.string(), jsonValue),
        body: z.record(z.string(), jsonValue).nullable(),
      })
      .nullable()
      .meta({
        description:
          "What the message means: the operation with its resource, audience and expiry, read from the bytes, and the fields of its body where the starter gave them. Null for bytes that are no document of this project. A custodian's client reads the bytes itself",
      }),
    /** The public half of the key: what a custodian's client computes with. */
    crk: z.object({
      set_id: inBase64(),
      epoch: z.int(),
      threshold: z.int(),
      total_shares: z.int(),
      public_key: inBase64(),
      commitments: z.array(inBase64()),
      verifying_shares: z.array(inBase64()),
    }),
    seats,
    commitments: z.array(commitment),
    signed_indexes: z.array(z.int()),
    signature: inBase64("Ed25519").nullable(),
    cheaters: z
      .array(z.int())
      .meta({ description: "Of sessions of release 0.1 only: a wrong signature share is refused at once" }),
    started_by: z.string(),
    created_at: timestamp,
    updated_at: timestamp,
    expires_at: timestamp,
  })
  .meta({ id: "SigningSession" });

const index = z.int().min(1).max(255);
const route = { tag: "crk", auth: "principal", status: 200, errors: [409, 422], extension: true } as const;
const base = "/api/v1/crk/signing-sessions";

/**
 * Beyond the interface: RFC 9591 signing in which no share ever leaves its custodian. The server only coordinates: it
 * collects commitments, then signature shares, and adds them up.
 */
export const signingSessionRoutes = {
  startSigningSession: {
    ...route,
    method: "POST",
    path: base,
    summary: "Start a FROST signing session",
    action: "crk:ceremony",
    body: z.strictObject({
      data: base64(0, 512 * 1024),
      body: z
        .record(z.string(), jsonValue)
        .optional()
        .meta({ description: "Where data is an operation: what its body_sha256 is of, for the custodians to read" }),
    }),
    bodyLimit: 1 << 20,
    status: 201,
    reply: signingSession,
  },
  getSigningSession: {
    ...route,
    method: "GET",
    path: `${base}/:id`,
    summary: "One signing session",
    action: "crk:submit",
    entity: "signing-session",
    params: idParam,
    reply: signingSession,
  },
  commitToSigningSession: {
    ...route,
    method: "POST",
    path: `${base}/:id/commit`,
    summary: "Round 1: a custodian's nonce commitments; the threshold-th closes the round",
    action: "crk:submit",
    entity: "signing-session",
    params: idParam,
    body: z.strictObject({ index, hiding: base64(32, 32), binding: base64(32, 32) }),
    reply: signingSession,
  },
  signInSigningSession: {
    ...route,
    method: "POST",
    path: `${base}/:id/sign`,
    summary: "Round 2: a custodian's signature share; a wrong one is refused and the session goes on",
    action: "crk:submit",
    entity: "signing-session",
    params: idParam,
    body: z.strictObject({ index, share: base64(32, 32) }),
    reply: signingSession,
  },
  aggregateSigningSession: {
    ...route,
    method: "POST",
    path: `${base}/:id/aggregate`,
    summary: "Add the signature shares up",
    action: "crk:ceremony",
    entity: "signing-session",
    params: idParam,
    reply: signingSession,
  },
} as const satisfies Contract;
