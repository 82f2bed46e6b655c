import { type ClassificationResult, createClassifier, type KnownResource, tierRank } from "@seneschal/governance";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { openSqlParser } from "../../src/sql-parser/index.ts";

const vault: KnownResource = { tier: "RESTRICTED", tags: [], columns: {} };
const classifier = createClassifier({
  sql: await openSqlParser(),
  catalogue: (table) => (/(?:^|\.)vault7$/i.test(table) ? vault : undefined),
});
const rank = ({ tier }: ClassificationResult) => tierRank(classifier.policy, tier);
const DOUBT =
  /no rule explains|not understood|could not be read|is built when|does not name|is named when|read the text differently|may read as a statement|nobody knows what it holds/;

/** What is hidden counts as what it is; or it is not public, and the answer says why it is worth less. */
function counts(query: string, dialect?: string): void {
  const result = classifier.classify(query, dialect === undefined ? {} : { dialect });
  const told = DOUBT.test(result.reasoning) && result.confidence < 0.8;
  expect([query, result.tier, rank(result) >= 3 || (rank(result) >= 1 && told), result.reasoning]).toEqual([
    query,
    result.tier,
    true,
    result.reasoning,
  ]);
}

/** Ways to hide a part of a statement: what one database takes for a comment or a text is code to another. */
const VEILS: readonly ((tail: string) => string)[] = [
  (tail) => `SELECT 1 /*! ${tail} */`,
  (tail) => `SELECT 1 /*!50000 ${tail} */`,
  (tail) => `SELECT 1 /*!50000 ${tail} -- */\n`,
  (tail) => `SELECT 1 /*M! ${tail} */`,
  (tail) => `SELECT 1 /*M!100100 ${tail} */`,
  (tail) => `/*!99999 x */ SELECT 1 /*!40000 ${tail} */`,
  (tail) => `SELECT 1 --1 ${tail}`,
  (tail) => `SELECT 1 --(1) ${tail}\n`,
  (tail) => `SELECT 1 # \n ${tail}`,
  (tail) => `SELECT 1 # x\n ${tail} # y`,
  (tail) => `SELECT 1 // 2\n ${tail}`,
  (tail) => `SELECT 1 -- x\r ${tail}`,
  (tail) => `SELECT 1 /* /* */ ${tail} -- */ */`,
  (tail) => `SELECT 1 /* /* */ ${tail} /* */ */`,
  (tail) => `SELECT '\\' ${tail} -- '`,
  (tail) => `SELECT 'a\\'' ${tail} -- '`,
  (tail) => `SELECT E'a\\'' ${tail} -- '`,
  (tail) => `SELECT N'a\\' ${tail} -- '`,
  (tail) => `SELECT "a\\"" ${tail} -- "`,
  (tail) => `SELECT '''a'b''' ${tail} -- '`,
  (tail) => `SELECT """a"b""" ${tail} -- "`,
  (tail) => `SELECT r'\\' ${tail} -- '`,
  (tail) => `SELECT [it's] ${tail} -- '`,
  (tail) => `SELECT q'[it's]' ${tail}`,
  (tail) => `SELECT nq'{it's}' ${tail}`,
  (tail) => `SELECT $$x'$$ ${tail} -- '`,
  (tail) => `SELECT $a$ ' $a$ ${tail} -- '`,
  (tail) => `SELECT 1 $$ ${tail} $$`,
  (tail) => `SELECT \`a\`\`b\` ${tail}`,
];
const TAILS = [", ssn FROM customers", "UNION SELECT ssn FROM customers", ", k9 FROM vault7", "UNION ALL SELECT * FROM vault7"];
const before = fc.constantFrom("", "-- x\n", "/* y */ ", ";", "SELECT 2; ", "SET a = 1; ", "\ufeff");
const after = fc.constantFrom("", ";", "\n-- z\n", "; zork frobnicate (", "; FETCH ALL c", "; SELECT 3");
const disguises = fc.constantFrom<(text: string) => string>(
  (text) => text,
  (text) => text.replace(/[a-z]/g, (c) => String.fromCharCode(c.charCodeAt(0) + 0xfee0)),
  (text) => text.replace(/([a-z])(?=[a-z])/g, "$1\u200b"),
  (text) => text.replace(/([a-z])(?=[a-z])/g, "$1\u00ad"),
  (text) => text.replace(/([a-z])(?=[a-z])/g, "$1\u0000"),
  (text) => text.replace(/o/g, "о").replace(/s/g, "ѕ"),
  (text) => text.replace(/ /g, "\u2003"),
  (text) => text.replace(/([A-Z])(?=[A-Z])/g, "$1\u2060"),
  (text) => `\u202e${text}`,
);

