import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Rig, servers, startRig } from "./rig.ts";

/** The purpose of a request names the rule that the decision's row filter takes. */
const POLICY = `package governance

decision := {
	"allowed": true, "policy_id": "p", "policy_name": "P", "reasons": [],
	"obligations": [{"type": "row_filter", "id": "rows", "properties": filters[input.purpose]}],
}

filters := {
	"own": {"rule": "data.orders.include"},
	"named": {"rule": "data.orders.named"},
	"all": {"rule": "data.orders.all"},
	"none": {"rule": "data.orders.none"},
	"text": {"rule": "data.orders.matching"},
	"two": {"rule": "data.orders.two"},
	"unknown": {"rule": "data.orders.unknown"},
	"exact": {"rule": "data.orders.exact"},
	"either": {"rule": "data.orders.either"},
	"typed": {"rule": "data.orders.typed"},
	"quoted": {"rule": "data.orders.quoted"},
	"missing": {"rule": "data.elsewhere.include"},
	"log": {"rule": "data.system.log.mask"},
	"path": {"rule": "data.orders.include == true"},
	"both": {"rule": "data.orders.all", "column": "region", "equals": "EU"},
	"list": {"rule": ["data.orders.all"]},
}
`;
const RULES = `package orders

include if input.row.owner == input.user.user_id

include if {
	input.user.role == "manager"
	lower(input.row.region) in {"eu", "uk"}
	input.row.amount * 2 < 100
}

named if input.table.id == "shop/refunds"

named if {
	input.table.name == "orders"
	input.row.owner == "ada"
}

all if input.user.role == "manager"

none if false

matching if regex.match("a", input.row.owner)

two := 1 if input.user.role

two := 2 if input.user.role

unknown if input.row.other == 1

exact if input.row.Kind == "a"

either if input.row.kInD == "a"

typed if input.row.at == "2026-01-01"

quoted if input.row.owner == "o'neill"
`;
const COLUMNS = {
  id: "bigint",
  owner: "character varying(80)",
  region: "text",
  amount: "integer",
  at: "timestamp with time zone",
  Kind: "text",
  kind: "text",
};

