/** A key that exists gets other holders, or one of them their share back, without anybody who has the key in between. */
import { base64, fromBase64, nobleCrypto, utf8 } from "@seneschal/crypto";
import { seeded } from "@seneschal/crypto/arbitraries";
import { type Act, type CeremonyOutcome, type StartAct, verifyTranscript } from "@seneschal/crypto/custody";
import { crkFromJson, dealCrk, type Share, signWithShares } from "@seneschal/crypto/threshold";
import { describe, expect, test } from "vitest";
import { dealtValue } from "../../src/custody/dealt-value.ts";
import { submit } from "../submit.ts";
import { begun, custodians, person, Relay, repairOf, reshareOf, starter } from "./rig.ts";

const coded = (code: string) => expect.objectContaining({ code });
const signs = (crk: Parameters<typeof signWithShares>[0], shares: readonly Share[]) => {
  const signature = signWithShares(crk, submit(shares), utf8("m"), seeded("s"));
  return nobleCrypto.ed25519Verify(crk.publicKey, utf8("m"), signature);
};
const shareOf = (outcome: CeremonyOutcome): Share => {
  if (outcome.kind !== "active") throw new Error(outcome.kind);
  return outcome.share;
};
/** One turn of each seat. */
const round = ({ relay, people, step }: ReturnType<typeof begun>) => {
  for (const i of people.keys()) for (const entry of step(i + 1).entries) relay.post(entry);
};
const refused = (start: StartAct) => new Relay().say(starter, start);

describe("a reshare", () => {
  test("gives other people shares under another threshold; the key stays, the shares of before fit no more, who only dealt has none", () => {
    const { start, shares, crk, all } = reshareOf(5, 3);
    const { relay, settle, step } = begun(start, shares);
    settle();
    expect(relay.view.status).toBe("active");
    const next = relay.view.crk!;
    expect(next).toMatchObject({ setId: crk.setId, epoch: 2, threshold: 3, total: 4, publicKey: crk.publicKey });
    const given = [1, 2, 3, 4].map((seat) => shareOf(step(seat).outcome));
    expect(given.map(({ index }) => index)).toEqual([1, 2, 3, 4]);
    expect(signs(next, given.slice(1))).toBe(true);
    expect(() => signs(next, given.slice(0, 2))).toThrow(coded("threshold_not_met"));
    expect(() => signs(next, [...given.slice(0, 2), all[2]!])).toThrow(coded("share_invalid"));
    expect(step(5).outcome).toMatchObject({ kind: "dealt", crk: next, keeps: false });
    expect(verifyTranscript(nobleCrypto, relay.entries)).toMatchObject({
      valid: true,
      kind: "reshare",
      status: "active",
      crk: { public_key: base64(crk.publicKey) },
      seats: [
        { deals: 2, holds: 1, confirmed: true },
        { deals: 0, holds: 2, confirmed: true },
        { deals: 0, holds: 3, confirmed: true },
        { deals: 0, holds: 4, confirmed: true },
        { deals: 4, holds: 0, confirmed: false },
      ],
    });
  });

  test("is dealt by at least the threshold of the key's shares, each once, and every seat has a part", () => {
    expect(refused(reshareOf(4, 2).start)).toBeUndefined();
    for (const change of [
      { deals: [0, 0, 0, 4] },
      { deals: [4, 0, 0, 4] },
      { deals: [5, 0, 0, 4] },
      { deals: [2, 0, 4] },
      { deals: [2, 4, 0, 0] },
      { threshold: 4 },
      { total_shares: 5, threshold: 2 },
      { crk: { ...reshareOf(4, 2).start.crk, threshold: 3 } },
    ]) {
      const start = { ...reshareOf(4, 2).start, ...change };
      expect(refused(start as StartAct), JSON.stringify(change)).toBe("seats");
    }
    expect(refused({ ...reshareOf(4, 2).start, total_shares: 1 })).toBe("malformed");
  });

  test("needs the share that the seat is to deal with, of this key; who has none brings none", () => {
    const { start, shares, all } = reshareOf(4, 2);
    const { shares: foreign } = dealCrk({ threshold: 2, total: 4, random: seeded("another key") });
    for (const wrong of [undefined, all[0], foreign[1]]) {
      expect(() => begun(start, [wrong, ...shares.slice(1)]).step(1)).toThrow(coded("share_invalid"));
    }
    expect(
      begun(start, shares)
        .step(2)
        .entries.map(({ act }) => act.type),
    ).toEqual(["join"]);
  });

  test("who only deals neither joins nor accepts nor confirms, and who only receives neither commits nor deals", () => {
    const { start, shares } = reshareOf(4, 2);
    const ceremony = begun(start, shares);
    const { relay, step } = ceremony;
    const [dan, bob] = [person("dan"), person("bob")];
    expect(step(4).entries.map(({ act }) => act.type)).toEqual(["commitment"]);
    const [join] = step(2).entries;
    const [, commitment] = step(1).entries;
    expect(relay.say(dan, join!.act)).toBe("role");
    expect(relay.say(bob, commitment!.act)).toBe("role");
    for (let i = 0; i < 2; i++) round(ceremony);
    expect(relay.say(bob, { type: "packages", sealed: [base64(seeded("x")(80))] })).toBe("role");
    expect(relay.say(dan, { type: "accepted" })).toBe("role");
    expect(relay.say(dan, { type: "contribution", sealed: base64(seeded("x")(80)) })).toBe("role");
    round(ceremony);
    const { transcript = "", crk } = relay.view;
    expect(relay.say(dan, { type: "confirmation", transcript, public_key: base64(crk!.publicKey) })).toBe("role");
    expect(step(4).outcome).toMatchObject({ kind: "waiting" });
  });

  test("a join says one key for each who seals to the seat, no more and no fewer, and a generation's has one", () => {
    const { start, shares } = reshareOf(4, 2);
    const { relay, step } = begun(start, shares);
    const { transport_keys: keys = [] } = step(2).entries[0]!.act as Extract<Act, { type: "join" }>;
    expect(keys).toHaveLength(2);
    expect(new Set(keys).size).toBe(2);
    for (const act of [
      { type: "join", transport_key: keys[0]! },
      { type: "join", transport_keys: keys.slice(1) },
      { type: "join", transport_keys: [...keys, keys[0]!] },
    ] as const) {
      expect(relay.say(person("bob"), act)).toBe("malformed");
    }
  });

  test("a complaint opens what its one dealer has sealed, and not what the honest dealt: their sum is a share of the key", () => {
    const { start, shares } = reshareOf(4, 2);
    const ceremony = begun(start, shares);
    const { relay, step, settle } = ceremony;
    round(ceremony);
    const lie = step(4).entries[0]!.act as Extract<Act, { type: "packages" }>;
    relay.say(person("dan"), { ...lie, sealed: [lie.sealed[0]!, base64(seeded("nothing")(80)), lie.sealed[2]!] });
    settle([1, 2]);
    expect(relay.view).toMatchObject({ status: "failed", blame: { seat: 4, reason: "package" } });
    const shown = relay.entries.at(-1)!;
    if (shown.act.type !== "complaint") throw new Error(shown.act.type);
    expect(shown.author).toBe("bob");
    const secret = fromBase64(shown.act.transport_secret);
    expect(relay.view.dealt.has(1)).toBe(true);
    expect(dealtValue(nobleCrypto, relay.view, 1, 2, secret)).toBeUndefined();
  });
});

