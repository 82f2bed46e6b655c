import { base64, nobleCrypto, utf8 } from "@seneschal/crypto";
import { seeded } from "@seneschal/crypto/arbitraries";
import {
  type Act,
  CeremonyState,
  ceremonyStep,
  confirmationOf,
  encodeTranscript,
  signEntry,
  takeSeat,
  verifyTranscript,
} from "@seneschal/crypto/custody";
import { crkSet, type Share, signWithShares } from "@seneschal/crypto/threshold";
import { describe, expect, test } from "vitest";
import { sealPackage } from "../../src/custody/ceremony-package.ts";
import { transportKey } from "../../src/custody/transcript-view.ts";
import { submit } from "../submit.ts";
import { begun, CEREMONY, custodians, NOW, person, refreshOf, starter, startOf, witness } from "./rig.ts";

const coded = (code: string) => expect.objectContaining({ code });
/** The act that a seat would say, changed. */
const act = (of: ReturnType<typeof begun>, seat: number, type: Act["type"]) =>
  of.step(seat).entries.find((entry) => entry.act.type === type)!.act as never;

describe("key generation between custodians' clients", () => {
  test("ends with one public key for all, and any threshold of the shares signs", () => {
    const { relay, settle, step } = begun(startOf(5, 3));
    settle();
    expect(relay.view.status).toBe("active");
    const outcomes = [1, 2, 3, 4, 5].map((seat) => step(seat).outcome);
    const shares: Share[] = [];
    for (const outcome of outcomes) {
      if (outcome.kind !== "active") throw new Error(outcome.kind);
      expect(outcome.crk).toEqual(relay.view.crk);
      expect(crkSet(outcome.crk).accepts(outcome.share)).toBe(true);
      shares.push(outcome.share);
    }
    const crk = relay.view.crk!;
    const signature = signWithShares(crk, submit(shares.slice(2)), utf8("m"), seeded("s"));
    expect(nobleCrypto.ed25519Verify(crk.publicKey, utf8("m"), signature)).toBe(true);
  });

  test("a client that ends between any two steps goes on from its saved state and says the same", () => {
    const whole = begun(startOf(3, 2));
    whole.settle();
    const { relay, states, step, settle } = begun(startOf(3, 2));
    for (let i = 0; i < 20; i++) {
      const seat = (i % 3) + 1;
      const first = step(seat).entries;
      states[seat - 1] = CeremonyState.fromBytes(states[seat - 1]!.toBytes());
      expect(step(seat).entries).toEqual(first);
      for (const entry of first) relay.post(entry);
    }
    settle();
    expect(relay.entries).toEqual(whole.relay.entries);
    expect(relay.view.status).toBe("active");
  });

  test("nobody confirms but by a person's word, and nothing is active without all of them and the witness", () => {
    const { relay, step } = begun(startOf(3, 2));
    for (let i = 0; i < 5; i++)
      for (const seat of [1, 2, 3]) for (const entry of step(seat, relay.view, false).entries) relay.post(entry);
    expect(relay.view.accepted.size).toBe(3);
    expect(step(1, relay.view, false).outcome).toMatchObject({ kind: "confirm", transcript: relay.view.transcript });
    expect(
      ceremonyStep(nobleCrypto, {
        keys: person("ada").keys,
        state: takeSeat(relay.views[0]!, person("ada").keys, seeded("state/ada")),
        view: relay.view,
        at: NOW,
        confirm: base64(seeded("other")(32)),
      }).entries,
    ).toEqual([]);
    for (const seat of [1, 2]) for (const entry of step(seat).entries) relay.post(entry);
    relay.say(witness, confirmationOf("witness", relay.view));
    expect(relay.view.status).toBe("open");
    expect(step(1).outcome).toMatchObject({ kind: "waiting" });
    for (const entry of step(3).entries) relay.post(entry);
    expect(relay.view.status).toBe("active");
  });

  test("who deals a wrong value, or what does not open, is blamed by the receiver's complaint", () => {
    const lies: readonly ((ceremony: ReturnType<typeof begun>, sealed: readonly string[]) => string)[] = [
      // Another ephemeral key, another receiver's package, and a package in order whose value is not on the polynomial.
      (_, [mine = ""]) => mine.replace(/^..../, "AAAA"),
      (_, [, other = ""]) => other,
      ({ relay: { view } }) => {
        const place = { ceremony: CEREMONY, from: 2, to: 1, transcript: view.round! };
        return sealPackage(nobleCrypto, place, transportKey(view, 2, 1)!, new Uint8Array(32).fill(1), seeded("lie"));
      },
    ];
    for (const lie of lies) {
      const ceremony = begun(startOf(3, 2));
      const { relay, settle, step } = ceremony;
      for (const seat of [1, 2, 3]) for (const entry of step(seat).entries) relay.post(entry);
      const { sealed } = act(ceremony, 2, "packages") as { sealed: string[] };
      relay.say(person("bob"), { type: "packages", sealed: [lie(ceremony, sealed), sealed[1]!] });
      settle([1, 3]);
      expect(relay.view).toMatchObject({ status: "failed", blame: { seat: 2, reason: "package" } });
      expect(relay.entries[relay.view.blame!.entry]).toMatchObject({ author: "bob", act: { type: "packages" } });
      expect(step(3).outcome).toEqual({ kind: "failed", blame: relay.view.blame });
      expect(verifyTranscript(nobleCrypto, encodeTranscript(relay.entries))).toMatchObject({ valid: true, blame: { seat: 2 } });
    }
  });

  test("a client whose machine fails complains of nobody", () => {
    const { relay, states, step } = begun(startOf(3, 2));
    for (let i = 0; i < 2; i++) for (const seat of [1, 2, 3]) for (const entry of step(seat).entries) relay.post(entry);
    const broken = {
      ...nobleCrypto,
      open: () => {
        throw new Error("no memory");
      },
    };
    const input = { keys: person("ada").keys, state: states[0]!, view: relay.view, at: NOW };
    expect(() => ceremonyStep(broken, input)).toThrow("no memory");
    expect(ceremonyStep(nobleCrypto, input).entries[0]?.act.type).toBe("accepted");
  });

  test("who complains of a package that holds, or shows another secret, is blamed, not the dealer", () => {
    const { relay, states, step } = begun(startOf(3, 2));
    for (let i = 0; i < 2; i++) for (const seat of [1, 2, 3]) for (const entry of step(seat).entries) relay.post(entry);
    const secret = states[0]!.derive(nobleCrypto, "transport-key", states[0]!.start)(32);
    const { length } = relay.entries;
    for (const transport_secret of [base64(secret), base64(seeded("another")(32))]) {
      relay.entries.splice(length);
      relay.views.splice(length);
      relay.say(person("ada"), { type: "complaint", against: 3, transport_secret });
      expect(relay.view).toMatchObject({ status: "failed", blame: { seat: 1, entry: length, reason: "complaint" } });
    }
  });

  test("who commits without proof, or to a key that nothing can be sealed to, is blamed", () => {
    const first = begun(startOf(3, 2));
    const commitment = act(first, 1, "commitment") as Extract<Act, { type: "commitment" }>;
    // The proof of one seat is none for another.
    first.relay.say(person("bob"), commitment);
    expect(first.relay.view.blame).toEqual({ seat: 2, entry: 1, reason: "commitment" });
    const second = begun(startOf(3, 2));
    second.relay.say(person("cy"), { type: "join", transport_key: base64(new Uint8Array(32)) });
    expect(second.relay.view.blame).toEqual({ seat: 3, entry: 1, reason: "transport_key" });
  });

  test("a relay that shows another transcript, or an older one, gets nothing more from a client", () => {
    const one = begun(startOf(3, 2));
    one.settle();
    const other = begun(startOf(3, 2));
    for (const seat of [3, 2, 1]) for (const entry of other.step(seat).entries) other.relay.post(entry);
    const { view } = other.relay;
    for (let shown = 0; shown < one.relay.views.length; shown += 3) {
      const { state } = ceremonyStep(nobleCrypto, {
        keys: person("ada").keys,
        state: one.states[0]!,
        view: one.relay.view,
        at: NOW,
      });
      const step = ceremonyStep(nobleCrypto, { keys: person("ada").keys, state, view: one.relay.views[shown]!, at: NOW });
      expect(step).toMatchObject({ entries: [], outcome: { kind: "behind" } });
      expect(step.state.seen).toEqual(state.seen);
    }
    for (const entry of one.relay.entries.slice(1, 3)) expect(other.relay.post(entry)).toBe("chain");
    one.states[0] = one.states[0]!.after(one.relay.views[2]!);
    expect(one.step(1, view)).toMatchObject({ entries: [], outcome: { kind: "forked" } });
  });

  test("a client whose state was lost does not speak over what it said before", () => {
    const { relay, step } = begun(startOf(3, 2));
    for (const entry of step(1).entries) relay.post(entry);
    const { keys } = person("ada");
    const state = takeSeat(relay.view, keys, seeded("new state"));
    expect(ceremonyStep(nobleCrypto, { keys, state, view: relay.view, at: NOW })).toMatchObject({
      entries: [],
      outcome: { kind: "foreign" },
    });
  });

  test("past its end a ceremony is expired for a client, and takes nothing", () => {
    const { relay, states } = begun(startOf(3, 2));
    const late = NOW + 3601;
    const { keys } = person("ada");
    expect(ceremonyStep(nobleCrypto, { keys, state: states[0]!, view: relay.view, at: late })).toMatchObject({
      entries: [],
      outcome: { kind: "expired" },
    });
    const end = signEntry(starter.keys, { ceremony: CEREMONY, author: "sue", at: late }, { type: "end" }, relay.view);
    expect(relay.post(end)).toBe("expired");
    expect(relay.say(starter, { type: "end" })).toBeUndefined();
    expect(ceremonyStep(nobleCrypto, { keys, state: states[0]!, view: relay.view, at: NOW }).outcome).toEqual({ kind: "ended" });
  });

  test("only a custodian takes a seat", () => {
    const { relay } = begun(startOf(3, 2));
    for (const { keys } of [witness, starter, person("eve")]) {
      expect(() => takeSeat(relay.view, keys, seeded("s"))).toThrow(coded("protocol_invalid"));
    }
    expect(custodians(3).map(({ keys }) => takeSeat(relay.view, keys, seeded("s")).seat)).toEqual([1, 2, 3]);
  });
});

