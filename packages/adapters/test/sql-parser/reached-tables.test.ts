import { LineageGraph, readLineageSql } from "@seneschal/governance";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { classifierKnowing, parser, rankOf } from "./support/registered.ts";

const classify = classifierKnowing({
  "hr.vault7": { tier: "RESTRICTED" },
  open1: { tier: "PUBLIC" },
  mixed3: { tier: "PUBLIC", columns: { a: "PUBLIC", k9: "RESTRICTED" } },
  "lake/raw/vx9": { tier: "RESTRICTED" },
  "s3://bkt/path/kq3.parquet": { tier: "RESTRICTED" },
  "/exports": { tier: "RESTRICTED" },
  "s3://lakebkt": { tier: "RESTRICTED" },
  "gs://wide/raw": { tier: "RESTRICTED" },
  dim_quokka: { tier: "RESTRICTED" },
});
const DIALECTS = [undefined, "postgres", "mysql", "mssql", "snowflake", "bigquery", "duckdb", "hive", "oracle"];
const has = (query: string, tier: string, dialects: readonly (string | undefined)[] = [undefined]) => {
  for (const dialect of dialects) {
    const { tier: given, reasoning } = classify(query, dialect);
    expect([query, dialect, given, reasoning]).toEqual([query, dialect, tier, reasoning]);
  }
};

describe("TABLE of a common table expression is what the expression is", () => {
  const sources = fc.constantFrom(
    "SELECT * FROM hr.vault7",
    "SELECT k9 FROM mixed3",
    "TABLE vault7",
    "DELETE FROM vault7 RETURNING *",
  );
  const uses = fc.constantFrom<(name: string) => string>(
    (name) => `TABLE ${name}`,
    (name) => `SELECT * FROM open1 UNION ALL TABLE ${name}`,
    (name) => `SELECT * FROM (TABLE ${name}) t`,
    (name) => `INSERT INTO open1 TABLE ${name}`,
    (name) => `SELECT (TABLE ${name})`,
  );
  test("wherever it stands", () =>
    fc.assert(
      fc.property(sources, uses, fc.constantFrom("x", "Xy", '"q r"'), (source, use, name) => {
        has(`WITH ${name} AS (${source}) ${use(name)}`, "RESTRICTED");
      }),
      { numRuns: 60 },
    ));

  test.each(["TABLE ONLY vault7", "TABLE vault7 *", "table only hr.vault7;", "SELECT 1 UNION TABLE ONLY vault7"])("%s", (query) =>
    has(query, "RESTRICTED", DIALECTS),
  );
});

describe("states, branches, metadata, changes and stages of a table are the table's", () => {
  test.each([
    "vault7$snapshots",
    '"vault7$partitions"',
    "hr.vault7.snapshots",
    "cat.hr.vault7.branch_main",
    "hr.vault7.tag_q1",
    "vault7.files",
    '"vault7@v1"',
    "cdc.hr_vault7_CT",
    "cdc.fn_cdc_get_all_changes_hr_vault7(@a, @b, 'all')",
    "@%vault7",
    "@hr.vault7",
    "@~/vault7.csv",
    "'s3://b/hr/vault7.parquet'",
    "read_csv('/data/hr/vault7.csv.gz')",
    "lake.raw.vx9",
    "read_parquet('/lake/raw/vx9/*.parquet')",
    "read_parquet('s3://bkt/path/*.parquet')",
    "read_parquet('s3://bkt/*/kq3.parquet')",
    "kq3",
    "hr.vaul*",
    "merge('^vaul')",
    "merge('hr', '^vault[0-9]$')",
    "merge('hr', 'ault')",
    "merge('^open1$|^vault7$')",
  ])("%s", (relation) => has(`SELECT x FROM ${relation}`, "RESTRICTED"));

  test("bounds of files tell of every column, and no other table is meant", () => {
    has("SELECT upper_bounds FROM mixed3.files", "RESTRICTED");
    has("SELECT a FROM mixed3.branch_x", "INTERNAL");
    has("SELECT a FROM open1.history", "PUBLIC");
    has("SELECT a FROM vault8$snapshots", "INTERNAL");
    has("SELECT a FROM merge('^open')", "PUBLIC");
    has("SELECT a FROM read_parquet('/lake/raw/vx8/*.parquet')", "INTERNAL");
  });

  test.each([
    "SELECT rolpassword FROM pg_authid",
    "SELECT * FROM pg_catalog.pg_shadow",
    "SELECT authentication_string FROM mysql.user",
    "SELECT password_hash FROM sys.sql_logins",
    "SELECT most_common_vals FROM pg_stats",
    "SELECT histogram_bounds FROM pg_stats WHERE tablename = 'orders'",
  ])("credentials of a database and samples of its values are RESTRICTED: %s", (query) => has(query, "RESTRICTED"));

  test.each([
    "SELECT tablename, n_distinct FROM pg_stats",
    "SELECT usename FROM pg_shadow",
    "SELECT table_name FROM information_schema.columns",
    "SELECT * FROM pg_stat_activity",
  ])("what they say of tables and accounts is not: %s", (query) => has(query, "INTERNAL"));
});

