import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Rig, servers, startRig } from "./rig.ts";

const POLICY = `package governance

decision := {"allowed": true, "policy_id": "p", "policy_name": "P", "reasons": []}
`;
const ROWS = `package orders

include if input.row.owner == input.user.user_id

include if {
	input.user.role == "manager"
	input.row.level < 3
}

all if input.user.role == "manager"

odd if regex.match("ada", input.row.owner)

f(x) if x

two := 1 if input.user.role

two := 2 if input.user.role
`;
const LOG = `package system.log

mask contains "/input/user"
`;
const COLUMNS = {
  "input.row.owner": { column: "orders.owner", type: "text" },
  "input.row.level": { column: "level", type: "integer" },
};

describe.each(servers)("filters of rows on %s", (_, serve) => {
  let rig: Rig;
  let dir = "";
  beforeAll(async () => {
    dir = await mkdtemp(join(tmpdir(), "seneschal-filters-"));
    const files = Object.entries({ POLICY, ROWS, LOG }).map(async ([name, source]) => {
      const path = join(dir, `${name.toLowerCase()}.rego`);
      await writeFile(path, source);
      return path;
    });
    rig = await startRig(serve, { settings: { policy_files: await Promise.all(files) } });
  });
  afterAll(async () => {
    await rig.stop();
    await rm(dir, { recursive: true, force: true });
  });
  const ask = (body: object, who: "admin" | "reader" = "admin") =>
    rig.call(who, "POST", "/api/v1/filters", {
      query: "data.orders.include",
      user_context: { user_id: "ada", role: "manager", department: "sales" },
      ...body,
    });
  const last = async () => (await rig.call("admin", "GET", "/api/v1/audit?limit=1")).body.records[0];

  test("a document that hangs on the row is a condition, or SQL in which every value is a parameter; it is recorded", async () => {
    const told = await ask({});
    expect([told.status, told.body.condition]).toEqual([
      200,
      {
        type: "compound",
        operator: "or",
        value: [
          { type: "field", operator: "eq", field: "input.row.owner", value: "ada" },
          { type: "field", operator: "lt", field: "input.row.level", value: 3 },
        ],
      },
    ]);
    expect(await last()).toMatchObject({
      operation_type: "FILTER",
      resource: "data.orders.include",
      allowed: true,
      user_id: "ada",
      id: told.body.decision_id,
    });
    for (const dialect of ["postgres", "bigquery", "snowflake"]) {
      const { status, body } = await ask({
        dialect,
        columns: COLUMNS,
        user_context: { user_id: "a' OR 1=1 --", role: "manager", department: "" },
      });
      expect([status, body.condition]).toEqual([200, undefined]);
      expect(body.parameters).toContain("a' OR 1=1 --");
      expect(body.sql).not.toContain("1=1");
    }
  });

  test("what no row changes is for all rows, or for none", async () => {
    const nothing = { user_context: { user_id: "eve", role: "intern", department: "" } };
    const always = { type: "compound", operator: "and", value: [] };
    const never = { type: "compound", operator: "or", value: [] };
    expect((await ask({ query: "data.orders.all" })).body.condition).toEqual(always);
    expect((await ask({ query: "data.orders.all", ...nothing })).body.condition).toEqual(never);
    for (const query of ["data.nothing.there", "data.orders.f"]) expect((await ask({ query })).body.condition).toEqual(never);
    expect((await ask({ query: "data.orders.all", dialect: "postgres", columns: {}, ...nothing })).body.sql).toBe("FALSE");
  });

  test("what no condition says is refused by its place and recorded as a denial", async () => {
    const { status, body } = await ask({ query: "data.orders.odd" });
    expect([status, body.error.code]).toEqual([400, "VALIDATION_ERROR"]);
    expect(body.error.details).toMatchObject({ field: "query", reason: "partial_function", place: "rows.rego:12:8" });
    expect(await last()).toMatchObject({ operation_type: "FILTER", allowed: false });
    const failed = await ask({ query: "data.orders.two" });
    expect([failed.status, failed.body.error.code]).toEqual([500, "POLICY_EVALUATION_FAILED"]);
    expect(await last()).toMatchObject({ operation_type: "FILTER", allowed: false, id: failed.body.error.details.decision_id });
    const unknown = await ask({ dialect: "postgres", columns: { "input.row.owner": COLUMNS["input.row.owner"] } });
    expect([unknown.status, (await last()).allowed]).toEqual([400, false]);
  });

  test.each([
    [{ input: { user: { user_id: "eve" } } }, "input.user"],
    [{ input: { row: { owner: "ada" } } }, "input.row"],
    [{ rows: ["input.user"] }, "rows"],
    [{ rows: ["input.user.user_id"] }, "rows"],
    [{ rows: ["data.orders"] }, "rows[0]"],
    [{ rows: ["input.row", "input.row.owner"] }, "rows"],
    [{ rows: ["input.row", "input.row"] }, "rows"],
    [{ query: "data.system.log.mask" }, "query"],
    [{ query: "data.orders.include; true" }, "query"],
    [{ query: "data" }, "query"],
    [{ dialect: "postgres" }, "columns"],
    [{ columns: COLUMNS }, "columns"],
  ])("%j is refused by its field before anything is asked", async (body, field) => {
    const before = await last();
    const answer = await ask(body);
    expect([answer.status, answer.body.error.details.field]).toEqual([400, field]);
    expect(await last()).toEqual(before);
  });

  test("whoever may not evaluate may not filter", async () => {
    expect((await ask({}, "reader")).status).toBe(403);
    expect((await rig.call(undefined, "POST", "/api/v1/filters", {})).status).toBe(401);
  });
});
