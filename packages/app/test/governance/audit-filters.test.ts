import { afterAll, beforeAll, expect, test } from "vitest";
import { type Rig, servers, startRig } from "./rig.ts";

let rig: Rig;
beforeAll(async () => {
  rig = await startRig(servers[0]![1]);
});
afterAll(() => rig.stop());

test("allowed_only leaves out what was denied, and nothing else", async () => {
  await rig.call("judge", "POST", "/api/v1/classify", { query: "hello", context: { user_id: "ada" } });
  const denied = await rig.call("judge", "POST", "/api/v1/evaluate", {
    ...{ operation_type: "READ", source_resources: ["no.such"] },
    user_context: { user_id: "ada", role: "analyst", department: "sales" },
  });
  expect(denied.body.allowed).toBe(false);
  const ask = async (more: object) =>
    (await rig.call("reader", "POST", "/api/v1/audit/query", { user_id: "ada", ...more })).body.records;
  const all = await ask({});
  expect(all.map(({ allowed }: { allowed: boolean }) => allowed).sort()).toEqual([false, true]);
  expect(await ask({ allowed_only: true })).toEqual(all.filter(({ allowed }: { allowed: boolean }) => allowed));
});