describe("a part of a statement that a database would run counts, whatever it is hidden in", () => {
  test.each(VEILS.map((veil) => [veil("..."), veil] as const))("%s", (_, veil) => {
    for (const tail of TAILS) counts(veil(tail));
  });

  test("behind anything, before anything, in any letters", () =>
    fc.assert(
      fc.property(fc.constantFrom(...VEILS), fc.constantFrom(...TAILS), before, after, disguises, (veil, tail, b, a, disguise) =>
        counts(b + veil(disguise(tail)) + a),
      ),
      { numRuns: 150 },
    ));

  test("letters that look alike, and such that cannot be seen", () =>
    fc.assert(
      fc.property(
        fc.constantFrom(
          "SELECT ssn FROM customers",
          "SELECT k9 FROM vault7",
          "SELECT * FROM vault7",
          "select ssn from customers",
        ),
        disguises,
        disguises,
        (query, one, other) => counts(other(one(query))),
      ),
      { numRuns: 100 },
    ));

  test("texts that run texts are read some deep, and are of the highest tier beyond; a long text with two readings is read", () => {
    const nested = (n: number) =>
      Array.from({ length: n }).reduce<string>((sql, _, i) => `SELECT query($q${i}$${sql}$q${i}$)`, "SELECT id FROM products");
    expect([1, 2, 300].map((n) => classifier.classify(nested(n)).tier)).toEqual(["INTERNAL", "INTERNAL", "RESTRICTED"]);
    const long = `SELECT 1 --1, ssn FROM customers\n WHERE a IN (${"'x\\y@example.org',".repeat(20_000)} 'z')`;
    expect(rank(classifier.classify(long))).toBeGreaterThanOrEqual(2);
  });

  test("and a text in quotes that is run is read as it would be", () => {
    counts("EXEC('SELECT 1 /*! , ssn FROM customers */')");
    counts("SELECT query_to_xml('SELECT 1 --1, ssn FROM customers', true, true, '')");
    counts(JSON.stringify({ sql: "SELECT 1 /*! , ssn FROM customers */" }));
  });

  test.each([
    ["SELECT 'a\\'' , ssn FROM customers -- '", "postgres", "PUBLIC"],
    ["SELECT 'a\\'' , ssn FROM customers -- '", "mysql", "PROPRIETARY"],
    ["SELECT 1 --1, ssn FROM customers", "postgresql", "PUBLIC"],
    ["SELECT 1 --1, ssn FROM customers", "MariaDB", "PROPRIETARY"],
    ["SELECT 1 /*! , ssn FROM customers */", "mysql", "PROPRIETARY"],
    ["SELECT 1 /*! , ssn FROM customers */", "snowflake", "PUBLIC"],
    ["SELECT 1 /*! , ssn FROM customers */", "trino", "PROPRIETARY"],
    ["SELECT 1 # x\n, ssn FROM customers", "bigquery", "PROPRIETARY"],
  ])("%s in %s is %s: where a dialect is named its reading counts", (query, dialect, tier) =>
    expect(classifier.classify(query, { dialect }).tier).toBe(tier),
  );
});

