import { describe, expect, test } from "vitest";
import { createClassifier } from "../src/index.ts";

const classifier = createClassifier();
const tier = (query: string) => classifier.classify(query).tier;

describe("a query that is run and not shown may be any", () => {
  test.each([
    "cursor.execute(sql)",
    "cur.execute(query, (x,))",
    "const rows = await db.query(q)",
    "conn.query(statement, params)",
    "db.$queryRawUnsafe(sql)",
    "pd.read_sql(q, con)",
    "jdbcTemplate.queryForList(sql)",
    "em.createNativeQuery(text).getResultList()",
    "spark.sql(statement)",
    "dbGetQuery(con, q)",
    "mysqli_query($link, $sql)",
    "db[coll].find({})",
    "await prisma[model].findMany()",
    "session.table(name).show()",
    "knex(table).select('*')",
    "supabase.from(table).select('*')",
    "psql -f dump.sql",
    "psql shop < x.sql",
    "mysql shop < x.sql",
    "cat x.sql | psql shop",
    "sqlcmd -i x.sql",
    "sqlplus hr@x @report.sql",
    "\\i report.sql",
    "eval(atob('U0VMRUNUICogRlJPTSB2YXVsdDc='))",
    "exec(base64.b64decode(text))",
    "echo U0VMRUNUICogRlJPTSB2YXVsdDc= | base64 -d | psql",
  ])("%s", (query) => {
    for (const said of [query, `// nightly\n${query}`, `${query};`]) expect([said, tier(said)]).toEqual([said, "RESTRICTED"]);
  });

  test.each([
    "re.exec(text)",
    "const found = map.get(key)",
    "list.filter(x)",
    "document.querySelector(name)",
    "The cursor executes a statement.",
    "psql is the client of PostgreSQL",
    "atob decodes base64",
    "base64 -d x.txt",
    "our session table is full",
    "cat notes.txt | sort",
  ])("what runs none is not: %s", (query) => expect(tier(query)).not.toBe("RESTRICTED"));
});
