/** An adapter of your own: a rate counter on whatever keeps texts by key, held to the laws of its port by the port's suite. */
import assert from "node:assert/strict";
import { type RateWindow, takeFrom } from "@seneschal/kernel";
import type { RateCounter } from "@seneschal/kernel/ports";
import { rateCounterSuite } from "@seneschal/kernel/testing";

const texts = new Map<string, string>(); // put your store here

const openCounter = async (): Promise<RateCounter> => ({
  salt: new TextEncoder().encode("the same in every process"),
  async take(key, rate, now) {
    const known = texts.get(key);
    const { window, take } = takeFrom(known === undefined ? undefined : (JSON.parse(known) as RateWindow), rate, now);
    texts.set(key, JSON.stringify(window));
    return take;
  },
  async close() {},
});

const laws: { name: string; body: () => Promise<void> }[] = [];
const runner = { test: (name: string, body: () => Promise<void>) => laws.push({ name, body }), equal: assert.deepEqual };
rateCounterSuite(runner, { shared: true, open: openCounter, seed: 1, rounds: 20 });
for (const { name, body } of laws) {
  await body();
  console.log("holds:", name);
}
if (laws.length < 6) throw new Error("the suite should have six laws");
