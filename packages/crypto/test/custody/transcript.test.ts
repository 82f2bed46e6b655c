import { base64, canonicalJson, nobleCrypto, utf8 } from "@seneschal/crypto";
import { flippedBit, seeded } from "@seneschal/crypto/arbitraries";
import {
  type Act,
  cardFingerprint,
  confirmationOf,
  encodeTranscript,
  type StartAct,
  signEntry,
  type TranscriptEntry,
  verifyTranscript,
} from "@seneschal/crypto/custody";
import fc from "fast-check";
import { beforeAll, describe, expect, test } from "vitest";
import { begun, CEREMONY, custodians, NOW, person, Relay, refreshOf, starter, startOf, witness } from "./rig.ts";

const verify = (source: Parameters<typeof verifyTranscript>[1], knows?: (card: StartAct["witness"]) => boolean) =>
  verifyTranscript(nobleCrypto, source, knows === undefined ? {} : { knows });
const refused = (entry: number, reason: string) => ({ valid: false, refused: { entry, reason } });
const bytes = (label: string, length = 32) => base64(seeded(label)(length));

/** A ceremony of three that everybody played by the rules: one start, 3 joins and commitments, 3 packages, 3 acceptances, 3 confirmations, the witness. */
const whole = begun(startOf(3, 2));
let entries: readonly TranscriptEntry[];
let file: Uint8Array;
beforeAll(() => {
  whole.settle();
  entries = whole.relay.entries;
  file = encodeTranscript(entries);
});
/** The relay when it had `count` entries. */
const after = (count: number): Relay => {
  const relay = new Relay();
  relay.entries.push(...entries.slice(0, count));
  relay.views.push(...whole.relay.views.slice(0, count));
  return relay;
};
const JOINED = 7;
const DEALT = 10;
const ACCEPTED = 13;

describe("a transcript", () => {
  test("says who did what, who confirmed, and which key it made, to somebody who has nothing else", () => {
    const report = verify(file);
    if (!report.valid) throw new Error(report.refused.reason);
    expect(report).toMatchObject({
      ceremony: CEREMONY,
      kind: "generate",
      status: "active",
      transcript: whole.relay.view.transcript,
    });
    expect(report.acts).toEqual(entries.map(({ author, act }) => ({ author, type: act.type })));
    expect(report.seats.map((seat) => [seat.seat, seat.custodianId, seat.confirmed])).toEqual([
      [1, "ada", true],
      [2, "bob", true],
      [3, "cy", true],
    ]);
    expect(report.witness).toEqual({
      custodianId: "wim",
      confirmed: true,
      fingerprint: cardFingerprint(nobleCrypto, witness.card),
    });
    expect(report.crk?.public_key).toBe((entries.at(-1)!.act as { public_key: string }).public_key);
    expect(report.blame).toBeUndefined();
    expect(verify(entries)).toEqual(report);
  });

  test("is active from the last of all confirmations and the witness on, and not before", () => {
    for (const [i, view] of whole.relay.views.entries()) expect(view.status).toBe(i === entries.length - 1 ? "active" : "open");
  });

  test("of which any bit is another is refused at the entry that holds it", () => {
    const ends: number[] = [];
    for (const entry of entries) ends.push((ends.at(-1) ?? 0) + utf8(canonicalJson(entry)).length + 1);
    fc.assert(
      fc.property(flippedBit(file), (changed) => {
        const at = changed.findIndex((byte, i) => byte !== file[i]);
        const report = verify(changed);
        expect(report.valid ? -1 : report.refused.entry).toBe(ends.findIndex((end) => at < end));
      }),
      { numRuns: 25 },
    );
  });

  test("without an entry, with one twice, or with two in another order is refused there", () => {
    for (const at of [0, 3, JOINED, entries.length - 2]) {
      expect(verify([...entries.slice(0, at), ...entries.slice(at + 1)])).toEqual(refused(at, at === 0 ? "start" : "chain"));
      expect(verify([...entries.slice(0, at + 1), ...entries.slice(at)])).toEqual(refused(at + 1, at === 0 ? "start" : "chain"));
      const swapped = [...entries.slice(0, at), entries[at + 1], entries[at], ...entries.slice(at + 2)];
      expect(verify(swapped)).toEqual(refused(at, at === 0 ? "start" : "chain"));
    }
    expect(verify([])).toEqual(refused(0, "empty"));
  });

  test("is one line of canonical JSON for each entry, bounded in all", () => {
    const [first] = entries;
    const line = canonicalJson(first);
    for (const text of [` ${line}\n`, line, `${line}\r\n`, "\n", line.replace('"v":1', '"v":1.0')]) {
      expect(verify(utf8(text)), text.slice(0, 9)).toEqual(refused(0, "not_canonical"));
    }
    expect(verify(utf8(`"${"x".repeat(512 * 1024)}"\n`))).toEqual(refused(0, "too_large"));
    expect(verify(new Uint8Array(16 * 1024 * 1024 + 1))).toEqual(refused(0, "too_large"));
    expect(verify(Uint8Array.of(0xff, 0x0a))).toEqual(refused(0, "not_canonical"));
  });

  test("holds for the cards that a verifier knows, and for no others", () => {
    const prints = new Set([...custodians(3), witness, starter].map(({ card }) => cardFingerprint(nobleCrypto, card)));
    const knows = (card: StartAct["witness"]) => prints.has(cardFingerprint(nobleCrypto, card));
    expect(verify(file, knows).valid).toBe(true);
    prints.delete(cardFingerprint(nobleCrypto, witness.card));
    expect(verify(file, knows)).toEqual(refused(0, "unknown_card"));
  });
});