describe("a query of XML reaches what it names", () => {
  test.each([
    `SELECT XMLQUERY('fn:collection("oradb:/HR/VAULT7")' RETURNING CONTENT) FROM dual`,
    `SELECT x FROM XMLTABLE('for $i in fn:collection("oradb:/HR/VAULT7") return $i' COLUMNS x varchar2(9) PATH 'ROW/Q')`,
    `SELECT XMLQUERY('ora:view("HR","VAULT7")' RETURNING CONTENT) FROM dual`,
    `SELECT XMLQUERY('db2-fn:xmlcolumn("HR.VAULT7.Q")') FROM dual`,
    `SELECT XMLQUERY('db2-fn:sqlquery("SELECT q FROM hr.vault7")') FROM dual`,
    `SELECT XMLQUERY('fn:collection($where)' RETURNING CONTENT) FROM dual`,
  ])("%s", (query) => has(query, "RESTRICTED", [undefined, "oracle"]));
});

describe("a lone carriage return hides nothing behind a comment", () => {
  test("in whatever dialect", () => {
    for (const dialect of DIALECTS)
      for (const query of [
        "SELECT a FROM open1 --x\rUNION SELECT q FROM vault7",
        "SELECT a --x\r, k9\rFROM mixed3",
        "SELECT a, --x\r k9 --\r FROM mixed3",
      ])
        expect([query, dialect, rankOf(classify(query, dialect).tier)]).toEqual([query, dialect, 4]);
  });
});

describe("the name of a member is read in pieces, escapes and digits, or may be any", () => {
  test.each([
    "doc->>'s'\n'sn'",
    "doc->>'s' 'sn'",
    "doc->>U&'s\\0073n'",
    "doc->>U&'\\0073sn'",
    "doc->>E'\\x73sn'",
    "doc->>x'73736e'",
    "doc->>_utf8'ssn'",
    "doc->>('s' || 'sn')",
    "doc->>(('s' || 's') || 'n')",
    "json_extract(doc, concat('$.', 'ssn'))",
    "json_value(doc, '$.s' || 'sn')",
  ])("%s", (member) => {
    for (const query of [`SELECT ${member} FROM events`, `select upper(${member}) from events`])
      expect([query, rankOf(classify(query).tier) >= 3]).toEqual([query, true]);
  });

  test.each([
    "doc->>lower('SSN')",
    "doc->>(chr(115) || 'sn')",
    "json_extract(doc, concat('$.', k))",
    "doc->>substr('xssn', 2)",
    "doc[reverse('nss')]",
  ])("%s", (member) => has(`SELECT ${member} FROM events`, "RESTRICTED"));

  test.each(["arr[i]", "doc->>k", "arr[i + 1]", "arr[array_length(arr, 1)]", "split(a, ',')[OFFSET(0)]", "doc->>'colour'"])(
    "one of a row's own is not explained, or plain: %s",
    (member) => expect(rankOf(classify(`SELECT ${member} FROM products`).tier)).toBeLessThanOrEqual(1),
  );
});

