import { nodeCrypto } from "@seneschal/adapters/node-crypto";
import { systemRandom } from "@seneschal/adapters/system";
import { signEntry, verifyTranscript } from "@seneschal/crypto/custody";
import { crkFromJson, crkToJson, dealCrk, type Share, Signer } from "@seneschal/crypto/threshold";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { begin } from "./begin.ts";
import {
  CEREMONIES,
  CUSTODIANS,
  enrolled,
  held,
  type Person,
  person,
  startEntry,
  transcriptOf,
  turn,
  withKeys,
} from "./custody-people.ts";
import { registered } from "./registered.ts";
import { type Answer, type Caller, openRig, type Rig } from "./rig.ts";

const told = ({ status, body }: Answer): readonly unknown[] => [status, body?.error?.code, body?.error?.details?.field];

const OK = [200, undefined, undefined];

describe("custodians hold ceremonies by their own clients, and the gateway relays", () => {
  let rig: Rig;
  beforeAll(async () => {
    rig = await openRig({ watched: true });
  });
  afterAll(() => rig.close());

  let orgs = 0;
  /** An organisation without a key, its officer, and people with custodian keys. */
  const newOrg = async (count = 5) => {
    const org = `custody-${++orgs}`;
    const officer = rig.bearer({ sub: "root", org, roles: ["super_admin"] });
    await begin(rig.gateway, org);
    const people: Person[] = [];
    for (let i = 1; i <= count; i++) people.push(await person(rig, officer, org, `person-${i}`));
    return { org, officer, people };
  };
  const parts = (people: readonly Person[]) => {
    const [ada, bob, cy, witness, starter] = people as [Person, Person, Person, Person, Person];
    return { seats: [ada, bob, cy], witness, starter };
  };
  const begun = async (people: readonly Person[], change?: object): Promise<string> => {
    const cast = parts(people);
    const started = await cast.starter.call("POST", CEREMONIES, { entry: startEntry(rig.clock, cast, change) });
    expect(started.status, started.text).toBe(201);
    return started.body.id;
  };
  const crkOf = async (officer: Caller) => (await officer("GET", "/api/v1/organizations")).body.organizations[0].crk;

  describe("keys are enrolled by who holds them, and count when two other persons have confirmed them", () => {
    it("a card is one's own, of one's organisation, and proves both keys", async () => {
      const { org, people } = await newOrg(2);
      const [ada, bob] = people as [Person, Person];
      const enrol = (who: Person, card: object) => who.call("POST", CUSTODIANS, { card });
      expect(told(await enrol(bob, ada.card))).toEqual([400, "VALIDATION_ERROR", "card.custodian_id"]);
      expect(told(await enrol(ada, withKeys(ada, "globex").card))).toEqual([400, "VALIDATION_ERROR", "card.org_id"]);
      const mixed = { ...ada.card, agreement_key: bob.card.agreement_key };
      expect(told(await enrol(ada, mixed))).toEqual([400, "VALIDATION_ERROR", "card"]);
      const stranger = rig.bearer({ sub: "nobody-knows", org });
      expect(told(await stranger("POST", CUSTODIANS, { card: ada.card }))).toEqual([403, "FORBIDDEN", undefined]);
      const listed = await bob.call("GET", CUSTODIANS);
      expect(listed.body).toEqual({ custodians: [], count: 0, total: 0 });
      expect(await enrol(ada, ada.card)).toMatchObject({
        status: 201,
        body: { status: "pending", fingerprint: ada.fingerprint },
      });
      expect(told(await enrol(ada, withKeys(ada, org).card))).toEqual([409, "CONFLICT", undefined]);
    });

    it("who has no office and no keys that count sees their own enrolment alone, and who has either sees all", async () => {
      const { org, officer, people } = await newOrg(3);
      const [id] = await enrolled(people);
      const user = await registered(rig, officer, { org, sub: "without-office" });
      const nobody = rig.bearer({ sub: "nobody-knows", org });
      const list = async (call: Caller) => {
        const { body } = await call("GET", CUSTODIANS);
        expect(body).toMatchObject({ count: body.custodians.length, total: body.custodians.length });
        return body.custodians.map((one: { readonly identity_id: string }) => one.identity_id);
      };
      const all = people.map((one) => one.id);
      for (const call of [user.call, nobody]) {
        expect(await list(call)).toEqual([]);
        expect(told(await call("GET", `${CUSTODIANS}/${id}`))).toEqual([404, "NOT_FOUND", undefined]);
      }
      const auditor = rig.bearer({ sub: "auditor", org, roles: ["auditor"] });
      for (const call of [officer, auditor]) expect((await list(call)).sort()).toEqual([...all].sort());
      const own = withKeys(user, org);
      const made = (await user.call("POST", CUSTODIANS, { card: own.card })).body;
      expect(await list(user.call)).toEqual([user.id]);
      expect((await user.call("GET", `${CUSTODIANS}/${made.id}`)).body).toMatchObject({ status: "pending" });
      for (const by of people.slice(0, 2))
        await by.call("POST", `${CUSTODIANS}/${made.id}/confirm`, { fingerprint: own.fingerprint });
      expect((await list(user.call)).sort()).toEqual([...all, user.id].sort());
      expect((await user.call("GET", `${CUSTODIANS}/${id}`)).status).toBe(200);
      await user.call("POST", `${CUSTODIANS}/${made.id}/revoke`);
      expect(await list(user.call)).toEqual([]);
    });

    it("nobody confirms their own, nor twice, nor under a second account, nor another fingerprint", async () => {
      const { org, officer, people } = await newOrg(3);
      const [ada, bob, cy] = people as [Person, Person, Person];
      const { id } = (await ada.call("POST", CUSTODIANS, { card: ada.card })).body;
      const confirm = (call: Caller, fingerprint = ada.fingerprint) =>
        call("POST", `${CUSTODIANS}/${id}/confirm`, { fingerprint });
      expect(told(await confirm(ada.call))).toEqual([403, "FORBIDDEN", undefined]);
      const email = { email: "person-1@people.example", email_verified: true };
      await registered(rig, officer, { org, sub: "ada-again" });
      const again = rig.bearer({ sub: "ada-again", org, roles: ["security_admin"], ...email });
      expect(told(await confirm(again))).toEqual([403, "FORBIDDEN", undefined]);
      const unregistered = rig.bearer({ sub: "m", org, roles: ["super_admin"] });
      expect(told(await confirm(unregistered))).toEqual([403, "FORBIDDEN", undefined]);
      expect(told(await confirm(bob.call, bob.fingerprint))).toEqual([400, "VALIDATION_ERROR", "fingerprint"]);
      expect((await confirm(bob.call)).body).toMatchObject({ status: "pending", confirmations: [{ identity_id: bob.id }] });
      expect(told(await confirm(bob.call))).toEqual([403, "FORBIDDEN", undefined]);
      expect((await confirm(cy.call)).body).toMatchObject({ status: "active" });
      expect(told(await confirm(cy.call))).toEqual([409, "STATE_CONFLICT", undefined]);
    });

    it("keys that were revoked never count again; others may be enrolled in their place", async () => {
      const { org, people } = await newOrg(3);
      const [ada, bob] = people as [Person, Person];
      const [id] = await enrolled(people);
      const user = (await registered(rig, people[1]?.call as Caller, { org, sub: "without-office" })).call;
      expect(told(await user("POST", `${CUSTODIANS}/${id}/revoke`))).toEqual([404, "NOT_FOUND", undefined]);
      expect((await ada.call("POST", `${CUSTODIANS}/${id}/revoke`)).body).toMatchObject({ status: "revoked" });
      expect(told(await bob.call("POST", `${CUSTODIANS}/${id}/revoke`))).toEqual([409, "STATE_CONFLICT", undefined]);
      expect(told(await ada.call("POST", CUSTODIANS, { card: ada.card }))).toEqual([409, "CONFLICT", undefined]);
      expect((await ada.call("POST", CUSTODIANS, { card: withKeys(ada, org).card })).status).toBe(201);
    });
  });

  it("key generation: the key is the organisation's when all custodians and the witness have confirmed, and a threshold signs with it", async () => {
    const { officer, people } = await newOrg();
    await enrolled(people);
    const id = await begun(people);
    const cast = parts(people);
    for (const seat of cast.seats) await turn(rig.clock, seat, id);
    expect((await officer("GET", `${CEREMONIES}/${id}`)).body).toMatchObject({
      status: "open",
      entries: 7,
      crk_id: null,
      transcript: null,
      progress: { joined: [1, 2, 3], committed: [1, 2, 3], dealt: [], witnessed: false },
    });
    expect(await crkOf(officer)).toBeNull();
    const last = await held(rig.clock, id, cast);
    expect(last.body).toMatchObject({ status: "active", crk_version: 1, blame: null, progress: { witnessed: true } });
    const crk = await crkOf(officer);
    expect(crk).toMatchObject({
      id: last.body.crk_id,
      threshold: 2,
      total_shares: 3,
      version: 1,
      custodians: cast.seats.map(({ id: identity_id }, i) => ({ index: i + 1, identity_id })),
    });

    const file = await officer("GET", `/api/v1/crk/${crk.id}/transcript`);
    expect(file.headers.get("content-type")).toBe("application/x-ndjson");
    const report = verifyTranscript(nodeCrypto, Buffer.from(file.text));
    expect(report).toMatchObject({ valid: true, status: "active", crk: { public_key: crk.public_key } });

    const shares: Share[] = [];
    for (const seat of cast.seats) {
      const { outcome } = await turn(rig.clock, seat, id);
      if (outcome.kind === "active") shares.push(outcome.share);
    }
    const data = Buffer.from("release 7").toString("base64");
    const session = (await officer("POST", "/api/v1/crk/signing-sessions", { data })).body;
    const signers = [0, 2].map((i) => ({
      who: cast.seats[i] as Person,
      signer: new Signer(crkFromJson(session.crk), shares[i] as Share, session.round, systemRandom),
    }));
    const path = `/api/v1/crk/signing-sessions/${session.id}`;
    for (const { who, signer } of signers) expect(told(await who.call("POST", `${path}/commit`, signer.commitment))).toEqual(OK);
    const { commitments } = (await officer("GET", path)).body;
    for (const { who, signer } of signers) {
      expect(told(await who.call("POST", `${path}/sign`, signer.sign(session.round, commitments)))).toEqual(OK);
    }
    const { signature } = (await officer("POST", `${path}/aggregate`)).body;
    const verified = await officer("POST", "/api/v1/crk/verify", { public_key: crk.public_key, data, signature });
    expect(verified.body).toEqual({ valid: true });
  });

  it("a refresh gives the same key new shares; the old ones sign no more, and who holds no share has no seat", async () => {
    const { officer, people } = await newOrg();
    await enrolled(people);
    const cast = parts(people);
    const first = await begun(people);
    const { crk_id } = (await held(rig.clock, first, cast)).body;
    const shares: Share[] = [];
    for (const seat of cast.seats) {
      const { outcome } = await turn(rig.clock, seat, first);
      if (outcome.kind === "active") shares.push(outcome.share);
      delete seat.state;
    }
    const material = await publicHalf(officer, crk_id);
    const swapped = { ...cast, seats: [...cast.seats].reverse() };
    const refresh = { kind: "refresh", crk: material };
    const wrong = await cast.starter.call("POST", CEREMONIES, { entry: startEntry(rig.clock, swapped, refresh) });
    expect(told(wrong)).toEqual([400, "VALIDATION_ERROR", "entry.act.seats[0]"]);
    const { public_key } = await crkOf(officer);
    const policy = { name: "all", rego: "package all\n\ndefault allow := true\n" };
    const prepare = async () => {
      const request = { operation: "policy.create", resource_id: "", body: policy };
      return (await officer("POST", "/api/v1/crk/signing-requests", request)).body.message as string;
    };
    const signedBy = async (data: string, by: readonly Share[]) => {
      const handed = by.map((share) => ({ index: share.index, data: share.encode() }));
      return (await officer("POST", "/api/v1/crk/sign", { public_key, data, shares: handed })).body.signature as string;
    };
    const old = await signedBy(await prepare(), shares.slice(0, 2));
    const id = await begun(people, refresh);
    expect((await crkOf(officer)).status).toBe("rotating");
    const again = await cast.starter.call("POST", CEREMONIES, { entry: startEntry(rig.clock, cast, refresh) });
    expect(told(again)).toEqual([409, "STATE_CONFLICT", undefined]);
    expect((await held(rig.clock, id, cast, shares)).body).toMatchObject({ status: "active", crk_id, crk_version: 2 });
    expect(await crkOf(officer)).toMatchObject({ id: crk_id, status: "active", version: 2, public_key });
    const signed = await officer("POST", "/api/v1/crk/sign", {
      public_key,
      data: "eA==",
      shares: shares.slice(0, 2).map((share) => ({ index: share.index, data: share.encode() })),
    });
    expect(signed.body.error.code).toBe("SHARE_INVALID");

    // What a signature is refused for is said of the request that was signed, whichever others there are for the same call.
    const create = async (crk_signature: string) => {
      const { status, body } = await officer("POST", "/api/v1/policies", { ...policy, crk_signature });
      return [status, body.error?.details?.reason];
    };
    const renewed = (await taken(cast.seats, id, shares)) as Share[];
    expect(await create(old)).toEqual([403, "old_epoch"]);
    const fresh = await signedBy(await prepare(), renewed.slice(1));
    expect(await create(fresh)).toEqual([201, undefined]);
    expect(await create(fresh)).toEqual([409, "replayed"]);
    for (const [version, kind] of [
      [1, "generate"],
      [2, "refresh"],
    ] as const) {
      expect((await transcriptOf(officer, `/api/v1/crk/${crk_id}/transcript?version=${version}`)).start.kind).toBe(kind);
    }
    expect((await transcriptOf(officer, `/api/v1/crk/${crk_id}/transcript`)).start.kind).toBe("refresh");
    expect((await officer("GET", `/api/v1/crk/${crk_id}/transcript?version=3`)).status).toBe(404);
  });

  /** A key of 2 of 3, and everybody's share of it. */
  const withKey = async (officer: Caller, people: readonly Person[]) => {
    await enrolled(people);
    const cast = parts(people);
    const id = await begun(people);
    const { crk_id } = (await held(rig.clock, id, cast)).body;
    const shares = await taken(cast.seats, id);
    return { cast, crk_id: String(crk_id), shares: shares as readonly Share[], material: await publicHalf(officer, crk_id) };
  };
  /** What each of these people is given by a ceremony that is over. */
  const taken = async (people: readonly Person[], id: string, held: readonly (Share | undefined)[] = []) => {
    const shares: (Share | undefined)[] = [];
    for (const [i, who] of people.entries()) {
      const { outcome } = await turn(rig.clock, who, id, held[i] === undefined ? {} : { share: held[i] });
      shares.push(outcome.kind === "active" ? outcome.share : undefined);
      delete who.state;
    }
    return shares;
  };
  const signedWith = (officer: Caller, public_key: string, shares: readonly (Share | undefined)[]) => {
    const handed = shares.flatMap((share) => (share === undefined ? [] : [{ index: share.index, data: share.encode() }]));
    return officer("POST", "/api/v1/crk/sign", { public_key, data: "eA==", shares: handed });
  };

  it("a reshare hands the key to other people under other numbers, dealt by who holds shares; those of before sign no more", async () => {
    const { officer, people } = await newOrg(6);
    const { cast, crk_id, shares, material } = await withKey(officer, people);
    const [ada, bob, cy] = cast.seats as [Person, Person, Person];
    const dan = people[5] as Person;
    const terms = { kind: "reshare", crk: material, threshold: 2, total_shares: 2, deals: [0, 1, 3] };
    const next = { ...cast, seats: [dan, ada, cy] };
    const start = (of: typeof cast, change: object = terms) =>
      cast.starter.call("POST", CEREMONIES, { entry: startEntry(rig.clock, of, change) });
    // Who deals holds the share that is dealt, of the organisation's key.
    expect(told(await start({ ...cast, seats: [dan, bob, cy] }))).toEqual([400, "VALIDATION_ERROR", "entry.act.seats[1]"]);
    expect(told(await start(next, { ...terms, deals: [0, 1, 2] }))).toEqual([400, "VALIDATION_ERROR", "entry.act.seats[2]"]);
    expect(told(await start(next, { ...terms, deals: [0, 1, 0] }))).toEqual([400, "VALIDATION_ERROR", "entry"]);
    const foreign = crkToJson(dealCrk({ threshold: 2, total: 3, random: systemRandom }).crk);
    expect(told(await start(next, { ...terms, crk: foreign }))).toEqual([400, "VALIDATION_ERROR", "entry.act.crk"]);
    expect((await crkOf(officer)).status).toBe("active");

    const { id } = (await start(next)).body;
    expect((await crkOf(officer)).status).toBe("rotating");
    expect(told(await start(next))).toEqual([409, "STATE_CONFLICT", undefined]);
    const olds = [undefined, shares[0], shares[2]];
    const last = await held(rig.clock, id, next, olds);
    expect(last.body).toMatchObject({ status: "active", kind: "reshare", threshold: 2, total_shares: 2, crk_id, crk_version: 2 });
    const crk = await crkOf(officer);
    expect(crk).toMatchObject({
      id: crk_id,
      status: "active",
      version: 2,
      threshold: 2,
      total_shares: 2,
      custodians: [dan, ada].map(({ id: identity_id }, i) => ({ index: i + 1, identity_id })),
    });
    const [dans, adas, none] = await taken(next.seats, id, olds);
    expect(none).toBeUndefined();
    expect((await signedWith(officer, crk.public_key, [dans, adas])).status).toBe(200);
    for (const wrong of [shares.slice(0, 2), [dans, shares[1]]]) {
      expect((await signedWith(officer, crk.public_key, wrong)).body.error.code).toBe("SHARE_INVALID");
    }
    expect((await transcriptOf(officer, `/api/v1/crk/${crk_id}/transcript`)).start.kind).toBe("reshare");
    const [event] = (await officer("GET", "/api/v1/audit?event_type=crk.rotate&limit=1")).body.events;
    expect(event).toMatchObject({ metadata: { crk_id, kind: "reshare", ceremony_id: id, witness_confirmed: true } });
  });

  it("who hands a share on may leave when they have dealt: the key comes to the others without them", async () => {
    const { officer, people } = await newOrg(6);
    const { cast, crk_id, shares, material } = await withKey(officer, people);
    const [ada, , cy] = cast.seats as [Person, Person, Person];
    const seats = [people[5] as Person, ada, cy];
    const terms = { kind: "reshare", crk: material, threshold: 2, total_shares: 2, deals: [0, 1, 3] };
    const id = await begun(people, { ...terms, seats: seats.map(({ card }) => card) });
    const olds = [undefined, shares[0], shares[2]];
    const round = async () => {
      for (const [i, seat] of seats.entries()) await turn(rig.clock, seat, id, olds[i] === undefined ? {} : { share: olds[i] });
    };
    await round();
    await round();
    const { participants, progress } = (await officer("GET", `${CEREMONIES}/${id}`)).body;
    expect(progress.dealt).toEqual([2, 3]);
    expect((await officer("POST", `${CUSTODIANS}/${participants[2].enrollment_id}/revoke`)).status).toBe(200);
    expect((await officer("GET", `${CEREMONIES}/${id}`)).body).toMatchObject({ status: "open", left: [] });
    const last = await held(rig.clock, id, { ...cast, seats: seats.slice(0, 2) }, olds);
    expect(last.body).toMatchObject({ status: "active", crk_id, crk_version: 2, left: [] });
  });

  it("a repair gives a share back to who held it, and changes nothing else; of a key with other shares meanwhile nothing comes of it", async () => {
    const { officer, people } = await newOrg();
    const { cast, crk_id, shares, material } = await withKey(officer, people);
    const [ada, bob, cy] = cast.seats as [Person, Person, Person];
    const terms = { kind: "repair", crk: material, index: 2, deals: [0, 1, 3] };
    const repair = { ...cast, seats: [bob, ada, cy] };
    const start = (of: typeof cast) => cast.starter.call("POST", CEREMONIES, { entry: startEntry(rig.clock, of, terms) });
    expect(told(await start({ ...cast, seats: [ada, bob, cy] }))).toEqual([400, "VALIDATION_ERROR", "entry.act.seats[0]"]);
    expect(told(await start({ ...cast, seats: [bob, cy, ada] }))).toEqual([400, "VALIDATION_ERROR", "entry.act.seats[1]"]);
    const before = await crkOf(officer);
    const { id } = (await start(repair)).body;
    const olds = [undefined, shares[0], shares[2]];
    expect((await held(rig.clock, id, repair, olds)).body).toMatchObject({
      status: "active",
      kind: "repair",
      crk_id,
      crk_version: 1,
    });
    expect(await crkOf(officer)).toEqual(before);
    expect((await taken(repair.seats, id, olds)).map((share) => share?.encode())).toEqual([
      ...[shares[1]?.encode(), undefined, undefined],
    ]);
    // The transcript of the key is still that of its shares.
    expect((await transcriptOf(officer, `/api/v1/crk/${crk_id}/transcript`)).start.kind).toBe("generate");
    const [event] = (await officer("GET", "/api/v1/audit?event_type=crk.repair&limit=1")).body.events;
    expect(event).toMatchObject({ metadata: { crk_id, ceremony_id: id } });

    const late = (await start(repair)).body.id;
    const refresh = await begun(people, { kind: "refresh", crk: material });
    expect((await held(rig.clock, refresh, cast, shares)).body.status).toBe("active");
    for (const who of cast.seats) delete who.state;
    expect(told(await held(rig.clock, late, repair, olds))).toEqual([409, "STATE_CONFLICT", undefined]);
  });

  it("whoever takes part lists their own ceremonies, without an office too, and nobody else's", async () => {
    const { org, officer, people } = await newOrg();
    const user = await registered(rig, officer, { org, sub: "without-office" });
    const cy = withKeys(user, org);
    const cast = [...people.slice(0, 2), cy, ...people.slice(3)];
    await enrolled([...people.slice(0, 2), ...people.slice(3)]);
    const made = await cy.call("POST", CUSTODIANS, { card: cy.card });
    for (const by of people.slice(0, 2)) {
      await by.call("POST", `${CUSTODIANS}/${made.body.id}/confirm`, { fingerprint: cy.fingerprint });
    }
    expect((await cy.call("GET", CEREMONIES)).body).toEqual({ ceremonies: [], count: 0, total: 0 });
    const id = await begun(cast);
    expect((await cy.call("GET", CEREMONIES)).body).toMatchObject({ ceremonies: [{ id, status: "open", left: [] }], total: 1 });
    const other = await registered(rig, officer, { org, sub: "another-without-office" });
    const nobody = rig.bearer({ sub: "nobody-knows", org });
    for (const call of [other.call, nobody]) {
      expect((await call("GET", CEREMONIES)).body).toEqual({ ceremonies: [], count: 0, total: 0 });
    }
    expect((await officer("GET", CEREMONIES)).body.total).toBe(1);
  });

  it("an entry is brought by who signed it, once, in turn, by a clock that is right; what is refused changes nothing", async () => {
    const { org, officer, people } = await newOrg();
    await enrolled(people);
    const id = await begun(people);
    const cast = parts(people);
    const [ada, bob] = cast.seats as [Person, Person];
    const path = `${CEREMONIES}/${id}/entries`;
    const view = await transcriptOf(officer, `${CEREMONIES}/${id}/transcript`);
    const seconds = Math.floor(rig.clock.now() / 1000);
    const entry = (who: Person, at = seconds, keys = who.keys) =>
      signEntry(
        keys,
        { ceremony: view.ceremony, author: who.id, at },
        { type: "join", transport_key: ada.card.agreement_key },
        view,
      );
    const send = (call: Caller, body: object) => call("POST", path, { entry: body });
    const outsider = await person(rig, officer, org, "outsider");
    expect(told(await send(bob.call, entry(ada)))).toEqual([403, "FORBIDDEN", undefined]);
    expect(told(await send(outsider.call, entry(outsider)))).toEqual([403, "FORBIDDEN", undefined]);
    const roleless = rig.bearer({ sub: "nobody-knows", org });
    expect(told(await send(roleless, entry(ada)))).toEqual([404, "NOT_FOUND", undefined]);
    expect(told(await roleless("GET", `${CEREMONIES}/${id}/transcript`))).toEqual([404, "NOT_FOUND", undefined]);
    expect(told(await send(ada.call, entry(ada, seconds - 301)))).toEqual([400, "VALIDATION_ERROR", "entry.at"]);
    expect(told(await send(ada.call, entry(ada, seconds, bob.keys)))).toEqual([400, "VALIDATION_ERROR", "entry"]);
    expect(told(await send(ada.call, { ...entry(ada), more: 1 }))).toEqual([400, "VALIDATION_ERROR", "entry.more"]);
    expect(told(await send(ada.call, { ...entry(ada), act: { type: "join", transport_key: "AA==" } }))).toEqual([
      400,
      "VALIDATION_ERROR",
      "entry",
    ]);
    expect((await officer("GET", `${CEREMONIES}/${id}`)).body).toMatchObject({ entries: 1, head: view.hashes[0] });
    expect((await send(ada.call, entry(ada))).body).toMatchObject({ entries: 2, progress: { joined: [1] } });
    const late = await send(bob.call, entry(bob));
    // How far it has come, and nothing of how that is stored.
    const { entries, head } = (await officer("GET", `${CEREMONIES}/${id}`)).body;
    const details = { ...late.body.error.details };
    expect([late.body.error.code, details]).toEqual(["STATE_CONFLICT", { reason: "chain", entries, head }]);
  });

  it("seats, witness and starter are confirmed custodians and different persons, within a term", async () => {
    const { org, officer, people } = await newOrg();
    const cast = parts(people);
    const start = (change: object, of = cast) =>
      cast.starter.call("POST", CEREMONIES, { entry: startEntry(rig.clock, of, change) });
    const generate = { kind: "generate", threshold: 2 };
    expect(told(await start(generate))).toEqual([400, "VALIDATION_ERROR", "entry.act.seats[0]"]);
    await enrolled(people);
    const stranger = withKeys(cast.witness, org);
    expect(told(await start(generate, { ...cast, witness: stranger }))).toEqual([400, "VALIDATION_ERROR", "entry.act.witness"]);
    const tooHigh = await start({ ...generate, threshold: 4 });
    expect(told(tooHigh)).toEqual([400, "VALIDATION_ERROR", "entry"]);
    expect(tooHigh.body.error.message).toContain("seats (the threshold, 4, is above the number of 3 seats)");
    const mail = { email: "person-1@people.example", email_verified: true };
    const double = { provider: "idp_a", subject: "person-1-again", name: "again", groups: [], email: mail.email };
    const { id } = (await officer("POST", "/api/v1/identities/users/sso", double)).body;
    const again = withKeys({ id, call: rig.bearer({ sub: "person-1-again", org, roles: ["security_admin"], ...mail }) }, org);
    const enrolment = (await again.call("POST", CUSTODIANS, { card: again.card })).body.id;
    for (const by of people.slice(1, 3)) {
      await by.call("POST", `${CUSTODIANS}/${enrolment}/confirm`, { fingerprint: again.fingerprint });
    }
    expect(told(await start(generate, { ...cast, witness: again }))).toEqual([403, "FORBIDDEN", "entry.act.witness"]);
    const far = Math.floor(rig.clock.now() / 1000) + 31 * 86_400;
    expect(told(await start({ ...generate, expires_at: far }))).toEqual([400, "VALIDATION_ERROR", "entry.act.expires_at"]);
    const entry = startEntry(rig.clock, cast);
    expect((await cast.starter.call("POST", CEREMONIES, { entry })).status).toBe(201);
    expect(told(await cast.starter.call("POST", CEREMONIES, { entry }))).toEqual([409, "CONFLICT", undefined]);
  });

  it("whose keys were revoked, or who has left, brings no entry, and no key comes of a ceremony with them", async () => {
    const { officer, people } = await newOrg();
    const ids = await enrolled(people);
    const cast = parts(people);
    const [ada, bob] = cast.seats as [Person, Person];
    const id = await begun(people);
    for (let round = 0; round < 3; round++) for (const seat of cast.seats) await turn(rig.clock, seat, id);
    const { transcript: confirm = "" } = await transcriptOf(officer, `${CEREMONIES}/${id}/transcript`);
    for (const seat of cast.seats) await turn(rig.clock, seat, id, { confirm });
    await officer("POST", `${CUSTODIANS}/${ids[0]}/revoke`);
    const [refusal] = (await turn(rig.clock, cast.witness, id, { confirm })).answers as [Answer];
    expect(refusal.body.error).toMatchObject({ code: "STATE_CONFLICT", details: { custodians: [ids[0]] } });
    expect(await crkOf(officer)).toBeNull();
    expect((await ada.call("GET", `${CEREMONIES}/${id}`)).body).toMatchObject({ status: "open", crk_id: null, left: [ids[0]] });
    expect((await officer("GET", CEREMONIES)).body.ceremonies).toMatchObject([{ id, left: [ids[0]] }]);
    const [event] = (await officer("GET", "/api/v1/audit?event_type=crk.ceremony&limit=1")).body.events;
    expect(event).toMatchObject({ result: "denied", metadata: { event: "witness", left: [ids[0]] } });
    expect((await officer("DELETE", `${CEREMONIES}/${id}`)).status).toBe(204);
    const [closed] = (await turn(rig.clock, cast.witness, id, { confirm })).answers as [Answer];
    expect(told(closed)).toEqual([409, "STATE_CONFLICT", undefined]);
    expect((await bob.call("GET", `${CEREMONIES}/${id}`)).body).toMatchObject({ status: "cancelled", left: [] });
  });

  it("a false package is blamed on who signed it, and the ceremony fails; a second ceremony makes the key", async () => {
    const { officer, people } = await newOrg();
    await enrolled(people);
    const cast = parts(people);
    const [ada, bob, cy] = cast.seats as [Person, Person, Person];
    const id = await begun(people);
    for (const seat of cast.seats) await turn(rig.clock, seat, id);
    const view = await transcriptOf(officer, `${CEREMONIES}/${id}/transcript`);
    const sealed = [0, 1].map(() => Buffer.alloc(80, 7).toString("base64"));
    const at = Math.floor(rig.clock.now() / 1000);
    const lie = signEntry(ada.keys, { ceremony: view.ceremony, author: ada.id, at }, { type: "packages", sealed }, view);
    expect((await ada.call("POST", `${CEREMONIES}/${id}/entries`, { entry: lie })).status).toBe(200);
    await turn(rig.clock, bob, id);
    const { answers } = await turn(rig.clock, bob, id);
    expect(answers[0]?.body).toMatchObject({ status: "failed", blame: { seat: 1, entry: 7, reason: "package" } });
    const [event] = (await officer("GET", "/api/v1/audit?event_type=crk.ceremony&limit=1")).body.events;
    expect(event).toMatchObject({ result: "denied", metadata: { event: "complaint", blame: { seat: 1 } } });
    for (const seat of [ada, bob, cy]) delete seat.state;
    expect((await held(rig.clock, await begun(people), cast)).body.status).toBe("active");
  });

  it("what is left open expires, and a key that was being refreshed is as it was", async () => {
    const { officer, people } = await newOrg();
    await enrolled(people);
    const cast = parts(people);
    const { crk_id } = (await held(rig.clock, await begun(people), cast)).body;
    const material = await publicHalf(officer, crk_id);
    const id = await begun(people, { kind: "refresh", crk: material });
    expect((await crkOf(officer)).status).toBe("rotating");
    rig.clock.advance(3601_000);
    expect((await officer("GET", `${CEREMONIES}/${id}`)).body.status).toBe("expired");
    await rig.gateway.sweep(rig.clock.now());
    expect(await crkOf(officer)).toMatchObject({ status: "active", version: 1 });
  });

  /** The public half that a key's transcript has made. */
  async function publicHalf(call: Caller, crk: string): Promise<object> {
    const report = verifyTranscript(nodeCrypto, Buffer.from((await call("GET", `/api/v1/crk/${crk}/transcript`)).text));
    if (!report.valid || report.crk === undefined) throw new Error("no key");
    return report.crk;
  }
});
