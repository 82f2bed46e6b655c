import { nobleCrypto } from "@seneschal/crypto";
import { encodeTranscript, isDealtTranscript, verifyDealtTranscript, verifyTranscript } from "@seneschal/crypto/custody";
import { describe, expect, test } from "vitest";
import { confirmation, confirmedBy, DealtRig, dealt, dealtBy, gateway, seats, startOf } from "./dealt-rig.ts";
import { person } from "./rig.ts";

const kinds = ["dealt", "witnessed", "rotated", "password"] as const;

describe("the transcript of a ceremony in which a server deals", () => {
  test.each(kinds)("%s: says who did what and who has confirmed, under the key of whoever signs", (kind) => {
    const { entries } = confirmedBy(kind);
    const file = encodeTranscript(entries);
    expect([isDealtTranscript(file), isDealtTranscript(entries)]).toEqual([true, true]);
    const report = verifyDealtTranscript(nobleCrypto, file, { gatewayKey: gateway.key });
    expect(report).toMatchObject({ valid: true, standing: { status: "dealt", confirmed: [1, 2] } });
    expect(
      report.valid && report.seats.map(({ index, fingerprint, confirmed }) => [index, fingerprint !== null, confirmed]),
    ).toEqual([
      [1, true, true],
      [2, true, true],
      [3, false, false],
    ]);
    expect(verifyDealtTranscript(nobleCrypto, file, { gatewayKey: person("ada").card.signing_key })).toMatchObject({
      refused: { entry: 0, reason: "unknown_key" },
    });
    // Neither kind of transcript passes for the other.
    expect(verifyTranscript(nobleCrypto, file)).toMatchObject({ valid: false });
  });

  test("no entry can be changed, left out, doubled or moved; only the end can be cut off", () => {
    const { entries } = confirmedBy("rotated");
    const verdict = (list: readonly unknown[]) => verifyDealtTranscript(nobleCrypto, list).valid;
    for (let at = 0; at < entries.length; at++) {
      const entry = entries[at];
      const [before, behind] = [entries.slice(0, at), entries.slice(at + 1)];
      if (behind.length > 0) expect(verdict([...before, ...behind])).toBe(false);
      expect(verdict([...before, entry, entry, ...behind])).toBe(false);
      if (behind.length > 0) expect(verdict([...before, behind[0], entry, ...behind.slice(1)])).toBe(false);
      for (const change of [{ at: 1 }, { author: "eve" }, { ceremony: "another" }, { extra: 1 }])
        expect(verdict([...before, { ...entry, ...change }, ...behind])).toBe(false);
      expect(verdict(entries.slice(0, at + 1))).toBe(true);
    }
  });

  test("a confirmation is by the keys that are in the transcript, once, and of its own hash and key", () => {
    const rig = dealtBy("witnessed");
    const [ada, bob, cy] = [person("ada"), person("bob"), person("cy")];
    const act = confirmation(rig);
    expect(rig.say({ author: "ada", act })).toBe("signature");
    expect(rig.say({ author: "ada", act, keys: bob.keys })).toBe("signature");
    expect(rig.say({ author: "cy", act, keys: cy.keys })).toBe("author");
    expect(rig.say({ author: "eve", act, keys: person("eve").keys })).toBe("author");
    expect(rig.say({ author: "ada", act: confirmation(rig, seats[0]?.card?.signing_key), keys: ada.keys })).toBe(
      "other_transcript",
    );
    expect(rig.say({ author: "ada", act: { ...act, public_key: gateway.key } as never, keys: ada.keys })).toBe(
      "other_transcript",
    );
    expect(rig.say({ author: "ada", act, keys: ada.keys })).toBeUndefined();
    expect(rig.say({ author: "ada", act, keys: ada.keys })).toBe("repeated");
    expect(rig.say({ author: "bob", act, keys: bob.keys })).toBeUndefined();
    for (const late of [dealt, { type: "end", reason: "cancelled" }, { type: "share", index: 1 }] as const)
      expect(rig.say({ author: "sue", act: late })).toBe("closed");
  });

  test("a server's own entries keep the order of their kind: seats that are kept, all seeds, enough shares, a witness who took no part", () => {
    const rig = new DealtRig();
    expect(rig.say({ author: "sue", act: dealt })).toBe("start");
    expect(rig.say({ author: "sue", act: startOf("rotated", { required_shares: 0 }) })).toBe("seats");
    expect(rig.say({ author: "sue", act: startOf("dealt", { threshold: 4 } as object) })).toBe("seats");
    expect(rig.say({ author: "sue", act: startOf("password") })).toBeUndefined();
    expect(rig.say({ author: "eve", act: { type: "seed", index: 1 } })).toBe("author");
    expect(rig.say({ author: "eve", act: { type: "share", index: 1 } })).toBe("order");
    expect(rig.say({ author: "eve", act: { type: "seed", index: 4 } })).toBe("seats");
    expect(rig.say({ author: "ada", act: { type: "seed", index: 1 } })).toBeUndefined();
    expect(rig.say({ author: "ada", act: { type: "seed", index: 2 } })).toBe("repeated");
    expect(rig.say({ author: "sue", act: dealt })).toBe("order");
    for (const name of ["eve", "cy"]) rig.say({ author: name, act: { type: "seed", index: name === "eve" ? 2 : 3 } });
    expect(rig.say({ author: "sue", act: dealt })).toBe("seats");
    expect(rig.say({ author: "sue", act: { type: "end", reason: "expired" } })).toBeUndefined();
    const rotated = new DealtRig();
    rotated.say({ author: "sue", act: startOf("rotated") });
    for (const index of [1, 3]) rotated.say({ author: `holder-${index}`, act: { type: "share", index } });
    for (const identity_id of ["sue", "holder-3"])
      expect(rotated.say({ author: "sue", act: { type: "witness_named", identity_id } })).toBe("author");
    expect(rotated.say({ author: "sue", act: dealt })).toBe("order");
  });

  test("a card of somebody else, a proof that does not hold and a key whose parts do not fit are seen by whoever verifies", () => {
    const with_ = (change: object) => {
      const rig = new DealtRig();
      rig.say({ author: "sue", act: startOf("dealt") });
      const admitted = rig.say({ author: "sue", act: { ...dealt, ...change } as typeof dealt });
      return admitted ?? verifyDealtTranscript(nobleCrypto, rig.entries);
    };
    const [first, ...others] = seats;
    const card = person("ada").card;
    expect(with_({ seats: [{ ...first, card: person("eve").card }, ...others] })).toBe("card");
    const proofs = { ...card.proofs, agreement: person("bob").card.proofs.agreement };
    expect(with_({ seats: [{ ...first, card: { ...card, proofs } }, ...others] })).toMatchObject({
      refused: { entry: 1, reason: "card" },
    });
    const crk = { ...("crk" in dealt ? dealt.crk : {}), public_key: gateway.key };
    expect(with_({ crk })).toMatchObject({ refused: { entry: 1, reason: "crk" } });
  });
});
