import fc from "fast-check";
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
    operation_type: "READ",
    source_resources: ["no.such"],
    user_context: { user_id: "ada", role: "analyst", department: "sales" },
  });
  expect(denied.body.allowed).toBe(false);
  const ask = async (more: object) =>
    (await rig.call("reader", "POST", "/api/v1/audit/query", { user_id: "ada", ...more })).body.records;
  const all = await ask({});
  expect(all.map(({ allowed }: { allowed: boolean }) => allowed).sort()).toEqual([false, true]);
  expect(await ask({ allowed_only: true })).toEqual(all.filter(({ allowed }: { allowed: boolean }) => allowed));
});

test("dates in the wrong order are refused, by body and by query; a day to itself is not", async () => {
  const [early, late] = ["2026-01-01T00:00:00Z", "2026-01-02T00:00:00Z"];
  const byBody = (start: string, end: string) =>
    rig.call("reader", "POST", "/api/v1/audit/query", { start_date: start, end_date: end });
  const byQuery = (start: string, end: string) => rig.call("reader", "GET", `/api/v1/audit?start_date=${start}&end_date=${end}`);
  for (const ask of [byBody, byQuery]) {
    const refused = await ask(late, early);
    expect([refused.status, refused.body.error?.code]).toEqual([400, "VALIDATION_ERROR"]);
    expect((await ask(early, early)).status).toBe(200);
  }
});

test("a source that nobody knows is not public", async () => {
  const { body } = await rig.call("judge", "POST", "/api/v1/evaluate", {
    operation_type: "READ",
    source_resources: ["no.such"],
    user_context: { user_id: "carol", role: "analyst", department: "sales" },
  });
  expect([body.allowed, body.classification.tier]).toEqual([false, "INTERNAL"]);
});

interface AuditedRecord {
  readonly id: string;
  readonly timestamp: string;
  readonly user_id: string;
  readonly operation_type: string;
  readonly allowed: boolean;
}

test("any filter and page is what a look at every record gives, by body and by query alike", async () => {
  for (let i = 0; i < 40; i++) {
    const user = ["bob", "eve", "ada"][i % 3];
    if (i % 4 === 0) await rig.call("judge", "POST", "/api/v1/classify", { query: "hello", context: { user_id: user } });
    else
      await rig.call("judge", "POST", "/api/v1/evaluate", {
        operation_type: i % 2 === 0 ? "READ" : "EXPORT",
        source_resources: ["no.such"],
        user_context: { user_id: user, role: "analyst", department: "sales" },
      });
    rig.clock.advance(500);
  }
  const all: AuditedRecord[] = (await rig.call("reader", "GET", "/api/v1/audit?limit=1000")).body.records;
  expect(all.length).toBeGreaterThanOrEqual(40);
  const some = <T>(arbitrary: fc.Arbitrary<T>) => fc.option(arbitrary, { nil: undefined });
  const moment = fc
    .integer({ min: -1, max: all.length })
    .map((i) => all[Math.min(Math.max(i, 0), all.length - 1)]?.timestamp ?? "");
  await fc.assert(
    fc.asyncProperty(
      fc.record({
        user_id: some(fc.constantFrom("bob", "eve", "ada", "nobody")),
        operation_types: some(fc.subarray(["CLASSIFY", "READ", "EXPORT", "DELETE"], { minLength: 1 })),
        allowed_only: some(fc.boolean()),
        start_date: some(moment),
        end_date: some(moment),
        limit: fc.integer({ min: 1, max: 60 }),
        offset: fc.integer({ min: 0, max: 60 }),
      }),
      async (filter) => {
        const wanted = all.filter(
          (record) =>
            (filter.user_id === undefined || record.user_id === filter.user_id) &&
            (filter.operation_types === undefined || filter.operation_types.includes(record.operation_type)) &&
            (filter.allowed_only !== true || record.allowed) &&
            (filter.start_date === undefined || record.timestamp >= filter.start_date) &&
            (filter.end_date === undefined || record.timestamp <= filter.end_date),
        );
        const inverted = filter.start_date !== undefined && filter.end_date !== undefined && filter.start_date > filter.end_date;
        const answer = await rig.call("reader", "POST", "/api/v1/audit/query", JSON.parse(JSON.stringify(filter)));
        if (inverted && answer.status === 400) return;
        expect(answer.body.total).toBe(wanted.length);
        const page = wanted.slice(filter.offset, filter.offset + filter.limit).map(({ id }) => id);
        expect(answer.body.records.map(({ id }: AuditedRecord) => id)).toEqual(page);
        const { user_id: user, limit, offset } = filter;
        const query = `limit=${limit}&offset=${offset}${user === undefined ? "" : `&user_id=${user}`}`;
        const got = await rig.call("reader", "GET", `/api/v1/audit?${query}`);
        const byUser = all.filter((record) => user === undefined || record.user_id === user);
        expect([got.body.total, got.body.records.map(({ id }: AuditedRecord) => id)]).toEqual([
          byUser.length,
          byUser.slice(offset, offset + limit).map(({ id }) => id),
        ]);
      },
    ),
    { numRuns: 60 },
  );
});
