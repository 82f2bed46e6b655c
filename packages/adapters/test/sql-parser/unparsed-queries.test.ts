import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { classifierKnowing, rankOf } from "./support/registered.ts";

const classify = classifierKnowing({
  "hr.vault7": { tier: "RESTRICTED" },
  "my vault": { tier: "RESTRICTED" },
  "dash-vault": { tier: "RESTRICTED" },
  open1: { tier: "PUBLIC" },
  mixed3: { tier: "PUBLIC", columns: { a: "PUBLIC", k9: "RESTRICTED" } },
});
const QUERIES = [
  "SELECT q FROM vault7",
  "SELECT v.q, upper(v.r) FROM hr.vault7 v WHERE v.q = 'x'",
  "select count(*), max(k9) from mixed3 group by a",
  "WITH c AS (SELECT * FROM vault7) SELECT * FROM c",
  "TABLE vault7",
];
const inDoubles = (query: string) => `"${query.replaceAll('"', '\\"')}"`;

describe("SQL in the code of another language is read as it runs", () => {
  /** Calls that run a query, and how each writes a text. */
  const calls: readonly ((query: string) => string)[] = [
    (q) => `db.query(${inDoubles(q)})`,
    (q) => `cursor.execute(${inDoubles(q)}, (1,))`,
    (q) => `rows = conn.execute(text(${inDoubles(q)})).fetchall()`,
    (q) => `jdbcTemplate.queryForList(${inDoubles(q)});`,
    (q) => `const r = await sql.unsafe(\`${q}\`);`,
    (q) => `cur.execute("""\n  ${q}\n""")`,
    (q) => `cur.execute('''${q.replaceAll("'", '"')} ''')`,
    (q) =>
      `q = ${q
        .split(" ")
        .map((word) => inDoubles(`${word} `))
        .join(" + ")}`,
    (q) =>
      `q = (${q
        .split(" FROM ")
        .map((part, i) => inDoubles(i === 0 ? part : ` FROM ${part}`))
        .join("\n     ")})`,
    (q) => `String q = ${inDoubles(q.slice(0, 3))} + ${inDoubles(q.slice(3))};`,
    (q) => `sb.append(${inDoubles(q.slice(0, 9))}).append(${inDoubles(q.slice(9))})`,
    (q) => `$q = ${inDoubles(q.slice(0, 5))} . ${inDoubles(q.slice(5))};`,
    (q) => `q := concat(${inDoubles(q.slice(0, 8))}, ${inDoubles(q.slice(8))})`,
    (q) => `db.execute(${inDoubles(`${q} LIMIT `)} + n)`,
    (q) => `Why is it slow?\n\`\`\`sql\n${q}\n\`\`\`\nThanks`,
    (q) => `curl 'http://h/?query=${encodeURIComponent(q)}'`,
    (q) => JSON.stringify({ steps: [{ run: `db.query(${inDoubles(q)})` }] }),
  ];
  test("in calls, in texts that are joined, over lines, in URLs", () =>
    fc.assert(
      fc.property(fc.constantFrom(...calls), fc.constantFrom(...QUERIES), fc.boolean(), (call, query, lower) => {
        const text = call(lower ? query.toLowerCase() : query);
        const { tier, reasoning } = classify(text);
        expect([text, tier, reasoning]).toEqual([text, "RESTRICTED", reasoning]);
      }),
      { numRuns: 200 },
    ));

  test.each([
    'q = "SELECT q FROM " + table',
    "q = f'SELECT q FROM {table}'",
    "const q = `SELECT ${cols} FROM ${table}`",
    '"SELECT * FROM {}".format(t)',
    "Please run this: select q, r from ${t} v limit 5",
    "```sql\nselect q from ${t}\n```",
  ])("where the table is put in it may be any: %s", (text) => expect(classify(text).tier).toBe("RESTRICTED"));

  test.each([
    'cur.execute("SELECT a FROM mixed3 WHERE a = %s", (x,))',
    'q = "SELECT a FROM mixed3 WHERE a = " + x',
    "q = f'SELECT a FROM mixed3 WHERE a = {x}'",
    'log.info("don\'t"); db.query("SELECT a FROM mixed3 WHERE a = \'x\'")',
  ])("a value that is put in is one: %s", (text) => expect(rankOf(classify(text).tier)).toBeLessThanOrEqual(1));
});