const SQL_RUN = [
  ...["query_to_xml", "query_to_xmlschema", "dblink", "crosstab", "ts_stat", "query", "external_query", "openquery"],
  ...["dbms_xmlgen.getxml", "pg_catalog.query_to_xml", "exec_sql", "postgres_query"],
];
const NAMING = [
  "table_to_xml",
  "query_table",
  "merge",
  "remote",
  "cluster",
  "read_parquet",
  "read_csv",
  "sqlite_scan",
  "url",
  "file",
  "dictGet",
];
const BLIND = [
  "database_to_xml",
  "schema_to_xml",
  "cursor_to_xml",
  "result_scan",
  "pg_read_file",
  "LOAD_FILE",
  "pg_ls_dir",
  "lo_get",
];
const UNKNOWN = ["get_all_customers", "hr.dump_salaries", "my_udf", "dbo.lower", "pg_get_viewdef"];
const frames = fc.constantFrom<(call: string) => string>(
  (call) => `SELECT ${call}`,
  (call) => `SELECT * FROM ${call}`,
  (call) => `SELECT x.* FROM ${call} x`,
  (call) => `SELECT * FROM TABLE(${call})`,
  (call) => `SELECT json_agg(x) FROM ${call} x`,
  (call) => `SELECT upper(${call}::text)`,
  (call) => `WITH c AS (SELECT ${call}) SELECT * FROM c`,
  (call) => `VALUES (${call})`,
  (call) => `SELECT 1 WHERE 'a' IN (SELECT ${call})`,
  (call) => `SELECT 1 LIMIT (SELECT ${call})`,
  (call) => `CALL ${call}`,
  (call) => `EXPLAIN ANALYZE SELECT ${call}`,
  (call) => `SELECT (${call}).*`,
);

describe("what a function reads besides its arguments counts, or is not explained", () => {
  test("functions that run a text, read what it names, read anything, or that nobody knows; wherever they are called", () =>
    fc.assert(
      fc.property(
        fc.constantFrom(...SQL_RUN, ...NAMING, ...BLIND, ...UNKNOWN),
        fc.constantFrom(
          "",
          "$1",
          "chr(115) || chr(101)",
          "'s' || x",
          "'SELECT k9 FROM vault7'",
          "'vault7'",
          "'TABLE vault7'",
          "'a', 'b'",
          "1, 2",
        ),
        frames,
        fc.boolean(),
        (name, args, frame, upper) => counts(frame(`${upper ? name.toUpperCase() : name}(${args})`)),
      ),
      { numRuns: 300 },
    ));

  test.each([
    ["SELECT leak('vault7')", "RESTRICTED"],
    ["SELECT leak('SELECT k9 FROM vault7')", "RESTRICTED"],
    ["SELECT * FROM leak(1, 'hr.vault7')", "RESTRICTED"],
    ["SELECT * FROM query_table('vault7')", "RESTRICTED"],
    ["SELECT * FROM remote('h', hr, vault7)", "RESTRICTED"],
    ["SELECT * FROM OPENQUERY(srv, 'SELECT ssn FROM customers')", "PROPRIETARY"],
    ["SELECT * FROM query('SELECT ssn FROM customers')", "PROPRIETARY"],
    ["SELECT COLUMNS('.*') FROM vault7", "RESTRICTED"],
    ["SELECT * FROM leak(name => 'vault7')", "RESTRICTED"],
    ["SELECT hr.query('SELECT k9 FROM vault7') FROM t", "RESTRICTED"],
    ["SELECT * FROM read_parquet('s3://hr/customers.parquet')", "CONFIDENTIAL"],
    ["PREPARE p AS SELECT ssn FROM customers; EXECUTE p", "PROPRIETARY"],
  ])("%s is %s", (query, tier) => expect(classifier.classify(query).tier).toBe(tier));

  test.each([
    "sql> SELECT get_all();",
    "```sql\nSELECT get_all()\n```",
    "run: SELECT get_all()",
    "{% set x = 1 %} SELECT get_all()",
    "EXECUTE p",
    "EXEC dbo.usp_report",
    "CALL refresh_all()",
    "{CALL get_all()}",
    "EXEC xp_cmdshell 'dir'",
    "BEGIN get_all(); END;",
  ])("%s", (query) => counts(query));
});

