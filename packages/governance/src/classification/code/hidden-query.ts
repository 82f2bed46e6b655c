import { type Evidence, unread } from "../evidence.ts";
import type { TierPolicy } from "../tiers.ts";

/** A name of a program, and no literal. */
const NAMED = String.raw`\(\s*(?:await\s+)?(?!(?:true|false|null|None|undefined|function|async|lambda)\b)[A-Za-z_$][\w$.]{0,100}(?:\[\w{1,40}\])?\s*[,)]`;
const DATABASE = String.raw`\b(?:db|database|conn|con|connection|cursor|cur|curs|client|pool|session|engine|sequelize|knex|spark|sqlContext|stmt|jdbcTemplate|jdbc|em|entityManager|ctx|tx|trx|pg|mysql|duckdb|sqlite)`;
/** Programs that hand a query to a database. */
const CLIENTS = "psql|mysql|mariadb|sqlite3|sqlcmd|clickhouse-client|duckdb|mongosh|cqlsh|sqlplus|snowsql|usql";
const MORE_CLIENTS = "beeline|trino|presto|hive|spark-sql";

const FORMS: readonly RegExp[] = [
  // A call that runs what a variable holds.
  new RegExp(String.raw`${DATABASE}\s*\??\.\s*(?:execute|exec|query|run|all|get|raw|sql|prepare|prepareStatement|text)${NAMED}`),
  new RegExp(
    String.raw`\.\s*(?:executeQuery|executeUpdate|executeSql|execute_sql|executemany|executescript|\$?(?:query|execute)Raw(?:Unsafe)?|createNativeQuery|createQuery|createSQLQuery|queryForList|queryForObject|queryForMap|read_sql|read_sql_query|read_sql_table|read_gbq|read_database|read_database_uri|FromSqlRaw|ExecuteSqlRaw|rawQuery|execSQL|prepareStatement)${NAMED}`,
  ),
  /\b(?:dbGetQuery|dbSendQuery|sqlQuery|dbExecute|mysqli_query|pg_query|odbc_exec|sqlsrv_query)\(\s*\$?\w{1,60}\s*,\s*\$?[A-Za-z_]\w{0,60}\s*[,)]/,
  // A table, a collection or a model that a variable names.
  new RegExp(String.raw`${DATABASE}\s*\[\s*[A-Za-z_$][\w$.]{0,100}\s*\]`),
  /\b(?:prisma|models?|repositories)\s*\[\s*[A-Za-z_$][\w$.]{0,100}\s*\]/,
  new RegExp(
    String.raw`(?:\b(?:spark|session|con|conn|db|engine|supabase|client|firestore)\s*\.\s*(?:table|collection|getCollection|get_collection|from|from_|ref)|\bknex)${NAMED}`,
  ),
  // A client of a database that is given a file, or what another program writes.
  new RegExp(
    String.raw`(?:^|[\s;|&])(?:${CLIENTS}|${MORE_CLIENTS}|mongo|bq\s+query)\b[^\n;|]{0,400}(?:\s(?:-f|--file|-i|--queries-file|--filename)[\s=]?\s*\S|<\s*\S|\s@\S+|\.read\s+\S)`,
  ),
  new RegExp(String.raw`\|\s*(?:sudo\s+(?:-u\s+\S+\s+)?)?(?:${CLIENTS})\b`),
  /^\s*(?:\\i(?:r|nclude)?\s+\S|source\s+\S+\.sql\b|@{1,2}[\w./]+\.sql\b|:r\s+\S|\.read\s+\S)/m,
  // One that is given what a variable holds, or another program says.
  new RegExp(
    String.raw`(?:^|[\s;|&])(?:${CLIENTS}|${MORE_CLIENTS}|impala-shell|cypher-shell|db2|bq)\b[^\n;|]{0,400}\s(?:-c|-e|-q|-Q|--command|--execute|--eval|--query|query)[\s=]?\s*["']?\$[\w({]`,
  ),
  /(?:^|[\s;|&])(?:impala-shell|cypher-shell|db2|Invoke-Sqlcmd)\b[^\n;|]{0,400}\s(?:-f|-tvf|-InputFile)\s*\S/,
  // In other languages.
  /(?:->|::)\s*(?:query|select|statement|raw|prepare|exec|execute|unprepared|multi_query)\(\s*\$\w{1,60}\s*[,)]/,
  /\b\w{1,30}\.(?:Raw|Exec|Query|QueryRow|Queryx|Select|QueryContext|ExecContext|QueryRowContext)\(\s*(?:ctx\s*,\s*(?:&\w+\s*,\s*)?)?[a-z_]\w{0,60}\s*[,)]/,
  /\.\s*(?:execute|executescript|query|read_sql\w{0,10}|read_database\w{0,10}|sql)\(\s*(?:open|Path|pathlib|fs\.|readFile|File\.|io\.)/,
  /\.\s*option\(\s*["'](?:query|dbtable)["']\s*,\s*[A-Za-z_]\w{0,60}\s*\)|\.\s*jdbc\(\s*\w{1,60}\s*,\s*[A-Za-z_]\w{0,60}\s*[,)]/,
  // A name that is put together.
  new RegExp(
    String.raw`${DATABASE}\s*(?:\[|\.\s*(?:collection|getCollection|get_collection|table)\()\s*["'][^"'\n]{0,60}["']\s*(?:\+|\.\s*concat)`,
  ),
  /\b(?:hasLabel|match\s*\(\s*\w{0,30}\s*:\s*\$)\s*\(\s*[A-Za-z_]\w{0,60}\s*\)/i,
  // A text that is decoded and run.
  /\b(?:eval|exec|execute|query|run|Function)\s*\(\s*[^()\n]{0,100}\b(?:atob|b64decode|base64_decode|from_base64|unhexlify|fromhex|decode|inflate|decompress)\s*\(/i,
  /\b(?:base64\s+(?:-d|-D|--decode)|xxd\s+-r|openssl\s+(?:base64|enc)\s[^|\n]{0,100}-d)\b[^\n]{0,400}\|\s*(?:sudo\s+)?\w/,
];

/** SQLAlchemy: a class by its name, or a table whose rows are chosen by the methods that only such a query has. */
const ENTITIES =
  /\bsession\s*\.\s*query\(\s*(?:[A-Z][a-z]\w{0,60}\s*[,)]|[a-z]\w{0,60}\s*\)(?=\s*\.\s*(?:filter(?:_by)?|join|outerjoin|order_by|group_by|options|with_entities|get|first|one(?:_or_none)?|count|all|limit)\())/g;

/** What a text calls a table of SQLAlchemy: that is what `session.query` of it asks for. */
const TABLES: readonly RegExp[] = [
  /\b([a-z]\w{0,60})\s{0,9}=\s{0,9}(?:(?:sa|db|sqlalchemy|orm)\.)?(?:Table|aliased|with_polymorphic)\s{0,9}\(/g,
  /\b([a-z]\w{0,60})\s{0,9}=[^\n]{0,400}\.(?:subquery|alias|cte)\(/g,
  /\bfrom\s{1,9}\w[\w.]{0,60}?(?:models?|tables?|schema|entities|orm)[\w.]{0,40}\s{1,9}import\s{1,9}([\w, ]{1,400})/g,
];

/** Without the queries of `session` for tables that the text itself declares. */
function withoutDeclared(code: string): string {
  if (!/\bsession\s*\.\s*query\(/.test(code)) return code;
  const names = new Set(TABLES.flatMap((form) => [...code.matchAll(form)].flatMap(([, found = ""]) => found.split(/[, ]+/))));
  return code.replace(/\bsession\s*\.\s*query\(\s*([a-z]\w{0,60})\s*[,)]/g, (query, name: string) =>
    names.has(name) ? " " : query,
  );
}

/** Evidence of a query that is run and that the text does not show: it may be any, so that it counts as the highest tier. */
export function hiddenQueryEvidence(text: string, policy: TierPolicy): Evidence[] {
  const code = withoutDeclared(text.replace(ENTITIES, " "));
  if (!FORMS.some((form) => form.test(code))) return [];
  const reason = "a query is run that the text does not show";
  return [unread(policy, reason)];
}
