import { custodianStatuses, custodianTypes, custodyCeremonyKinds, custodyCeremonyStatuses } from "@seneschal/core/keys";
import * as z from "zod";
import { integerParam } from "../query.ts";
import type { Contract } from "../route.ts";
import { base64, identityId, idParam, inBase64, inHex, listOf, organizationId, page, timestamp } from "./shapes.ts";

const custodianName = z.string().min(1).max(128);
const key = base64(32, 32);
const signature = base64(64, 64);

/** Public: what docs/custody.md says of it, byte by byte. */
const card = z
  .strictObject({
    v: z.literal(1),
    org_id: custodianName,
    custodian_id: custodianName.meta({ description: "Id of the identity in the organisation's records" }),
    signing_key: key,
    agreement_key: key,
    proofs: z.strictObject({ signing: signature, agreement: signature }),
  })
  .meta({ id: "CustodianCard" });

const stored = { id: z.uuid(), org_id: organizationId, created_at: timestamp, updated_at: timestamp };

const enrolled = z
  .object({
    ...stored,
    identity_id: z.string(),
    identity_type: z.enum(custodianTypes),
    name: z.string(),
    status: z.enum(custodianStatuses),
    fingerprint: inHex("what persons compare: SHA-256 of the card without its proofs"),
    card,
    confirmations: z.array(z.object({ identity_id: z.string(), confirmed_at: timestamp })),
    revoked_by: z.string().nullable(),
    partners: z.array(organizationId).meta({ description: "Organisations that the holder lets have the card" }),
  })
  .meta({ id: "EnrolledCustodian" });

/** An organisation's word on a card, byte by byte in docs/custody.md; `signature` is by its bundle signing key. */
export const cardStatement = z
  .strictObject({
    v: z.literal(1),
    type: z.literal("custodian-card"),
    org_id: custodianName,
    for_org_id: custodianName,
    card,
    at: z.int().min(0),
    expires_at: z.int().min(0),
    signature,
  })
  .meta({ id: "CardStatement" });

/** The members that every entry has; what each act has beside its type is judged by the rules of the transcript. */
const entry = z
  .strictObject({
    v: z.literal(1),
    ceremony: custodianName,
    seq: z.int().min(0).max(2047),
    prev: key,
    at: z.int().min(0),
    author: custodianName,
    act: z.looseObject({ type: z.string().max(32) }),
    signature,
  })
  .meta({ id: "CustodyEntry" });

const participant = z.object({
  seat: z.int().meta({ description: "0 for the witness, and for a starter without a seat" }),
  role: z.enum(["custodian", "witness", "starter"]),
  enrollment_id: z.uuid(),
  identity_id: z.string(),
  fingerprint: inHex(),
});

const indexes = z.array(z.int());

const custodyCeremony = z
  .object({
    ...stored,
    ceremony: z.string().meta({ description: "Its name in the transcript" }),
    kind: z.enum(custodyCeremonyKinds),
    status: z.enum(custodyCeremonyStatuses),
    threshold: z.int(),
    total_shares: z.int(),
    participants: z.array(participant),
    left: z.array(z.uuid()).meta({
      description:
        "Enrolments of an open ceremony whose keys were revoked, or whose holder is no active identity any more, but for those who only deal and have dealt: with them it cannot come to its end; end it and begin another",
    }),
    entries: z.int(),
    head: inBase64("Hash of the last entry"),
    progress: z.object({
      joined: indexes,
      committed: indexes,
      dealt: indexes,
      contributed: indexes,
      accepted: indexes,
      confirmed: indexes,
      witnessed: z.boolean(),
    }),
    transcript: z
      .string()
      .nullable()
      .meta({ description: "What custodians and witness confirm, base64, once all have accepted" }),
    blame: z.object({ seat: z.int(), entry: z.int(), reason: z.string() }).nullable(),
    crk_id: z.uuid().nullable(),
    crk_version: z.int().nullable(),
    started_by: z.string(),
    expires_at: timestamp,
  })
  .meta({ id: "CustodyCeremony" });

/** One line of canonical JSON for each entry: what `seneschal ceremony verify` reads. */
const TRANSCRIPT_FILE = "application/x-ndjson";

const tag = "custody";
const route = { tag, auth: "principal", status: 200, errors: [409, 422], extension: true } as const;
const custodians = "/api/v1/custody/custodians";
const ceremonies = "/api/v1/custody/ceremonies";
/** An entry has at most 512 KiB. */
const bodyLimit = 1 << 20;

/**
 * Beyond the interface: custodians with keys of their own, and ceremonies among their clients in which the gateway relays signed entries
 * and never has a share (docs/custody.md).
 */
