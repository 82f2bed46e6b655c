import { DEFAULT_TIER_POLICY, tierRank } from "@seneschal/governance";
import { serve } from "@seneschal/server-fastify";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Rig, startRig } from "./rig.ts";
import { runEvent } from "./run-event.ts";

let rig: Rig;
const RESOURCES: Readonly<
  Record<string, { readonly tier: string; readonly tags?: readonly string[]; readonly columns?: object }>
> = {
  // Several of one name.
  "aa.tau": { tier: "INTERNAL" },
  "bb.tau": { tier: "RESTRICTED", tags: ["PHI"] },
  zeta: { tier: "INTERNAL" },
  "hr.zeta": { tier: "RESTRICTED" },
  rho: { tier: "INTERNAL" },
  RHO: { tier: "RESTRICTED" },
  // Columns of which the register lists a part.
  "ns.omicron": { tier: "RESTRICTED", columns: { qq: { tier: "RESTRICTED" }, id: { tier: "PUBLIC" } } },
  "ns.sigma": { tier: "RESTRICTED", columns: { id: { tier: "PUBLIC" } } },
  "ns.plain": { tier: "PUBLIC", columns: { id: { tier: "PUBLIC" } } },
  // One name only.
  omega: { tier: "RESTRICTED" },
  "proj.ds.kappa": { tier: "RESTRICTED" },
};

beforeAll(async () => {
  rig = await startRig(serve);
  for (const [id, body] of Object.entries(RESOURCES)) {
    const { status, body: answer } = await rig.call("admin", "PUT", `/api/v1/resources/${encodeURIComponent(id)}`, body);
    expect([id, status, answer.error]).toEqual([id, 200, undefined]);
  }
});
afterAll(() => rig.stop());

const classify = async (query: string) => (await rig.call("admin", "POST", "/api/v1/classify", { query })).body;
const tierOf = async (query: string): Promise<string> => (await classify(query)).tier;

describe("a name that may mean several tables has what is known of all of them", () => {
  test.each(["tau", "zeta", "rho", "Rho", "hr.zeta", "x.bb.tau", "public.rho"])("%s", async (table) =>
    expect(await tierOf(`SELECT a FROM ${table}`)).toBe("RESTRICTED"),
  );

  test("their tags too; and what tells them apart counts", async () => {
    expect((await classify("SELECT * FROM tau")).tags).toContain("PHI");
    expect(await tierOf("SELECT * FROM aa.tau")).toBe("INTERNAL");
    expect(await tierOf("SELECT * FROM cc.tau")).toBe("INTERNAL");
  });

  test("where the query is rewritten as well, whichever the caller says is meant", async () => {
    const asked = { dialect: "postgres", user_context: { user_id: "u", role: "employee", department: "d" } };
    const denied = await rig.call("admin", "POST", "/api/v1/enforce", { ...asked, sql: "SELECT id FROM zeta" });
    expect([denied.body.allowed, denied.body.classification.tier]).toEqual([false, "RESTRICTED"]);
    for (const meant of ["zeta", "hr.zeta"]) {
      const named = { ...asked, sql: "SELECT id FROM zeta", resources: { zeta: meant } };
      expect((await rig.call("admin", "POST", "/api/v1/enforce", named)).body.classification.tier).toBe("RESTRICTED");
    }
  });
});

describe("what the register does not list of a table has the tier of the table", () => {
  for (const table of ["ns.omicron", "ns.sigma"])
    test.each([
      "SELECT a FROM T",
      "SELECT * FROM T",
      "SELECT t.* FROM T t",
      "SELECT t FROM T t",
      "SELECT to_jsonb(t) FROM T t",
      "SELECT max(a) FROM T",
      "SELECT array_agg(t) FROM T t",
      "SELECT a FROM T AS t(a, b)",
      "SELECT b FROM T AS t(a, b)",
      "WITH c(a, b) AS (SELECT * FROM T) SELECT a FROM c",
      "SELECT a FROM (SELECT * FROM T) x",
      "SELECT id FROM (SELECT id FROM ns.plain UNION ALL SELECT a FROM T) x",
      "SELECT id FROM (SELECT * FROM ns.plain UNION ALL SELECT * FROM T) x",
      "SELECT * FROM ns.plain NATURAL JOIN T",
      "SELECT a FROM ns.plain JOIN T USING (id)",
      "SELECT (SELECT a FROM ns.plain LIMIT 1) FROM T",
      "DELETE FROM T RETURNING a",
      "COPY T TO STDOUT",
      "TABLE T",
      "SELECT constructor FROM T",
      "SELECT __proto__ FROM T",
    ])(`%s, of ${table}`, async (query) => expect(await tierOf(query.replace(/\bT\b/g, table))).toBe("RESTRICTED"));

  test("as a figure one tier less; a column that is listed has its own", async () => {
    expect(await tierOf("SELECT avg(a) FROM ns.sigma")).toBe("PROPRIETARY");
    expect(await tierOf("SELECT id FROM ns.plain")).toBe("PUBLIC");
    expect(await tierOf("SELECT id FROM ns.sigma")).toBe("INTERNAL");
    expect(await tierOf("SELECT t.id FROM ns.sigma t JOIN ns.plain o ON t.id = o.id")).toBe("INTERNAL");
  });
});

test("however a registered table is written, its rows never have less than its tier", () =>
  fc.assert(
    fc.asyncProperty(
      fc.constantFrom("omega", "proj.ds.kappa", "hr.zeta", "ns.sigma"),
      fc.constantFrom("", "x.", "srv.db.", "db..", "[srv].[db]."),
      fc.constantFrom<(parts: readonly string[]) => string>(
        (parts) => parts.join("."),
        (parts) => parts.join(".").toUpperCase(),
        (parts) => parts.map((part) => `"${part}"`).join("."),
        (parts) => parts.map((part) => `[${part}]`).join("."),
        (parts) => `\`${parts.join(".")}\``,
        (parts) => parts.at(-1) ?? "",
        (parts) => parts.join(" . "),
        (parts) => `${parts.join(".")} AT(OFFSET => -60)`,
        (parts) => `${parts.join(".")}@remote`,
      ),
      fc.constantFrom("SELECT a FROM T", "SELECT * FROM T", "USE x; SELECT * FROM T", "DELETE FROM T RETURNING *"),
      async (table, prefix, write, query) => {
        const written = write(table.split("."));
        // Another schema in the place of its own would be another table.
        const whole = written.length >= table.length;
        const sql = query.replace(/\bT\b/, () => (whole ? prefix : "") + written);
        expect([sql, tierRank(DEFAULT_TIER_POLICY, await tierOf(sql))]).toEqual([sql, 4]);
      },
    ),
    { numRuns: 100 },
  ));

test("a table that only lineage has named says as little as before: its name still counts", async () => {
  const event = runEvent({ inputs: [{ namespace: "pg", name: "customers" }], outputs: [{ namespace: "pg", name: "copied" }] });
  const before = await tierOf("SELECT * FROM customers");
  expect((await rig.call("admin", "POST", "/api/v1/lineage", event)).status).toBeLessThan(300);
  expect([before, await tierOf("SELECT * FROM customers")]).toEqual(["CONFIDENTIAL", "CONFIDENTIAL"]);
});
