import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Harness, servers, startScheduler } from "./harness.ts";

const [, serve] = servers[1]!;

describe("a report that is repeated after a lost answer", () => {
  let s: Harness;
  beforeAll(async () => {
    s = await startScheduler(serve);
    await s.cluster(1);
  });
  afterAll(() => s.stop());

  const running = async (request: Record<string, unknown> = {}): Promise<string> => {
    const id = await s.submit("ada", request);
    await s.cycle();
    expect((await s.ok("ada", "GET", `/api/v1/allocations/${id}`)).state).toBe("running");
    return id;
  };
  const report = (who: "agent-1" | "agent-2" | "root", id: string, verb: string, body?: object, key?: string) =>
    s.call(who, "POST", `/api/v1/allocations/${id}/${verb}`, body, key === undefined ? {} : { "idempotency-key": key });
  const told = async (...asked: Parameters<typeof report>) => {
    const { status, body } = await report(...asked);
    return [status, body.error?.code ?? body];
  };
  const done = [200, { success: true }];

  test.each([
    ["complete", undefined, "completed"],
    ["complete", { exit_code: 3 }, "failed"],
    ["fail", { exit_code: 9 }, "failed"],
  ] as const)("%s %j: its agent is told that it was done, with a key and without; nothing changes", async (verb, body, state) => {
    for (const key of [undefined, `key of ${verb} ${state}`.replaceAll(" ", "-")]) {
      const id = await running();
      expect(await told("agent-1", id, verb, body, key)).toEqual(done);
      const ended = await s.ok("ada", "GET", `/api/v1/allocations/${id}`);
      expect(ended.state).toBe(state);
      for (let i = 0; i < 2; i++) expect(await told("agent-1", id, verb, body, key)).toEqual(done);
      expect(await s.ok("ada", "GET", `/api/v1/allocations/${id}`)).toEqual(ended);
      // Another end is another report; another agent's work is nobody's.
      expect(await told("agent-1", id, "complete", { exit_code: 77 })).toEqual([409, "invalid_transition"]);
      expect(await told("agent-2", id, verb, body)).toEqual([404, "not_found"]);
      expect((await report("agent-1", id, "cancel")).status).toBe(403);
    }
  });

  test("work that went back into the queue is not ended by the report of the attempt before", async () => {
    const id = await running({ requeue_policy: "always", max_requeue: 3 });
    expect(await told("agent-1", id, "fail", { exit_code: 1 })).toEqual(done);
    const queued = await s.ok("ada", "GET", `/api/v1/allocations/${id}`);
    expect(queued.state).toBe("pending");
    expect(await told("agent-1", id, "fail", { exit_code: 1 })).toEqual(done);
    expect(await told("agent-1", id, "complete")).toEqual([409, "invalid_transition"]);
    expect(await s.ok("ada", "GET", `/api/v1/allocations/${id}`)).toEqual(queued);
    await s.ok("ada", "POST", `/api/v1/allocations/${id}/cancel`);
  });
});
