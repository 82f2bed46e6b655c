import { afterEach, describe, expect, test } from "vitest";
import { type Rig, servers, startRig } from "./rig.ts";
import { runEvent } from "./run-event.ts";

const column = (input: string, type = "DIRECT", subtype = "IDENTITY") => ({
  inputFields: [
    { namespace: "default", name: "crm.customers", field: input, transformations: [{ type, subtype, masking: false }] },
  ],
});
const event = runEvent({
  inputs: ["crm.customers"],
  outputs: [
    {
      namespace: "default",
      name: "dwh.customers",
      facets: {
        columnLineage: {
          _producer: "https://example.com",
          _schemaURL: "https://openlineage.io/spec/facets/1-2-0/ColumnLineageDatasetFacet.json",
          fields: { mail: column("email"), initials: column("email", "DIRECT", "TRANSFORMATION"), place: column("country") },
        },
      },
    },
  ],
});

describe.each(servers)("the catalogue on %s", (_, serve) => {
  let rig: Rig;
  afterEach(() => rig.stop());
  const start = async () => {
    rig = await startRig(serve);
    await rig.call("writer", "PUT", "/api/v1/resources/crm.customers", {
      tier: "CONFIDENTIAL",
      columns: { email: { type: "text" }, country: { type: "text", tier: "PUBLIC" } },
      owners: ["ada"],
    });
    await rig.call("writer", "PUT", "/api/v1/resources/public.dates", { tier: "PUBLIC", owners: ["bob"] });
    expect((await rig.call("writer", "POST", "/api/v1/lineage", event)).status).toBe(201);
  };
  const impact = (who: "reader" | "other" | "judge" | undefined, query: string, id = "crm.customers") =>
    rig.call(who, "GET", `/api/v1/lineage/${encodeURIComponent(id)}/impact?${query}`);

  test("a change of a column tells columns, data sets and jobs downstream", async () => {
    await start();
    const dropped = await impact("reader", "column=email");
    expect(dropped.status).toBe(200);
    expect(dropped.body).toMatchObject({
      resource_id: "crm.customers",
      column: "email",
      change: "drop",
      classification: { tier: "CONFIDENTIAL" },
      truncated: false,
      columns: [
        { resource_id: "dwh.customers", column: "initials", effect: "breaks", hop: 1, jobs: ["etl"] },
        {
          resource_id: "dwh.customers",
          column: "mail",
          effect: "breaks",
          hop: 1,
          jobs: ["etl"],
          classification: { tier: "CONFIDENTIAL" },
        },
      ],
      datasets: [{ resource_id: "dwh.customers", effect: "breaks", hop: 1 }],
      jobs: [{ job: "etl", effect: "breaks" }],
    });
    const retyped = await impact("reader", "column=EMAIL&change=retype");
    expect(retyped.body.columns.map((c: { column: string; effect: string }) => [c.column, c.effect])).toEqual([
      ["initials", "recomputed"],
      ["mail", "retyped"],
    ]);
    expect((await impact("reader", "column=country")).body.columns.map((c: { column: string }) => c.column)).toEqual(["place"]);
  });

  test("a column that is none, a resource that is none, another organisation and a key without the scope learn nothing", async () => {
    await start();
    const misspelt = await impact("reader", "column=emial");
    expect(misspelt).toMatchObject({
      status: 404,
      body: { error: { message: "no such column", details: { resource_id: "crm.customers", column: "emial" } } },
    });
    const nowhere = await impact("reader", "column=email", "crm.nothing");
    expect(nowhere).toMatchObject({ status: 404, body: { error: { details: { resource_id: "crm.nothing" } } } });
    const foreign = await impact("other", "column=email");
    expect([foreign.status, JSON.stringify(foreign.body).includes("dwh")]).toEqual([404, false]);
    expect((await impact("judge", "column=email")).status).toBe(403);
    expect((await impact(undefined, "column=email")).status).toBe(401);
    for (const query of [
      "",
      "column=",
      "column=email&change=rename",
      "column=email&depth=101",
      "column=email&limit=0",
      "column=email&x=1",
    ])
      expect((await impact("reader", query)).status, query).toBe(400);
  });

  test("resources are found by words, tier, tag and owner, page by page, and only one's own", async () => {
    await start();
    const found = async (query: string, who: "reader" | "other" = "reader") => {
      const { body } = await rig.call(who, "GET", `/api/v1/resources?${query}`);
      return [body.resources.map((r: { resource_id: string }) => r.resource_id), body.total];
    };
    expect(await found("")).toEqual([["crm.customers", "dwh.customers", "public.dates"], 3]);
    expect(await found("text=CUSTOMERS")).toEqual([["crm.customers", "dwh.customers"], 2]);
    expect(await found("text=CUSTOMERS&limit=1&offset=1")).toEqual([["dwh.customers"], 2]);
    expect(await found("text=crm+mail")).toEqual([["crm.customers"], 1]);
    expect(await found("tier=PUBLIC")).toEqual([["public.dates"], 1]);
    expect(await found("tier=PUBLIC&tier=CONFIDENTIAL&owner=ada")).toEqual([["crm.customers"], 1]);
    expect(await found("tag=PII&owner=bob")).toEqual([[], 0]);
    expect(await found("tag=PII")).toEqual([["crm.customers", "dwh.customers"], 2]);
    expect(await found("text=customers", "other")).toEqual([[], 0]);
    expect((await rig.call("reader", "GET", "/api/v1/resources?tier=SECRET")).status).toBe(400);
    expect((await rig.call("judge", "GET", "/api/v1/resources?text=a")).status).toBe(403);
  });

  test("runs and schema changes are told of one's own events, and of nobody else's", async () => {
    await start();
    const schema = (fields: readonly object[]) => ({
      schema: { _producer: "https://example.com", _schemaURL: "https://example.com/s", fields },
    });
    const told = (minute: number, type: string, fields: readonly object[]) =>
      rig.call("writer", "POST", "/api/v1/lineage", {
        ...event,
        eventType: type,
        eventTime: `2026-02-01T00:0${minute}:00Z`,
        run: { runId: "3f5e83fa-3480-44ff-99c5-ff943904e5e9" },
        outputs: [{ namespace: "default", name: "dwh.customers", facets: schema(fields) }],
      });
    await told(1, "START", [{ name: "mail", type: "text" }]);
    await told(4, "FAIL", [
      { name: "mail", type: "varchar" },
      { name: "place", type: "text" },
    ]);
    const runs = await rig.call("reader", "GET", "/api/v1/lineage-runs?job=etl&state=FAIL");
    expect(runs.body).toMatchObject({
      count: 1,
      total: 1,
      runs: [
        {
          job: "etl",
          state: "FAIL",
          started_at: "2026-02-01T00:01:00.000Z",
          ended_at: "2026-02-01T00:04:00.000Z",
          inputs: ["crm.customers"],
          outputs: ["dwh.customers"],
        },
      ],
    });
    expect((await rig.call("reader", "GET", "/api/v1/lineage-runs?limit=1&offset=1")).body).toMatchObject({ count: 1, total: 2 });
    const changes = "/api/v1/lineage/dwh.customers/schema-changes";
    expect((await rig.call("reader", "GET", changes)).body).toMatchObject({
      versions: [{ time: "2026-02-01T00:01:00.000Z" }, { time: "2026-02-01T00:04:00.000Z" }],
      added: [{ column: "place", type: "text" }],
      removed: [],
      retyped: [{ column: "mail", from: "text", to: "varchar" }],
    });
    const before = await rig.call("reader", "GET", `${changes}?start_date=2026-01-01T00:00:00Z&end_date=2026-02-01T00:02:00Z`);
    expect(before.body.added).toEqual([{ column: "mail", type: "text" }]);
    const early = await rig.call("reader", "GET", `${changes}?end_date=2026-01-01T00:00:00Z`);
    expect(early.body).toMatchObject({ added: [], removed: [], retyped: [] });
    expect((await rig.call("other", "GET", "/api/v1/lineage-runs")).body).toEqual({ runs: [], count: 0, total: 0 });
    expect((await rig.call("other", "GET", changes)).status).toBe(404);
    for (const path of ["/api/v1/lineage-runs", changes]) {
      expect((await rig.call("judge", "GET", path)).status).toBe(403);
      expect((await rig.call(undefined, "GET", path)).status).toBe(401);
      expect((await rig.call("reader", "GET", `${path}?start_date=yesterday`)).status).toBe(400);
      const backwards = await rig.call("reader", "GET", `${path}?start_date=2026-02-02T00:00:00Z&end_date=2026-02-01T00:00:00Z`);
      expect([backwards.status, JSON.stringify(backwards.body).includes("end_date")]).toEqual([400, true]);
    }
  });
});
