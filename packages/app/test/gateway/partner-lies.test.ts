import { nodeCrypto } from "@seneschal/adapters/node-crypto";
import { systemRandom } from "@seneschal/adapters/system";
import type { PeerState } from "@seneschal/contract/gateway";
import { hpkeSeal } from "@seneschal/crypto/hpke";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { shareId, shares } from "../../src/gateway/partners/collections.ts";
import { describeShare } from "../../src/gateway/partners/replication/dispatch.ts";
import { begin } from "./begin.ts";
import { asPartner, federate, openSide, type Side } from "./federated.ts";
import type { Answer, Caller } from "./rig.ts";

const base = "/api/v1/workspaces";
const path = "/api/v1/federation/peer/workspace";
const secret = Buffer.from("x").toString("base64");
type Shared = Extract<PeerState, { stage: "shared" }>;

describe("a partner that lies about workspaces", () => {
  let acme: Side;
  let globex: Side;
  /** Acme's gateway in the hands of somebody bad, calling globex's. */
  let liar: Caller;
  let shared: string;
  let truth: Shared;
  beforeAll(async () => {
    [acme, globex] = await Promise.all([openSide("acme"), openSide("globex")]);
    await federate(acme, globex);
    liar = await asPartner(acme, globex);
    shared = await share("the workspace");
    truth = (await told(shared)) as Shared;
  });
  afterAll(() => Promise.all([acme.rig.close(), globex.rig.close()]));

  const offered = async (name: string): Promise<string> => {
    const { body } = await acme.call("POST", base, { name });
    await acme.call("POST", `${base}/${body.id}/invite`, { org_id: "globex" });
    await acme.rig.gateway.deliver(acme.rig.clock.now() + 3_600_000);
    return body.id;
  };
  const share = async (name: string): Promise<string> => {
    const id = await offered(name);
    expect((await globex.call("POST", `${base}/${id}/accept-invitation`, {})).status).toBe(204);
    await acme.rig.gateway.deliver(acme.rig.clock.now() + 3_600_000);
    return id;
  };
  /** What acme's gateway would truly say now. */
  const told = async (id: string): Promise<PeerState | undefined> => {
    const { services } = acme.rig.gateway;
    const now = acme.rig.clock.now();
    const principal = { id: "test", type: "system", org: "acme", roles: [], scopes: [], method: "none" };
    return services.transact({ principal, now, requestId: "" }, async (unit) => {
      const known = await unit.get(shares, shareId(id, "globex"));
      return known === undefined ? undefined : describeShare(services, unit, known);
    });
  };
  const push = (state: object): Promise<Answer> => liar("PUT", path, state);
  const next = (changes: object = {}): Shared & object => ({
    ...truth,
    sequence: truth.sequence + 1000,
    workspace: { ...truth.workspace, revision: truth.workspace.revision + 1, ...changes },
  });
  const sealed = (deks: object): string => {
    const text = hpkeSeal(nodeCrypto, systemRandom(32), Buffer.from(JSON.stringify(deks)), { random: systemRandom });
    return Buffer.from(text).toString("base64");
  };
  const refused = async (state: object, status: number, code: string) => {
    const before = await globex.rig.store.changes(0, 1_000_000);
    const answer = await push(state);
    expect([answer.status, answer.body.error?.code], answer.text).toEqual([status, code]);
    const changed = (await globex.rig.store.changes(before.at(-1)?.seq ?? 0, 1000)).map(({ coll }) => coll);
    expect(changed.filter((coll) => coll !== "federations")).toEqual([]);
  };

  it("speaks for its own workspaces only, and not about those of others", async () => {
    await refused(next({ owner_org_id: "initech" }), 403, "FORBIDDEN");
    await refused(next({ owner_org_id: "globex" }), 403, "FORBIDDEN");
    const { body: own } = await globex.call("POST", base, { name: "globex's own" });
    await refused({ ...next({ id: own.id }), workspace_id: own.id }, 409, "STATE_CONFLICT");
    expect((await globex.call("GET", `${base}/${own.id}`)).status).toBe(200);
  });

  it("learns nothing of ids: one that somebody here has is answered as one that nobody has", async () => {
    const { body: own } = await globex.call("POST", base, { name: "globex's other" });
    const invited = await globex.call("POST", `${base}/${own.id}/invite`, { org_id: "initech" });
    const offer = ((await told(await offered("an offer"))) as Extract<PeerState, { stage: "offered" }>) ?? {};
    for (const id of [own.id, crypto.randomUUID()]) {
      const invitation = { ...offer.invitation, id: invited.body.id };
      for (const state of [
        { ...offer, workspace_id: id, sequence: 7, invitation },
        { workspace_id: id, sequence: 9, stage: "ended" },
      ]) {
        const answer = await push(state);
        expect([answer.status, answer.body.sequence], answer.text).toEqual([200, state.sequence]);
      }
      await refused({ ...next({ id }), workspace_id: id }, 409, "STATE_CONFLICT");
    }
    expect((await globex.call("GET", `${base}/${own.id}`)).body.owner_org_id).toBe("globex");
    const [mine] = (await globex.call("GET", `${base}/${own.id}/invitations`)).body.invitations;
    expect([mine.id, mine.org_id]).toEqual([invited.body.id, "initech"]);
  });
  it("makes nobody part of a workspace who did not accept", async () => {
    const id = await offered("not accepted");
    const { invitation: _, ...offer } = (await told(id)) as Extract<PeerState, { stage: "offered" }>;
    const workspace = { ...truth.workspace, id };
    await refused({ ...truth, ...offer, sequence: 99, stage: "shared", workspace }, 409, "STATE_CONFLICT");
    const unknown = crypto.randomUUID();
    await refused({ ...truth, workspace_id: unknown, workspace: { ...truth.workspace, id: unknown } }, 409, "STATE_CONFLICT");
    expect((await globex.call("GET", `${base}/${id}`)).status).toBe(404);
  });

  it("a replayed push is answered with what is known, and changes nothing", async () => {
    const { dek_version } = (await globex.call("GET", `${base}/${shared}`)).body;
    for (const sequence of [1, truth.sequence - 1, truth.sequence]) {
      const answer = await push({ ...truth, sequence });
      expect([answer.status, answer.body.sequence >= truth.sequence]).toEqual([200, true]);
    }
    const old = await push({ workspace_id: shared, sequence: 1, stage: "ended" });
    expect([old.status, old.body.sequence]).toEqual([200, truth.sequence]);
    expect((await globex.call("GET", `${base}/${shared}`)).body.dek_version).toBe(dek_version);
  });

  it("participants, ids and keys that do not fit are refused by the field", async () => {
    for (const participants of [
      truth.workspace.participants.filter(({ role }) => role === "owner"),
      truth.workspace.participants.filter(({ role }) => role !== "owner"),
      [...truth.workspace.participants, ...truth.workspace.participants.slice(1)],
      truth.workspace.participants.map((one) => ({ ...one, role: "owner" as const })),
    ]) {
      await refused(next({ participants }), 400, "VALIDATION_ERROR");
    }
    await refused(next({ id: crypto.randomUUID() }), 400, "VALIDATION_ERROR");
    await refused({ ...next(), deks: sealed({ 1: secret }) }, 400, "VALIDATION_ERROR");
    await refused(next({ dek_version: truth.workspace.dek_version + 1 }), 409, "STATE_CONFLICT");
    await refused(next({ dek_version: 1_000_000 }), 400, "VALIDATION_ERROR");
    await refused({ ...next(), unknown: 1 }, 400, "VALIDATION_ERROR");
  });

  it("revisions, key versions, policies, the protection and the archive do not go back", async () => {
    const first = truth;
    await acme.call("POST", `${base}/${shared}/rotate-dek`);
    await acme.rig.gateway.deliver(acme.rig.clock.now() + 3_600_000);
    truth = (await told(shared)) as Shared;
    expect((await globex.call("GET", `${base}/${shared}`)).body.dek_version).toBe(2);
    const { ciphertext } = (await globex.call("POST", `${base}/${shared}/encrypt`, { plaintext: secret })).body;
    // The state from before the rotation under a fresh number: a stale rotation, a downgraded key.
    await refused({ ...first, sequence: truth.sequence + 1 }, 409, "STATE_CONFLICT");
    await refused(
      { ...first, sequence: truth.sequence + 1, workspace: { ...truth.workspace, dek_version: 1 } },
      409,
      "STATE_CONFLICT",
    );
    await refused(next({ revision: truth.workspace.revision - 1 }), 409, "STATE_CONFLICT");
    const policy = { id: crypto.randomUUID(), name: "p", rego: "package a\nallow := false\n", version: 2 };
    expect((await push({ ...next(), sequence: truth.sequence + 1, policies: [policy] })).status).toBe(200);
    await refused({ ...next(), policies: [{ ...policy, version: 1 }] }, 409, "STATE_CONFLICT");
    await refused({ ...next(), policies: [{ ...policy, rego: "package a\nallow := true\n" }] }, 409, "STATE_CONFLICT");
    expect((await push({ ...next(), sequence: truth.sequence + 2 })).status).toBe(200);
    const opened = await globex.call("POST", `${base}/${shared}/decrypt`, { ciphertext });
    expect(opened.body).toEqual({ plaintext: secret });
    // Taken away and brought back: still the version that it was.
    const back = { ...next(), policies: [{ ...policy, rego: "package a\nallow := true\n" }] };
    await refused(back, 409, "STATE_CONFLICT");
    await refused({ ...back, policies: [{ ...policy, version: -5 }] }, 400, "VALIDATION_ERROR");
    const { revision } = truth.workspace;
    const protectedOne = next({ crk_protected: true, revision: revision + 2 });
    expect((await push({ ...protectedOne, sequence: truth.sequence + 3 })).status).toBe(200);
    await refused(next({ revision: revision + 3 }), 409, "STATE_CONFLICT");
    const archive = next({ crk_protected: true, status: "archived", revision: revision + 3 });
    expect((await push({ ...archive, sequence: truth.sequence + 4 })).status).toBe(200);
    await refused(next({ crk_protected: true, revision: revision + 4 }), 409, "STATE_CONFLICT");
  });

  it("says one thing of one revision: other content under the same number is refused", async () => {
    const archive = { crk_protected: true, status: "archived", revision: truth.workspace.revision + 3 };
    await refused(next({ ...archive, purpose: "equivocated" }), 409, "STATE_CONFLICT");
    await refused(next({ ...archive, name: "equivocated" }), 409, "STATE_CONFLICT");
  });

  it("policies that do not compile are refused before anything is taken over, and named", async () => {
    const archive = { crk_protected: true, status: "archived", revision: truth.workspace.revision + 3 };
    const good = { id: crypto.randomUUID(), name: "good", rego: "package a\nallow := true\n", version: 1 };
    for (const rego of [
      "package a\nallow :=",
      "package gateway.authz\nallow := true\n",
      `package gateway.workspace["x"]\nallow := true\n`,
    ]) {
      const bad = { id: crypto.randomUUID(), name: "bad", rego, version: 1 };
      await refused({ ...next(archive), policies: [good, bad] }, 400, "POLICY_INVALID");
      const answer = await push({ ...next(archive), policies: [good, bad] });
      expect(answer.body.error.details.policy_id).toBe(bad.id);
    }
    const { body } = await globex.call("GET", "/api/v1/audit?event_type=federation.refuse");
    const reasons = body.events.map(({ metadata }: { metadata: { reason: string } }) => metadata.reason);
    expect(reasons).toEqual(expect.arrayContaining(["STATE_CONFLICT", "POLICY_INVALID", "FORBIDDEN"]));
    expect(new Set(reasons).size, "each reason once an hour").toBe(reasons.length);
  });

  it("a policy of its own never takes the place of one here", async () => {
    const body = { name: "globex's", rego: "package b\nallow := true\n" };
    const crk_signature = await globex.key.sign("policy.create", "", body);
    const { body: own } = await globex.call("POST", "/api/v1/policies", { ...body, crk_signature });
    const policies = [{ id: own.id, name: "x", rego: "package c\nallow := true\n", version: 9 }];
    const archive = next({ crk_protected: true, status: "archived", revision: truth.workspace.revision + 3 });
    expect((await push({ ...archive, sequence: truth.sequence + 5, policies })).status).toBe(200);
    expect((await globex.call("GET", `/api/v1/policies/${own.id}`)).body).toMatchObject({ name: "globex's", version: 1, ...own });
    const listed = (await globex.call("GET", `/api/v1/policies/workspace/${shared}`)).body.policies;
    expect(listed.find(({ name }: { name: string }) => name === "x")).toMatchObject({ rego: policies[0]?.rego, org_id: "acme" });
    expect((await push({ ...archive, sequence: truth.sequence + 6 })).status).toBe(200);
    expect((await globex.call("GET", `/api/v1/policies/${own.id}`)).status).toBe(200);
  });

  it("answers for nobody else's invitation, nor for one that is not there", async () => {
    const partner = await asPartner(globex, acme);
    const { body: mine } = await acme.call("POST", base, { name: "for initech" });
    const { body: invited } = await acme.call("POST", `${base}/${mine.id}/invite`, { org_id: "initech" });
    const answer = (given: object) =>
      partner("POST", "/api/v1/federation/peer/answer", {
        workspace_id: mine.id,
        invitation_id: invited.id,
        accept: true,
        group_id: null,
        ...given,
      });
    expect((await answer({})).status).toBe(404);
    expect((await answer({ workspace_id: shared })).status).toBe(404);
    expect((await answer({ workspace_id: crypto.randomUUID() })).status).toBe(404);
    expect((await acme.call("GET", `${base}/${mine.id}`)).body.participant_orgs).toEqual(["acme"]);
  });

  it("a deletion that its root key did not sign is not its consent", async () => {
    const id = await share("to be deleted");
    const partner = await asPartner(globex, acme);
    const prepared = await globex.call("POST", "/api/v1/crk/signing-requests", {
      operation: "workspace.delete",
      resource_id: id,
    });
    const payload = JSON.parse(Buffer.from(prepared.body.message, "base64").toString().split("\0")[1] ?? "{}");
    const wrong = Buffer.alloc(64, 1).toString("base64");
    const send = (given: object) =>
      partner("POST", "/api/v1/federation/peer/deletion-consent", { workspace_id: id, payload, signature: wrong, ...given });
    const forged = await send({});
    expect([forged.status, forged.body.error.code]).toEqual([403, "SIGNATURE_INVALID"]);
    const stale = await send({ payload: { ...payload, body_sha256: "0".repeat(64) } });
    expect([stale.status, stale.body.error.code]).toEqual([409, "STATE_CONFLICT"]);
    const now = Math.floor(acme.rig.clock.now() / 1000);
    for (const [iat, exp] of [
      [1, 2],
      [now - 200_000, now - 100_000],
      [now + 3600, now + 7200],
      [now - 60, now + 10 * 86_400],
      [now, now],
    ]) {
      const old = await send({ payload: { ...payload, iat, exp } });
      expect([old.status, old.body.error.code], `${iat} ${exp}`).toEqual([403, "SIGNATURE_EXPIRED"]);
    }
    const signature = await globex.key.sign("workspace.delete", id, {});
    expect((await send({ payload: { ...payload, org_id: "acme" }, signature })).status).toBe(403);
    expect((await send({ workspace_id: shared })).status).not.toBe(204);
  });

  it("an invitation that went to a partner is not for an organisation of the same id here", async () => {
    const id = await offered("for the other globex");
    const impostor = acme.rig.bearer({ sub: "impostor", org: "globex", roles: ["super_admin"] });
    await begin(acme.rig.gateway, "globex");
    expect((await impostor("POST", `${base}/${id}/accept-invitation`, {})).status).toBe(404);
    expect((await impostor("POST", `${base}/${id}/decline-invitation`, {})).status).toBe(404);
    expect((await impostor("GET", `${base}/${shared}`)).status).toBe(404);
    expect((await impostor("POST", `${base}/${shared}/encrypt`, { plaintext: secret })).status).toBe(404);
  });

  it("an owner of the same id as an organisation here is nobody's partner here", async () => {
    await begin(globex.rig.gateway, "acme");
    await refused(next({ crk_protected: true, status: "archived" }), 409, "CONFLICT");
    expect(
      (await globex.rig.bearer({ sub: "eve", org: "acme", roles: ["super_admin"] })("GET", `${base}/${shared}`)).status,
    ).toBe(404);
  });
});
