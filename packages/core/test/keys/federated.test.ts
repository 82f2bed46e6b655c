import { isCoded } from "@seneschal/kernel";
import fc from "fast-check";
import { expect, test } from "vitest";
import { deliveries, dispatches, federationInputs, invitationsOf, signedConsents } from "../../src/arbitraries/index.ts";
import {
  admit,
  consentsTo,
  createWorkspace,
  type Dispatch,
  endReplica,
  establishFederation,
  type Federation,
  federationTable,
  type Invitation,
  invitationStatus,
  invite,
  joinByInvitation,
  milliseconds,
  offerShare,
  participates,
  partnerGone,
  queueDispatch,
  type Replica,
  replicaOfBundle,
  requireConsent,
  requireEstablishable,
  requireHeard,
  requireRenewable,
  stepDispatch,
  stepFederation,
  stepShare,
  takeAnswer,
  takeBackAcceptance,
  type Workspace,
} from "../../src/keys/index.ts";

const now = Date.UTC(2026, 0, 2);
const day = 86_400_000;
const codeOf = (call: () => unknown): string | undefined => {
  try {
    call();
    return undefined;
  } catch (error) {
    if (isCoded(error)) return error.code;
    throw error;
  }
};
const invited: Invitation = invite({ id: "i1", workspace_id: "w1", org: "globex", by: "ada" }, now);
const { state: workspace } = createWorkspace(
  {
    id: "w1",
    org: "acme",
    by: "ada",
    name: "n",
    classification: "CONFIDENTIAL",
    mode: "standard",
    purpose: "p",
    group_id: null,
    crk_protected: false,
  },
  now,
);
const of = { workspace_id: "w1", org_id: "acme", partner_org_id: "globex", federation_id: "f1", invitation_id: "i1" };

test("a federation that ended says no more; whatever happens to it, what it is and with whom it is stays, and an open one is in the way of another", () => {
  const given = { id: "f1", org: "acme", partner_org_id: "globex", partner_url: "https://globex.example", partner_cert: "CA" };
  fc.assert(
    fc.property(fc.boolean(), fc.array(federationInputs, { maxLength: 20 }), (signed, inputs) => {
      const certificate = { certificate: "theirs", serial_number: "00", expires_at: new Date(now + day).toISOString() };
      let federation: Federation = establishFederation({ ...given, ...(signed && { signed: certificate }) }, now);
      for (const [step, input] of inputs.entries()) {
        const before = federation;
        const refused = "refuse" in federationTable[before.status][input.kind];
        const code = codeOf(() => {
          federation = stepFederation(before, input, now + step).state;
        });
        expect(code).toBe(refused ? "STATE_CONFLICT" : undefined);
        if (before.status === "revoked") expect(federation).toBe(before);
        expect(federation).toMatchObject({ id: "f1", org_id: "acme", partner_org_id: "globex", partner_cert: "CA" });
        // Calls can be made exactly while there is a certificate that the partner signed and the federation has not ended.
        expect(federation.outbound_ready).toBe(federation.status !== "revoked" && federation.outbound_certificate !== null);
        expect(federation.serial_number === null).toBe(federation.certificate === null);
        if (input.kind === "check" && code === undefined)
          expect(federation.last_heard_at).toBe(input.heard ? federation.last_health_check : before.last_heard_at);
        const inTheWay = federation.status !== "revoked";
        expect(codeOf(() => requireEstablishable(federation, false))).toBe(inTheWay ? "CONFLICT" : undefined);
        const completed = codeOf(() => requireEstablishable(federation, true));
        expect(completed).toBe(federation.status === "active" ? "CONFLICT" : undefined);
        const renewable = federation.status === "active" && federation.certificate !== null;
        expect(codeOf(() => requireRenewable(federation))).toBe(renewable ? undefined : "STATE_CONFLICT");
      }
    }),
  );
});

test("a dispatch leaves the outbox when it was said or refused; an owner's word is tried for ever, an answer or a signature for about a week", () => {
  fc.assert(
    fc.property(dispatches, deliveries, (dispatch, outcome) => {
      const { waiting, delivery, event } = stepDispatch(dispatch, outcome, "globex", now);
      expect(waiting === undefined).toBe(delivery.kind !== "retry");
      if (outcome.kind !== "retry") expect(delivery).toBe(outcome);
      if (dispatch.kind === "state") expect(delivery).toBe(outcome);
      if (outcome.kind === "retry" && dispatch.attempts < 699) expect(delivery).toBe(outcome);
      if (waiting !== undefined) {
        expect(waiting).toMatchObject({
          token: dispatch.token,
          attempts: dispatch.attempts + 1,
          created_at: dispatch.created_at,
        });
        const wait = milliseconds(waiting.due_at) - now;
        expect(wait).toBeGreaterThanOrEqual(5000);
        expect(wait).toBeLessThanOrEqual(day);
      }
      // What never reaches the partner is always told.
      if (delivery.kind === "refused") expect(event?.metadata).toMatchObject({ given_up: true, partner_org_id: "globex" });
      if (outcome.kind === "done") expect(event).toBeUndefined();
    }),
  );
});

