import { conditionSql, tableRules, tableView } from "@seneschal/governance";
import { isCoded } from "@seneschal/kernel";
import type { RowCondition } from "@seneschal/kernel/ports";
import { check, compile, readJson } from "@seneschal/rego";
import { generatedRows, ROW_COLUMNS, rowJson, rowPolicies } from "@seneschal/rego/arbitraries";
import fc from "fast-check";
import pg from "pg";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type PostgresServer, postgresBinaries, startPostgres } from "../../../../tools/postgres-cluster.ts";
import { findOpa } from "../policy/find-opa.ts";
import { startOpa } from "../policy/start-opa.ts";

const COLUMNS = Object.fromEntries(
  Object.entries(ROW_COLUMNS).map(([column, type]) => [`input.row.${column}`, { column: `t.${column}`, type }]),
);
const TYPES = { text: "text", integer: "bigint", numeric: "numeric", boolean: "boolean" };

/** A view of what an obligation by that rule lets through of a table; none where a value is one that not every database reads alike. */
function viewOf(name: string, condition: RowCondition): string | undefined {
  const table = {
    name,
    columns: ["id", ...Object.keys(ROW_COLUMNS)],
    types: { ...ROW_COLUMNS, name: "character varying(80)", age: "bigint", price: "numeric(40, 20)" },
    conditions: { "data.p.allow": condition },
  };
  const obligation = { type: "row_filter", id: "rows", properties: { rule: "data.p.allow" } };
  const [rules] = tableRules([obligation], [table]);
  try {
    return rules && tableView("postgres", rules, `shown_${name}`);
  } catch (error) {
    if (isCoded(error, "validation_failed") && /of a row filter cannot/.test(error.message)) return undefined;
    throw error;
  }
}

const LARGE = { ticks: 1e9, elements: 1e8, characters: 1e8, outputNodes: 1e8, outputCharacters: 1e8, milliseconds: 60_000 };

const opa = findOpa();

