import { openMemoryStore } from "@seneschal/adapters/memory";
import { openSqlParser } from "@seneschal/adapters/sql-parser";
import type { SqlParser } from "@seneschal/governance";
import { serve } from "@seneschal/server-fastify";
import { afterEach, expect, test } from "vitest";
import { governanceSchema } from "../../src/governance/index.ts";
import { type Rig, startRig } from "./rig.ts";
import { runEvent } from "./run-event.ts";

const rigs: Rig[] = [];
afterEach(async () => {
  for (const rig of rigs.splice(0)) await rig.stop();
});

const real = await openSqlParser();
/** The parser of the serving thread, and what it was given. */
function watched(): { readonly sql: SqlParser; readonly read: string[] } {
  const read: string[] = [];
  return {
    read,
    sql: {
      parse(sql, dialect) {
        read.push(sql);
        return real.parse(sql, dialect);
      },
    },
  };
}

const dataset = (name: string, columns: readonly string[] = []) => ({
  namespace: "default",
  name,
  facets: { schema: { _producer: "p", _schemaURL: "s", fields: columns.map((column) => ({ name: column })) } },
});
const event = (run: number, type: string, query?: string) =>
  runEvent({
    run: `0192f7a0-0000-7000-8000-${String(run).padStart(12, "0")}`,
    type,
    job: {
      namespace: "default",
      name: "load",
      facets: query === undefined ? {} : { sql: { _producer: "p", _schemaURL: "s", query } },
    },
    inputs: [dataset("crm", ["id", "ssn"])],
    outputs: [dataset("dwh")],
  });
const QUERY = "INSERT INTO dwh SELECT id FROM crm";

async function columnsOf(rig: Rig): Promise<readonly string[]> {
  const { body } = await rig.call("reader", "GET", "/api/v1/lineage/dwh?direction=upstream");
  return body.edges.flatMap(({ columns }: { columns: { from: string }[] }) => columns.map(({ from }) => from));
}

test("the SQL of lineage is read beside the serving thread, before it is stored: it says the same after a restart", async () => {
  const store = openMemoryStore(governanceSchema);
  const { sql, read } = watched();
  const open = async (): Promise<Rig> => {
    const rig = await startRig(serve, { store, sql, settings: { classification: { threads: 1 } } });
    rigs.push(rig);
    return rig;
  };
  const rig = await open();
  expect((await rig.call("writer", "POST", "/api/v1/lineage", event(1, "COMPLETE", QUERY))).status).toBe(201);
  expect(await columnsOf(rig)).toEqual(["id"]);
  const batch = [event(2, "START", "INSERT INTO dwh SELECT ssn FROM crm"), event(2, "COMPLETE")];
  expect((await rig.call("writer", "POST", "/api/v1/lineage/batch", batch)).body.accepted).toBe(2);
  expect(await columnsOf(rig)).toEqual(["ssn"]);
  const again = await open();
  expect(await columnsOf(again)).toEqual(["ssn"]);
  expect(read).toEqual([]);
});

test("SQL beyond the bound of one text or of one request is not read: it narrows nothing, and a warning says so", async () => {
  const { sql, read } = watched();
  const rig = await startRig(serve, { sql });
  rigs.push(rig);
  const long = `${QUERY} -- ${"x".repeat(64 << 10)}`;
  const { status, body } = await rig.call("writer", "POST", "/api/v1/lineage", event(1, "COMPLETE", long));
  expect([status, body.warnings.map(({ code }: { code: string }) => code)]).toEqual([201, ["sql_not_read"]]);
  expect(await columnsOf(rig)).toEqual([]);
  expect((await rig.call("reader", "GET", "/api/v1/lineage/dwh/upstream")).body.total).toBe(1);

  const allowed = `${QUERY} -- ${"x".repeat(60_000)}`;
  const many = Array.from({ length: 20 }, (_, i) => event(100 + i, "COMPLETE", allowed));
  const answer = await rig.call("writer", "POST", "/api/v1/lineage/batch", many);
  expect(answer.body.accepted).toBe(20);
  expect(answer.body.warnings.length).toBeGreaterThan(0);
  expect(read.reduce((sum, text) => sum + text.length, 0)).toBeLessThan(20 * allowed.length);
});

test("a run that would have too many data sets is refused, also when a batch brings them bit by bit", async () => {
  const rig = await startRig(serve);
  rigs.push(rig);
  const wide = (k: number) => ({
    ...event(0, "RUNNING"),
    inputs: Array.from({ length: 1500 }, (_, i) => ({ namespace: "default", name: `in-${k}-${i}` })),
  });
  const { body } = await rig.call("writer", "POST", "/api/v1/lineage/batch", [wide(0), wide(1), wide(2)]);
  expect([body.accepted, body.rejected]).toEqual([2, [{ index: 2, message: "inputs: a run has at most 4096 data sets" }]]);
  // What the run has already counts once, however often it is said.
  expect((await rig.call("writer", "POST", "/api/v1/lineage/batch", [wide(0), wide(1), wide(0)])).body.accepted).toBe(3);
  const single = await rig.call("writer", "POST", "/api/v1/lineage", wide(3));
  expect([single.status, single.body.error.details.limit]).toEqual([400, 4096]);
});
