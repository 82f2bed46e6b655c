/** SQL lineage against OpenLineage's parser tests and its Hive integration, and ingestion of its event fixtures. */
import { readFileSync } from "node:fs";
import { openSqlParser } from "@seneschal/adapters/sql-parser";
import { analyseSql, type ColumnInput, parseSql } from "@seneschal/core/governance";
import type { ConformanceSuite } from "../suite.ts";
import { tally } from "../tally.ts";

interface SqlCase {
  readonly id: string;
  readonly dialect: string;
  readonly sql: string | readonly string[];
  readonly in_tables?: readonly string[];
  readonly out_tables?: readonly string[];
  readonly column_lineage?: readonly {
    readonly column: string;
    readonly from: readonly { readonly table: string; readonly name: string }[];
  }[];
}

interface HiveField {
  readonly name: string;
  readonly field: string;
  readonly transformations: readonly { readonly type: string; readonly subtype: string; readonly masking: boolean }[];
}

interface HiveCase {
  readonly id: string;
  readonly sql: string;
  readonly inputs: readonly { readonly name: string; readonly fields: readonly string[] }[];
  readonly outputs: readonly {
    readonly name: string;
    readonly fields: readonly string[];
    readonly columnLineage: {
      readonly fields: Readonly<Record<string, { readonly inputFields: readonly HiveField[] }>>;
      readonly dataset?: readonly HiveField[];
    } | null;
  }[];
}

const read = <T>(dir: string, file: string): T => JSON.parse(readFileSync(`${dir}/lineage/${file}`, "utf8")) as T;
const unquoted = (name: string) => name.replace(/["'`[\]]/g, "");
const set = (items: Iterable<string>) => [...new Set(items)].sort().join(" ");
const textOf = (sql: string | readonly string[]) =>
  typeof sql === "string" ? sql : sql.map((s) => s.replace(/;\s*$/, "")).join(";\n");

const tables: ConformanceSuite = {
  name: "lineage/sql-tables",
  floor: 0.98,
  async run(dir) {
    const parser = await openSqlParser();
    const t = tally();
    for (const c of read<{ cases: SqlCase[] }>(dir, "sql-lineage.json").cases) {
      if (c.in_tables === undefined) continue;
      const got = analyseSql(parseSql(parser, textOf(c.sql), c.dialect).statements);
      const want = `${set(c.in_tables.map(unquoted))} -> ${set((c.out_tables ?? []).map(unquoted))}`;
      const have = `${set(got.inputs)} -> ${set(got.outputs)}`;
      t.judge(have === want, `${c.id}: wanted ${want}, got ${have}`);
    }
    return t.result();
  },
};

const columns: ConformanceSuite = {
  name: "lineage/sql-columns",
  floor: 1,
  async run(dir) {
    const parser = await openSqlParser();
    const t = tally();
    for (const c of read<{ cases: SqlCase[] }>(dir, "sql-lineage.json").cases) {
      if (c.column_lineage === undefined) continue;
      const got = analyseSql(parseSql(parser, textOf(c.sql), c.dialect).statements).results.at(-1);
      for (const column of c.column_lineage) {
        const have = set((got?.columns.find((x) => x.name === column.column)?.inputs ?? []).map((i) => `${i.table}.${i.field}`));
        const want = set(column.from.map((f) => `${unquoted(f.table)}.${f.name}`));
        t.judge(have === want, `${c.id} ${column.column}: wanted ${want}, got ${have}`);
      }
    }
    return t.result();
  },
};

const parses: ConformanceSuite = {
  name: "lineage/sql-parse-rate",
  floor: 0.977,
  async run(dir) {
    const parser = await openSqlParser();
    const t = tally();
    const all = [
      ...read<{ cases: SqlCase[] }>(dir, "sql-lineage.json").cases.flatMap((c) =>
        (typeof c.sql === "string" ? [c.sql] : c.sql).map((sql) => ({ ...c, sql })),
      ),
      ...read<{ cases: HiveCase[] }>(dir, "sql-column-lineage-hive.json").cases.map((c) => ({
        id: c.id,
        dialect: "hive",
        sql: c.sql,
      })),
    ];
    for (const c of all) t.judge(parseSql(parser, c.sql, c.dialect).failed === 0, `${c.id}: ${c.sql.slice(0, 100)}`);
    return t.result();
  },
};

const describe = (i: ColumnInput) => `${i.table}.${i.field}:${i.type}/${i.subtype}${i.masking ? "/masked" : ""}`.toLowerCase();
const wanted = (fields: readonly HiveField[]) =>
  fields.flatMap((f) =>
    f.transformations.map((x) => `${f.name}.${f.field}:${x.type}/${x.subtype}${x.masking ? "/masked" : ""}`.toLowerCase()),
  );

/** Every column and every dataset level field of the Hive integration, kinds and masking flags included. */
const hive: ConformanceSuite = {
  name: "lineage/sql-columns-hive",
  floor: 0.9,
  async run(dir) {
    const parser = await openSqlParser();
    const t = tally();
    const direct = tally();
    const indirect = tally();
    const masking = tally();
    for (const c of read<{ cases: HiveCase[] }>(dir, "sql-column-lineage-hive.json").cases) {
      const schemas = new Map(c.inputs.map((input) => [input.name.toLowerCase(), input.fields]));
      const got = analyseSql(parseSql(parser, `USE test;\n${c.sql}`, "hive").statements, (table) =>
        schemas.get(table.toLowerCase()),
      );
      for (const output of c.outputs) {
        if (output.columnLineage === null) continue;
        const mine = got.results.find((r) => r.table?.toLowerCase() === output.name.toLowerCase());
        for (const [i, [name, field]] of Object.entries(output.columnLineage.fields).entries()) {
          const column =
            mine?.columns.find((x) => x.name.toLowerCase() === name.toLowerCase()) ??
            (mine?.columns.some((x) => x.name.startsWith("_")) ? mine.columns[i] : undefined);
          const have = set((column?.inputs ?? []).map(describe));
          const want = set(wanted(field.inputFields));
          direct.judge(have === want, `${c.id} ${output.name}.${name}: wanted ${want}, got ${have}`);
          t.judge(have === want, `${c.id} ${output.name}.${name}: wanted ${want}, got ${have}`);
          if (want.includes("masked")) masking.judge(have.includes("masked"), c.id);
        }
        for (const field of output.columnLineage.dataset ?? []) {
          const want = set(wanted([field]));
          const have = set(
            (mine?.dataset ?? [])
              .filter((i) => `${i.table}.${i.field}`.toLowerCase() === `${field.name}.${field.field}`.toLowerCase())
              .map(describe),
          );
          indirect.judge(have === want, `${c.id} dataset ${field.name}.${field.field}: wanted ${want}, got ${have}`);
          t.judge(have === want, `${c.id} dataset ${field.name}.${field.field}: wanted ${want}, got ${have}`);
        }
      }
    }
    return t.result({ direct: direct.rate(), indirect: indirect.rate(), masking: masking.rate() });
  },
};

export const suites: readonly ConformanceSuite[] = [tables, columns, parses, hive];
