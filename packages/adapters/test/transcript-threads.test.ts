import {
  admitEntry,
  type CeremonyState,
  CustodianKeys,
  ceremonyStep,
  confirmationOf,
  custodianCard,
  signEntry,
  standingOf,
  type TranscriptEntry,
  type TranscriptView,
  takeSeat,
} from "@seneschal/crypto/custody";
import { afterAll, describe, expect, it } from "vitest";
import { nodeCrypto } from "../src/node-crypto/index.ts";
import { systemRandom } from "../src/system/index.ts";
import { openThresholdThreads } from "../src/threshold-threads/index.ts";

const person = (id: string) => {
  const keys = CustodianKeys.generate(nodeCrypto, systemRandom);
  return { id, keys, card: custodianCard(nodeCrypto, keys, { orgId: "acme", custodianId: id }, systemRandom) };
};

/** A ceremony of two seats and their witness, to its end. */
function heldCeremony(): readonly TranscriptEntry[] {
  const [ada, bob, wim] = [person("ada"), person("bob"), person("wim")];
  const by = (author: string) => ({ ceremony: "c", author, at: 10 });
  const entries: TranscriptEntry[] = [];
  let view: TranscriptView | undefined;
  const append = (entry: TranscriptEntry): TranscriptView => {
    const admission = admitEntry(nodeCrypto, view, entry);
    if (!admission.admitted) throw new Error(admission.reason);
    entries.push(entry);
    view = admission.view;
    return view;
  };
  const seats = [ada.card, bob.card];
  const terms = { kind: "generate", threshold: 2, seats, witness: wim.card, starter: ada.card, expires_at: 99 } as const;
  let now = append(signEntry(ada.keys, by("ada"), { type: "start", ...terms }));
  const states = new Map<string, CeremonyState>([ada, bob].map((seat) => [seat.id, takeSeat(now, seat.keys, systemRandom)]));
  for (let round = 0; round < 4; round++) {
    for (const { id, keys } of [ada, bob]) {
      const confirm = now.transcript === undefined ? {} : { confirm: now.transcript };
      const step = ceremonyStep(nodeCrypto, { keys, state: states.get(id) as CeremonyState, view: now, at: 10, ...confirm });
      states.set(id, step.state);
      for (const entry of step.entries) now = append(entry);
    }
  }
  append(signEntry(wim.keys, by("wim"), confirmationOf("witness", now), now));
  return entries;
}

describe("transcripts in worker threads", () => {
  const open = () => openThresholdThreads({ random: systemRandom, threads: 1 });
  const [one, other] = [open(), open()];
  afterAll(() => Promise.all([one.close(), other.close()]));
  const entries = heldCeremony();

  it("say of each entry what admitEntry says, whichever thread is asked, and whatever it has seen before", async () => {
    let view: TranscriptView | undefined;
    let asked = 0;
    for (const [i, entry] of entries.entries()) {
      const head = view?.hashes.at(-1);
      const before = async () => {
        asked++;
        return entries.slice(0, i);
      };
      const threads = i % 3 === 2 ? other : one;
      const outcome = await threads.admitEntry(head === undefined ? undefined : { head, entries: before }, entry, "acme");
      const admission = admitEntry(nodeCrypto, view, entry);
      if (!admission.admitted) throw new Error(admission.reason);
      view = admission.view;
      expect(outcome).toEqual({ admitted: true, standing: standingOf(view) });
    }
    expect(view?.status).toBe("active");
    expect(asked).toBeGreaterThan(2);
    expect(asked).toBeLessThan(entries.length);
  });

  it("refuse what is no next entry, and a kept transcript that is not what its head says is a fault, not an answer", async () => {
    const [first, second, third] = entries as [TranscriptEntry, TranscriptEntry, TranscriptEntry];
    const start = admitEntry(nodeCrypto, undefined, first);
    if (!start.admitted) throw new Error(start.reason);
    const head = start.view.hashes[0] as string;
    const kept = { head, entries: async () => [first] };
    expect(await one.admitEntry(kept, third, "acme")).toEqual({ admitted: false, reason: "chain" });
    expect(await one.admitEntry(kept, { ...second, at: 11 }, "acme")).toEqual({ admitted: false, reason: "signature" });
    const changed = { head: "unknown", entries: async () => [{ ...first, at: 11 }] };
    await expect(one.admitEntry(changed, second, "acme")).rejects.toThrow("threshold failed");
    await expect(one.admitEntry({ head: "unknown", entries: async () => [first] }, second, "acme")).rejects.toThrow(
      "threshold failed",
    );
  });
});
