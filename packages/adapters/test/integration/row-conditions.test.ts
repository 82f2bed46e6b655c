import { conditionSql } from "@seneschal/governance";
import { check, compile, readJson } from "@seneschal/rego";
import { generatedRows, ROW_COLUMNS, rowJson, rowPolicies } from "@seneschal/rego/arbitraries";
import fc from "fast-check";
import pg from "pg";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type PostgresServer, postgresBinaries, startPostgres } from "../../../../tools/postgres-cluster.ts";

const COLUMNS = Object.fromEntries(
  Object.entries(ROW_COLUMNS).map(([column, type]) => [`input.row.${column}`, { column: `t.${column}`, type }]),
);
const TYPES = { text: "text", integer: "bigint", numeric: "numeric", boolean: "boolean" };

if (postgresBinaries() === undefined) test.skip("PostgreSQL is not installed (apt-get install postgresql)", () => {});
else
  describe("policies as filters of rows, on PostgreSQL", () => {
    const rows = fc.sample(generatedRows(), { numRuns: 120, seed: 11 });
    let server: PostgresServer;
    let client: pg.Client;
    beforeAll(async () => {
      server = await startPostgres();
      client = new pg.Client({ connectionString: server.url });
      await client.connect();
      // Texts that are equal but for their case or their accents are equal in these columns, and in no order of code points.
      await client.query(`CREATE COLLATION loose (provider = icu, locale = 'und-u-ks-level1', deterministic = false)`);
      for (const [table, collation] of [
        ["plain", ""],
        ["loosely", "COLLATE loose"],
      ]) {
        const columns = Object.entries(ROW_COLUMNS).map(
          ([column, type]) => `${column} ${TYPES[type]} ${type === "text" ? collation : ""}`,
        );
        await client.query(`CREATE TABLE ${table} (id int, ${columns.join(", ")})`);
        for (const [id, row] of rows.entries())
          await client.query(`INSERT INTO ${table} VALUES ($1, $2, $3, $4, $5, $6, $7, $8)`, [id, ...Object.values(row)]);
      }
    });
    afterAll(async () => {
      await client.end();
      await server.destroy();
    });

    test("the rows that a filter lets through are those that the policy allows, whatever the collation of their columns", async () => {
      let some = 0;
      let asked = 0;
      await fc.assert(
        fc.asyncProperty(rowPolicies(), async ({ source, input, data }) => {
          const sources = [{ name: "p.rego", source }];
          fc.pre(check(sources).length === 0);
          const policy = compile(sources);
          const partial = policy.partial("data.p.allow", ["input.row"], input, { data });
          if (partial.kind !== "condition") return;
          const { sql, parameters } = conditionSql("postgres", partial.condition, COLUMNS);
          const allowed = rows.flatMap((row, id) => {
            const result = policy.evaluate("data.p.allow", { ...(input as object), row: readJson(rowJson(row)) }, { data });
            return result.kind === "defined" && result.value !== false ? [id] : [];
          });
          for (const table of ["plain", "loosely"]) {
            const found = await client.query(`SELECT id FROM ${table} AS t WHERE ${sql} ORDER BY id`, [...parameters]);
            expect(
              found.rows.map(({ id }) => id),
              sql,
            ).toEqual(allowed);
          }
          asked++;
          if (allowed.length > 0 && allowed.length < rows.length) some++;
        }),
        { numRuns: Number(process.env["FC_RUNS"] ?? 150) },
      );
      expect(some).toBeGreaterThan(asked / 6);
    });
  });