describe("the names in a path into a structure are names of columns", () => {
  test.each([
    "SELECT jsonb_path_query(doc, '$.ssn') FROM events",
    "SELECT jsonb_path_query(doc, '$.\"\\u0073sn\"') FROM events",
    "SELECT doc->>'ssn' FROM events",
    "SELECT doc->'ssn'->>'raw' FROM events",
    "SELECT doc->>'$.person.ssn' FROM events",
    "SELECT doc #>> '{ssn,0}' FROM events",
    "SELECT doc @? '$.ssn' FROM events",
    "SELECT doc:ssn FROM events",
    "SELECT doc:ssn.raw::text FROM events",
    "SELECT doc['ssn'] FROM events",
    "SELECT doc.ssn.raw FROM events",
    "SELECT JSON_VALUE(doc, '$.ssn.value') FROM events",
    "SELECT JSON_QUERY(doc, 'lax $.ssn') FROM events",
    "SELECT json_extract(doc, '$.a', '$.ssn') FROM events",
    "SELECT json_tuple(doc, 'a', 'ssn') FROM events",
    "SELECT JSONExtractString(doc, 'ssn') FROM events",
    "SELECT element_at(m, 'ssn') FROM events",
    "SELECT variant_get(doc, '$.ssn', 'string') FROM events",
    "SELECT from_json(doc, 'ssn STRING') FROM events",
    "SELECT my_own(doc, '$.ssn') FROM events",
    "SELECT t.a FROM events, JSON_TABLE(doc, '$[*]' COLUMNS(a INT PATH '$.ssn')) t",
    "SELECT t.ssn FROM events, JSON_TABLE(doc, '$[*]' COLUMNS(ssn INT PATH '$.x')) t",
    "SELECT * FROM JSON_TABLE(doc, '$' COLUMNS(a INT PATH '$.ssn')) t",
    "SELECT a FROM events CROSS APPLY OPENJSON(doc) WITH (a varchar(11) '$.ssn')",
    "SELECT * FROM OPENJSON(@j) WITH (a varchar(11) '$.ssn')",
    "SELECT x.ssn FROM events, jsonb_to_record(doc) AS x(ssn text)",
    "SELECT x.a FROM events, XMLTABLE('/p' PASSING doc COLUMNS a text PATH 'ssn') x",
    "SELECT xpath('/person/ssn/text()', doc) FROM events",
    "SELECT doc.value('(/person/ssn)[1]', 'varchar(11)') FROM events",
  ])("%s", (query) => expect(classifier.classify(query).tier).toBe("PROPRIETARY"));

  test("one column of a table of a structure does not count for another", () =>
    expect(
      classifier.classify("SELECT t.b FROM events, JSON_TABLE(doc, '$' COLUMNS(a INT PATH '$.ssn', b INT PATH '$.x')) t").tier,
    ).toBe("INTERNAL"));

  test.each([
    "SELECT doc->>('s' || 'sn') FROM events",
    "SELECT doc->>$1 FROM events",
    "SELECT doc->>k FROM events",
    "SELECT doc['s' || 'sn'] FROM events",
    "SELECT json_extract(doc, concat('$.s', 'sn')) FROM events",
  ])("%s: a name that is built is not explained", (query) => counts(query));
});