export const custodyRoutes = {
  enrollCustodian: {
    ...route,
    method: "POST",
    path: custodians,
    summary: "Enrol one's own custodian keys by their card; they count when two other persons have confirmed them",
    action: "custody:enroll",
    body: z.strictObject({ card }),
    status: 201,
    reply: enrolled,
  },
  listCustodians: {
    ...route,
    method: "GET",
    path: custodians,
    summary: "Custodians: all for who administers and for custodians whose keys count, else one's own",
    action: "custody:read",
    query: page(),
    reply: listOf("custodians", enrolled),
  },
  getCustodian: {
    ...route,
    method: "GET",
    path: `${custodians}/:id`,
    summary: "One custodian, where the caller may list it",
    action: "custody:read",
    params: idParam,
    reply: enrolled,
  },
  confirmCustodian: {
    ...route,
    method: "POST",
    path: `${custodians}/:id/confirm`,
    summary: "Say that one has compared the fingerprint with the person whose keys these are",
    action: "custody:confirm",
    params: idParam,
    body: z.strictObject({ fingerprint: z.string().regex(/^[0-9a-f]{64}$/) }),
    reply: enrolled,
  },
  shareCustodianCard: {
    ...route,
    method: "PUT",
    path: `${custodians}/:id/partners`,
    summary: "The holder says which organisations are given the card, in place of those that were",
    action: "custody:enroll",
    params: idParam,
    body: z.strictObject({ partners: z.array(organizationId).max(64) }),
    reply: enrolled,
  },
  partnerCard: {
    ...route,
    method: "GET",
    path: "/api/v1/custody/cards/:org_id/:identity_id",
    summary: "The card of a person of a federated organisation, or of one of this instance, as that organisation states it now",
    action: "message:own",
    changesOnRead: true,
    params: z.strictObject({ org_id: organizationId, identity_id: identityId }),
    reply: z
      .object({
        fingerprint: inHex("to be compared with the person"),
        statement: cardStatement,
        signing_key: inBase64("Ed25519 key of the organisation, of its pinned certificate, under which the statement holds"),
        other: z
          .object({ fingerprint: inHex(), first_at: timestamp, statement: cardStatement })
          .nullable()
          .meta({ description: "Another card that the organisation has stated of this person, with the evidence" }),
      })
      .meta({ id: "PartnerCard" }),
    errors: [409, 502],
  },
  revokeCustodian: {
    ...route,
    method: "POST",
    path: `${custodians}/:id/revoke`,
    summary: "End the use of a custodian's keys, for good: by its holder or an officer",
    action: "custody:revoke",
    params: idParam,
    reply: enrolled,
  },
  startCustodyCeremony: {
    ...route,
    method: "POST",
    path: ceremonies,
    summary: "Start a ceremony by its first signed entry",
    action: "custody:ceremony",
    body: z.strictObject({ entry }),
    bodyLimit,
    // 255 seats with their cards, and the commitments of the key that is refreshed or handed on.
    values: 8192,
    status: 201,
    reply: custodyCeremony,
  },
  listCustodyCeremonies: {
    ...route,
    method: "GET",
    path: ceremonies,
    summary: "Ceremonies among custodians' clients: all for who administers, else one's own",
    action: "custody:read",
    query: page(),
    reply: listOf("ceremonies", custodyCeremony),
  },
  getCustodyCeremony: {
    ...route,
    method: "GET",
    path: `${ceremonies}/:id`,
    summary: "Where a ceremony stands",
    action: "custody:read",
    params: idParam,
    reply: custodyCeremony,
  },
  getCustodyTranscript: {
    ...route,
    method: "GET",
    path: `${ceremonies}/:id/transcript`,
    summary: "The transcript so far, for a client's next step",
    action: "custody:read",
    params: idParam,
    produces: TRANSCRIPT_FILE,
  },
  appendCustodyEntry: {
    ...route,
    method: "POST",
    path: `${ceremonies}/:id/entries`,
    summary: "Append one's next signed entry; the one that completes the ceremony makes the root key, or its new shares",
    action: "custody:submit",
    params: idParam,
    body: z.strictObject({ entry }),
    bodyLimit,
    reply: custodyCeremony,
  },
  cancelCustodyCeremony: {
    ...route,
    method: "DELETE",
    path: `${ceremonies}/:id`,
    summary: "Relay no more entries of an open ceremony",
    action: "custody:ceremony",
    params: idParam,
    status: 204,
  },
  getCrkTranscript: {
    ...route,
    method: "GET",
    path: "/api/v1/crk/:id/transcript",
    summary: "The transcript of the ceremony that made a key's shares, for anybody to verify",
    action: "crk:read",
    params: idParam,
    query: z.strictObject({
      version: integerParam(1, 2 ** 31)
        .optional()
        .describe("Of the key; default: the one that it has now"),
    }),
    produces: TRANSCRIPT_FILE,
  },
  confirmCrkTranscript: {
    ...route,
    method: "POST",
    path: "/api/v1/crk/:id/transcript",
    summary: "A custodian's own word on the transcript by which the gateway dealt a key's shares: its signed confirmation",
    action: "custody:submit",
    params: idParam,
    body: z.strictObject({ entry }),
    bodyLimit,
    reply: z
      .object({
        ceremony: z.string(),
        entries: z.int(),
        head: inBase64("Hash of the last entry"),
        transcript: inBase64("Hash of the entry that dealt: what custodians confirm"),
        confirmed: indexes,
        awaited: indexes.meta({ description: "Indexes whose holders have enrolled keys and have not confirmed" }),
      })
      .meta({ id: "DealtTranscript" }),
  },
} as const satisfies Contract;