test("filters of what comes back count, as those of a query do", () => {
  for (const query of [
    "DELETE FROM mixed3 WHERE k9 = 1 RETURNING a",
    "UPDATE mixed3 SET a = 1 WHERE k9 = 1 RETURNING a",
    "DELETE FROM mixed3 OUTPUT deleted.a WHERE k9 = 1",
    "DELETE FROM open1 USING mixed3 m WHERE m.k9 = open1.a RETURNING open1.a",
    "WITH d AS (DELETE FROM mixed3 WHERE k9 = 1 RETURNING a) SELECT a FROM d",
  ])
    expect([query, rankOf(classify(query).tier)]).toEqual([query, rankOf(classify("SELECT a FROM mixed3 WHERE k9 = 1").tier)]);
});

test("a procedure that runs commands shows what they show, or is not read", () => {
  for (const query of [
    "CALL SYSPROC.ADMIN_CMD('SELECT q FROM vault7')",
    "CALL SYSPROC.ADMIN_CMD('EXPORT TO x OF DEL SELECT q FROM vault7')",
    "CALL sysproc.admin_cmd('load from (select q from vault7) of cursor insert into x')",
  ])
    has(query, "RESTRICTED", [undefined, "db2"]);
});

describe("a name is one in every form of its letters", () => {
  const names: readonly (readonly [registered: string, written: string])[] = [
    ["nai\u0308ve", "na\u00efve"],
    ["na\u00efve", "NAI\u0308VE"],
    ["stra\u00dfe", "STRASSE"],
    ["STRASSE", "stra\u1e9ee"],
    ["\u039f\u0394\u039f\u03a3x9\u03a3", "\u03bf\u03b4\u03bf\u03c3x9\u03c2"],
    ["\u0130stanbul", "istanbul"],
    ["i\u0307stanbul", "ISTANBUL"],
    ["\u0442\u0430\u0431\u043b\u0438\u0446\u0430", "\u0422\u0410\u0411\u041b\u0418\u0426\u0410"],
    ["\u304b\u3099\u3044", "\u304c\u3044"],
    ["\ufb01le", "FILE"],
  ];
  test.each(names)("%s, %s", (registered, written) => {
    for (const [a, b] of [
      [registered, written],
      [written, registered],
    ] as const) {
      const one = new LineageGraph();
      one.declare({ id: `hr.${a}`, direct: { tier: "RESTRICTED", tags: [] } }, 0);
      expect([a, b, one.named(b)]).toEqual([a, b, [`hr.${a}`]]);
    }
  });
});

describe("SQL of an event narrows the lineage only where it is read in one way and every call is known", () => {
  const read = (query: string, dialect?: string) =>
    readLineageSql(parser, { query, ...(dialect === undefined ? {} : { dialect }), tables: [["open1", ["a", "b"]]] });
  test.each([
    "CREATE TABLE o AS SELECT my_udf(a) AS a FROM open1",
    "CREATE TABLE o AS SELECT a FROM get_rows('open1')",
    "CREATE TABLE o AS SELECT a FROM open1 WHERE dbo.f(b)",
    "CREATE TABLE o AS SELECT a --1, b\n FROM open1",
    "CREATE TABLE o AS SELECT a /*!, b*/ FROM open1",
    "CREATE TABLE o AS SELECT a --x\r, b\r FROM open1",
    "CREATE TABLE o AS SELECT doc->>k AS a FROM open1",
  ])("%s", (query) => expect(read(query)).toBeNull());

  test.each([
    "CREATE TABLE o AS SELECT upper(a) AS a FROM open1",
    "INSERT INTO o SELECT a FROM open1 -- no b\n",
    "CREATE TABLE o AS SELECT a FROM open1 WHERE b = 'x#y'",
  ])("%s", (query) => expect(read(query)?.results.length).toBeGreaterThan(0));

  test("a named dialect is the one that counts", () =>
    expect(read("CREATE TABLE o AS SELECT a --1, b\n FROM open1", "postgres")?.results.length).toBe(1));
});

