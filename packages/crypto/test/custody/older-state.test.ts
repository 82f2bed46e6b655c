import { fromBase64, nobleCrypto } from "@seneschal/crypto";
import { type Act, CeremonyState, ceremonyStep } from "@seneschal/crypto/custody";
import { expect, test } from "vitest";
import { dealtValue } from "../../src/custody/dealt-value.ts";
import { begun, NOW, person, Relay, startOf } from "./rig.ts";

const JOINED = 7;

/** What docs/custody.md says of backups: sealing proves who made a state, and not that it is the last one. */
test("an older state that is put back complains in a fork, with the secret that opens what the active ceremony dealt; the last state does not", () => {
  const { relay, step, settle, states } = begun(startOf(3, 2));
  for (const seat of [1, 2, 3]) for (const entry of step(seat).entries) relay.post(entry);
  const { keys } = person("ada");
  const older = keys.sealOwn("ceremony/c", states[0]!.toBytes(), (length) => new Uint8Array(length));
  const packages = step(2).entries[0]!.act as Extract<Act, { type: "packages" }>;
  settle();
  expect(relay.view.status).toBe("active");

  const fork = new Relay();
  for (const entry of relay.entries.slice(0, JOINED)) expect(fork.post(entry)).toBeUndefined();
  expect(fork.say(person("bob"), { type: "packages", sealed: [...packages.sealed].reverse() })).toBeUndefined();
  const says = (state: CeremonyState) => {
    const before = fork.entries.length;
    for (let i = 0; i < 2; i++) {
      const made = ceremonyStep(nobleCrypto, { keys, state, view: fork.view, at: NOW });
      for (const entry of made.entries) fork.post(entry);
    }
    return fork.entries.slice(before).map(({ act }) => act);
  };
  expect(says(states[0]!)).toEqual([]);
  const shown = says(CeremonyState.fromBytes(keys.openOwn("ceremony/c", older))).at(-1)!;
  if (shown.type !== "complaint") throw new Error(shown.type);
  const secret = fromBase64(shown.transport_secret);
  for (const from of [2, 3]) expect(dealtValue(nobleCrypto, relay.view, from, 1, secret)).toHaveLength(32);
});