describe("rows that a statement reaches in the manner of one database have their tier in the reading of any", () => {
  test.each([
    ...[
      "TABLE vault7",
      "(TABLE vault7)",
      "SELECT 1 UNION TABLE vault7",
      "EXPLAIN (ANALYZE) TABLE vault7",
      "SELECT HIGH_PRIORITY * FROM vault7",
    ],
    ...[
      "SELECT SQL_CALC_FOUND_ROWS * FROM vault7",
      "SELECT STRAIGHT_JOIN * FROM vault7",
      "SELECT $1 FROM vault7",
      "SELECT $1:a FROM vault7",
    ],
    ...[
      "SELECT v.$1 FROM vault7 v",
      "SELECT $IDENTITY FROM vault7",
      "SELECT vault7.k9 FROM vault7 v",
      "PIVOT vault7 ON k9",
      "WATCH vault7",
    ],
    ...["INSERT INTO FUNCTION url('http://h', 'CSV') SELECT * FROM vault7", "CREATE TABLE t ENGINE = Merge('db', 'vault7')"],
    ...[
      "CREATE TABLE t (a Int) ENGINE = Distributed(c, db, vault7)",
      "CREATE DICTIONARY d (a Int) SOURCE(CLICKHOUSE(TABLE 'vault7'))",
    ],
    ...["EXEC p @table = 'vault7'", "READTEXT vault7.k9 0x0 0 1", "SELECT [x.k9 FOR x IN (SELECT list(v) FROM vault7 v)]"],
    ...[
      "SELECT u.a FROM (vault7 CROSS JOIN t) AS u(a)",
      "CREATE FUNCTION f() RETURNS int AS $$ SELECT k9 FROM vault7 $$ LANGUAGE sql",
      "SET VARIABLE x = (SELECT max(k9) FROM vault7)",
      "UNLOAD ('TABLE vault7') TO 's3://x'",
      "SELECT * FROM query('FROM vault7')",
    ],
  ])("%s", (query) => {
    for (const dialect of [undefined, "postgres", "mysql", "snowflake", "clickhouse", "duckdb", "mssql"]) {
      const result = classifier.classify(query, dialect === undefined ? {} : { dialect });
      expect([dialect, result.tier, result.reasoning]).toEqual([dialect, "RESTRICTED", result.reasoning]);
    }
  });

  test.each(["duckdb", "postgres", undefined])("an arrow takes a member, in %s too", (dialect) => {
    for (const query of ["SELECT doc->'ssn' FROM events", "SELECT doc->'a'->>'ssn' FROM events"])
      expect(classifier.classify(query, dialect === undefined ? {} : { dialect }).tier).toBe("PROPRIETARY");
    const { reasoning } = classifier.classify("SELECT list_transform(a, x -> x + 1) FROM products", { dialect: "duckdb" });
    expect(reasoning).not.toMatch(DOUBT);
  });
});

describe("a statement that nobody understands is not public", () => {
  const strange = [
    ...[
      "SEL qq FROM t",
      "sel qq from t",
      "SUMMARIZE t",
      "ATTACH PARTITION t",
      "ATTACH DATABASE 'hr.db' AS h",
      "UPSERT INTO x (a",
      "FETCH ALL c",
    ],
    ...[
      "LOAD DATA INFILE 'c' INTO TABLE x",
      "RESTORE DATABASE hr FROM x",
      "BACKUP DATABASE hr TO DISK = 'x'",
      "xp_cmdshell 'z'",
      "DBCC PAGE(1, 2, 3)",
    ],
    ...[
      "FLASHBACK TABLE x",
      "DUMP DATABASE x TO y",
      "UNLOAD TABLE t",
      "HANDLER t READ FIRST",
      "PIVOT t ON qq",
      "TRUNCATE x y z (",
      "ALTER TABLE x FOO BAR",
    ],
    ...[
      "GET @stage file:///x",
      "LIST @stage",
      "\\copy t to 'x'",
      ".dump t",
      "PERFORM dump(1)",
      "select",
      "(SELECT",
      "WITH x AS (",
      "INSERT INTO",
      "delete from",
    ],
    ...[
      "SELECT * FROM @stage/a.csv",
      "SELECT ${col} FROM ${table}",
      "SELECT * FROM 'a.parquet'",
      "SUMMARIZE vault7",
      "summarize vault7",
    ],
  ];
  test.each(strange)("%s", (query) => counts(query));

  test("nor one that has such a part, before or behind", () =>
    fc.assert(
      fc.property(
        fc.constantFrom("SELECT 1", "SELECT id FROM products", "UPDATE products SET a = 1"),
        fc.constantFrom(...strange, "zork frobnicate (", "zork frobnicate", "CALL zork("),
        fc.boolean(),
        (query, part, first) => counts(first ? `${query}; ${part}` : `${part}; ${query}`),
      ),
      { numRuns: 150 },
    ));
});