/** What OPA's Compile API says in SQL as well: columns beside values of their own kind. */
const same = fc.oneof(
  fc
    .tuple(
      fc.constantFrom("name", "note"),
      fc.constantFrom("==", "!=", "<", ">="),
      fc.constantFrom("a", "ab", "é", "'", "%", "\\"),
    )
    .map(([column, operator, value]) => `input.orders.${column} ${operator} ${JSON.stringify(value)}`),
  fc
    .tuple(fc.constantFrom("age", "price"), fc.constantFrom("==", "!=", "<", "<=", ">", ">="), fc.constantFrom("0", "1", "2.5"))
    .map(
      ([column, operator, value]) => `input.orders.${column} ${operator} ${column === "age" ? value.replace(".5", "") : value}`,
    ),
  fc
    .tuple(fc.constantFrom("startswith", "endswith", "contains"), fc.constantFrom("a", "b", "é"))
    .map(([holds, value]) => `${holds}(input.orders.name, ${JSON.stringify(value)})`),
  fc.constantFrom('input.orders.name in ["a", "b", "%"]', "input.orders.name == input.user", "input.orders.age in [1, 1000]"),
);
const filters = fc.array(
  fc.array(
    fc.tuple(fc.boolean(), same).map(([negated, expression]) => `${negated ? "not " : ""}${expression}`),
    { minLength: 1, maxLength: 3 },
  ),
  { minLength: 1, maxLength: 3 },
);

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
      let computed = 0;
      let shown = 0;
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
            const view = viewOf(table, partial.condition);
            if (view === undefined) continue;
            shown++;
            await client.query(view);
            const seen = await client.query(`SELECT id FROM shown_${table} ORDER BY id`);
            expect(
              seen.rows.map(({ id }) => id),
              view,
            ).toEqual(allowed);
          }
          asked++;
          if (JSON.stringify(partial.condition).includes('"call"')) computed++;
          if (allowed.length > 0 && allowed.length < rows.length) some++;
        }),
        { numRuns: Number(process.env["FC_RUNS"] ?? 100) },
      );
      expect(some).toBeGreaterThan(asked / 6);
      expect(computed).toBeGreaterThan(asked / 6);
      expect(shown).toBeGreaterThan(asked / 4);
      expect(asked).toBeGreaterThan(50);
    });

    test("whatever the letters, lower and upper are those of the engine", async () => {
      const policy = compile([
        {
          name: "p.rego",
          source: `package p\n\nlow if lower(input.row.letter) == input.row.lower\n\nup if upper(input.row.letter) == input.row.upper\n`,
        },
      ]);
      const all: string[] = [];
      for (let code = 1; code < 0x110000; code++) if (code < 0xd800 || code > 0xdfff) all.push(String.fromCodePoint(code));
      const each = (f: string) => policy.query(`x := [y | some l in input; y := ${f}(l)]`, all, { budgets: LARGE });
      const [lower = [], upper = []] = ["lower", "upper"].map((f) => {
        const told = each(f);
        if (told.kind !== "solutions") throw new Error(JSON.stringify(told).slice(0, 200));
        return told.bindings[0]?.["x"] as readonly string[];
      });
      // The database is slow at it: of those that stay as they are one in fifty.
      const asked = all.flatMap((letter, i) => (lower[i] !== letter || upper[i] !== letter || i % 50 === 0 ? [i] : []));
      await client.query("CREATE TABLE letters (letter text, lower text, upper text)");
      await client.query("INSERT INTO letters SELECT * FROM unnest($1::text[], $2::text[], $3::text[])", [
        ...[all, lower, upper].map((of) => asked.map((i) => of[i])),
      ]);
      const columns = Object.fromEntries(
        ["letter", "lower", "upper"].map((column) => [`input.row.${column}`, { column, type: "text" as const }]),
      );
      for (const rule of ["low", "up"]) {
        const partial = policy.partial(`data.p.${rule}`, ["input.row"]);
        if (partial.kind !== "condition") throw new Error(partial.code);
        const { sql, parameters } = conditionSql("postgres", partial.condition, columns);
        const { rows: odd } = await client.query(`SELECT letter FROM letters WHERE (${sql}) IS NOT TRUE`, [...parameters]);
        expect(odd, rule).toEqual([]);
      }
    });

    test.skipIf(opa === undefined)("rows without NULLs pass as by the SQL of OPA's Compile API", async () => {
      const server = await startOpa(opa as string);
      try {
        await client.query("CREATE TABLE orders AS SELECT * FROM plain");
        for (const column of ["name", "note"]) await client.query(`UPDATE orders SET ${column} = 'a' WHERE ${column} IS NULL`);
        for (const column of ["age", "price"]) await client.query(`UPDATE orders SET ${column} = 1 WHERE ${column} IS NULL`);
        const columns = Object.fromEntries(
          Object.entries(ROW_COLUMNS).map(([column, type]) => [`input.orders.${column}`, { column: `orders.${column}`, type }]),
        );
        const ids = async (sql: string, parameters: readonly string[]) =>
          (await client.query(`SELECT id FROM orders ${sql} ORDER BY id`, [...parameters])).rows.map(({ id }) => id);
        const input = { user: "ba" };
        let answered = 0;
        await fc.assert(
          fc.asyncProperty(filters, async (bodies) => {
            const source = `package filters\n\n${bodies.map((body) => `include if {\n\t${body.join("\n\t")}\n}\n`).join("\n")}`;
            await fetch(`${server.url}/v1/policies/filters`, { method: "PUT", body: source });
            const reply = await fetch(`${server.url}/v1/compile/filters/include`, {
              method: "POST",
              headers: { "content-type": "application/json", accept: "application/vnd.opa.sql.postgresql+json" },
              body: JSON.stringify({ input, unknowns: ["input.orders"] }),
            });
            const told = (await reply.json()) as { readonly result?: { readonly query: string } };
            if (!reply.ok || told.result === undefined) return;
            answered++;
            const partial = compile([{ name: "p.rego", source }]).partial("data.filters.include", ["input.orders"], input);
            if (partial.kind !== "condition") throw new Error(`${partial.code}: ${source}`);
            const { sql, parameters } = conditionSql("postgres", partial.condition, columns);
            expect(await ids(`WHERE ${sql}`, parameters), `${source}\n${told.result.query}`).toEqual(
              await ids(told.result.query, []),
            );
          }),
          { numRuns: 60 },
        );
        expect(answered).toBeGreaterThan(30);
      } finally {
        server.stop();
      }
    });
  });
