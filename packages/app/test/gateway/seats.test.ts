import { systemRandom } from "@seneschal/adapters/system";
import { crkFromJson, Share, Signer } from "@seneschal/crypto/threshold";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { begin } from "./begin.ts";
import { type Registered, registered } from "./registered.ts";
import { type Answer, type Caller, openRig, type Rig } from "./rig.ts";
import { type HeldCrk, makeCrk } from "./sign.ts";

const told = (answer: Answer): readonly [number, string] => [answer.status, answer.body?.error?.code];
const base64 = (data: Uint8Array): string => Buffer.from(data).toString("base64");
const seed = (index: number) => ({
  index,
  custodian_name: "whoever they say",
  derived_key: base64(systemRandom(32)),
  salt: base64(systemRandom(16)),
});
const asAdmin = (index: number, admin: { readonly id: string } | undefined) => ({
  index,
  identity_id: admin?.id,
  identity_type: "admin",
});

describe("one seat, one person, known by name", () => {
  let rig: Rig;
  beforeAll(async () => {
    rig = await openRig({ organizations: ["acme", "globex", "initech"] });
  });
  afterAll(() => rig.close());
  const adminsOf = (org: string) => {
    const admins = rig.dev.organizations[org]?.admins;
    if (admins === undefined) throw new Error(`no ${org}`);
    return admins;
  };
  let orgs = 0;
  /** An organisation without a key, and people of it. */
  const newOrg = async (count: number) => {
    orgs += 1;
    const org = `org-${orgs}`;
    const officer = rig.bearer({ sub: "root", org, roles: ["super_admin"] });
    const people: Registered[] = [];
    await begin(rig.gateway, org);
    for (let i = 1; i <= count; i++) people.push(await registered(rig, officer, { org, sub: `person-${i}` }));
    return { org, officer, people };
  };

  describe("in a password ceremony", () => {
    const base = "/api/v1/crk/generate-ceremony";
    const open = async (officer: Caller, custodians?: readonly object[]): Promise<string> => {
      const started = await officer("POST", `${base}/start`, { total_shares: 3, threshold: 2, custodians });
      expect(started.status, started.text).toBe(200);
      return `${base}/${started.body.id}`;
    };

    it("one token without a role or a record takes no seat, whatever it calls itself", async () => {
      const { org, officer } = await newOrg(0);
      const path = await open(officer);
      for (const stranger of [rig.bearer({ sub: "mallory", org }), rig.bearer({ sub: "m", org, roles: ["super_admin"] })]) {
        for (const index of [1, 2, 3]) {
          expect(told(await stranger("POST", `${path}/seed`, seed(index)))).toEqual([403, "FORBIDDEN"]);
        }
      }
      expect((await officer("GET", path)).body).toMatchObject({ status: "pending", seed_entries: [], seats: [] });
      expect(told(await officer("POST", `${path}/complete`))).toEqual([409, "STATE_CONFLICT"]);
    });

    it("one person takes one seat, under one account or several", async () => {
      const { org, officer, people } = await newOrg(1);
      const path = await open(officer);
      const [one] = people;
      const again = await registered(rig, officer, { org, sub: "second-account" });
      expect(again.id).not.toBe(one?.id);
      expect((await one?.call("POST", `${path}/seed`, seed(1)))?.status).toBe(204);
      expect(told((await one?.call("POST", `${path}/seed`, seed(2))) as Answer)).toEqual([409, "CONFLICT"]);
      const disguised = rig.bearer({ sub: "second-account", org, email: "PERSON-1@people.example", email_verified: true });
      expect(told(await disguised("POST", `${path}/seed`, seed(2)))).toEqual([409, "CONFLICT"]);
      // Without anything that tells the accounts apart from two people's, they are two: who registers users answers for that.
      expect((await again.call("POST", `${path}/seed`, seed(2))).status).toBe(204);
    });

    it("a seat that is kept for somebody is theirs, and the officer reads who sits where before and after", async () => {
      const acme = rig.admin("acme");
      const { security_admin, operations_admin, auditor } = adminsOf("acme");
      const path = await open(acme, [asAdmin(1, security_admin), asAdmin(2, operations_admin)]);
      expect(told(await rig.admin("acme", "auditor")("POST", `${path}/seed`, seed(1)))).toEqual([403, "FORBIDDEN"]);
      for (const [index, role] of [
        [1, "security_admin"],
        [2, "operations_admin"],
        [3, "auditor"],
      ] as const) {
        expect((await rig.admin("acme", role)("POST", `${path}/seed`, seed(index))).status).toBe(204);
      }
      const seats = [security_admin, operations_admin, auditor].map(({ id, role }, i) => ({
        index: i + 1,
        identity_id: id,
        identity_type: "admin",
        name: `${role} of acme`,
        taken_at: expect.any(String),
      }));
      expect((await acme("GET", path)).body).toMatchObject({ status: "seeded", seats });
      const done = await acme("POST", `${path}/complete`);
      expect(done.body, done.text).toMatchObject({ status: "complete", seats });
      const custodians = seats.map(({ taken_at: _, ...custodian }) => custodian);
      expect(done.body.crk.custodians).toEqual(custodians);
      expect((await acme("GET", "/api/v1/organizations/acme")).body.crk.custodians).toEqual(custodians);
      expect(done.text).not.toContain("@acme.example");
      expect(done.body.encrypted_shares.map((share: { custodian_id: string }) => share.custodian_id)).toEqual(
        custodians.map(({ identity_id }) => identity_id),
      );
    });

    it("no key is made while a seat's holder is not a registered, active identity", async () => {
      const { officer, people } = await newOrg(3);
      const path = await open(officer);
      for (const [i, person] of people.entries()) {
        expect((await person.call("POST", `${path}/seed`, seed(i + 1))).status).toBe(204);
      }
      expect((await officer("DELETE", `/api/v1/identities/users/${people[1]?.id}`)).status).toBe(204);
      const refused = await officer("POST", `${path}/complete`);
      expect(told(refused)).toEqual([409, "STATE_CONFLICT"]);
      expect(refused.body.error.details.indexes).toEqual([2]);
      expect((await officer("GET", path)).body).toMatchObject({ status: "seeded", crk: null });
      expect((await officer("DELETE", path)).status).toBe(204);
    });

    it("nobody is named who is not registered, twice, at two indexes or at none", async () => {
      const { officer, people } = await newOrg(2);
      const user = (index: number, identity_id: string | undefined) => ({ index, identity_id, identity_type: "user" });
      const [one, two] = people;
      for (const custodians of [
        [user(1, "mallory")],
        [user(1, one?.id), user(1, two?.id)],
        [user(1, one?.id), user(2, one?.id)],
        [user(4, one?.id)],
        [{ ...user(1, one?.id), identity_type: "admin" }],
        [asAdmin(1, adminsOf("globex").auditor)],
      ]) {
        const started = await officer("POST", `${base}/start`, { total_shares: 3, threshold: 2, custodians });
        expect([JSON.stringify(custodians), ...told(started)]).toEqual([JSON.stringify(custodians), 400, "VALIDATION_ERROR"]);
      }
    });
  });

  describe("of a key that was dealt", () => {
    let key: HeldCrk;
    let path: string;
    const roles = ["security_admin", "operations_admin", "auditor"] as const;
    const by = (index: number): Caller => rig.admin("globex", roles[index - 1]);
    const share = (index: number) => key.shares[index - 1];
    beforeAll(async () => {
      key = await makeCrk(rig.admin("globex"), 4, 2);
      const { security_admin, operations_admin } = adminsOf("globex");
      path = `/api/v1/crk/shares/${key.id}`;
      for (const [index, admin] of [security_admin, operations_admin].entries()) {
        const assigned = await rig.admin("globex")("PUT", `${path}/${index + 1}/custodian`, {
          identity_id: admin.id,
          identity_type: "admin",
        });
        expect(assigned.status, assigned.text).toBe(200);
        expect(assigned.body.custodians[index]).toMatchObject({ index: index + 1, identity_id: admin.id });
      }
    });

    it("who records custodians is a super admin, and gives a person one index", async () => {
      const { security_admin } = adminsOf("globex");
      const body = { identity_id: security_admin.id, identity_type: "admin" };
      expect(told(await by(1)("PUT", `${path}/3/custodian`, body))).toEqual([403, "FORBIDDEN"]);
      const officer = rig.admin("globex");
      expect(told(await officer("PUT", `${path}/3/custodian`, body))).toEqual([409, "CONFLICT"]);
      expect(told(await officer("PUT", `${path}/5/custodian`, body))).toEqual([404, "NOT_FOUND"]);
      expect(told(await officer("PUT", `${path}/3/custodian`, { ...body, identity_id: "mallory" }))[0]).toBe(400);
      expect(told(await rig.admin("initech")("PUT", `${path}/3/custodian`, body))).toEqual([404, "NOT_FOUND"]);
    });

    it("a share is brought by its custodian; one without a custodian by whoever has it, once", async () => {
      const officer = rig.admin("globex");
      for (const start of [
        async () => `/api/v1/crk/ceremony/${(await officer("POST", "/api/v1/crk/ceremony/start", reconstruct)).body.id}`,
        async () => `/api/v1/account-recovery/${(await officer("POST", "/api/v1/account-recovery/initiate", lock)).body.id}`,
      ]) {
        const at = await start();
        const stranger = rig.bearer({ sub: "user@globex", org: "globex" });
        for (const index of [1, 2, 3]) {
          expect(told(await stranger("POST", `${at}/share`, share(index)))).toEqual([403, "FORBIDDEN"]);
        }
        expect(told(await by(2)("POST", `${at}/share`, share(1)))).toEqual([403, "FORBIDDEN"]);
        expect(told(await officer("POST", `${at}/share`, share(2)))).toEqual([403, "FORBIDDEN"]);
        // A custodian of one index has no second seat, whoever's share it is.
        expect(told(await by(1)("POST", `${at}/share`, share(3)))).toEqual([409, "CONFLICT"]);
        expect(told(await by(1)("POST", `${at}/share`, { index: 1, data: share(2)?.data }))).toEqual([422, "SHARE_INVALID"]);
        expect((await by(1)("POST", `${at}/share`, share(1))).status).toBeLessThan(300);
        expect((await officer("POST", `${at}/share`, share(3))).status).toBeLessThan(300);
        expect(told(await officer("POST", `${at}/share`, share(4)))[0]).toBe(409);
        const { seats } = (await officer("GET", at)).body;
        const taken = seats.filter((seat: { taken_at: string | null }) => seat.taken_at !== null);
        const { security_admin, super_admin } = adminsOf("globex");
        expect(taken.map((seat: { index: number; identity_id: string }) => [seat.index, seat.identity_id])).toEqual([
          [1, security_admin.id],
          [3, super_admin.id],
        ]);
      }
    });
    const reconstruct = { operation: "reconstruct", threshold: 2 };
    const lock = {
      get admin_id() {
        return adminsOf("globex").auditor.id;
      },
      recovery_type: "locked_account",
      reason: "r",
    };

    it("in a signing session a seat is its recorded custodian's: nobody commits, signs or reads for another", async () => {
      const officer = rig.admin("globex");
      const { body: session } = await officer("POST", "/api/v1/crk/signing-sessions", { data: "AAAA" });
      const at = `/api/v1/crk/signing-sessions/${session.id}`;
      const material = crkFromJson(session.crk);
      const signerOf = (index: number) =>
        new Signer(material, Share.decode(share(index)?.data ?? ""), session.round, systemRandom);
      const [one, two, three] = [signerOf(1), signerOf(2), signerOf(3)];
      const stranger = rig.bearer({ sub: "user@globex", org: "globex" });
      const { call: bystander } = await registered(rig, officer, { org: "globex", sub: "bystander" });
      for (const outsider of [stranger, bystander]) {
        expect(told(await outsider("GET", at))).toEqual([404, "NOT_FOUND"]);
        expect(told(await outsider("POST", `${at}/commit`, one.commitment))).toEqual([404, "NOT_FOUND"]);
      }
      expect(told(await officer("POST", `${at}/commit`, one.commitment))).toEqual([403, "FORBIDDEN"]);
      expect(told(await by(2)("POST", `${at}/commit`, one.commitment))).toEqual([403, "FORBIDDEN"]);
      // Nobody is recorded for index 3: a commitment proves no share.
      expect(told(await officer("POST", `${at}/commit`, three.commitment))).toEqual([403, "FORBIDDEN"]);
      expect((await by(1)("POST", `${at}/commit`, one.commitment)).status).toBe(200);
      expect((await by(2)("POST", `${at}/commit`, two.commitment)).status).toBe(200);
      const { round, commitments } = (await by(1)("GET", at)).body;
      const part = one.sign(round, commitments);
      expect(told(await by(2)("POST", `${at}/sign`, part))).toEqual([403, "FORBIDDEN"]);
      expect(told(await officer("POST", `${at}/sign`, part))).toEqual([403, "FORBIDDEN"]);
      expect((await by(1)("POST", `${at}/sign`, part)).status).toBe(200);
      const garbage = { index: 2, share: base64(new Uint8Array(32)) };
      expect(told(await by(2)("POST", `${at}/sign`, garbage))).toEqual([422, "SHARE_INVALID"]);
      const early = await officer("POST", `${at}/aggregate`);
      expect(told(early)).toEqual([422, "CRK_THRESHOLD_NOT_MET"]);
      expect(early.body.error.details.indexes.length).toBe(
        early.body.error.details.required - early.body.error.details.collected,
      );
      expect((await by(2)("POST", `${at}/sign`, two.sign(round, commitments))).status).toBe(200);
      expect((await officer("POST", `${at}/aggregate`)).body).toMatchObject({ status: "completed", cheaters: [] });
      const { events } = (await officer("GET", "/api/v1/audit?limit=50")).body;
      const wrong = events.filter(
        (event: { result: string; metadata: { session_id?: string } }) =>
          event.result === "denied" && event.metadata.session_id === session.id,
      );
      expect(wrong.map((event: { actor: string; metadata: { index: number } }) => [event.actor, event.metadata.index])).toEqual([
        [adminsOf("globex").operations_admin.id, 2],
      ]);
    });

    it("a rotation keeps custodians who are there, puts those in who were named, and forgets who left", async () => {
      const officer = rig.admin("globex");
      const { security_admin, operations_admin, auditor, super_admin } = adminsOf("globex");
      const leaver = await registered(rig, officer, { org: "globex", sub: "leaver" });
      const body = { identity_id: leaver.id, identity_type: "user" };
      expect((await officer("PUT", `${path}/4/custodian`, body)).status).toBe(200);
      const started = await officer("POST", "/api/v1/crk/rotate", { threshold: 2, custodians: [asAdmin(2, super_admin)] });
      expect(started.body.custodians, started.text).toMatchObject([{ index: 2, identity_id: super_admin.id }]);
      const at = `/api/v1/crk/ceremony/${started.body.id}`;
      for (const index of [1, 2]) expect((await by(index)("POST", `${at}/share`, share(index))).status).toBe(204);
      expect((await officer("DELETE", `/api/v1/identities/users/${leaver.id}`)).status).toBe(204);
      const done = await officer("POST", `${at}/complete`, { witness: auditor.id });
      expect(done.status, done.text).toBe(200);
      expect(done.body.crk.custodians.map((c: { index: number; identity_id: string }) => [c.index, c.identity_id])).toEqual([
        [1, security_admin.id],
        [2, super_admin.id],
      ]);
      expect(done.body.ceremony.seats.map((seat: { identity_id: string }) => seat.identity_id)).toContain(operations_admin.id);
    });
  });
});