test("of a partner that stays silent the organisation hears twice, and waits longer and longer up to a quarter of an hour, for days", () => {
  let dispatch: Dispatch = queueDispatch({ kind: "answer", ...of, token: "t" }, undefined, now);
  const events: number[] = [];
  let at = now;
  let last = 0;
  for (;;) {
    const { waiting, event, delivery } = stepDispatch(dispatch, { kind: "retry", detail: "no connection" }, "globex", at);
    if (event !== undefined) events.push(dispatch.attempts + 1);
    if (waiting === undefined) {
      expect(delivery).toEqual({ kind: "refused", code: "FEDERATION_FAILED" });
      break;
    }
    const wait = milliseconds(waiting.due_at) - at;
    expect(wait).toBeGreaterThanOrEqual(last);
    last = wait;
    at += wait;
    dispatch = waiting;
  }
  expect(events).toEqual([8, 700]);
  expect((at - now) / day).toBeGreaterThan(7);
  const anew = queueDispatch({ kind: "answer", ...of, token: "t2" }, dispatch, at);
  expect(anew).toMatchObject({ attempts: 0, error_detail: null, token: "t2", created_at: dispatch.created_at });
});

test("an answer counts once: whatever comes again, and whatever came before, nobody takes part twice or without having accepted", () => {
  const answers = fc.record({ accept: fc.boolean(), group_id: fc.constantFrom(null, "g1") });
  fc.assert(
    fc.property(invitationsOf(invited, now), fc.array(answers, { minLength: 1, maxLength: 5 }), (invitation, given) => {
      let facts = { share: offerShare(of, now), workspace: workspace as Workspace, invitation };
      let told = 0;
      for (const answer of given) {
        let answered: ReturnType<typeof takeAnswer> | undefined;
        const code = codeOf(() => {
          answered = takeAnswer(facts, answer, now);
        });
        if (answered === undefined) {
          expect(["STATE_CONFLICT", "INVITATION_EXPIRED", "CONFLICT"]).toContain(code);
          continue;
        }
        if (answered.kind === "before") continue;
        told += 1;
        expect(invitationStatus(facts.invitation, now)).toBe("pending");
        expect(answered.event).toMatchObject({
          org: "acme",
          workspace: "w1",
          metadata: { org_id: "globex", invitation_id: "i1" },
        });
        if (answered.kind === "joined") {
          expect(answered.step.effects).toEqual([{ kind: "wrap_deks", org: "globex" }]);
          facts = {
            share: stepShare(facts.share, { kind: "join" }, now),
            workspace: answered.step.state,
            invitation: answered.invitation,
          };
        } else {
          expect(answered.share).toMatchObject({ stage: "ended", confirmed: answered.share.sequence });
          facts = { ...facts, invitation: answered.invitation };
        }
      }
      expect(told).toBeLessThanOrEqual(1);
      expect(participates(facts.workspace, "globex")).toBe(
        facts.invitation.status === "accepted" && facts.share.stage === "shared",
      );
    }),
  );
});

test("a partner that is gone takes no part: its invitation waits no more, and new keys are made that it does not get", () => {
  fc.assert(
    fc.property(invitationsOf(invited, now), fc.boolean(), (invitation, joined) => {
      const before = joined ? joinByInvitation(workspace, invited, "g1", now).step.state : workspace;
      const gone = partnerGone(before, invitation, "globex", now);
      const after = gone.invitation ?? invitation;
      expect(invitationStatus(after, now)).not.toBe("pending");
      expect(gone.step === undefined).toBe(!joined);
      expect(gone.events.map(({ type }) => type)).toEqual(joined ? ["workspace.leave", "key.rotate"] : []);
      const state = gone.step?.state ?? before;
      expect(participates(state, "globex")).toBe(false);
      if (joined) {
        expect(state.dek_version).toBe(before.dek_version + 1);
        expect(gone.step?.effects).toContainEqual({ kind: "mint_dek", version: state.dek_version, orgs: ["acme"] });
      }
    }),
  );
});

const route = { federation_id: "f1", org_id: "globex", owner_org_id: "acme" };
const carried = { workspace, exporter_org: "acme", sealed: true };