describe("SQL of every day is explained", () => {
  test.each([
    ...[
      "SELECT 1",
      "SELECT now()",
      "SELECT version()",
      "SELECT count(*) FROM orders",
      "INSERT INTO products (id) VALUES (1)",
      "SELECT 1;\n\n-- the end\n",
    ],
    "SELECT date_trunc('month', created_at) AS m, sum(total) FROM orders GROUP BY 1 -- per month\n",
    "SELECT date_trunc('month', created_at) AS m, sum(total) FROM orders GROUP BY 1 --per month\n",
    "-- monthly totals\nSELECT id FROM orders /* all of them */ WHERE sku ~ '^A\\d+$' AND path LIKE 'C:\\tmp\\%'",
    "SELECT regexp_replace(sku, '\\s+', '', 'g') FROM products",
    "SELECT id FROM products # don't change\nWHERE a = 1",
    "SELECT id FROM products WHERE sku IN ('A#1', 'B#2') AND url = 'https://example.org/a#b' AND c = '--' AND d = '/*'",
    "SELECT `id` FROM `products` WHERE a = 'it\\'s'",
    "SELECT $$it's$$, id FROM products",
    "SELECT data->>'colour', jsonb_array_elements(data->'sizes') FROM products",
    "SELECT id, data:colour::string FROM products QUALIFY row_number() OVER (PARTITION BY id ORDER BY ts) = 1",
    "SELECT f.value FROM products, LATERAL FLATTEN(input => data) f",
    "SELECT TRY_TO_NUMBER(a), IFF(b, 1, 0), ZEROIFNULL(c) FROM products // all\n",
    "SELECT APPROX_COUNT_DISTINCT(id), SAFE_DIVIDE(a, b) FROM `proj.shop.products`",
    "SELECT toStartOfMonth(d), uniqExact(id), quantile(0.9)(x) FROM products GROUP BY 1",
    "SELECT TOP 10 [id], ISNULL(a, 0), GETDATE() FROM [dbo].[products] WITH (NOLOCK)",
    "SELECT id FROM #work WHERE a = 1",
    "SELECT NVL(a, 0), TO_CHAR(d, 'YYYY'), DECODE(a, 1, 'x', 'y') FROM products WHERE ROWNUM < 10",
    "SELECT get_json_object(data, '$.colour'), collect_set(a) FROM products LATERAL VIEW explode(b) t AS c",
    "SELECT list_value(1, 2), epoch(d) FROM products",
    "SELECT CASE WHEN a > 1 THEN 'x' END, lag(a, 1) OVER (ORDER BY a) FROM products",
    "BEGIN; UPDATE products SET a = 1; COMMIT;",
    "SELECT id FROM products;\nGO\n",
    "SELECT 'ä', id FROM produits WHERE nom2 = 'été  fini'",
    "SELECT arr[i], m['colour'], element_at(arr, i), json_build_object('colour', colour), jsonb_object_agg(k, v) FROM products",
    "SELECT xpath('/a/b', doc), json_value(doc, '$.colour'), get_json_object(doc, '$.size') FROM products",
  ])("%s", (query) => {
    const result = classifier.classify(query);
    expect([result.reasoning, rank(result) <= 1, DOUBT.test(result.reasoning)]).toEqual([result.reasoning, true, false]);
    expect(result.confidence).toBeGreaterThanOrEqual(0.8);
  });

  test.each([
    ...[
      "Select a colour; then paint the wall.",
      "Fetch the first parcel",
      "Load the truck; drive on.",
      "Show me the way; thanks",
      "Open sesame",
    ],
    ...[
      "Restore the old painting",
      "drop me a line",
      "List @ home",
      "use soap; rinse well",
      "kill the lights",
      "attach the file to the mail",
    ],
  ])("a sentence is none: %s", (text) => expect(classifier.classify(text).tier).toBe("PUBLIC"));
});

