import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { type Harness, servers, startStorage } from "./harness.ts";

let h: Harness;
const ask = async (path: string, body: object = {}, who: "root" | "incident" | "oncall" = "root") => {
  const answer = await h.call(who, "POST", `/ui/api/ops/${path}`, body);
  return [answer.status, answer.body] as const;
};
const device = async (id: string) =>
  (await h.call(undefined, "GET", "/ui/api/devices")).body.find((one: { device_id: string }) => one.device_id === id);
const jobOf = async (id: string) => (await h.call("root", "GET", `/ui/api/jobs/${id}`)).body;

describe.each(servers)("an operator's cancel on %s", (_, serve) => {
  beforeEach(async () => {
    h = await startStorage(serve, { test_knobs: true });
    // Nothing runs: what was asked for waits until a test says so.
    await h.storage.node.jobs.stop();
  });
  afterEach(() => h.stop());

  test("ends a job that waits, once; one that is over, or that there is not, is refused; who may not cancel changes nothing", async () => {
    const [, { job_id }] = await ask("scrub");
    expect((await ask(`jobs/${job_id}/cancel`, {}, "oncall"))[0]).toBe(403);
    expect(await jobOf(job_id)).toMatchObject({ state: "queued" });
    expect(await ask(`jobs/${job_id}/cancel`)).toMatchObject([200, { job_id, state: "cancelled" }]);
    expect((await ask(`jobs/${job_id}/cancel`))[0]).toBe(409);
    expect(await ask("jobs/none/cancel")).toMatchObject([404, { error: { details: { field: "job_id" } } }]);
    expect(await jobOf(job_id)).toMatchObject({ state: "cancelled" });
  });

  test("of an evacuation gives its device back, whichever way it is asked for", async () => {
    for (const cancel of [(job: string) => `jobs/${job}/cancel`, () => "devices/d1/cancel-evacuation"]) {
      const [, { job_id }] = await ask("devices/d1/evacuate");
      expect(await device("d1")).toMatchObject({ state: "Evacuating" });
      expect((await ask(cancel(job_id)))[0]).toBe(200);
      expect([await device("d1"), await jobOf(job_id)]).toMatchObject([{ state: "Degraded" }, { state: "cancelled" }]);
    }
  });

  test("keeps wear from evacuating the device again, until the hold is cleared", async () => {
    const { node } = h.storage;
    const worn = { wear_percent: 95 };
    expect((await h.call("root", "PUT", "/ui/api/ops/devices/d1/smart", worn)).status).toBe(200);
    await node.tick();
    expect(await device("d1")).toMatchObject({ state: "Evacuating" });
    await ask("devices/d1/cancel-evacuation");
    await node.tick();
    expect(await device("d1")).toMatchObject({ state: "Degraded" });
    expect((await ask("devices/d1/clear-hold", {}, "oncall"))[0]).toBe(403);
    await node.tick();
    expect(await device("d1")).toMatchObject({ state: "Degraded" });
    expect(await ask("devices/d1/clear-hold")).toMatchObject([200, { device_id: "d1" }]);
    await node.tick();
    expect(await device("d1")).toMatchObject({ state: "Evacuating" });
    expect((await ask("devices/none/clear-hold"))[0]).toBe(404);
  });
});