test.each([
  "SELECT 1 FROM mixed3 WHERE a IN (k9)",
  "SELECT 1 FROM mixed3 WHERE 'x' IN (a, k9)",
  "SELECT 1 FROM mixed3 m WHERE 'x' NOT IN (upper(m.k9))",
  "SELECT 1 FROM mixed3 WHERE (a, 1) IN ((k9, 2))",
])("a column in a list of values is compared: %s", (query) => has(query, "PROPRIETARY"));

test("a file that is copied into a table is read", () => has("COPY open1 FROM '/exports/a.csv'", "RESTRICTED"));

test("and is shown where the comparison is", () => has("SELECT 'x' IN (a, k9) FROM mixed3", "RESTRICTED"));

describe("a method of a column shows the column", () => {
  const METHODS = [
    "ToString()",
    "value('.','int')",
    "query('/x')",
    "STAsText()",
    "GetAncestor(1)",
    "getClobVal()",
    "f().g()",
    "nodes('/a').value('.','int')",
  ];
  const PLACES: readonly ((owner: string, method: string) => string)[] = [
    (owner, method) => `SELECT ${owner}.${method} FROM mixed3 m`,
    (owner, method) => `SELECT upper(${owner}.${method}) AS a FROM mixed3 m`,
    (owner, method) => `SELECT CASE WHEN a = 1 THEN ${owner}.${method} END FROM mixed3 m`,
    (owner, method) => `INSERT INTO open1 SELECT ${owner}.${method} FROM mixed3 m`,
    (owner, method) => `WITH c AS (SELECT ${owner}.${method} x FROM mixed3 m) SELECT x FROM c`,
  ];
  test("whatever the method, and however the column is qualified", () =>
    fc.assert(
      fc.property(
        fc.constantFrom(...METHODS),
        fc.constantFrom(...PLACES),
        fc.constantFrom("k9", "m.k9", "K9"),
        (method, place, owner) => has(place(owner, method), "RESTRICTED", [undefined, "mssql"]),
      ),
      { numRuns: 100 },
    ));

  test.each([
    "SELECT c.x.value('(./@a)[1]','int') FROM hr.vault7 CROSS APPLY doc.nodes('/a/b') AS c(x)",
    "SELECT c.x.value('(./@a)[1]','int') FROM hr.vault7 z CROSS APPLY z.doc.nodes('/a/b') AS c(x)",
    "SELECT x.y FROM mixed3 z, LATERAL z.k9.items() AS x(y)",
  ])("%s", (query) => has(query, "RESTRICTED"));

  test("a function of a schema is none of a column", () => {
    for (const fn of ["dbo.fn(a)", "util.clean(a)", "pg_catalog.upper(a)"]) has(`SELECT ${fn} FROM mixed3`, "INTERNAL");
  });
});

describe("a file is of what it is stored below", () => {
  test.each([
    "'/exports/zeta9.csv'",
    "read_csv('/exports/2026/zeta9.csv.gz')",
    "read_parquet('s3://lakebkt/foo/*.parquet')",
    "read_parquet('s3a://lakebkt/foo/part-0.parquet')",
    "parquet.`/exports/x`",
    "delta.`gs://wide/raw/y/z`",
    "read_csv(['/tmp/a.csv', '/exports/b.csv'])",
    "'s3://wh/hr/vault7/part-000.parquet'",
    "read_json('gcs://wide/raw/d=1/*.json')",
  ])("%s", (relation) => has(`SELECT x FROM ${relation}`, "RESTRICTED"));

  test.each(["'/export/zeta9.csv'", "'s3://lakebkt2/foo/a.parquet'", "'gs://wide/cooked/a.json'"])("%s is not", (relation) =>
    has(`SELECT x FROM ${relation}`, "INTERNAL"),
  );
});