describe("refresh between custodians' clients", () => {
  test("keeps the public key, raises the epoch, changes every share and signs", () => {
    const { start, shares } = refreshOf(4, 3);
    const { relay, settle, step } = begun(start, shares);
    settle();
    expect(relay.view.status).toBe("active");
    const crk = relay.view.crk!;
    expect(crk.epoch).toBe(2);
    expect(base64(crk.publicKey)).toBe(start.kind === "refresh" && start.crk.public_key);
    const renewed = [1, 2, 3, 4].map((seat) => {
      const { outcome } = step(seat);
      if (outcome.kind !== "active") throw new Error(outcome.kind);
      expect(outcome.share.payload()).not.toEqual(shares[seat - 1]!.payload());
      return outcome.share;
    });
    const signature = signWithShares(crk, submit(renewed.slice(1)), utf8("m"), seeded("s"));
    expect(nobleCrypto.ed25519Verify(crk.publicKey, utf8("m"), signature)).toBe(true);
  });

  test("needs the seat's own share of the key that it renews", () => {
    const { start, shares } = refreshOf(3, 2);
    for (const wrong of [[], [shares[1]!]]) {
      expect(() => begun(start, wrong).step(1)).toThrow(coded("share_invalid"));
    }
  });

  test("who would change the key is blamed", () => {
    const { start, shares } = refreshOf(3, 2);
    const { relay, step } = begun(start, shares);
    const { commitments } = step(1).entries[1]!.act as Extract<Act, { type: "commitment" }>;
    relay.say(person("bob"), { type: "commitment", commitments: [commitments[1]!, commitments[1]!] });
    expect(relay.view.blame).toEqual({ seat: 2, entry: 1, reason: "commitment" });
  });
});

describe("a client's state", () => {
  test("shows its secret to no log, and is read back only whole", () => {
    const [state] = begun(startOf(3, 2)).states;
    const bytes = state!.toBytes();
    const { secret } = JSON.parse(Buffer.from(bytes).toString()) as { secret: string };
    expect(JSON.stringify(state)).not.toContain(secret);
    for (const wrong of [bytes.subarray(1), utf8("{}"), utf8(Buffer.from(bytes).toString().replace('"v":1', '"v":2'))]) {
      expect(() => CeremonyState.fromBytes(wrong)).toThrow(coded("custody_invalid"));
    }
    state!.erase();
    expect(Buffer.from(state!.toBytes()).toString()).toContain(base64(new Uint8Array(32)));
  });
});
