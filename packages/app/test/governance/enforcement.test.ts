import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Rig, servers, startRig } from "./rig.ts";

describe.each(servers)("queries with the obligations of their decision on %s", (_, serve) => {
  let rig: Rig;
  beforeAll(async () => {
    rig = await startRig(serve);
    for (const [resource, columns] of [
      ["orders", { id: "INTERNAL", region: "INTERNAL", ssn: "RESTRICTED", dept: "INTERNAL" }],
      ["shop/refunds", { id: "INTERNAL", region: "INTERNAL" }],
      ["hr.people", { id: "PUBLIC", email: "RESTRICTED" }],
      ["people", { id: "PUBLIC", email: "PUBLIC", other: "PUBLIC" }],
      ["test.hr.people", { id: "PUBLIC", email: "PUBLIC", other: "PUBLIC" }],
      ["shop/plain", { id: "PUBLIC", salary: "PUBLIC", rolname: "PUBLIC", note: "PUBLIC" }],
    ] as const) {
      const described = Object.fromEntries(Object.entries(columns).map(([name, tier]) => [name, { tier, tags: [] }]));
      const { status } = await rig.call("admin", "PUT", `/api/v1/resources/${encodeURIComponent(resource)}`, {
        tier: "INTERNAL",
        columns: described,
      });
      expect(status).toBe(200);
    }
  });
  afterAll(() => rig.stop());

  const enforce = (body: object, who: "admin" | "reader" = "admin") =>
    rig.call(who, "POST", "/api/v1/enforce", {
      dialect: "postgres",
      user_context: { user_id: "ada", role: "analyst", department: "sales" },
      ...body,
    });
  const last = async () => (await rig.call("admin", "GET", "/api/v1/audit?limit=1")).body.records[0];

  test("what a caller promises is carried out: columns masked, rows filtered, in the query and in views", async () => {
    const { status, body } = await enforce({
      sql: "SELECT * FROM orders WHERE id > 5",
      transformations: [
        { type: "mask", columns: ["ssn"] },
        { type: "row_filter", column: "region", equals: "EU" },
      ],
      view_schema: "safe",
      user_context: { user_id: "ada", role: "manager", department: "sales" },
    });
    expect([status, body.allowed, body.tables]).toEqual([200, true, ["orders"]]);
    expect(body.sql).toMatch(/^SELECT \* FROM \(SELECT .*, CASE WHEN "ssn" IS NULL THEN NULL ELSE '\*\*\*' END AS "ssn"/);
    expect(body.sql).toMatch(/ FROM orders WHERE "region" IN \('EU'\) OFFSET 0\) AS orders WHERE id > 5$/);
    expect(body.views).toHaveLength(1);
    expect(body.views[0]).toMatch(/^CREATE OR REPLACE VIEW "safe"\."orders" WITH \(security_barrier = true\) AS SELECT/);
    expect(await last()).toMatchObject({ operation_type: "ENFORCE", allowed: true, user_id: "ada", id: body.decision_id });
  });

  test("a table may stand for a resource of another name", async () => {
    const { body } = await enforce({ sql: "SELECT id FROM public.refunds", resources: { "public.refunds": "shop/refunds" } });
    expect([body.allowed, body.tables]).toEqual([true, ["public.refunds"]]);
  });

  test("a table stands for none but those that its name may mean", async () => {
    for (const sql of ["SELECT ssn FROM orders", "SELECT ssn FROM public.orders"]) {
      const table = sql.split(" ").at(-1) ?? "";
      const { status, body } = await enforce({ sql, resources: { [table]: "shop/refunds" } });
      expect([status, body.error?.details.field ?? body.error?.details.issues]).toEqual([400, expect.anything()]);
      expect((await enforce({ sql })).body.allowed).toBe(false);
    }
  });

  test("a resource that is chosen for a name makes it no less than all that the name may mean", async () => {
    for (const table of ["hr.people", "prod.hr.people", "HR.People"])
      for (const given of ["hr.people", "people", "test.hr.people"])
        for (const column of ["email", "other", "*", "id, other"]) {
          const asked = { sql: `SELECT ${column} FROM ${table}`, resources: { [table.toLowerCase()]: given } };
          const { status, body } = await enforce(asked);
          expect([table, given, column, status === 400 || body.classification.tier === "RESTRICTED"]).toEqual([
            table,
            given,
            column,
            true,
          ]);
          expect(body.sql).toBeUndefined();
        }
  });

  test.each([
    'WITH "ORDERS" AS (SELECT id AS ssn FROM shop_refunds) SELECT ssn FROM orders',
    'WITH orders AS (SELECT id AS ssn FROM shop_refunds) SELECT ssn FROM "Orders"',
  ])("no name of a query's own hides a table: %s", async (sql) => {
    const { status, body } = await enforce({ sql, resources: { shop_refunds: "shop/refunds" } });
    expect([status, body.error.message]).toEqual([400, expect.stringContaining("WITH: ")]);
  });

  test.each(["NATURAL JOIN", "NATURAL LEFT JOIN", "NATURAL FULL JOIN"])("a %s tells of all columns", async (join) => {
    const { body } = await enforce({ sql: `SELECT o.id FROM orders o ${join} (SELECT 'v' AS ssn) g` });
    expect([body.allowed, body.classification.tier]).toEqual([false, "RESTRICTED"]);
  });

  test("a view replaces no other and no table", async () => {
    const asked = { sql: "SELECT a.id FROM a.pages a JOIN b.pages b ON a.id = b.id" };
    const resources = { "a.pages": "shop/refunds", "b.pages": "shop/refunds" };
    const reasoning = async (more: object) => (await enforce({ ...asked, resources, ...more })).body.reasoning;
    expect((await enforce({ ...asked, resources })).body.allowed).toBe(true);
    expect(await reasoning({ view_schema: "safe" })).toMatch(/two tables would have the view safe\.pages/);
    for (const schema of ["a", "A", "prod.a"])
      expect(await reasoning({ sql: "SELECT id FROM a.pages", view_schema: schema })).toMatch(/may be a table of the query/);
    for (const schema of ["v.", "v..w", ".v", "1v", "v.1"])
      expect((await enforce({ ...asked, resources, view_schema: schema })).status).toBe(400);
  });

  describe("the columns that a query names are judged, and not the table alone", () => {
    const judged = async (sql: string, more: object = {}) => {
      const { status, body } = await enforce({ sql, ...more });
      expect([sql, status]).toEqual([sql, 200]);
      return [body.allowed, body.classification.tier];
    };
    test.each([
      "SELECT id FROM orders",
      "SELECT o.region, count(*) FROM orders o GROUP BY o.region",
      "SELECT dept FROM orders WHERE id > 5 ORDER BY region",
      "WITH c AS (SELECT id, dept FROM orders) SELECT c.dept FROM c WHERE c.id = 1",
    ])("of a table with a sensitive one: %s", async (sql) => expect(await judged(sql)).toEqual([true, "INTERNAL"]));

    test.each([
      "SELECT ssn FROM orders",
      "SELECT id FROM orders WHERE ssn = '1'",
      "SELECT id FROM orders ORDER BY SSN",
      "SELECT region FROM orders GROUP BY region HAVING min(ssn) = '1'",
      "SELECT * FROM orders",
      "SELECT o.* FROM orders o",
      "SELECT o FROM orders o",
      "SELECT orders FROM orders",
      "SELECT count(o) FROM orders o",
      "SELECT id FROM (SELECT id, ssn AS x FROM orders) y WHERE x = '1'",
      "SELECT id FROM shop_refunds r WHERE EXISTS (SELECT 1 FROM orders WHERE orders.ssn = '1')",
      'SELECT "ssn" FROM orders',
      "SELECT row_number() OVER (ORDER BY ssn) FROM orders",
      "SELECT a.id FROM orders a JOIN orders b USING (ssn)",
      "SELECT CASE WHEN id = 1 THEN ssn ELSE dept END FROM orders",
      "SELECT count(*) FROM orders",
    ])("all that it may show: %s", async (sql) =>
      expect(await judged(sql, { resources: { shop_refunds: "shop/refunds" } })).toEqual([false, "RESTRICTED"]),
    );

    test("a view shows all columns, and a filter tells of its own", async () => {
      const sql = "SELECT id FROM orders";
      expect(await judged(sql, { view_schema: "safe" })).toEqual([false, "RESTRICTED"]);
      const filtered = { transformations: [{ type: "row_filter", column: "ssn", equals: "1" }] };
      expect(await judged(sql, filtered)).toEqual([false, "RESTRICTED"]);
    });

    test.each([
      ["SELECT id FROM pg_authid", "pg_authid", "RESTRICTED"],
      ["SELECT note FROM mysql.user", "mysql.user", "RESTRICTED"],
      ["SELECT salary FROM hr_payroll", "hr_payroll", "PROPRIETARY"],
      ["SELECT * FROM hr_payroll", "hr_payroll", "PROPRIETARY"],
      ["SELECT * FROM hospital_patients", "hospital_patients", "RESTRICTED"],
    ])(
      "what the caller says of a table that nobody registered makes it no less than its names do: %s",
      async (sql, table, tier) => expect((await judged(sql, { resources: { [table]: "shop/plain" } }))[1]).toBe(tier),
    );
    test("and says what it stands for where these say nothing", async () =>
      expect(await judged("SELECT id FROM pages", { resources: { pages: "shop/plain" } })).toEqual([true, "INTERNAL"]));
  });

  test.each<[string, object]>([
    ["what the policy denies", { sql: "SELECT ssn FROM orders" }],
    ["a table that nobody registered", { sql: "SELECT * FROM people" }],
    ["no table", { sql: "SELECT 1" }],
    [
      "a promise that no query keeps",
      {
        sql: "SELECT id FROM orders",
        transformations: [
          { type: "mask", columns: ["ssn"] },
          { type: "sample", rows: 5 },
        ],
      },
    ],
  ])("there is no query for %s, and the denial is recorded", async (_what, request) => {
    const { status, body } = await enforce(request);
    expect([status, body.allowed, body.sql]).toEqual([200, false, undefined]);
    expect(await last()).toMatchObject({ operation_type: "ENFORCE", allowed: false, id: body.decision_id });
  });

  test.each([
    ["a change", "DELETE FROM orders"],
    ["a function that reads", "SELECT query_to_xml('select * from orders', true, true, '') FROM orders"],
    ["a comment", "SELECT id FROM orders -- x"],
  ])("what is not understood is refused: %s", async (_what, sql) => {
    const { status, body } = await enforce({ sql });
    expect([status, body.error.details.field]).toEqual([400, "sql"]);
    expect((await enforce({ sql: "SELECT 1" }, "reader")).status).toBe(403);
  });
});