describe("every name in a query of another language is looked up", () => {
  const forms: readonly ((name: string) => string)[] = [
    (n) => `db.${n}.find({})`,
    (n) => `db.getCollection('${n}').aggregate([])`,
    (n) => `db.open1.aggregate([{ $lookup: { from: '${n}', localField: 'a', foreignField: 'b', as: 'c' } }])`,
    (n) => `query { ${n} { a b } }`,
    (n) => `{ ${n}(first: 5) { a } }`,
    (n) => `mutation { update_${n}(where: {}) { returning { a } } }`,
    (n) => `query { ${n}_aggregate { nodes { a } } }`,
    (n) => `{ all${n[0]?.toUpperCase()}${n.slice(1)}Connection(first: 5) { nodes { a } } }`,
    (n) => JSON.stringify({ query: `query Q { hr_${n}_by_pk(id: 1) { a } }` }),
    (n) => `MATCH (x:${n}) RETURN x`,
    (n) => `g.V().hasLabel('${n}').valueMap()`,
    (n) => `spark.table("${n}").show()`,
    (n) => `df = session.table('${n}')`,
    (n) => `tbl(con, '${n}') %>% collect()`,
    (n) => `${n} | where a == 1 | project b`,
    (n) => `source=${n} | fields a`,
    (n) => `FOR d IN ${n} RETURN d`,
    (n) => `HGETALL ${n}`,
    (n) => `GET /${n}/_search\n{"query":{"match_all":{}}}`,
    (n) => `proc print data=hr.${n}; run;`,
    (n) => `pg_dump -t hr.${n} shop`,
    (n) => `mysqldump shop ${n} > x.sql`,
    (n) => `aws s3 cp s3://lake/hr/${n}.csv .`,
    (n) => `cat /data/hr/${n}.csv`,
    (n) => `bcp hr.dbo.${n} out x.csv -c`,
    (n) => `please dump ${n}`,
    (n) => `summary of ${n.slice(0, 4)}* by region; q=1`,
    (n) => `what is in the ${n} table?`,
    (n) => `Export ${n} to my mailbox`,
    (n) => JSON.stringify({ find: n, filter: {} }),
    (n) => JSON.stringify({ aggregate: n, pipeline: [] }),
    (n) => JSON.stringify({ TableName: n }),
  ];
  test("whatever the language, the letters and what stands around it", () =>
    fc.assert(
      fc.property(
        fc.constantFrom(...forms),
        fc.constantFrom("vault7", "VAULT7", "Vault7"),
        fc.constantFrom("", "# nightly\n", "  ", "// x\n"),
        (form, name, before) => {
          const text = form(name).startsWith("{") ? form(name) : before + form(name);
          const { tier, reasoning } = classify(text);
          expect([text, tier, reasoning]).toEqual([text, "RESTRICTED", reasoning]);
        },
      ),
      { numRuns: 200 },
    ));

  test.each(["db['my vault'].find()", 'spark.table("dash-vault")', "`my vault` | take 5", "cat dash-vault.csv"])(
    "names with signs: %s",
    (text) => expect(classify(text).tier).toBe("RESTRICTED"),
  );

  test.each([
    "Write a haiku about open1 and autumn.",
    "The vault of the bank was opened at noon.",
    "print('hello world')",
    "for i in range(10): print(i)",
    "docker run -p 80:80 nginx",
  ])("what names nothing is PUBLIC: %s", (text) => expect(classify(text).tier).toBe("PUBLIC"));
});

describe("fields that such a query names are names of columns", () => {
  test.each([
    "df['ssn']",
    "df[['a', 'ssn']]",
    "df.loc[:, 'ssn']",
    "df.select(col('ssn'))",
    "df.select('ssn').show()",
    "df.filter(F.col('ssn') == 'x')",
    "df %>% select(ssn)",
    "pl.scan_csv('x').select(pl.col('ssn'))",
    "User.objects.values_list('ssn', flat=True)",
    "User.pluck(:ssn)",
    "session.query(User.ssn)",
    "prisma.user.findMany({select:{ssn:true}})",
    "context.Users.Select(u => u.Ssn)",
    "db.users.aggregate([{$project:{x:'$ssn'}}])",
    '{"aggregate":"users","pipeline":[{"$project":{"x":"$ssn"}}]}',
    '{"aggs":{"x":{"terms":{"field":"ssn.keyword"}}}}',
    '{"query":{"query_string":{"query":"ssn:*"}}}',
    "FOR u IN users RETURN u.ssn",
    "HGET user:1 ssn",
    "aws dynamodb scan --table-name users --projection-expression ssn",
    "jq '.[].ssn' users.json",
    "GET /api/users?fields=ssn",
    "proc print data=x; var ssn; run;",
  ])("%s", (text) => expect(rankOf(classify(text).tier)).toBeGreaterThanOrEqual(3));
});
