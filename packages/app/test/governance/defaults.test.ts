import { afterAll, beforeAll, expect, test } from "vitest";
import { type Rig, servers, startRig } from "./rig.ts";
import { runEvent } from "./run-event.ts";

let rig: Rig;
beforeAll(async () => {
  rig = await startRig(servers[1]![1]);
});
afterAll(() => rig.stop());

test("lineage is ten hops deep unless the caller says otherwise", async () => {
  for (let i = 0; i < 12; i++) {
    await rig.call("writer", "PUT", `/api/v1/resources/r${i}`, { tier: "INTERNAL" });
    if (i > 0) await rig.call("writer", "POST", "/api/v1/lineage", hop(i));
  }
  const { body } = await rig.call("reader", "GET", "/api/v1/lineage/r0");
  expect([body.depth, body.downstream.length]).toEqual([10, 10]);
  expect((await rig.call("reader", "GET", "/api/v1/lineage/r0?depth=11")).body.downstream).toHaveLength(11);
});

test("an audit page is the newest 100 unless the caller says otherwise, both ways to ask", async () => {
  for (let i = 0; i < 101; i++) await rig.call("judge", "POST", "/api/v1/classify", { query: `hello ${i}`, context: {} });
  const { body: all } = await rig.call("reader", "GET", "/api/v1/audit?limit=1000");
  for (const page of [
    await rig.call("reader", "GET", "/api/v1/audit"),
    await rig.call("reader", "POST", "/api/v1/audit/query", {}),
  ]) {
    expect(page.body.records).toEqual(all.records.slice(0, 100));
    expect(page.body.total).toBe(all.total);
  }
});

const hop = (i: number) =>
  runEvent({
    run: `0190e2c0-0000-7000-8000-0000000000${String(i).padStart(2, "0")}`,
    job: `job${i}`,
    inputs: [`r${i - 1}`],
    outputs: [`r${i}`],
  });
