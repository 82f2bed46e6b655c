import type { Json, JsonObject } from "@seneschal/kernel";
import type { PolicyAnswer } from "@seneschal/kernel/ports";
import fc from "fast-check";
import {
  type Delivery,
  type Dispatch,
  dispatchKinds,
  type EmergencyInput,
  type FederationInput,
  type Invitation,
  invitationStatuses,
  type OfferedCheckpoint,
  type OwnerState,
  offeredGrowths,
  type Person,
  type PolicyVerdict,
  type ServiceCredential,
  type SignedConsent,
  type VaultSays,
  type Workspace,
  type WorkspaceInput,
} from "../keys/index.ts";

/** People of a few ids, addresses and kinds of account, so that some are the same. */
export const people: fc.Arbitrary<Person> = fc.record({
  id: fc.constantFrom("a", "b", "c", "d"),
  emails: fc.uniqueArray(fc.constantFrom("ada@x.example", "ADA@x.example ", "bob@x.example", "cy@x.example"), { maxLength: 2 }),
  accounts: fc.constantFrom("admin", "jwt", "oidc"),
});

/** What may happen to a workspace of `acme` whose partners are `globex` and `initech`; times are around `now`. */
export const workspaceInputs = (now: number): fc.Arbitrary<WorkspaceInput> =>
  fc.oneof(
    fc.constant({ kind: "rotate" as const }),
    fc.constant({ kind: "archive" as const }),
    fc.record({ kind: fc.constant("join" as const), org: fc.constantFrom("globex", "initech"), group_id: fc.constant(null) }),
    fc.record({ kind: fc.constant("leave" as const), org: fc.constantFrom("globex", "initech", "acme") }),
    fc.record({
      kind: fc.constant("extend" as const),
      expires_at: fc.integer({ min: -5, max: 50 }).map((days) => new Date(now + days * 1000).toISOString()),
    }),
    fc.record({
      kind: fc.constant("update" as const),
      changes: fc.record({ purpose: fc.string() }),
      signed: fc.boolean(),
    }),
  );

const person = fc.constantFrom("ada", "bob", "cy", "dan");

/** What may happen to a request for emergency access, by four people. */
export const emergencyInputs: fc.Arbitrary<EmergencyInput> = fc.oneof(
  fc.record({ kind: fc.constant("approve" as const), by: person }),
  fc.record({ kind: fc.constant("deny" as const), by: person }),
  fc.record({ kind: fc.constant("void_approvals" as const), by: person }),
  fc.constant({ kind: "verify" as const }),
  fc.constant({ kind: "complete" as const }),
);

/** What the instance of `acme`, or one that pretends to be it, may say of the workspace `w1`, in which `globex` takes part. */
export const ownerStates: fc.Arbitrary<OwnerState> = fc
  .record({
    sequence: fc.integer({ min: 1, max: 9 }),
    state_sha256: fc.constantFrom("one", "two"),
    revision: fc.integer({ min: 1, max: 4 }),
    dek_version: fc.integer({ min: 1, max: 3 }),
    id: fc.constantFrom("w1", "w1", "w1", "w1", "w2"),
    org_id: fc.constantFrom("acme", "acme", "acme", "acme", "umbrella"),
    status: fc.constantFrom("active" as const, "active" as const, "archived" as const),
    crk_protected: fc.boolean(),
    expires_at: fc.constantFrom(null, "2026-02-01T00:00:00.000Z"),
    members: fc.constantFrom(["globex"], ["globex", "initech"], ["globex", "initech"], ["initech"], ["globex", "globex"], []),
    owner: fc.constantFrom("acme", "acme", "acme", "umbrella"),
    group_bindings: fc.dictionary(fc.constantFrom("acme", "globex", "initech"), fc.constantFrom("g1", "g9")),
  })
  .map(({ sequence, state_sha256, members, owner, ...told }) => {
    const joined_at = "2026-01-01T00:00:00.000Z";
    const workspace: Workspace = {
      ...told,
      name: "n",
      classification: "CONFIDENTIAL",
      mode: "standard",
      purpose: "p",
      participants: [
        { org_id: owner, role: "owner", joined_at },
        ...members.map((org_id) => ({ org_id, role: "participant" as const, joined_at })),
      ],
      dek_created_at: joined_at,
      created_by: "ada",
      created_at: joined_at,
      updated_at: joined_at,
    };
    return { workspace, sequence, state_sha256 };
  });