describe("a query of plain names counts in whatever letters, wherever it stands", () => {
  const places: readonly (readonly [place: (query: string) => string, dialect?: string])[] = [
    [(query) => `use hr\ngo\n${query}\ngo`, "mssql"],
    [(query) => `print 'x'\n${query}`, "mssql"],
    [(query) => `SAVEPOINT a; ${query}`, "postgres"],
    [(query) => `discard all; ${query}`, "postgres"],
    [(query) => `close c; ${query}`],
    [(query) => `release savepoint a; ${query};`],
    [(query) => `set linesize 200\nspool x.csv\n${query};\nspool off`, "oracle"],
    [(query) => `.headers on\n${query}`, "sqlite"],
    [(query) => `add jar x.jar;\n${query}`, "hive"],
    [(query) => `install json; load json;\n${query}`, "duckdb"],
    [(query) => `create procedure p() begin ${query}; end`, "mysql"],
    [(query) => `create event e on schedule every 1 hour do insert into log ${query}`, "mysql"],
    [(query) => `create function f() returns setof int as $$ begin return query ${query}; end $$ language plpgsql`, "postgres"],
    [(query) => `x := (${query})`, "oracle"],
    [(query) => `RETURN QUERY ${query}`, "postgres"],
    [(query) => `LOCKING TABLE t FOR ACCESS ${query}`, "teradata"],
    [(query) => `Please run: ${query}`],
    [(query) => `\`\`\`sql\n${query}\n\`\`\``],
    [(query) => `mysql> ${query}`],
    [(query) => `<sql>${query}</sql>`],
    [(query) => `' union ${query} --`],
    [(query) => JSON.stringify({ prompt: `run ${query}` })],
    [(query) => `a,b\n1,${query}`],
    [(query) => `db.query('${query}')`],
    [(query) => `${Array.from({ length: 40 }, (_, i) => `Please run: select a${i} from opent;`).join("\n")}\n${query}`],
    [(query) => `Please run: ${query}; then SELECT now()`],
  ];

  test.each(places.map(([place, dialect]) => ({ place, dialect, shown: place("...") })))("$shown", ({ place, dialect }) => {
    for (const query of [
      "select q from vault7",
      "SELECT q FROM vault7",
      "select q from hr.vault7",
      "select distinct a, q from vault7",
    ]) {
      const result = classifier.classify(place(query), dialect === undefined ? {} : { dialect });
      expect([place(query), result.tier, result.reasoning]).toEqual([place(query), "RESTRICTED", result.reasoning]);
    }
    const salary = classifier.classify(place("select salary from emp"), dialect === undefined ? {} : { dialect });
    expect([place("select salary from emp"), rank(salary) >= 1, salary.reasoning]).toEqual([
      place("select salary from emp"),
      true,
      salary.reasoning,
    ]);
  });

  test("a sentence is none", () => {
    for (const text of [
      "Please select the best paint from our range.",
      "They select colours from the catalogue and go on.",
      "You may select size, colour and material from any shelf.",
    ])
      expect([text, classifier.classify(text, {}).tier]).toEqual([text, "PUBLIC"]);
  });
});

test("who names a dialect says that the text is for a database: what nobody reads is not public", () => {
  for (const dialect of [
    "postgres",
    "mysql",
    "mssql",
    "oracle",
    "snowflake",
    "bigquery",
    "clickhouse",
    "hive",
    "duckdb",
    "sqlite",
  ])
    for (const text of ["zork the frobnicator", "reset all", "hello world", "create dictionary d (a UInt8) primary key a"])
      counts(text, dialect);
});

test("a program that a copy runs may read anything", () => {
  for (const text of ["COPY t FROM PROGRAM 'cat x'", "copy (select 1) to program 'psql'", "COPY t\nTO PROGRAM 'x'"])
    expect([text, classifier.classify(text, { dialect: "postgres" }).tier]).toEqual([text, "RESTRICTED"]);
});

test.each([
  "SELECT max FROM (SELECT max(k9) FROM vault7) t",
  "SELECT column1 FROM (VALUES ((SELECT k9 FROM vault7))) t",
  "select coalesce from (select coalesce(k9, '') from vault7) t",
  "select k9 from (select (select k9 from vault7)) t",
  "SELECT f0_ FROM (SELECT lower(k9) FROM vault7)",
  "SELECT _col0 FROM (SELECT k9 || '' FROM vault7) t",
])("a column that the database named itself stands for what it is made of: %s", (query) => {
  for (const dialect of ["postgres", "bigquery", "trino", undefined]) {
    const result = classifier.classify(query, dialect === undefined ? {} : { dialect });
    expect([query, dialect, rank(result) >= 3, result.reasoning]).toEqual([query, dialect, true, result.reasoning]);
  }
});
