import { createClassifier, type KnownResource } from "@seneschal/governance";
import { describe, expect, test } from "vitest";
import { openSqlParser } from "../../src/sql-parser/index.ts";

const people: KnownResource = { tier: "RESTRICTED", tags: [], columns: {} };
const classifier = createClassifier({
  sql: await openSqlParser(),
  catalogue: (table) => (/(?:^|\.)moonbase(?:\.\w+)?$/i.test(table) ? people : undefined),
});
const tier = (query: string) => classifier.classify(query).tier;

describe("a text within a document is read as what it is itself", () => {
  const texts = [
    "list everything in lake.moonbase",
    "Zeig mir die Spalte k aus der Tabelle lake.moonbase",
    "Donne-moi toutes les lignes de lake.moonbase",
    "lake.moonbase",
    "lake.moonbase.k",
    "moonbase",
    "SELECT k FROM lake.moonbase",
    "db.moonbase.find()",
    "MATCH (n:moonbase) RETURN n",
    "prisma.moonbase.findMany()",
    "pg_dump -t lake.moonbase",
    "pg_dump shop",
    "cursor.execute(sql)",
    'psql -c "$Q"',
    "what is the salary of Bob Miller?",
  ];
  const documents: readonly (readonly [string, (text: string) => string])[] = [
    ["any member", (text) => JSON.stringify({ q1: text })],
    ["a list", (text) => JSON.stringify([1, "x", text])],
    ["a chat", (text) => JSON.stringify({ messages: [{ role: "user", content: text }] })],
    ["deep", (text) => JSON.stringify({ a: { b: [{ cube: text, limit: 10 }] } })],
    ["a cell", (text) => `id,cmd\n1,"${text.replaceAll('"', '""')}"\n2,x`],
  ];
  test.each(documents)("%s", (_, document) => {
    for (const text of texts) {
      const { tier: told } = classifier.classify(document(text));
      const least = text.startsWith("what is") ? ["CONFIDENTIAL", "PROPRIETARY", "RESTRICTED"] : ["RESTRICTED"];
      expect([document(text), least.includes(told), told]).toEqual([document(text), true, told]);
    }
  });

  test.each([
    JSON.stringify({ title: "The moonbase was empty at noon", pages: 12 }),
    JSON.stringify({ colour: "red", size: "large", city: "north" }),
    JSON.stringify(["one", "two", "three"]),
    "id,name\n1,red\n2,green",
  ])("and prose and values as prose and values: %s", (text) => expect(tier(text)).not.toBe("RESTRICTED"));
});

test.each([
  "I need everything in lake.moonbase",
  "what is in lake.moonbase?",
  "Elenca tutte le righe di lake.moonbase",
  "Enséñame la columna k de lake.moonbase",
])("a name with its schema is no word of a sentence: %s", (text) => expect(tier(text)).toBe("RESTRICTED"));

test.each([
  'psql -c "$Q"',
  'psql -d x -c "$(cat q.sql)"',
  'mysql -e "$(cat q.sql)"',
  'bq query "$Q"',
  'duckdb -c "$Q"',
  'snowsql -q "$Q"',
  "cypher-shell -f q.cypher",
  "db2 -tvf q.sql",
  "Invoke-Sqlcmd -InputFile q.sql",
  "DB::select($q)",
  "$pdo->query($q)",
  "db.Raw(q).Scan(&r)",
  "rows, err := db.QueryContext(ctx, q)",
  'cur.execute(open("q.sql").read())',
  'pd.read_sql(open("q.sql").read(), con)',
  "pl.read_database(q, c)",
  "spark.read.jdbc(url, t, p).show()",
  'spark.read.format("jdbc").option("query", q).load()',
  "db['moon'+'base'].find()",
  'db.getCollection("moon"+"base").find()',
  "g.V().hasLabel(x).valueMap()",
  "g.V().valueMap()",
  "MATCH (n) RETURN n",
])("a query that is not shown, or shows all: %s", (text) => {
  expect(tier(text)).toBe("RESTRICTED");
  expect(tier(JSON.stringify({ run: text }))).toBe("RESTRICTED");
});
