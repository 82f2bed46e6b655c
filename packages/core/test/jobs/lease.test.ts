import { judgeLease, type LeaseMemory, type LeaseRecord } from "@seneschal/core/jobs";
import fc from "fast-check";
import { expect, test } from "vitest";

const DURATION = 900;
const BEAT = 300;

/** Processes that look at one lease by clocks of their own, and a store that refuses who writes over what it did not read. */
function world(offsets: readonly number[]) {
  let record: (LeaseRecord & { readonly version: number }) | undefined;
  const memories: LeaseMemory[] = offsets.map((_, i) => ({ holder: `p${i}`, version: 0 }));
  return {
    look(i: number, at: number): boolean {
      const now = at + (offsets[i] ?? 0);
      const memory = memories[i] as LeaseMemory;
      const { act, seen } = judgeLease(record, memory, now, DURATION);
      const noted = { holder: memory.holder, version: memory.version, ...(seen && { seen }) };
      memories[i] = noted;
      if (act !== "write") return act === "keep";
      const version = (record?.version ?? 0) + 1;
      record = { holder: memory.holder, until: now + DURATION, version };
      memories[i] = { ...noted, version, seen: { version, since: now } };
      return true;
    },
    giveBack(): void {
      if (record !== undefined) record = { ...record, until: 0, version: record.version + 1 };
    },
  };
}

const clocks = fc.array(fc.integer({ min: -10 * DURATION, max: 10 * DURATION }), { minLength: 2, maxLength: 4 });

test("whatever the clocks say, a lease that is renewed stays with its holder once all have looked, and one whose holder is gone is another's within two durations", () => {
  fc.assert(
    fc.property(clocks, fc.nat(3), (offsets, gone) => {
      const { look } = world(offsets);
      const holders: number[] = [];
      let at = 0;
      for (; at < 20 * DURATION; at += BEAT) for (const i of offsets.keys()) if (look(i, at)) holders.push(i);
      const settled = holders.slice(-10);
      expect(new Set(settled).size).toBe(1);
      const dead = settled[0] ?? gone;
      const heirs: number[] = [];
      for (const end = at + 2 * DURATION; at <= end; at += BEAT)
        for (const i of offsets.keys()) if (i !== dead && look(i, at)) heirs.push(i);
      expect(heirs.length).toBeGreaterThan(0);
    }),
  );
});

test("one that was given back is anybody's at once, by whatever clock", () => {
  fc.assert(
    fc.property(clocks, (offsets) => {
      const { look, giveBack } = world(offsets);
      look(0, 0);
      giveBack();
      expect(look(1, 0)).toBe(true);
    }),
  );
});

test("a renewal is not written while more than half of its time is left: who looks does not wake who looks", () => {
  const record = { holder: "a", until: 1000, version: 3 };
  const memory = { holder: "a", version: 3 };
  expect([0, 399, 549, 550, 1000].map((now) => judgeLease(record, memory, now, DURATION).act)).toEqual([
    ...["keep", "keep", "keep", "write", "write"],
  ]);
});
