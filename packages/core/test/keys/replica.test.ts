import {
  answerOffer,
  type FollowFacts,
  followOwner,
  followPolicies,
  isTimelyConsent,
  lifetimes,
  milliseconds,
  type OwnerState,
  participates,
  type Replica,
  receiveOffer,
} from "@seneschal/core/keys";
import { isCoded } from "@seneschal/kernel";
import fc from "fast-check";
import { expect, test } from "vitest";
import { ownerStates } from "../../src/arbitraries/index.ts";

const now = Date.UTC(2026, 0, 2);
const at = new Date(now).toISOString();
const replica: Replica = {
  workspace_id: "w1",
  org_id: "globex",
  owner_org_id: "acme",
  federation_id: "f1",
  invitation_id: "i1",
  group_id: "g1",
  offer: { name: "n", classification: "CONFIDENTIAL", mode: "standard", purpose: "p", crk_protected: false },
  stage: "accepted",
  sequence: 0,
  created_at: at,
  updated_at: at,
};
const others = [{ org_id: "initech", group_id: null }];
const first: FollowFacts = { replica, existing: undefined, joined: false, others, foreign: false, siblings: [replica] };

const follow = (facts: FollowFacts, state: OwnerState) => {
  try {
    return followOwner(facts, state, now);
  } catch (error) {
    expect(isCoded(error, "FORBIDDEN", "CONFLICT", "STATE_CONFLICT", "VALIDATION_ERROR")).toBe(true);
    return undefined;
  }
};

test("whatever owners say in whatever order: a workspace goes forward, stays protected and archived, and is its owner's", () => {
  fc.assert(
    fc.property(fc.array(ownerStates, { maxLength: 20 }), (states) => {
      let facts = first;
      for (const state of states) {
        const followed = follow(facts, state);
        if (followed === undefined) continue;
        const { workspace, replica: next } = followed;
        const before = facts.existing;
        expect([workspace.org_id, workspace.replica, workspace.id]).toEqual(["acme", true, "w1"]);
        expect(participates(workspace, "globex")).toBe(true);
        expect(next).toMatchObject({ stage: "shared", sequence: state.sequence, revision: workspace.revision, group_id: "g1" });
        expect(next).not.toHaveProperty("offer_until");
        // Which group opens it here is nobody's word but of those who are here.
        expect([workspace.group_bindings["globex"], workspace.group_bindings["initech"]]).toEqual(["g1", undefined]);
        if (before !== undefined) {
          expect(workspace.revision).toBeGreaterThanOrEqual(before.revision);
          expect(!before.crk_protected || workspace.crk_protected).toBe(true);
          expect(before.status !== "archived" || workspace.status === "archived").toBe(true);
          // One revision has one content.
          if (workspace.revision === facts.replica.revision) expect(state.state_sha256).toBe(facts.replica.state_sha256);
        }
        facts = { ...facts, replica: next, existing: workspace, joined: true, siblings: [next] };
      }
    }),
  );
});

test("a state that comes again says nothing to the log; what changes is told to every organisation here that goes on, that it is left out to it alone", () => {
  fc.assert(
    fc.property(ownerStates, ownerStates, (a, b) => {
      const one = follow(first, a);
      if (one === undefined) return;
      expect(one.events.map(({ type, org }) => [type, org])).toEqual([["workspace.join", "globex"]]);
      const facts = { ...first, replica: one.replica, existing: one.workspace, joined: true, siblings: [one.replica] };
      expect(follow(facts, a)?.events).toEqual([]);
      const two = follow(facts, b);
      if (two === undefined) return;
      const left = participates(one.workspace, "initech") && !participates(two.workspace, "initech");
      expect(two.events.filter(({ type }) => type === "workspace.leave").map(({ org }) => org)).toEqual(left ? ["initech"] : []);
      const changes = (of: string) => two.events.filter(({ org, type }) => org === of && type !== "workspace.leave");
      const goesOn = participates(two.workspace, "initech");
      expect(changes("initech")).toEqual(goesOn ? changes("globex").map((event) => ({ ...event, org: "initech" })) : []);
      expect(two.orgs).toEqual(goesOn ? ["globex", "initech"] : ["globex"]);
    }),
  );
});