describe("a table is meant by what code makes of its name", () => {
  test("in the plural or not, in snake, camel or Pascal case, with what is done before and what holds it behind", () => {
    const apart = fc.constantFrom(["dim", "quokka"], ["dim", "quokkas"], ["dims", "quokkas"]);
    const capital = (word: string) => word[0]?.toUpperCase() + word.slice(1);
    const writings = fc.constantFrom<(words: readonly string[]) => string>(
      (words) => `${words.map(capital).join("")}.objects.all()`,
      (words) => `await prisma.${words[0]}${words.slice(1).map(capital).join("")}.findMany()`,
      (words) => `find${words.map(capital).join("")}({})`,
      (words) => `${words[0]}${words.slice(1).map(capital).join("")}Repository.findAll()`,
      (words) => `{ all${words.map(capital).join("")} { id } }`,
      (words) => `${words.join("_")}_by_pk(id: 1) { id }`,
      (words) => `GET /api/v1/${words.join("-")}/17`,
      (words) => `SELECT a FROM ${words.map(capital).join("")}`,
      (words) => `show me all ${words.join(" ")}`,
    );
    fc.assert(
      fc.property(apart, writings, (words, write) => has(write(words), "RESTRICTED")),
      { numRuns: 100 },
    );
  });
});

describe("what only looks like a query or like a table's name raises nothing", () => {
  const ordinary = classifierKnowing({
    people: { tier: "RESTRICTED" },
    music: { tier: "RESTRICTED" },
    vault7: { tier: "RESTRICTED" },
  });
  test.each([
    "awk '{print $1}'",
    "awk '{print $1}' file.txt",
    "FROM node:22",
    "FROM node:22-alpine AS build\nWORKDIR /app\nRUN npm ci",
    "FROM --platform=linux/amd64 registry.example.org/team/img:1.2 AS x",
    "# syntax=docker/dockerfile:1\nARG V=1\nFROM debian@sha256:abcdef0123\nRUN apt-get update && \\\n  apt-get install -y curl",
    "People like music",
    "We love people and their music.",
    "db.session.query(User)",
    "session.query(colours).filter(colours.id == 1).all()",
    'colours = Table("colours", metadata)\nrows = session.query(colours)',
    "hues = aliased(Colour)\nsession.query(hues, hues.id)",
    "from shop.models import base, colours\nsession.query(colours)\n",
    "{{ config(materialized='incremental') }}\nselect id, n from {{ ref('totals') }} {% if is_incremental() %} where n > (select max(n) from {{ this }}) {% endif %}",
  ])("%s", (text) => expect(["PUBLIC", "INTERNAL"]).toContain(ordinary(text).tier));

  test.each([
    "FROM vault7",
    "FROM vault7\nRUN x",
    "from vault7 import where a = 1",
    "from os import path\nq = 'select a from vault7'",
    "from os import path; select a from vault7",
    "FROM vault7:22 SELECT a",
    "FROM node:22; select a from vault7",
    "FROM node:22\nselect a from vault7",
    'FROM node:22\nRUN psql -c "select a from vault7"',
    "session.query(sql)",
    "session.query(SQL_ALL)",
    "conn.query(Sql)",
    "session.query(vault7)",
    'colours = Table("colours", metadata)\nrows = session.query(other)',
    "select * from {{ this }}",
    "{% if is_incremental() %} select * from {{ this }} {% endif %}",
    "{{ config(materialized='incremental') }} select a from {{ ref('vault7') }} {% if is_incremental() %} where n > (select max(n) from {{ this }}) {% endif %}",
    "show me the music",
    "list people",
    "music | head",
  ])("and opens no hole: %s", (text) => expect(ordinary(text).tier).toBe("RESTRICTED"));
});
