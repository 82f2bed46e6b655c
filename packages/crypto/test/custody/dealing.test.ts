import { base64, fromBase64, fromHex, nobleCrypto } from "@seneschal/crypto";
import { seeded } from "@seneschal/crypto/arbitraries";
import { admitEntry, type CommitmentAct, type StartAct, signEntry } from "@seneschal/crypto/custody";
import { crkFromJson, generatedPublic, refreshedPublic, resharedPublic, type Share } from "@seneschal/crypto/threshold";
import fc from "fast-check";
import { expect, test } from "vitest";
import { acceptsCommitment, broadcastOf, dealOf, publicOf } from "../../src/custody/dealing.ts";
import { takesPackages } from "../../src/custody/transport-key.ts";
import { onPolynomial } from "../../src/threshold/on-polynomial.ts";
import { Point } from "../../src/threshold/scalar-field.ts";
import { begun, CEREMONY, NOW, person, refreshOf, reshareOf, startOf } from "./rig.ts";

const TORSION = Point.fromHex("26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05");
const NO_MEMORY = "no memory";
const fail = () => {
  throw new Error(NO_MEMORY);
};

/** The start of a refresh and the commitment of its first seat. */
function refreshing(total: number, threshold: number): { readonly start: StartAct; readonly act: CommitmentAct } {
  const { start, shares } = refreshOf(total, threshold);
  const { entries } = begun(start, shares).step(1);
  return { start, act: entries.find(({ act }) => act.type === "commitment")!.act as CommitmentAct };
}

test("a commitment to a refresh is judged by the threshold and its own points: each costs the same, however many seats there are", () => {
  const { start, act } = refreshing(4, 3);
  if (start.kind !== "refresh") throw new Error("a refresh was asked for");
  const asked = new Set<string | symbol>();
  const crk = new Proxy(start.crk, {
    get(target, name: string) {
      asked.add(name);
      return target[name];
    },
  });
  expect(acceptsCommitment({ ...start, crk }, 1, act)).toBe(true);
  expect([...asked]).toEqual(["threshold"]);
  for (const commitments of [
    [act.commitments[1]!, ...act.commitments.slice(1)],
    [...act.commitments.slice(0, 2), act.commitments[0]!],
    act.commitments.slice(1),
    act.commitments.slice(0, 2),
    [...act.commitments, act.commitments[1]!],
  ]) {
    expect(acceptsCommitment(start, 1, { ...act, commitments })).toBe(false);
  }
});

test("the key of a round is the library's own, of each kind, and no commitment is judged again for it", () => {
  const made = ({ start, shares }: { readonly start: StartAct; readonly shares?: readonly (Share | undefined)[] }) => {
    const ceremony = begun(start, shares);
    ceremony.settle();
    const { committed, crk, status } = ceremony.relay.view;
    expect(status).toBe("active");
    return { committed, crk: crk!, all: [...committed].sort(([a], [b]) => a - b) };
  };
  const generated = made({ start: startOf(3, 2) });
  expect(generated.crk).toEqual(
    generatedPublic(
      generated.all.map(([seat, act]) => broadcastOf(seat, act)),
      2,
    ),
  );
  const [refresh, reshare] = [refreshOf(3, 2), reshareOf(4, 3)];
  const deals = (start: StartAct, all: typeof generated.all) => all.map(([seat, act]) => dealOf(start, seat, act));
  const refreshed = made(refresh);
  if (refresh.start.kind !== "refresh") throw new Error("a refresh was asked for");
  expect(refreshed.crk).toEqual(refreshedPublic(crkFromJson(refresh.start.crk), deals(refresh.start, refreshed.all)));
  const reshared = made(reshare);
  const to = { threshold: 3, total: 3 };
  expect(reshared.crk).toEqual(resharedPublic(reshare.crk, deals(reshare.start, reshared.all), to));
  // A point with a part of small order is none that a commitment was accepted with: read as it stands, it shows that nobody judged it.
  const mixed = base64(Point.fromBytes(fromBase64(generated.all[0]![1].commitments[1]!)).add(TORSION).toBytes());
  const [[seat, act]] = generated.all as [(typeof generated.all)[0]];
  const altered = { ...act, commitments: [act.commitments[0]!, mixed] };
  expect(acceptsCommitment(startOf(3, 2), seat, altered)).toBe(false);
  expect(() => publicOf(startOf(3, 2), new Map(generated.committed).set(seat, altered))).not.toThrow();
});

test("a machine that fails blames nobody: the failure is thrown, or not met at all", () => {
  const { relay, step } = begun(startOf(3, 2));
  const generated = step(1).entries[1]!.act as CommitmentAct;
  const refresh = refreshing(3, 2);
  for (const { start, act } of [{ start: relay.view.start, act: generated }, refresh]) {
    const commitments = Object.assign([...act.commitments], { map: fail });
    expect(() => acceptsCommitment(start, 1, { ...act, commitments })).toThrow(NO_MEMORY);
  }
  expect(() => onPolynomial(Object.assign([], { map: fail }), 1, new Uint8Array(32))).toThrow(NO_MEMORY);
  const join = { type: "join", transport_key: base64(nobleCrypto.x25519PublicKey(seeded("t")(32))) } as const;
  const entry = signEntry(person("ada").keys, { ceremony: CEREMONY, author: "ada", at: NOW }, join, relay.view);
  expect(admitEntry({ ...nobleCrypto, x25519: fail }, relay.view, entry)).toMatchObject({
    admitted: true,
    view: { status: "open" },
  });
});

test("nothing is sealed to a key of small order, in whichever of its encodings, and to every other key", () => {
  // Every u of small order on the curve or its twist, below 2^255: RFC 7748 section 6.1 and its discussion of contributory behaviour.
  const small = [
    ...["00", "01", "ec", "ed", "ee"].map((lead) => lead + (lead < "e" ? "00".repeat(31) : `${"ff".repeat(30)}7f`)),
    "e0eb7a7c3b41b8ae1656e3faf19fc46ada098deb9c32b1fd866205165f49b800",
    "5f9c95bca3508c24b1d0b1559c83ef5b04445cc4581c8e86d8224eddd09f1157",
  ].map(fromHex);
  for (const key of small) {
    // The highest bit is none of the coordinate's.
    for (const bit of [0, 0x80]) {
      key[31] = (key[31] ?? 0) ^ bit;
      expect(() => nobleCrypto.x25519(seeded("s")(32), key)).toThrow();
      expect(takesPackages(key)).toBe(false);
    }
  }
  fc.assert(
    fc.property(fc.uint8Array({ minLength: 32, maxLength: 32 }), (key) => {
      expect(takesPackages(key)).toBe(!small.some((other) => Buffer.compare(other, key) === 0));
    }),
  );
});