test("a bundle makes a part that was accepted and is behind every state of the owner's, of the owner's own bundle with keys alone, and never goes back", () => {
  fc.assert(
    fc.property(
      fc.constantFrom("acme", "umbrella"),
      fc.boolean(),
      fc.option(fc.integer({ min: 1, max: 4 }), { nil: undefined }),
      fc.boolean(),
      fc.integer({ min: 1, max: 4 }),
      (exporter_org, sealed, existing, follows, revision) => {
        const known = follows
          ? replicaOfBundle(route, carried, { id: "x", known: undefined, existing: undefined }, now)
          : undefined;
        const facts = { id: "i9", known, existing: existing === undefined ? undefined : { revision: existing } };
        const bundle = { workspace: { ...workspace, revision }, exporter_org, sealed };
        let replica: Replica | undefined;
        const code = codeOf(() => {
          replica = replicaOfBundle(route, bundle, facts, now);
        });
        if (exporter_org !== "acme" || !sealed) return void expect(code).toBe("BUNDLE_INVALID");
        const newer = existing === undefined || (known !== undefined && revision > existing);
        expect(code).toBe(newer ? undefined : "CONFLICT");
        if (replica === undefined) return;
        expect(replica).toEqual(
          known ?? expect.objectContaining({ ...route, stage: "accepted", sequence: 0, invitation_id: "i9" }),
        );
      },
    ),
  );
});

test("with a part everything that it opened ends: no invitation waits, no admission is active, and an acceptance that the owner refused never was", () => {
  const replica = replicaOfBundle(route, carried, { id: "i9", known: undefined, existing: undefined }, now);
  const admissions = ["ada", "bob"].map((identity_id) =>
    admit({ id: identity_id, workspace_id: "w1", org: "globex", identity_id, identity_type: "user", by: "ada" }, now),
  );
  fc.assert(
    fc.property(
      fc.option(invitationsOf(invited, now), { nil: undefined }),
      fc.constantFrom("owner", "federation", "refused", "expired"),
      fc.constantFrom("INVITATION_EXPIRED", "STATE_CONFLICT"),
      (invitation, reason, code) => {
        const ended = endReplica(replica, { invitation, admissions, by: "system:x" }, reason, now);
        expect((ended.invitation ?? invitation)?.status).not.toBe("pending");
        expect(ended.admissions.map(({ status, revoked_by }) => [status, revoked_by])).toEqual([
          ["revoked", "system:x"],
          ["revoked", "system:x"],
        ]);
        expect(ended.event.metadata).toMatchObject({ org_id: "globex", owner_org_id: "acme", reason });
        if (invitation === undefined) return;
        const back = takeBackAcceptance(invitation, code, now);
        if (invitation.status !== "accepted") expect(back).toBe(invitation);
        else expect(back.status).toBe(code === "INVITATION_EXPIRED" ? "expired" : "revoked");
      },
    ),
  );
});

test("keys of a partner's workspace are good while its federation is active and it is heard: one moment more is too long", () => {
  fc.assert(
    fc.property(
      fc.constantFrom("pending", "active", "revoked", undefined),
      fc.option(fc.integer({ min: 0, max: 3 * day }), { nil: undefined }),
      fc.constantFrom("standard", "airgap"),
      fc.constantFrom(0, 1, day),
      (status, silent, mode, lease) => {
        const last_heard_at = silent === undefined ? null : new Date(now - silent).toISOString();
        const federation = status === undefined ? undefined : ({ status, last_heard_at } as const);
        const good =
          status === "active" && (mode === "airgap" || lease === 0 || (silent === undefined ? now <= lease : silent <= lease));
        expect(codeOf(() => requireHeard(federation, { mode, lease }, now))).toBe(good ? undefined : "FEDERATION_INACTIVE");
      },
    ),
  );
});

test("a consent is for one deletion, by one partner, of one content: whatever else was signed, late or by another key, is refused", () => {
  fc.assert(
    fc.property(signedConsents(now), fc.boolean(), (signed, genuine) => {
      const facts = { partner: "globex", workspace: { id: "w1", revision: 3 }, body_sha256: "now", genuine };
      const code = codeOf(() => requireConsent(signed, facts, now));
      const meant = signed.op === "workspace.delete" && signed.org_id === "globex" && signed.resource_id === "w1";
      const told = meant && signed.resource_type === "workspace" && genuine && signed.body_sha256 === "now";
      if (code === undefined) expect(told && signed.exp > signed.iat && signed.exp * 1000 + day >= now).toBe(true);
      else expect(["STATE_CONFLICT", "SIGNATURE_EXPIRED", "SIGNATURE_INVALID"]).toContain(code);
      if (!told) expect(code).toBeDefined();
    }),
  );
});

test("consents to what a workspace was before do not count for what it is", () => {
  const one = fc.record({
    org_id: fc.constantFrom("globex", "initech"),
    revision: fc.integer({ min: 1, max: 3 }),
    state_sha256: fc.constantFrom("one", "two"),
  });
  fc.assert(
    fc.property(fc.array(one, { maxLength: 6 }), one, (consents, { revision, state_sha256 }) => {
      const counting = consentsTo({ revision, state_sha256 }, consents);
      const same = consents.filter((consent) => `${consent.revision} ${consent.state_sha256}` === `${revision} ${state_sha256}`);
      expect(counting).toEqual(same.map(({ org_id }) => org_id));
      expect(consentsTo({ revision, state_sha256 }, [{ org_id: "globex", revision }])).toEqual([]);
    }),
  );
});
