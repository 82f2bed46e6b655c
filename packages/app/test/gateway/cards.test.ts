import { nodeCrypto } from "@seneschal/adapters/node-crypto";
import { fromBase64 } from "@seneschal/crypto";
import { readCardStatement, stateCard } from "@seneschal/crypto/custody";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { CUSTODIANS, enrolled, type Person, person, withKeys } from "./custody-people.ts";
import { federate, openNeighbour, openSide, type Side } from "./federated.ts";
import { befriend, type Front, openFront } from "./hostile-partner.ts";
import type { Answer, Caller } from "./rig.ts";

const told = ({ status, body }: Answer): readonly unknown[] => [status, body?.error?.code];
const cardOf = (call: Caller, org: string, identity: string) => call("GET", `/api/v1/custody/cards/${org}/${identity}`);
const events = async (side: Side) => (await side.call("GET", "/api/v1/audit?event_type=federation.card&limit=50")).body.events;

describe("the card of a person of another organisation, as that organisation states it", () => {
  let acme: Side;
  let globex: Side;
  let mallory: Side;
  let front: Front;
  let ada: Person;
  let hank: Person;
  let enrolment: string;
  const people = async (side: Side) => {
    const all: Person[] = [];
    for (let i = 1; i <= 3; i++) all.push(await person(side.rig, side.call, side.org, `person-${i}`));
    return all;
  };
  beforeAll(async () => {
    [acme, globex, mallory] = await Promise.all([openSide("acme"), openSide("globex"), openSide("mallory")]);
    front = await openFront(mallory);
    await federate(acme, globex);
    await befriend(acme, mallory, front);
    const theirs = await people(globex);
    [ada] = (await people(acme)) as [Person];
    [hank] = theirs as [Person];
    [enrolment = ""] = await enrolled(theirs);
  });
  afterAll(async () => {
    front.close();
    await Promise.all([acme, globex, mallory].map(({ rig }) => rig.close()));
  });
  const shares = (call: Caller, partners: readonly string[], id = enrolment) =>
    call("PUT", `${CUSTODIANS}/${id}/partners`, { partners });

  it("is given once its holder says so, to that partner's registered people alone, and until the holder, a revocation or a departure ends it", async () => {
    expect(told(await cardOf(ada.call, "globex", hank.id))).toEqual([404, "NOT_FOUND"]);
    expect(told(await shares(globex.call, ["acme"]))).toEqual([403, "FORBIDDEN"]);
    expect(told(await shares(ada.call, ["acme"]))).toEqual([404, "NOT_FOUND"]);
    expect(await shares(hank.call, ["acme"])).toMatchObject({ status: 200, body: { partners: ["acme"] } });

    const got = await cardOf(ada.call, "globex", hank.id);
    expect(got).toMatchObject({ status: 200, body: { fingerprint: hank.fingerprint, other: null } });
    const expected = { signingKey: fromBase64(got.body.signing_key), org: "globex", forOrg: "acme", identity: hank.id };
    expect(readCardStatement(nodeCrypto, got.body.statement, expected).card).toEqual(hank.card);
    for (const wrong of [{ forOrg: "mallory" }, { org: "acme" }, { identity: ada.id }, { signingKey: new Uint8Array(32) }])
      expect(() => readCardStatement(nodeCrypto, got.body.statement, { ...expected, ...wrong })).toThrow(
        "not a statement of a card",
      );

    // A token alone, whatever it says, is nobody; another partner and a stranger are given nothing.
    const roleless = acme.rig.bearer({ sub: "nobody-knows", org: "acme" });
    // What a caller does not see is answered as what there is not.
    const nowhere = "00000000-0000-7000-8000-000000000000";
    const insider = globex.rig.bearer({ sub: "nobody-knows", org: "globex" });
    for (const id of [enrolment, nowhere]) {
      expect(told(await shares(insider, ["acme"], id))).toEqual([404, "NOT_FOUND"]);
      expect(told(await insider("POST", `${CUSTODIANS}/${id}/revoke`))).toEqual([404, "NOT_FOUND"]);
    }
    expect((await cardOf(roleless, "globex", hank.id)).status).toBe(403);
    expect((await acme.rig.anonymous("GET", `/api/v1/custody/cards/globex/${hank.id}`)).status).toBe(401);
    expect(told(await cardOf(ada.call, "initech", hank.id))).toEqual([404, "NOT_FOUND"]);
    expect((await ada.call("POST", "/api/v1/federation/peer/card", { identity_id: hank.id })).status).toBe(403);
    const neighbour = await openNeighbour("umbrella", globex);
    const eve = await person(globex.rig, neighbour.call, "umbrella", "eve");
    expect(told(await cardOf(eve.call, "globex", hank.id))).toEqual([404, "NOT_FOUND"]);
    // What is not known and what is not given look alike.
    expect((await cardOf(ada.call, "globex", "nobody")).body).toMatchObject({
      error: { code: "NOT_FOUND", message: "card not found" },
    });

    await shares(hank.call, ["umbrella"]);
    expect((await cardOf(ada.call, "globex", hank.id)).status).toBe(404);
    expect(await cardOf(eve.call, "globex", hank.id)).toMatchObject({ status: 200, body: { fingerprint: hank.fingerprint } });
    await shares(hank.call, ["acme"]);
    expect((await cardOf(ada.call, "globex", hank.id)).status).toBe(200);
    expect((await events(acme)).length).toBe(1);
    expect((await globex.call("POST", `${CUSTODIANS}/${enrolment}/revoke`)).status).toBe(200);
    expect((await cardOf(ada.call, "globex", hank.id)).status).toBe(404);
    expect(told(await shares(hank.call, ["acme"]))).toEqual([409, "STATE_CONFLICT"]);
  });

  it("a partner that states another card convicts itself: both statements are kept and shown, and the log says so; what it did not sign is none", async () => {
    const victim = withKeys({ id: "hal", call: ada.call }, "mallory");
    const another = withKeys({ id: "hal", call: ada.call }, "mallory");
    const { services } = mallory.rig.gateway;
    const call = {
      principal: { id: "test", type: "system", org: "mallory", roles: [], scopes: [], method: "none" },
      now: 0,
      requestId: "",
    } as const;
    const says = async (who: Person, forOrg = "acme", at = acme.rig.clock.now(), change: object = {}) => {
      const said = await services.transact(call, (unit) =>
        stateCard(who.card, { forOrg, at: Math.floor(at / 1000) }, (message) =>
          services.organizationKeys.sign(unit, "mallory", message),
        ),
      );
      front.lie = (_, response) =>
        void response
          .writeHead(200, { "content-type": "application/json" })
          .end(JSON.stringify({ statement: { ...said, ...change } }));
      return cardOf(ada.call, "mallory", "hal");
    };
    const before = (await events(acme)).length;
    for (const lie of [
      () => says(victim, "globex"),
      () => says(victim, "acme", 0),
      () => says(victim, "acme", acme.rig.clock.now(), { card: another.card }),
      () => says(withKeys({ id: "other", call: ada.call }, "mallory")),
      () => says(withKeys({ id: "hal", call: ada.call }, "globex")),
    ])
      expect(told(await lie())).toEqual([502, "FEDERATION_FAILED"]);
    expect((await events(acme)).length).toBe(before);

    expect(await says(victim)).toMatchObject({ status: 200, body: { fingerprint: victim.fingerprint, other: null } });
    const first = (await says(victim)).body;
    expect(first.other).toBeNull();
    const lied = await says(another);
    expect(lied.body).toMatchObject({ fingerprint: another.fingerprint, other: { fingerprint: victim.fingerprint } });
    const evidence = { signingKey: fromBase64(lied.body.signing_key), org: "mallory", forOrg: "acme", identity: "hal" };
    const statements = [lied.body.statement, lied.body.other.statement];
    expect(statements.map((one) => readCardStatement(nodeCrypto, one, evidence).card)).toEqual([another.card, victim.card]);
    // It does not go away by going back.
    expect((await says(victim)).body.other).toMatchObject({ fingerprint: another.fingerprint });
    const [newest] = await events(acme);
    expect(newest).toMatchObject({
      result: "denied",
      metadata: { identity_id: "hal", fingerprint: another.fingerprint, known: [victim.fingerprint] },
    });
    front.lie = (_, response) => void response.writeHead(500).end();
    expect(told(await cardOf(ada.call, "mallory", "hal"))).toEqual([502, "FEDERATION_FAILED"]);
  });
});
