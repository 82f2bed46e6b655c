import type { Candidate, SequencerLease } from "@seneschal/adapters/log";
import { expect, test } from "vitest";

/** What every lease does. `expire` lets the lease of a holder that no longer renews run out. */
export function leaseLaws(open: (self: Candidate) => Promise<SequencerLease>, expire: (ttlMs: number) => Promise<void>): void {
  const a = { id: "a", address: "https://a" };
  const b = { id: "b", address: "https://b" };

  test("one candidate holds the lease, every other is told who; a renewal keeps holder and term", async () => {
    const [first, second] = [await open(a), await open(b)];
    const holder = await first.renew();
    expect(holder).toMatchObject(a);
    expect(await second.renew()).toEqual(holder);
    expect(await first.renew()).toEqual(holder);
    await first.release();
    const next = await second.renew();
    expect(next).toMatchObject(b);
    expect(next.term).toBeGreaterThan(holder.term);
    expect(await first.renew()).toEqual(next);
    await second.release();
  });

  test("a holder that stops renewing loses the lease; when it comes back it is told the new holder", async () => {
    const [first, second] = [await open(a), await open(b)];
    const holder = await first.renew();
    await expire(first.ttlMs);
    const next = await second.renew();
    expect(next).toMatchObject(b);
    expect(next.term).toBeGreaterThan(holder.term);
    expect(await first.renew()).toEqual(next);
    await second.release();
  });
}