/** Checkpoints as a partner's gateway may offer them, in any relation to the one before. */
export const offeredCheckpoints: fc.Arbitrary<OfferedCheckpoint> = fc.record({
  growth: fc.constantFrom(...offeredGrowths),
  size: fc.integer({ min: 1, max: 99 }),
  note: fc.stringMatching(/^[a-f]{1,4}$/),
  log_key: fc.constantFrom("key one", "key two"),
});

/** What may happen to a federation. */
export const federationInputs: fc.Arbitrary<FederationInput> = fc.oneof(
  fc.record({
    kind: fc.constantFrom("sign" as const, "renew" as const),
    signed: fc.record({
      certificate: fc.constantFrom("theirs", "theirs anew"),
      serial_number: fc.constantFrom("01", "02"),
      expires_at: fc.constant("2027-01-01T00:00:00.000Z"),
    }),
  }),
  fc.record({
    kind: fc.constant("import" as const),
    certificate: fc.constantFrom("ours", "ours anew"),
    expires_at: fc.constant("2027-01-01T00:00:00.000Z"),
  }),
  fc.record({ kind: fc.constant("check" as const), heard: fc.boolean() }),
  fc.constant({ kind: "hear" as const }),
  fc.constant({ kind: "revoke" as const }),
);

/** What waits in the outbox to partners, after any number of tries. */
export const dispatches: fc.Arbitrary<Dispatch> = fc.record({
  kind: fc.constantFrom(...dispatchKinds),
  org_id: fc.constant("acme"),
  federation_id: fc.constant("f1"),
  workspace_id: fc.constantFrom("w1", "w2"),
  token: fc.constantFrom("t1", "t2"),
  attempts: fc.oneof(fc.integer({ min: 0, max: 1000 }), fc.constantFrom(6, 7, 8, 698, 699, 700)),
  due_at: fc.constant("2026-01-01T00:00:00.000Z"),
  error_detail: fc.constantFrom(null, "no connection"),
  created_at: fc.constant("2026-01-01T00:00:00.000Z"),
});

/** What a try of it may come to. */
export const deliveries: fc.Arbitrary<Delivery> = fc.oneof(
  fc.constant({ kind: "done" as const }),
  fc.record({
    kind: fc.constant("refused" as const),
    code: fc.constantFrom("NOT_FOUND", "STATE_CONFLICT", "INVITATION_EXPIRED"),
  }),
  fc.constantFrom<Delivery>(
    { kind: "retry", detail: "no connection", unreachable: true },
    { kind: "retry", detail: "failed here" },
  ),
);

/** An invitation in any status, at any time around `now`. */
export const invitationsOf = (invitation: Invitation, now: number): fc.Arbitrary<Invitation> =>
  fc
    .record({ status: fc.constantFrom(...invitationStatuses), days: fc.integer({ min: -2, max: 2 }) })
    .map(({ status, days }) => ({ ...invitation, status, expires_at: new Date(now + days * 86_400_000).toISOString() }));

