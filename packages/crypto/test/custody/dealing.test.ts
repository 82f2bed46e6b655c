import { base64, fromHex, nobleCrypto } from "@seneschal/crypto";
import { seeded } from "@seneschal/crypto/arbitraries";
import { admitEntry, type CommitmentAct, type StartAct, signEntry } from "@seneschal/crypto/custody";
import fc from "fast-check";
import { expect, test } from "vitest";
import { acceptsCommitment } from "../../src/custody/dealing.ts";
import { takesPackages } from "../../src/custody/transport-key.ts";
import { onPolynomial } from "../../src/threshold/on-polynomial.ts";
import { begun, CEREMONY, NOW, person, refreshOf, startOf } from "./rig.ts";

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
    ...{ admitted: true, view: { status: "open" } },
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