describe.each(servers)("row filters that are rules of the policy on %s", (_, serve) => {
  let rig: Rig;
  let dir = "";
  beforeAll(async () => {
    dir = await mkdtemp(join(tmpdir(), "seneschal-rules-"));
    const policies = Object.entries({ POLICY, RULES }).map(async ([name, source]) => {
      const path = join(dir, `${name.toLowerCase()}.rego`);
      await writeFile(path, source);
      return path;
    });
    rig = await startRig(serve, { settings: { policy_files: await Promise.all(policies) } });
    const described = Object.fromEntries(Object.entries(COLUMNS).map(([name, type]) => [name, { type }]));
    for (const [id, columns] of [
      ["orders", described],
      ["shop/refunds", { id: { type: "bigint" } }],
      ["postgres://db.example:5432/shop.public.visits", described],
      ["postgres://db.example:5432/shop.public.twice", described],
      ["postgres://other.example:5432/shop.public.twice", described],
      ["s3://lake/files", described],
      [
        "postgres://db.example:5432/shop.public.odd",
        { ...described, 'a"b': {}, "<EMAIL_ADDRESS>": {}, "a\ufffd": {}, "Full Name": {} },
      ],
      ["postgres://db.example:5432/shop.public.odder", { 'a"b': {} }],
    ] as const)
      expect((await rig.call("admin", "PUT", `/api/v1/resources/${encodeURIComponent(id)}`, { columns })).status).toBe(200);
  });
  afterAll(async () => {
    await rig.stop();
    await rm(dir, { recursive: true, force: true });
  });
  const enforce = async (purpose: string, more: object = {}) => {
    const { status, body } = await rig.call("admin", "POST", "/api/v1/enforce", {
      dialect: "postgres",
      sql: "SELECT id FROM orders",
      user_context: { user_id: "ada", role: "manager", department: "sales" },
      purpose,
      ...more,
    });
    return { status, body };
  };
  const last = async () => (await rig.call("admin", "GET", "/api/v1/audit?limit=1")).body.records[0];

  test("a query, and a view, show the rows for which the rule holds, by what it reads of the person", async () => {
    const { body } = await enforce("own", { view_schema: "safe" });
    expect([body.allowed, body.obligations[0].properties]).toEqual([true, { rule: "data.orders.include" }]);
    const where = /FROM orders WHERE (.*) OFFSET 0\) AS orders$/.exec(body.sql)?.[1] ?? "";
    expect(where).toMatch(
      /"owner" = CAST\('ada' AS TEXT\).* OR .*TRANSLATE\("region" COLLATE "C".*CAST\("amount" AS NUMERIC\) \*/,
    );
    expect(body.views[0]).toMatch(/^CREATE OR REPLACE VIEW "safe"\."orders" WITH \(security_barrier = true\) AS SELECT/);
    expect(body.views[0].endsWith(`FROM "orders" WHERE ${where}`)).toBe(true);
    const { body: other } = await enforce("own", { user_context: { user_id: "eve", role: "analyst", department: "x" } });
    expect(other.sql).toMatch(
      /WHERE \("owner" = CAST\('eve' AS TEXT\) AND "owner" COLLATE "C" = CAST\('eve' AS TEXT\)\) OFFSET 0/,
    );
    expect(await last()).toMatchObject({ operation_type: "ENFORCE", allowed: true, user_id: "eve", id: other.decision_id });
  });

  test("each table of a query is asked for by itself, by its resource and its name", async () => {
    const { body } = await enforce("named", {
      sql: "SELECT orders.id FROM orders JOIN refunds r ON r.id = orders.id",
      resources: { refunds: "shop/refunds" },
    });
    expect(body.sql).toMatch(
      /FROM orders WHERE .*'ada'.* OFFSET 0\) AS orders JOIN \(SELECT "id" FROM refunds WHERE TRUE OFFSET 0\) r ON/,
    );
  });

  test("where the row does not matter all rows are shown, or none", async () => {
    expect((await enforce("all")).body.sql).toMatch(/ WHERE TRUE OFFSET 0\)/);
    expect((await enforce("none")).body.sql).toMatch(/ WHERE FALSE OFFSET 0\)/);
    expect((await enforce("missing")).body.sql).toMatch(/ WHERE FALSE OFFSET 0\)/);
  });

  test("a name is a column's letter for letter, or of the one column that it can mean", async () => {
    expect((await enforce("exact")).body.sql).toMatch(/WHERE \("Kind" = CAST/);
    expect((await enforce("either")).body).toMatchObject({
      allowed: false,
      reasoning: expect.stringContaining("no column for input.row.kInD"),
    });
  });

  test.each([
    ["what no condition says", "text", /data\.orders\.matching: regex\.match of a column .*rules\.rego:22:13/],
    ["a column that the table has not", "unknown", /no column for input\.row\.other/],
    ["a column of a type that conditions do not know", "typed", /whose type no condition knows/],
    ["a value that not every database reads alike", "quoted", /quotation mark/],
    ["what the decision log asks", "log", /a path such as/],
    ["a query in a path's place", "path", /a path such as/],
    ["a list of rules", "list", /a path such as/],
    ["a rule and a column", "both", /has a rule, or a column and values/],
  ])("a row filter by %s is a denial, which is recorded", async (_what, purpose, reason) => {
    const { status, body } = await enforce(purpose);
    expect([status, body.allowed, body.sql, body.views]).toEqual([200, false, undefined, undefined]);
    expect(body.reasoning).toMatch(reason);
    expect(await last()).toMatchObject({ operation_type: "ENFORCE", allowed: false, id: body.decision_id });
  });

  test("a rule that fails is no filter: nothing is shown, and the failure is recorded as a denial", async () => {
    const { status, body } = await enforce("two");
    expect([status, body.error.code, body.sql]).toEqual([500, "POLICY_EVALUATION_FAILED", undefined]);
    expect(await last()).toMatchObject({ operation_type: "ENFORCE", allowed: false });
  });

  test("nobody asks for a rule but the policy", async () => {
    const transformations = [{ type: "row_filter", rule: "data.orders.all" }];
    expect((await enforce("own", { transformations })).status).toBe(400);
  });

  describe("tables that were scanned", () => {
    test.each(["visits", "public.visits", "shop.public.visits"])(
      "are found by a name that only one may have: %s",
      async (table) => {
        const { body } = await enforce("all", { sql: `SELECT id FROM ${table}` });
        expect([body.allowed, body.tables]).toEqual([true, [table]]);
        expect(body.sql).toContain(`"owner", "region"`);
      },
    );

    test.each([
      ["two of its name", "SELECT id FROM twice", "postgres"],
      ["another schema's", "SELECT id FROM private.visits", "postgres"],
      ["a name in other letters, which is another table there", 'SELECT id FROM "Visits"', "postgres"],
      ["states of it", "SELECT id FROM visits.snapshots", "postgres"],
      ["another kind of database", "SELECT id FROM visits", "bigquery"],
      ["a file", "SELECT id FROM files", "postgres"],
    ])("and by none that may be something else: %s", async (_what, sql, dialect) => {
      expect((await enforce("all", { sql, dialect })).body).toMatchObject({ allowed: false });
    });

    test("a column whose name cannot be written is not shown, and the others are", async () => {
      const { body } = await enforce("all", { sql: 'SELECT "Full Name" FROM odd', view_schema: "safe" });
      expect(body.allowed).toBe(true);
      for (const text of [body.sql, body.views[0]]) {
        expect(text).toContain(`"Full Name"`);
        expect(text).not.toMatch(/EMAIL|\ufffd|a"b/);
      }
      expect((await enforce("all", { sql: "SELECT id FROM odder" })).body).toMatchObject({ allowed: false });
    });
  });
});