/** What a partner of the name `globex`, or one that pretends to be it, may have signed about the workspace `w1` around `now`. */
export const signedConsents = (now: number): fc.Arbitrary<SignedConsent> =>
  fc.record({
    op: fc.constantFrom("workspace.delete", "workspace.delete", "workspace.archive"),
    org_id: fc.constantFrom("globex", "globex", "acme"),
    resource_type: fc.constantFrom("workspace", "workspace", "policy"),
    resource_id: fc.constantFrom("w1", "w1", "w2"),
    body_sha256: fc.constantFrom("now", "now", "before"),
    iat: fc.integer({ min: -200_000, max: 1000 }).map((seconds) => Math.floor(now / 1000) + seconds),
    exp: fc.integer({ min: -200_000, max: 200_000 }).map((seconds) => Math.floor(now / 1000) + seconds),
  });

const said = fc.constantFrom<Json>(
  true,
  false,
  "",
  "no",
  1,
  null,
  [],
  ["no", { code: 7 }],
  {},
  { allow: true, reason: "no" },
  { allow: 1 },
);

/** What a policy may answer: anything that an engine can make of a package, and failures. */
export const policyAnswers: fc.Arbitrary<PolicyAnswer> = fc.oneof(
  fc
    .dictionary(fc.constantFrom("allow", "allowed", "deny", "deny_reason", "reason", "other"), said)
    .map((value): PolicyAnswer => ({ kind: "defined", value })),
  said.map((value): PolicyAnswer => ({ kind: "defined", value })),
  fc.constantFrom<PolicyAnswer>({ kind: "undefined" }, { kind: "error", code: "eval_conflict_error", message: "m" }),
);

/** Verdicts of policies. A denial has a reason. */
export const policyVerdicts: fc.Arbitrary<PolicyVerdict> = fc.oneof(
  fc.record({ policy: fc.constantFrom("p1", "p2"), allowed: fc.constant(true), reason: fc.constant("") }),
  fc.record({ policy: fc.constantFrom("p1", "p2"), allowed: fc.constant(false), reason: fc.constantFrom("late", "not you") }),
);

/** Documents with the members that a restore goes by, as `acme` or another may have them. */
export const storedDocuments: fc.Arbitrary<JsonObject> = fc.record({
  org_id: fc.constantFrom("acme", "acme", "globex"),
  status: fc.constantFrom("active", "revoked"),
  enrollment_status: fc.constantFrom("active", "disabled"),
  active: fc.boolean(),
  crk_id: fc.constantFrom(null, "crk1"),
  dek_version: fc.integer({ min: 1, max: 9 }),
  dek_created_at: fc.constantFrom("2026-01-01T00:00:00.000Z", "2026-02-01T00:00:00.000Z"),
  revision: fc.integer({ min: 1, max: 9 }),
  version: fc.integer({ min: 1, max: 9 }),
  deks: fc.dictionary(fc.constantFrom("1", "2", "3"), fc.constantFrom("wrapped", "wrapped anew")),
});

const spoken = fc.constantFrom<unknown>(true, false, "true", 0, null, "1.2.3", [{}, {}], { nodes: [{}] });
const object = fc.dictionary(
  fc.constantFrom("sealed", "initialized", "standby", "version", "ha_enabled", "nodes", "data"),
  spoken,
);

/** What may answer in place of a vault, of whatever types. */
export const vaultAnswers: fc.Arbitrary<VaultSays> = fc.record(
  {
    health: fc.option(object, { nil: undefined }),
    leader: fc.option(object, { nil: undefined }),
    members: fc.option(object, { nil: undefined }),
  },
  { requiredKeys: ["health"] },
);

/** Credentials of a service whose times are around `now`. */
export const serviceCredentials = (now: number): fc.Arbitrary<ServiceCredential> => {
  const time = fc.integer({ min: -4000, max: 4000 }).map((ms) => new Date(now + ms).toISOString());
  const valid_until = fc.option(time);
  return fc.oneof(
    fc.record({ kind: fc.constant("secret" as const), hash: fc.constantFrom("aa", "bb"), valid_until }),
    fc.record({ kind: fc.constant("certificate" as const), serial_number: fc.constantFrom("01", "02"), valid_until }),
    fc.record({ kind: fc.constant("service_account" as const), issued_from: time, valid_until }),
  );
};
