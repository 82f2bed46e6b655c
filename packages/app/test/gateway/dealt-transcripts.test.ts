import { nodeCrypto } from "@seneschal/adapters/node-crypto";
import { base64 } from "@seneschal/crypto";
import { type DealtStanding, dealtEntry, verifyDealtTranscript } from "@seneschal/crypto/custody";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { begin } from "./begin.ts";
import { enrolled, type Person, person } from "./custody-people.ts";
import { registered } from "./registered.ts";
import { type Answer, type Caller, openRig, type Rig } from "./rig.ts";

const CRK = "/api/v1/crk";
const told = ({ status, body }: Answer): readonly unknown[] => [status, body?.error?.code];

describe("a ceremony in which the gateway deals has a transcript that it signs, and custodians with keys confirm", () => {
  let rig: Rig;
  beforeAll(async () => {
    rig = await openRig();
  });
  afterAll(() => rig.close());

  let orgs = 0;
  const newOrg = async (count = 3) => {
    const org = `dealt-${++orgs}`;
    const officer = rig.bearer({ sub: "root", org, roles: ["super_admin"] });
    await begin(rig.gateway, org);
    const people: Person[] = [];
    for (let i = 1; i <= count; i++) people.push(await person(rig, officer, org, `person-${i}`));
    return { org, officer, people };
  };
  const named = (people: readonly Person[]) =>
    people.map(({ id }, i) => ({ index: i + 1, identity_id: id, identity_type: "user" }));
  /** What anybody finds who is given the file and knows the log's key. */
  const verified = async (call: Caller, path: string) => {
    const { body } = await call("GET", "/api/v1/audit/checkpoint");
    const file = await call("GET", path);
    expect(file.status, file.text).toBe(200);
    const report = verifyDealtTranscript(nodeCrypto, Buffer.from(file.text), { gatewayKey: body.public_key });
    if (!report.valid) throw new Error(JSON.stringify(report.refused));
    return { ...report, text: file.text };
  };
  const confirms = (who: Person, crk: string, standing: DealtStanding, change: object = {}, keys = who.keys) => {
    const { dealt, transcript, ceremony } = standing;
    const act = { type: "confirmation", transcript, public_key: dealt?.crk.public_key, ...change } as never;
    const at = Math.floor(rig.clock.now() / 1000);
    const { entry, bytes } = dealtEntry(standing, { ceremony, author: who.id, at }, act);
    return who.call("POST", `${CRK}/${crk}/transcript`, { entry: { ...entry, signature: base64(keys.sign(bytes)) } });
  };

  it("of one call: for whom, under which cards; each holder confirms once, by own keys, what is the transcript, and nobody else", async () => {
    const { org, officer, people } = await newOrg(4);
    const [ada, bob, cy, eve] = people as [Person, Person, Person, Person];
    const ids = await enrolled([ada, bob, eve]);
    const made = await officer("POST", `${CRK}/generate`, { total_shares: 3, threshold: 2, custodians: named([ada, bob, cy]) });
    expect(made.status, made.text).toBe(200);
    const path = `${CRK}/${made.body.id}/transcript`;
    const { standing, seats, text } = await verified(officer, path);
    expect(standing).toMatchObject({ status: "dealt", start: { kind: "dealt", org_id: org }, confirmed: [] });
    expect(seats.map(({ identity_id, fingerprint }) => [identity_id, fingerprint])).toEqual([
      [ada.id, ada.fingerprint],
      [bob.id, bob.fingerprint],
      [cy.id, null],
    ]);
    for (const { data } of made.body.shares) expect(text).not.toContain(data);

    expect(told(await confirms(ada, made.body.id, standing, { transcript: ada.card.signing_key }))).toEqual([
      400,
      "VALIDATION_ERROR",
    ]);
    expect(told(await confirms(ada, made.body.id, standing, {}, bob.keys))).toEqual([400, "VALIDATION_ERROR"]);
    expect(told(await confirms(eve, made.body.id, standing))).toEqual([403, "FORBIDDEN"]);
    expect(told(await confirms(cy, made.body.id, standing))).toEqual([403, "FORBIDDEN"]);
    expect(told(await confirms({ ...ada, id: bob.id, keys: bob.keys }, made.body.id, standing))).toEqual([403, "FORBIDDEN"]);
    const roleless = rig.bearer({ sub: "nobody-knows", org });
    const stranger = (await newOrg(0)).officer;
    const nowhere = "00000000-0000-7000-8000-000000000000";
    const member = (await registered(rig, officer, { org, sub: "member" })).call;
    for (const id of [made.body.id, nowhere]) {
      expect(told(await confirms({ ...ada, call: roleless }, id, standing))).toEqual([404, "NOT_FOUND"]);
      expect(told(await confirms({ ...ada, call: member }, id, standing))).toEqual([404, "NOT_FOUND"]);
    }
    expect(told(await confirms({ ...ada, call: stranger }, made.body.id, standing))).toEqual([404, "NOT_FOUND"]);
    expect((await roleless("GET", path)).status).toBe(403);
    expect((await stranger("GET", path)).status).toBe(404);

    const first = await confirms(ada, made.body.id, standing);
    expect(first).toMatchObject({ status: 200, body: { confirmed: [1], awaited: [2], transcript: standing.transcript } });
    // Behind an older end: what is there now is told, and taken again.
    const late = await confirms(bob, made.body.id, standing);
    expect([...told(late), late.body.error.details]).toEqual([
      409,
      "STATE_CONFLICT",
      { reason: "chain", entries: 3, head: first.body.head },
    ]);
    const now = (await verified(officer, path)).standing;
    expect(told(await confirms(ada, made.body.id, now))).toEqual([409, "STATE_CONFLICT"]);
    await officer("POST", `/api/v1/custody/custodians/${ids[1]}/revoke`);
    expect((await confirms(bob, made.body.id, now)).status).toBe(403);
    expect((await verified(officer, path)).seats.map(({ confirmed }) => confirmed)).toEqual([true, false, false]);
    // The audit log says the same, hash by hash.
    const { body } = await officer("GET", "/api/v1/audit?event_type=crk.ceremony");
    expect(body.events[0].metadata).toMatchObject({ event: "confirmation", head: now.head, transcript: standing.transcript });
  });

  it("of passwords: who seeded which index and when, and nothing of the seed; one that was cancelled says so", async () => {
    const { officer, people } = await newOrg();
    const start = { total_shares: 3, threshold: 2, custodians: named(people.slice(0, 1)) };
    const begun = await officer("POST", `${CRK}/generate-ceremony/start`, start);
    const path = `${CRK}/generate-ceremony/${begun.body.id}`;
    const secrets: string[] = [];
    for (const [i, { call }] of people.entries()) {
      const [derived_key, salt] = [Buffer.alloc(32, i + 7).toString("base64"), Buffer.alloc(16, i + 77).toString("base64")];
      secrets.push(derived_key, salt);
      const seed = { index: i + 1, custodian_name: `name-${i}`, derived_key, salt };
      expect((await call("POST", `${path}/seed`, seed)).status).toBe(204);
    }
    const open = await verified(officer, `/api/v1/custody/ceremonies/${begun.body.id}/transcript`);
    expect(open.standing).toMatchObject({
      status: "open",
      seeds: people.map(({ id }, i) => ({ index: i + 1, identity_id: id })),
    });
    const done = await officer("POST", `${path}/complete`);
    const { standing, text } = await verified(officer, `${CRK}/${done.body.crk.id}/transcript`);
    expect(standing).toMatchObject({ status: "dealt", ceremony: begun.body.id, start: { kind: "password" } });
    expect(standing.dealt?.seats.map(({ identity_id }) => identity_id)).toEqual(people.map(({ id }) => id));
    for (const secret of secrets) expect(text).not.toContain(secret);

    const other = await newOrg(1);
    const cancelled = await other.officer("POST", `${CRK}/generate-ceremony/start`, { total_shares: 3, threshold: 2 });
    await other.officer("DELETE", `${CRK}/generate-ceremony/${cancelled.body.id}`);
    const ended = await verified(other.officer, `/api/v1/custody/ceremonies/${cancelled.body.id}/transcript`);
    expect([ended.standing.status, ended.standing.entries]).toEqual(["ended", 2]);
    const foreign = `/api/v1/custody/ceremonies/${begun.body.id}/transcript`;
    expect([(await other.officer("GET", foreign)).status, (await people[0]?.call("GET", foreign))?.status]).toEqual([404, 200]);
    // Who has a seat and no office reads what it is to confirm.
    const seated = await registered(rig, other.officer, { org: `dealt-${orgs}`, sub: "with-a-seat" });
    const keptSeat = { ...start, custodians: [{ index: 1, identity_id: seated.id, identity_type: "user" }] };
    const own = await other.officer("POST", `${CRK}/generate-ceremony/start`, keptSeat);
    const [of, not] = [own.body.id, cancelled.body.id].map((id) => `/api/v1/custody/ceremonies/${id}/transcript`);
    expect([(await seated.call("GET", of ?? "")).status, (await seated.call("GET", not ?? "")).status]).toEqual([200, 404]);
    const nobody = await registered(rig, other.officer, { org: `dealt-${orgs}`, sub: "without-office" });
    expect((await nobody.call("GET", `/api/v1/custody/ceremonies/${cancelled.body.id}/transcript`)).status).toBe(404);
  });

  it("before a witness, and of new shares: the witness was named, who brought a share is said, and each version has its own", async () => {
    const [officer, second] = [rig.admin("globex"), rig.admin("globex", "security_admin")];
    const people = rig.dev.organizations["globex"]?.admins;
    const witness = people?.auditor.id;
    const started = await officer("POST", `${CRK}/ceremony/start`, { operation: "generate", threshold: 2 });
    const made = await officer("POST", `${CRK}/ceremony/${started.body.id}/complete`, { witness });
    expect(made.status, made.text).toBe(200);
    const { id } = made.body.crk;
    const first = await verified(officer, `${CRK}/${id}/transcript`);
    expect(first.standing).toMatchObject({ status: "dealt", witness, start: { kind: "witnessed" } });
    const rotation = await officer("POST", `${CRK}/rotate`, { threshold: 2 });
    for (const [i, by] of [officer, second].entries()) {
      const { index, data } = made.body.shares[i];
      expect((await by("POST", `${CRK}/ceremony/${rotation.body.id}/share`, { index, data })).status).toBe(204);
    }
    const done = await officer("POST", `${CRK}/ceremony/${rotation.body.id}/complete`, { witness });
    expect(done.status, done.text).toBe(200);
    expect((await verified(officer, `${CRK}/${id}/transcript`)).standing).toMatchObject({
      start: { kind: "rotated", required_shares: 2 },
      shares: [
        { index: 1, identity_id: people?.super_admin.id },
        { index: 2, identity_id: people?.security_admin.id },
      ],
      witness,
    });
    expect((await verified(officer, `${CRK}/${id}/transcript?version=1`)).text).toBe(first.text);
  });
});
