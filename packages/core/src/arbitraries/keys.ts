import fc from "fast-check";
import {
  type EmergencyInput,
  type OfferedCheckpoint,
  type OwnerState,
  offeredGrowths,
  type Person,
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