test("what another has under that id is not told of: neither its revision nor what it holds", () => {
  fc.assert(
    fc.property(ownerStates, fc.boolean(), (state, foreign) => {
      const existing = { ...state.workspace, org_id: foreign ? "acme" : "umbrella", revision: 99 };
      const siblings = [{ revision: 99, state_sha256: "another" }];
      const facts = { ...first, existing, foreign, siblings };
      const genuine = follow(first, state) !== undefined;
      if (genuine)
        expect(() => followOwner(facts, state, now)).toThrow(
          expect.objectContaining({ code: "CONFLICT", details: { workspace_id: "w1" } }),
        );
      else expect(follow(facts, state)).toBeUndefined();
    }),
  );
});

const offered = { name: "n", classification: "CONFIDENTIAL", mode: "standard", purpose: "p", crk_protected: true } as const;
const route = { federation_id: "f1", org_id: "globex", owner_org_id: "acme" };

test("an invitation from elsewhere ends no later than one of ours, is answered once, and none that is over is kept", () => {
  const time = fc.integer({ min: -20, max: 20 }).map((days) => now + days * 86_400_000);
  fc.assert(
    fc.property(time, fc.boolean(), (ends, accept) => {
      const invitation = { id: "theirs", invited_by: "ada", expires_at: new Date(ends).toISOString() };
      const state = { workspace_id: "w1", sequence: 3, workspace: offered, invitation };
      const step = receiveOffer(route, state, { id: "here", lifetime: lifetimes.invitation }, now);
      if (ends <= now) return void expect(step).toBeUndefined();
      if (step === undefined) throw new Error("it is open");
      expect(milliseconds(step.invitation.expires_at)).toBe(Math.min(ends, now + lifetimes.invitation));
      expect(step.invitation.invited_by).toBe("acme/ada");
      expect(step.replica).toMatchObject({ stage: "offered", received_id: "here", invitation_id: "theirs", group_id: null });
      const answer = accept ? ({ accept, group_id: "g1" } as const) : ({ accept } as const);
      const answered = answerOffer(step.replica, step.invitation, answer, now);
      expect(answered.replica.stage).toBe(accept ? "accepted" : "declined");
      expect(answered.event.type).toBe(accept ? "workspace.invite.accept" : "workspace.invite.decline");
      for (const again of [{ accept: true, group_id: null }, { accept: false }] as const)
        expect(() => answerOffer(answered.replica, answered.invitation, again, now)).toThrow(
          expect.objectContaining({ code: accept ? "CONFLICT" : "NOT_FOUND" }),
        );
      const late = milliseconds(step.invitation.expires_at);
      expect(() => answerOffer(step.replica, step.invitation, answer, late)).toThrow(
        expect.objectContaining({ code: "INVITATION_EXPIRED" }),
      );
    }),
  );
});

test("a version of a policy has one text for ever, also when it was taken away in between", () => {
  const policy = fc.record({
    id: fc.constantFrom("p1", "p2", "__proto__"),
    version: fc.integer({ min: 1, max: 4 }),
    rego: fc.constantFrom("a", "b"),
  });
  fc.assert(
    fc.property(fc.array(fc.array(policy, { maxLength: 3 }), { maxLength: 10 }), (pushes) => {
      let standing: readonly { readonly id: string; readonly version: number; readonly rego: string }[] = [];
      const retired: Record<string, number> = Object.create(null);
      const texts = new Map<string, string>();
      for (const pushed of pushes) {
        let step: ReturnType<typeof followPolicies>;
        try {
          step = followPolicies(standing, retired, pushed);
        } catch (error) {
          expect(isCoded(error, "STATE_CONFLICT")).toBe(true);
          continue;
        }
        for (const { id, version } of step.gone) retired[id] = Math.max(retired[id] ?? 0, version);
        for (const { id, version, rego } of pushed) {
          const key = `${id} ${version}`;
          expect(texts.get(key) ?? rego).toBe(rego);
          texts.set(key, rego);
        }
        standing = pushed;
      }
    }),
  );
});

test("a consent counts from its signing, a day beyond its end, and never for longer than one may be signed for", () => {
  const seconds = fc.integer({ min: -200_000, max: 200_000 }).map((off) => Math.floor(now / 1000) + off);
  fc.assert(
    fc.property(seconds, seconds, (iat, exp) => {
      const timely = isTimelyConsent({ iat, exp }, now);
      if (exp <= iat || (exp - iat) * 1000 > lifetimes.signingRequestMax) expect(timely).toBe(false);
      if (timely) expect(isTimelyConsent({ iat, exp }, exp * 1000 + lifetimes.consentTransit + 1)).toBe(false);
      if (iat * 1000 > now + 60_000) expect(timely).toBe(false);
    }),
  );
});