describe("a repair", () => {
  test("gives a lost share back, byte for byte, from any who are enough; the key and every other share stay", () => {
    for (const seats of [3, 4]) {
      const { start, shares, crk, all } = repairOf(seats);
      const { relay, settle, step } = begun(start, shares);
      settle();
      expect(relay.view).toMatchObject({ status: "active", crk });
      expect(shareOf(step(1).outcome).encode()).toBe(all[2]!.encode());
      for (let seat = 2; seat <= seats; seat++) expect(step(seat).outcome).toMatchObject({ kind: "dealt", keeps: true });
      expect(signs(crkFromJson(start.crk), [shareOf(step(1).outcome), all[0]!])).toBe(true);
    }
  });

  test("is helped by at least the threshold of other holders, each once", () => {
    expect(refused(repairOf(4, 3).start)).toBeUndefined();
    const { start } = repairOf(4, 3);
    for (const change of [
      { deals: [0, 1, 2, 0] },
      { deals: [0, 1, 2, 2] },
      { deals: [0, 1, 2, 3] },
      { deals: [0, 1, 2, 6] },
      { deals: [4, 1, 2, 5] },
      { deals: [1, 0, 2, 4] },
      { index: 6 },
    ]) {
      expect(refused({ ...start, ...change } as StartAct), JSON.stringify(change)).toBe("seats");
    }
    expect(refused(repairOf(3, 3).start)).toBe("seats");
  });

  test("only who helps contributes, when all is dealt; only who lost the share accepts, when all have contributed, and confirms", () => {
    const { start, shares } = repairOf(3);
    const ceremony = begun(start, shares);
    const { relay, step } = ceremony;
    const [ada, bob] = custodians(2) as [ReturnType<typeof person>, ReturnType<typeof person>];
    const contribution = { type: "contribution", sealed: base64(seeded("x")(80)) } as const;
    round(ceremony);
    expect(relay.say(bob, contribution)).toBe("order");
    expect(relay.say(ada, contribution)).toBe("role");
    round(ceremony);
    expect(relay.say(ada, { type: "accepted" })).toBe("order");
    const [mine] = step(2).entries;
    expect(relay.post(mine!)).toBeUndefined();
    expect(relay.say(bob, contribution)).toBe("repeated");
    const late = { type: "complaint", against: 3, transport_secret: base64(seeded("x")(32)) } as const;
    expect(relay.say(bob, late)).toBe("order");
    round(ceremony);
    expect(relay.say(bob, { type: "accepted" })).toBe("role");
    expect(relay.view.transcript).toBeUndefined();
    round(ceremony);
    const { transcript = "" } = relay.view;
    const said = { type: "confirmation", transcript, public_key: start.crk.public_key } as const;
    expect(relay.say(bob, said)).toBe("role");
  });
});