describe("an entry", () => {
  test("has exactly its members, each of its size, in every act", () => {
    for (const at of [0, 1, 2, JOINED, DEALT, ACCEPTED, entries.length - 1]) {
      const entry = entries[at]!;
      const relay = after(at);
      for (const changed of [
        ...[null, [], 1, { ...entry, extra: 1 }, { ...entry, v: 2 }, { ...entry, seq: -1 }, { ...entry, seq: 2048 }],
        ...[
          { ...entry, at: 1.5 },
          { ...entry, author: "a\u0000" },
          { ...entry, author: "\ud800" },
          { ...entry, signature: "AAAA" },
        ],
        ...[
          { ...entry, act: { ...entry.act, extra: 1 } },
          { ...entry, act: { type: "__proto__" } },
          { ...entry, act: {} },
        ],
        ...Object.keys(entry).map((name) => Object.fromEntries(Object.entries(entry).filter(([key]) => key !== name))),
      ]) {
        expect(relay.post(changed as TranscriptEntry)).toBe("malformed");
      }
      expect(relay.post(entry)).toBeUndefined();
    }
  });

  test("is its author's alone: with another's key, name or ceremony it is refused", () => {
    const relay = after(JOINED);
    const { act } = entries[JOINED]!;
    const by = (keys: string, author: string, ceremony = CEREMONY) =>
      signEntry(person(keys).keys, { ceremony, author, at: NOW }, act, relay.view);
    expect(relay.post(by("bob", "ada"))).toBe("signature");
    expect(relay.post(by("eve", "eve"))).toBe("author");
    expect(relay.post(by("ada", "ada", "other"))).toBe("other_ceremony");
    expect(relay.post({ ...by("ada", "ada"), at: NOW + 1 })).toBe("signature");
    expect(relay.post(by("ada", "ada"))).toBeUndefined();
  });

  test("comes from whose part it is, once, and in its time", () => {
    const [ada, bob] = custodians(3);
    const join: Act = { type: "join", transport_key: bytes("key") };
    const packages = entries[JOINED]!.act;
    const confirmation = confirmationOf("confirmation", whole.relay.view);
    const complaint: Act = { type: "complaint", against: 2, transport_secret: bytes("secret") };
    expect(after(1).say(witness, join)).toBe("role");
    expect(after(1).say(starter, join)).toBe("role");
    expect(after(1).say(ada!, { type: "end" })).toBe("role");
    expect(after(1).say(ada!, startOf(3, 2))).toBe("start");
    expect(after(1).say(ada!, packages)).toBe("order");
    expect(after(2).say(ada!, join)).toBe("repeated");
    expect(after(3).say(ada!, entries[2]!.act)).toBe("repeated");
    expect(after(JOINED).say(ada!, { type: "accepted" })).toBe("order");
    expect(after(JOINED).say(ada!, complaint)).toBe("order");
    expect(after(JOINED + 1).say(ada!, packages)).toBe("repeated");
    expect(after(DEALT).say(ada!, confirmation)).toBe("order");
    expect(after(DEALT).say(ada!, { ...complaint, against: 1 } as Act)).toBe("malformed");
    expect(after(DEALT).say(ada!, { ...complaint, against: 4 } as Act)).toBe("malformed");
    expect(after(DEALT + 1).say(ada!, { type: "accepted" })).toBe("repeated");
    expect(after(DEALT + 1).say(ada!, complaint)).toBe("order");
    expect(after(ACCEPTED).say(bob!, { ...confirmation, type: "witness" } as Act)).toBe("role");
    expect(after(ACCEPTED + 1).say(ada!, confirmation)).toBe("repeated");
    expect(after(entries.length).say(starter, { type: "end" })).toBe("closed");
  });

  test("confirms the transcript's own hash and key, or is none", () => {
    const confirmation = confirmationOf("witness", whole.relay.view);
    for (const change of [{ transcript: bytes("t") }, { public_key: bytes("k") }]) {
      expect(after(ACCEPTED).say(witness, { ...confirmation, ...change } as Act)).toBe("other_transcript");
    }
    expect(after(ACCEPTED).say(witness, confirmation)).toBeUndefined();
  });

  test("commits to as many coefficients and deals to as many seats as the ceremony has", () => {
    const [ada] = custodians(3);
    const commitment = entries[2]!.act as Extract<Act, { type: "commitment" }>;
    const { proof: _, ...without } = commitment;
    expect(after(1).say(ada!, without)).toBe("malformed");
    expect(after(1).say(ada!, { ...commitment, commitments: [...commitment.commitments, bytes("c")] })).toBe("malformed");
    const packages = entries[JOINED]!.act as Extract<Act, { type: "packages" }>;
    expect(after(JOINED).say(ada!, { ...packages, sealed: packages.sealed.slice(1) })).toBe("malformed");
  });
});

