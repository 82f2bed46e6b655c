import { SQL_DIALECTS } from "./sql-parser.ts";

/** Other names of dialects, and dialects that are read as the one that they follow. */
const ALIASES: Readonly<Record<string, string>> = {
  postgresql: "postgres",
  pg: "postgres",
  cockroachdb: "postgres",
  greenplum: "postgres",
  mariadb: "mysql",
  tidb: "mysql",
  sqlserver: "mssql",
  tsql: "mssql",
  "t-sql": "mssql",
  plsql: "oracle",
  sparksql: "spark",
  ansi_sql: "ansi",
};

/** Other databases: they have no dialect here, so that every reading counts of a text for one of them. */
const OTHERS: ReadonlySet<string> = new Set(
  `generic trino presto athena db2 teradata vertica impala netezza firebird interbase h2 hsqldb derby exasol hana sybase ase informix access dremio drill druid pinot doris starrocks
  singlestore memsql yugabyte yugabytedb cockroach materialize risingwave questdb timescaledb crate cassandra cql scylla influxql flink ksql kylin phoenix monetdb altibase tibero dameng
  kingbase oceanbase polardb greptime databend datafusion calcite fabric synapse cosmosdb documentdb mongodb neo4j cypher gremlin graphql kql promql partiql esql n1ql hql jpql soql`.split(
    /\s+/,
  ),
);

/** True for a name of a dialect or a database that is known, with a dialect of its own here or not. */
export function isDialectName(name: string): boolean {
  return dialectOf(name) !== undefined || OTHERS.has(name.trim().toLowerCase());
}

/** The dialect that a name means; `undefined` for none that is known, and for `generic`, which is none. */
export function dialectOf(name: string | undefined): string | undefined {
  const lower = name?.trim().toLowerCase() ?? "";
  const dialect = Object.hasOwn(ALIASES, lower) ? ALIASES[lower] : lower;
  return dialect !== undefined && dialect !== "generic" && (SQL_DIALECTS as readonly string[]).includes(dialect)
    ? dialect
    : undefined;
}
