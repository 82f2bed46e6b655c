import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { federate, openNeighbour, openSide, type Side } from "./federated.ts";
import { registered } from "./registered.ts";
import type { Answer } from "./rig.ts";

const base = "/api/v1/workspaces";
const secret = Buffer.from("one for both").toString("base64");

/** Lets everything that is due on both sides reach the other. */
async function settle(...sides: readonly Side[]): Promise<void> {
  for (const side of sides) await side.rig.gateway.deliver(side.rig.clock.now() + 3_600_000);
}

async function events(side: Side, workspace: string): Promise<string[]> {
  const { body } = await side.call("GET", `/api/v1/audit?workspace=${workspace}&limit=100`);
  return body.events.map((event: { event_type: string }) => event.event_type).reverse();
}

describe("a workspace shared by two instances", () => {
  let acme: Side;
  let globex: Side;
  beforeAll(async () => {
    [acme, globex] = await Promise.all([openSide("acme", { watched: true }), openSide("globex", { watched: true })]);
    await federate(acme, globex);
  });
  afterAll(() => Promise.all([acme.rig.close(), globex.rig.close()]));

  const make = async (given: object = {}): Promise<string> => {
    const { body, text, status } = await acme.call("POST", base, { name: `w ${Math.random()}`, ...given });
    if (status !== 201) throw new Error(text);
    return body.id;
  };
  const invite = async (id: string): Promise<Answer> => {
    const invited = await acme.call("POST", `${base}/${id}/invite`, { org_id: "globex" });
    await settle(acme);
    return invited;
  };
  const join = async (given: object = {}): Promise<string> => {
    const id = await make(given);
    await invite(id);
    const accepted = await globex.call("POST", `${base}/${id}/accept-invitation`, {});
    expect(accepted.status, accepted.text).toBe(204);
    return id;
  };
  const encrypt = (side: Side, id: string, plaintext = secret) =>
    side.call("POST", `${base}/${id}/encrypt`, { plaintext, context: { a: "b" } });
  const decrypt = (side: Side, id: string, ciphertext: string) =>
    side.call("POST", `${base}/${id}/decrypt`, { ciphertext, context: { a: "b" } });

  it("an invitation travels, is listed there, and accepting it makes each side read what the other wrote", async () => {
    const id = await make({ purpose: "merger" });
    const before = (await encrypt(acme, id)).body.ciphertext;
    const invited = await invite(id);
    expect([invited.status, invited.body.org_id, invited.body.status]).toEqual([201, "globex", "pending"]);
    const { body: list } = await globex.call("GET", "/api/v1/invitations");
    expect(list.invitations).toHaveLength(1);
    expect(list.invitations[0]).toMatchObject({ id: invited.body.id, workspace_id: id, owner_org_id: "acme", status: "pending" });
    expect((await globex.call("GET", `${base}/${id}`)).status).toBe(404);
    expect((await encrypt(globex, id)).status).toBe(404);
    const accepted = await globex.call("POST", `${base}/${id}/accept-invitation`, {});
    expect(accepted.status, accepted.text).toBe(204);
    const there = (await globex.call("GET", `${base}/${id}`)).body;
    await settle(acme);
    const { followers, ...here } = (await acme.call("GET", `${base}/${id}`)).body;
    expect(there).toEqual({ ...here, group_id: there.group_id });
    expect(there.state_sha256).toMatch(/^[0-9a-f]{64}$/);
    const { revision, state_sha256, dek_version } = there;
    expect(followers).toMatchObject([
      { org_id: "globex", stage: "shared", up_to_date: true, revision, state_sha256, dek_version, error_detail: null },
    ]);
    const seen = (await acme.call("GET", "/api/v1/federation/globex")).body;
    expect(seen.follows).toMatchObject([{ workspace_id: id, up_to_date: true, revision, state_sha256 }]);
    expect(seen.outbox).toEqual({ count: 0, oldest_at: null, error_detail: null });
    expect([seen.certificate_expires_at, seen.outbound_expires_at].map((at) => Date.parse(at) > 0)).toEqual([true, true]);
    expect(there.participant_orgs).toEqual(["acme", "globex"]);
    const [read] = [await decrypt(globex, id, before)];
    expect(read.body, read.text).toEqual({ plaintext: secret });
    const back = (await encrypt(globex, id)).body.ciphertext;
    expect((await decrypt(acme, id, back)).body).toEqual({ plaintext: secret });
    const wrong = await globex.call("POST", `${base}/${id}/decrypt`, { ciphertext: before, context: { a: "c" } });
    expect([wrong.status, wrong.body.error.code]).toEqual([400, "DECRYPTION_FAILED"]);
    expect((await globex.call("GET", base)).body.workspaces.map((w: { id: string }) => w.id)).toContain(id);
    expect(await events(acme, id)).toEqual(expect.arrayContaining(["workspace.invite", "workspace.join"]));
    expect(await events(globex, id)).toEqual(
      expect.arrayContaining(["workspace.invite", "workspace.invite.accept", "workspace.join"]),
    );
    const again = await globex.call("POST", `${base}/${id}/accept-invitation`, {});
    expect([again.status, again.body.error.code]).toEqual([409, "CONFLICT"]);
    expect((await acme.call("POST", `${base}/${id}/invite`, { org_id: "globex" })).status).toBe(409);
  });

  it("what the owner changes is followed: rotation, expiry, purpose, policies, the archive; old ciphertexts stay readable", async () => {
    const id = await join();
    const first = (await encrypt(globex, id)).body.ciphertext;
    expect((await acme.call("POST", `${base}/${id}/rotate-dek`)).status).toBe(204);
    await acme.call("PUT", `${base}/${id}`, { purpose: "changed" });
    await acme.call("POST", `${base}/${id}/extend`, { expires_at: "2090-01-01T00:00:00Z" });
    await settle(acme);
    const there = (await globex.call("GET", `${base}/${id}`)).body;
    expect(there).toMatchObject({ dek_version: 2, purpose: "changed", expires_at: "2090-01-01T00:00:00.000Z" });
    const second = (await encrypt(globex, id)).body.ciphertext;
    expect((await decrypt(acme, id, second)).body.plaintext).toBe(secret);
    expect((await decrypt(globex, id, first)).body.plaintext).toBe(secret);
    expect(await events(globex, id)).toEqual(expect.arrayContaining(["key.rotate", "workspace.extend", "workspace.update"]));

    const rego = `package gateway.workspace["${id}"]\nallow := input.purpose == "audit"\ndeny_reason := "audits only" if not allow\n`;
    const body = { name: "p", workspace: id, rego };
    const crk_signature = await acme.key.sign("policy.create", "", body);
    const policy = await acme.call("POST", "/api/v1/policies", { ...body, crk_signature });
    expect(policy.status, policy.text).toBe(201);
    await settle(acme);
    const denied = await encrypt(globex, id);
    expect([denied.status, denied.body.error.details.deny_reason]).toEqual([403, "audits only"]);
    const signature = await acme.key.sign("policy.delete", policy.body.id, {});
    expect((await acme.call("DELETE", `/api/v1/policies/${policy.body.id}`, { signature })).status).toBe(204);
    await settle(acme);
    expect((await encrypt(globex, id)).status).toBe(200);

    expect((await acme.call("POST", `${base}/${id}/archive`)).status).toBe(204);
    await settle(acme);
    const archived = await encrypt(globex, id);
    expect([archived.status, archived.body.error.code]).toEqual([409, "WORKSPACE_ARCHIVED"]);
    expect((await decrypt(globex, id, second)).status).toBe(200);
  });

  it("only the owner changes it; admissions and the group are each organisation's own", async () => {
    const { body: group } = await globex.call("POST", "/api/v1/identities/groups", { name: `g ${Math.random()}` });
    const id = await make();
    await invite(id);
    await globex.call("POST", `${base}/${id}/accept-invitation`, { group_id: group.id });
    for (const [method, path, body] of [
      ["PUT", "", { purpose: "x" }],
      ["POST", "/rotate-dek", {}],
      ["POST", "/archive", {}],
      ["POST", "/invite", { org_id: "initech" }],
      ["POST", "/extend", { expires_at: "2091-01-01T00:00:00Z" }],
      ["DELETE", "", {}],
    ] as const) {
      expect([path, (await globex.call(method, `${base}/${id}${path}`, body)).status]).toEqual([path, 403]);
    }
    const { id: identity_id, call: hank } = await registered(globex.rig, globex.call, { sub: "hank", org: "globex" });
    expect((await hank("POST", `${base}/${id}/encrypt`, { plaintext: secret })).body.error.code).toBe("NOT_ADMITTED");
    const member = { identity_id, identity_type: "user" };
    expect((await globex.call("POST", `/api/v1/identities/groups/${group.id}/members`, member)).status).toBe(204);
    expect((await hank("POST", `${base}/${id}/encrypt`, { plaintext: secret })).status).toBe(200);
    expect((await hank("POST", `${base}/${id}/request-access`, {})).body).toMatchObject({ status: "approved" });
    expect((await acme.call("GET", `${base}/${id}`)).body.group_bindings).toEqual({ globex: group.id });
    await acme.call("PUT", `${base}/${id}`, { purpose: "again" });
    await settle(acme);
    expect((await hank("POST", `${base}/${id}/encrypt`, { plaintext: secret })).status).toBe(200);
  });

  it("a declined invitation ends; another one may follow", async () => {
    const id = await make();
    await invite(id);
    expect((await globex.call("POST", `${base}/${id}/decline-invitation`, {})).status).toBe(204);
    const { body } = await acme.call("GET", `${base}/${id}/invitations`);
    expect(body.invitations[0]).toMatchObject({ status: "declined" });
    expect((await globex.call("POST", `${base}/${id}/accept-invitation`, {})).status).toBe(404);
    expect((await invite(id)).status).toBe(201);
    expect((await globex.call("POST", `${base}/${id}/accept-invitation`, {})).status).toBe(204);
  });

  it("an invitation that was revoked or has expired is not accepted any more", async () => {
    const id = await make();
    await acme.call("POST", `${base}/${id}/invite`, { org_id: "globex" });
    await settle(acme);
    await acme.call("DELETE", `${base}/${id}`, {});
    await settle(acme);
    expect((await globex.call("POST", `${base}/${id}/accept-invitation`, {})).status).toBe(404);
    const { invitations } = (await globex.call("GET", "/api/v1/invitations")).body;
    expect(invitations.find((one: { workspace_id: string }) => one.workspace_id === id)).toMatchObject({ status: "revoked" });
    const late = await make();
    await invite(late);
    const now = globex.rig.clock.now();
    globex.rig.clock.set(now + 8 * 86_400_000);
    const refused = await globex.call("POST", `${base}/${late}/accept-invitation`, {});
    globex.rig.clock.set(now);
    expect([refused.status, refused.body.error.code]).toEqual([409, "INVITATION_EXPIRED"]);
  });

  it("deleting a protected one takes the signatures of both root keys, the partner's over its own instance", async () => {
    const given = { name: `protected ${Math.random()}` };
    const crk_signature = await acme.key.sign("workspace.create", "", given);
    const id = await make({ ...given, crk_signature });
    const signature = await acme.key.sign("workspace.invite", id, { org_id: "globex" });
    await acme.call("POST", `${base}/${id}/invite`, { org_id: "globex", signature });
    await settle(acme);
    expect((await globex.call("POST", `${base}/${id}/accept-invitation`, {})).body.error.code).toBe("SIGNATURE_REQUIRED");
    const acceptance = await globex.key.sign("workspace.accept", id, {});
    const accepted = await globex.call("POST", `${base}/${id}/accept-invitation`, { signature: acceptance });
    expect(accepted.status, accepted.text).toBe(204);

    const signatures = async () => ({ signatures: { acme: await acme.key.sign("workspace.delete", id, {}) } });
    const alone = await acme.call("DELETE", `${base}/${id}`, await signatures());
    expect([alone.status, alone.body.error.details.missing]).toEqual([400, ["globex"]]);
    expect((await globex.call("POST", `${base}/${id}/deletion-consent`, {})).body.error.code).toBe("SIGNATURE_REQUIRED");
    const consent = { signature: await globex.key.sign("workspace.delete", id, {}) };
    const given2 = await globex.call("POST", `${base}/${id}/deletion-consent`, consent);
    expect([given2.status, given2.body.delivered], given2.text).toEqual([200, true]);
    // A change of the workspace voids the consent.
    const update = { purpose: "changed" };
    const updated = await acme.call("PUT", `${base}/${id}`, {
      ...update,
      signature: await acme.key.sign("workspace.update", id, update),
    });
    expect(updated.status, updated.text).toBe(200);
    await settle(acme);
    expect((await acme.call("DELETE", `${base}/${id}`, await signatures())).status).toBe(400);
    const renewed = { signature: await globex.key.sign("workspace.delete", id, {}) };
    expect((await globex.call("POST", `${base}/${id}/deletion-consent`, renewed)).status).toBe(200);
    const deleted = await acme.call("DELETE", `${base}/${id}`, await signatures());
    expect(deleted.status, deleted.text).toBe(204);
    await settle(acme);
    expect([(await acme.call("GET", `${base}/${id}`)).status, (await globex.call("GET", `${base}/${id}`)).status]).toEqual([
      404, 404,
    ]);
    expect(await globex.rig.store.get("workspace_seats", `${id}/globex`)).toBeUndefined();
    expect((await events(acme, id)).filter((type) => type === "workspace.delete.consent")).toHaveLength(2);
  });

  it("a bundle is sealed for the partner, too, and adds nothing to what the partner follows already", async () => {
    const id = await join();
    const bundle = (await acme.call("POST", `${base}/${id}/export`, {})).body;
    expect(bundle.recipient_orgs).toEqual(["acme", "globex"]);
    const taken = await globex.call("POST", `${base}/import`, bundle);
    expect([taken.status, taken.body.error.code]).toEqual([409, "CONFLICT"]);
  });

  it("the end of the federation ends the access on both sides, and rotates the owner's keys", async () => {
    const id = await join();
    const theirs = (await globex.call("POST", base, { name: `theirs ${Math.random()}` })).body.id;
    await globex.call("POST", `${base}/${theirs}/invite`, { org_id: "acme" });
    await settle(globex);
    expect((await acme.call("POST", `${base}/${theirs}/accept-invitation`, {})).status).toBe(204);
    const body = { notify_partner: true, revoke_certs: true };
    const revoked = await acme.signed("federation.revoke", "globex", "DELETE", "/api/v1/federation/globex", body);
    expect(revoked.status, revoked.text).toBe(204);
    for (const [side, gone, kept] of [
      [globex, id, theirs],
      [acme, theirs, id],
    ] as const) {
      expect((await side.call("GET", `${base}/${gone}`)).status).toBe(404);
      expect((await encrypt(side, gone)).status).toBe(404);
      expect(await side.rig.store.get("workspace_seats", `${gone}/${side.org}`)).toBeUndefined();
      const own = (await side.call("GET", `${base}/${kept}`)).body;
      expect(own).toMatchObject({ dek_version: 2, participant_orgs: [side.org] });
    }
    expect(await events(globex, id)).toContain("workspace.leave");
    expect((await acme.call("POST", "/api/v1/audit/verify", {})).body.valid).toBe(true);
  });

  it("an invitation from before the federation travels once there is one", async () => {
    const id = await make();
    expect((await acme.call("POST", `${base}/${id}/invite`, { org_id: "globex" })).status).toBe(201);
    await federate(acme, globex);
    await settle(acme);
    expect((await globex.call("POST", `${base}/${id}/accept-invitation`, {})).status).toBe(204);
    expect((await encrypt(globex, id)).status).toBe(200);
  });

  it("two organisations of one instance take part side by side; when one goes, the other stays", async () => {
    const initech = await openNeighbour("initech", globex);
    await federate(acme, initech);
    const id = await make();
    for (const [side, org] of [
      [globex, "globex"],
      [initech, "initech"],
    ] as const) {
      expect((await acme.call("POST", `${base}/${id}/invite`, { org_id: org })).status).toBe(201);
      await settle(acme);
      const accepted = await side.call("POST", `${base}/${id}/accept-invitation`, {});
      expect(accepted.status, accepted.text).toBe(204);
    }
    await acme.call("POST", `${base}/${id}/rotate-dek`);
    await settle(acme);
    const { ciphertext } = (await encrypt(initech, id)).body;
    for (const side of [acme, globex]) expect((await decrypt(side, id, ciphertext)).body).toEqual({ plaintext: secret });
    const revoked = await acme.signed("federation.revoke", "initech", "DELETE", "/api/v1/federation/initech", {
      notify_partner: true,
    });
    expect(revoked.status, revoked.text).toBe(204);
    await settle(acme);
    expect((await encrypt(initech, id)).status).toBe(404);
    const after = (await globex.call("GET", `${base}/${id}`)).body;
    expect(after).toMatchObject({ dek_version: 3, participant_orgs: ["acme", "globex"] });
    expect((await decrypt(globex, id, ciphertext)).body).toEqual({ plaintext: secret });
  });

  it("what an owner changes, its policies too, is told in the log of every organisation of an instance that takes part, once", async () => {
    const hooli = await openNeighbour("hooli", globex);
    await federate(acme, hooli);
    const id = await join();
    const invited = await acme.call("POST", `${base}/${id}/invite`, { org_id: "hooli" });
    expect(invited.status, invited.text).toBe(201);
    await settle(acme);
    expect((await hooli.call("POST", `${base}/${id}/accept-invitation`, {})).status).toBe(204);
    await settle(acme);
    const both = () => Promise.all([events(globex, id), events(hooli, id)]);
    const before = await both();
    expect((await acme.call("POST", `${base}/${id}/rotate-dek`)).status).toBe(204);
    const body = { name: "of both", workspace: id, rego: "package p\nallow := true" };
    const crk_signature = await acme.key.sign("policy.create", "", body);
    const { body: policy } = await acme.call("POST", "/api/v1/policies", { ...body, crk_signature });
    await settle(acme);
    const next = { rego: "package p\nallow := false" };
    const signature = await acme.key.sign("policy.update", policy.id, next);
    expect((await acme.call("PUT", `/api/v1/policies/${policy.id}`, { ...next, signature })).status).toBe(200);
    await settle(acme);
    const gone = await acme.key.sign("policy.delete", policy.id, {});
    expect((await acme.call("DELETE", `/api/v1/policies/${policy.id}`, { signature: gone })).status).toBe(204);
    await settle(acme);
    for (const [i, after] of (await both()).entries())
      expect(after.slice(before[i]?.length)).toEqual([
        "key.rotate",
        "workspace.update",
        "policy.create",
        "policy.update",
        "policy.delete",
      ]);
  });
});