describe("a start", () => {
  const begin = (change: Partial<StartAct>, by = starter) => new Relay().say(by, startOf(3, 2, change));

  test("seats each person once, with keys of its own, and a witness who has no other part", () => {
    const [ada, bob, cy] = custodians(3).map(({ card }) => card) as [
      StartAct["witness"],
      StartAct["witness"],
      StartAct["witness"],
    ];
    expect(begin({})).toBeUndefined();
    expect(begin({ starter: ada }, person("ada"))).toBeUndefined();
    expect(begin({ seats: [ada, bob, ada] })).toBe("seats");
    expect(begin({ seats: [ada, bob, { ...cy, signing_key: ada.signing_key }] })).toBe("seats");
    expect(begin({ seats: [ada, bob, { ...cy, agreement_key: ada.agreement_key }] })).toBe("seats");
    expect(begin({ witness: ada })).toBe("seats");
    expect(begin({ witness: starter.card })).toBe("seats");
    expect(begin({ starter: { ...ada, org_id: "other" } }, person("ada"))).toBe("seats");
    expect(begin({ threshold: 4 } as Partial<StartAct>)).toBe("seats");
    expect(begin({ threshold: 1 } as Partial<StartAct>)).toBe("malformed");
    expect(begin({ seats: [ada] })).toBe("malformed");
  });

  test("shows cards whose proofs hold, and is the starter's", () => {
    const [ada, bob, cy] = custodians(3).map(({ card }) => card) as [
      StartAct["witness"],
      StartAct["witness"],
      StartAct["witness"],
    ];
    expect(begin({ seats: [ada, bob, { ...cy, proofs: bob.proofs }] })).toBe("card");
    expect(begin({}, person("ada"))).toBe("author");
    const { hashes } = whole.relay.view;
    const late = signEntry(starter.keys, { ceremony: CEREMONY, author: "sue", at: NOW }, startOf(3, 2), { hashes });
    expect(new Relay().post(late)).toBe("chain");
    expect(begin({ expires_at: NOW - 1 })).toBe("expired");
  });

  test("of a refresh names a key whose parts fit each other and the seats", () => {
    const { start } = refreshOf(3, 2);
    if (start.kind !== "refresh") throw new Error("a refresh was asked for");
    const relay = () => new Relay();
    expect(relay().say(starter, start)).toBeUndefined();
    expect(relay().say(starter, { ...start, crk: { ...start.crk, public_key: bytes("k") } })).toBe("seats");
    expect(relay().say(starter, { ...start, seats: custodians(4).map(({ card }) => card) })).toBe("seats");
  });
});
