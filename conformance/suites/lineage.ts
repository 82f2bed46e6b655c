/** SQL lineage against OpenLineage's parser tests and its Hive integration, and ingestion of its event fixtures. */
import { existsSync, readFileSync } from "node:fs";
import { openSqlParser } from "@seneschal/adapters/sql-parser";
import {
  analyseSql,
  type ColumnInput,
  LineageGraph,
  LineageIngest,
  lineageRun,
  parseSql,
  readLineageEvent,
  resourceId,
} from "@seneschal/governance";
import { isCoded } from "@seneschal/kernel";
import { Ajv2020 } from "ajv/dist/2020.js";
import addFormats from "ajv-formats";
import { casesIn, hasRows, rowsHave } from "../cases-in.ts";
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

const isHive = (x: unknown) => hasRows(x, "cases", "id", "sql", "inputs", "outputs");
const sqlCases = (dir: string) =>
  casesIn<{ cases: readonly SqlCase[] }>(dir, "lineage", (x) => hasRows(x, "cases", "id", "sql") && !isHive(x)).flatMap(
    ({ content }) => content.cases,
  );
const hiveCases = (dir: string) =>
  casesIn<{ cases: readonly HiveCase[] }>(dir, "lineage", isHive).flatMap(({ content }) => content.cases);
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
    for (const c of sqlCases(dir)) {
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
    for (const c of sqlCases(dir)) {
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
      ...sqlCases(dir).flatMap((c) => (typeof c.sql === "string" ? [c.sql] : c.sql).map((sql) => ({ ...c, sql }))),
      ...hiveCases(dir).map((c) => ({
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
    for (const c of hiveCases(dir)) {
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

interface EventRow {
  readonly file: string;
  readonly index: number | null;
  readonly kind: string;
  readonly eventType?: string;
  readonly valid: boolean;
  readonly inputs: number;
  readonly outputs: number;
}

/** Template placeholders of expected events get a value each; a run id gets one per job, so that a job's events stay one run. */
function filled(value: unknown, job: string): unknown {
  if (typeof value === "string")
    return value.includes("{{")
      ? value.includes("runId") || /uuid/i.test(value)
        ? `run-of-${job}`
        : value.replace(/\{\{.*?\}\}/gs, `filled-${job}`)
      : value;
  if (Array.isArray(value)) return value.map((item) => filled(item, job));
  if (typeof value === "object" && value !== null)
    return Object.fromEntries(Object.entries(value).map(([k, v]) => [k, filled(v, job)]));
  return value;
}

function eventsOf(dir: string): { readonly row: EventRow; readonly event: Record<string, unknown> }[] {
  const files = new Map<string, unknown>();
  const rows = casesIn<readonly EventRow[]>(dir, "lineage", (x) => rowsHave(x, "file", "index", "kind", "valid"));
  return rows
    .flatMap(({ content }) => content)
    .flatMap((row) => {
      const path = `${dir}/lineage/${row.file}`;
      if (!existsSync(path)) return [];
      const file: unknown = files.get(row.file) ?? JSON.parse(readFileSync(path, "utf8"));
      files.set(row.file, file);
      const raw = (row.index === null ? file : (file as unknown[])[row.index]) as Record<string, unknown>;
      return [
        {
          row,
          event: filled(raw, JSON.stringify((raw?.["job"] as { name?: unknown } | undefined)?.name ?? row.file)) as Record<
            string,
            unknown
          >,
        },
      ];
    });
}

/** Stands for a missing time: before all events. */
const RARELY = 0;

/** Every fixture is accepted with named warnings or refused with `validation_failed`; a schema-valid one is always accepted, with all its data sets. */
const events: ConformanceSuite = {
  name: "lineage/openlineage-events",
  floor: 1,
  async run(dir) {
    const parser = await openSqlParser();
    const t = tally();
    let accepted = 0;
    const graph = new LineageGraph();
    const ingest = new LineageIngest(graph, parser);
    for (const { row, event } of eventsOf(dir)) {
      const id = `${row.file}[${row.index ?? ""}]`;
      try {
        const warnings = ingest.add(event, RARELY);
        accepted++;
        const got = readLineageEvent(event, RARELY);
        const whole =
          got.kind === "dataset" ||
          (got.inputs.length === row.inputs && got.outputs.length === row.outputs) ||
          warnings.some((w) => w.code === "unnamed_dataset");
        t.judge(whole, `${id}: ${got.inputs.length}/${row.inputs} inputs, ${got.outputs.length}/${row.outputs} outputs`);
      } catch (error) {
        t.judge(!row.valid && isCoded(error, "validation_failed"), `${id}: ${error}`);
      }
    }
    return t.result({ accepted });
  },
};

/** The consumer scenarios as graphs: after a run completes, each of its outputs is downstream of what the events say it is made from. */
const scenarios: ConformanceSuite = {
  name: "lineage/openlineage-graph",
  floor: 1,
  async run(dir) {
    const t = tally();
    const byScenario = new Map<string, ReturnType<typeof eventsOf>>();
    for (const item of eventsOf(dir)) {
      if (!item.row.file.startsWith("compat/consumer-scenarios/")) continue;
      const scenario = item.row.file.split("/")[2] ?? "";
      byScenario.set(scenario, [...(byScenario.get(scenario) ?? []), item]);
    }
    for (const [scenario, items] of byScenario) {
      const graph = new LineageGraph();
      const ingest = new LineageIngest(graph);
      const inputs = new Map<string, Set<string>>();
      const wanted = new Map<string, Set<string>>();
      for (const { event } of items.sort((a, b) => String(a.event["eventTime"]).localeCompare(String(b.event["eventTime"])))) {
        ingest.add(event, RARELY);
        ingest.add(event, RARELY);
        const got = readLineageEvent(event, RARELY);
        const run = `${got.job?.name}/${got.runId}`;
        const known = inputs.get(run) ?? new Set<string>();
        inputs.set(run, known);
        for (const d of got.inputs) known.add(resourceId(d.namespace, d.name));
        if (got.kind !== "job" && got.eventType !== "COMPLETE") continue;
        for (const d of got.outputs) {
          const fields =
            (
              d.facets["columnLineage"] as
                | { fields?: Record<string, { inputFields: { namespace: string; name: string }[] }> }
                | undefined
            )?.fields ?? {};
          const narrowed = new Set(
            Object.values(fields).flatMap((f) => f.inputFields.map((i) => resourceId(i.namespace, i.name))),
          );
          const id = resourceId(d.namespace, d.name);
          wanted.set(id, new Set([...(wanted.get(id) ?? []), ...(narrowed.size > 0 ? narrowed : known)]));
        }
      }
      for (const [output, sources] of wanted) {
        const up = new Set(graph.walk(output, "upstream", 1).visits.map((v) => v.id));
        for (const source of sources) {
          if (graph.canonical(source) !== graph.canonical(output))
            t.judge(up.has(graph.canonical(source)), `${scenario}: ${source} -> ${output} is missing`);
        }
      }
      t.judge(graph.size.resources > 0 || [...wanted.keys()].length === 0, `${scenario}: nothing was read`);
    }
    return t.result();
  },
};

/** The emitter's events under the schemas of the specification, and read back without a warning. */
const emitted: ConformanceSuite = {
  name: "lineage/emitted-events",
  floor: 1,
  async run(dir) {
    const ajv = new Ajv2020({ strict: false });
    addFormats.default(ajv);
    const spec = `${dir}/lineage/spec`;
    const t = tally();
    const schemas = ["", "facets"].flatMap((folder) =>
      casesIn<{ readonly $id: string; readonly $defs?: object }>(
        spec,
        folder,
        (x) => typeof (x as { $id?: unknown })?.$id === "string",
      ),
    );
    const root = schemas.find(({ content }) => Object.hasOwn(content.$defs ?? {}, "RunEvent"))?.content;
    if (root === undefined) return t.result();
    for (const { content } of schemas) ajv.addSchema(content);
    /** A schema that is absent, or leans on one that is, judges nothing. */
    const known = (id: string): boolean => {
      try {
        return ajv.getSchema(id) !== undefined;
      } catch {
        return false;
      }
    };
    const valid = (id: string, value: unknown) =>
      !known(id)
        ? t.skip()
        : t.judge(ajv.validate(id, value) === true, `${id}: ${ajv.errorsText()}: ${JSON.stringify(value).slice(0, 200)}`);
    const at = { namespace: "crm", name: "customers" };
    const run = lineageRun({
      producer: "https://example.com/etl",
      runId: "0190d3a6-6f6e-7a7b-8c1d-2f3e4d5c6b7a",
      job: { namespace: "etl", name: "load", sql: "INSERT INTO dwh.customers SELECT email FROM crm.customers" },
      parent: { runId: "0190d3a6-6f6e-7a7b-8c1d-2f3e4d5c6b7b", namespace: "etl", name: "nightly" },
    });
    const output = {
      namespace: "dwh",
      name: "customers",
      fields: [{ name: "email", type: "text" }, { name: "key" }],
      columnLineage: {
        email: [{ ...at, field: "email" }],
        key: [
          { ...at, field: "ssn", subtype: "TRANSFORMATION", masking: true },
          { ...at, field: "id", type: "INDIRECT" as const, subtype: "JOIN" },
        ],
      },
    };
    for (const type of ["START", "RUNNING", "COMPLETE", "ABORT", "FAIL", "OTHER"] as const) {
      const error = type === "FAIL" ? { error: { message: "no disk", programmingLanguage: "SQL" } } : {};
      const event = run(type, 0, { inputs: [{ ...at, fields: [{ name: "email" }] }], outputs: [output], ...error });
      valid(`${root.$id}#/$defs/RunEvent`, event);
      for (const { facets } of [event.run, event.job, ...event.inputs, ...event.outputs]) {
        for (const [name, facet] of Object.entries(facets)) valid(String(facet["_schemaURL"]), { [name]: facet });
      }
      const read = readLineageEvent(JSON.parse(JSON.stringify(event)), 1);
      t.judge(read.warnings.length === 0 && read.eventType === type, `${type} read with ${JSON.stringify(read.warnings)}`);
    }
    const graph = new LineageGraph();
    const ingest = new LineageIngest(graph);
    ingest.add(run("COMPLETE", 0, { inputs: [at], outputs: [output] }), 0);
    const [edge] = graph.walk(resourceId("crm", "customers"), "downstream", 1).visits;
    t.judge(edge?.id === resourceId("dwh", "customers"), "the run draws its edge");
    return t.result();
  },
};

export const suites: readonly ConformanceSuite[] = [tables, columns, parses, hive, events, scenarios, emitted];
