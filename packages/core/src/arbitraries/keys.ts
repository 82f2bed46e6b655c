import fc from "fast-check";
import type { EmergencyInput, Person, WorkspaceInput } from "../keys/index.ts";

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
