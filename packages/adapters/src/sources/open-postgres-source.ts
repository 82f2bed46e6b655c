import type { SampledColumn } from "@seneschal/governance";
import { CodedError, checkOptions, isCoded } from "@seneschal/kernel";
import type pg from "pg";
import { backEnd } from "../back-end.ts";
import type { DataSource, SourceAsset } from "./data-source.ts";
import { inScope, type SourceScope, unavailable, unreadableAsset } from "./source-scope.ts";

const postgres = backEnd<typeof pg>("pg");

/** A PostgreSQL database to scan. */
export interface PostgresSourceOptions extends SourceScope {
  readonly host: string;
  readonly port: number;
  readonly database: string;
  /** A role that may read and nothing else. A superuser is refused: a scan runs the functions of views with the rights of its role. */
  readonly user: string;
  readonly password?: string;
  /** TLS, with a certificate of these CAs (PEM) or of the host's; `false`: none. */
  readonly tls: boolean;
  readonly ca?: string;
}

/** Characters of one value, and of all values of one table. */
const [MAX_VALUE, MAX_SAMPLE] = [4096, 16 << 20];

const KINDS: Readonly<Record<string, SourceAsset["kind"]>> = { r: "table", p: "table", f: "table", v: "view", m: "view" };

// The catalogue, not information_schema: that one hides what the role may not read.
const LIST = `
  select n.nspname as schema, c.relname as name, c.relkind as kind
  from pg_catalog.pg_class c join pg_catalog.pg_namespace n on n.oid = c.relnamespace
  where c.relkind in ('r', 'p', 'f', 'v', 'm') and not c.relispartition
    and n.nspname not in ('pg_catalog', 'information_schema') and n.nspname !~ '^pg_(toast|temp)'
  order by n.nspname collate "C", c.relname collate "C"`;
const COLUMNS = `
  select a.attname as name, pg_catalog.format_type(a.atttypid, a.atttypmod) as type, c.relkind as kind, c.reltuples::float8 as tuples
  from pg_catalog.pg_class c join pg_catalog.pg_namespace n on n.oid = c.relnamespace
  join pg_catalog.pg_attribute a on a.attrelid = c.oid
  where n.nspname = $1 and c.relname = $2 and a.attnum > 0 and not a.attisdropped
  order by a.attnum`;
const ROLE = "select rolsuper as super from pg_catalog.pg_roles where rolname = current_user";

/**
 * The tables, views, materialised views and foreign tables of a PostgreSQL database, partitions as their table. Reads with one connection, in sessions that cannot write, under a
 * statement time-out. Row security that would hide rows is an error of the table, not a sample without them. The driver is loaded here.
 */
export function openPostgresSource(options: PostgresSourceOptions): DataSource {
  checkOptions("options", options, {
    host: "string",
    port: "number",
    database: "string",
    user: "string",
    password: "string?",
    tls: "boolean",
    ca: "string?",
    include: "array",
    exclude: "array",
    maxAssets: "number",
    rows: "number",
    timeout: "number",
  });
  const { host, port, database, user, password, tls, ca, maxAssets, rows: wanted, timeout } = options;
  let connected: Promise<pg.Client> | undefined;
  const connect = async (): Promise<pg.Client> => {
    const client = new (postgres().Client)({
      host,
      port,
      database,
      user,
      password: password ?? "",
      ssl: tls ? { rejectUnauthorized: true, ...(ca === undefined ? {} : { ca }) } : false,
      application_name: "seneschal scan",
      connectionTimeoutMillis: Math.min(10_000, timeout),
      query_timeout: timeout + 1000,
      statement_timeout: timeout,
      lock_timeout: Math.ceil(timeout / 2),
      // Nobody's functions and operators stand in for those of the system.
      options: "-c default_transaction_read_only=on -c row_security=off -c search_path=pg_catalog -c jit=off",
    });
    client.on("error", () => undefined);
    await client.connect();
    const { rows } = await client.query<{ super: boolean }>(ROLE);
    if (rows[0]?.super === false) return client;
    await client.end();
    throw new CodedError(
      "source_unavailable",
      "the source is not read with the rights of a superuser: give a role that may only read",
    );
  };
  const query = async <Row>(asked: pg.QueryConfig & { readonly rowMode?: "array" }, signal: AbortSignal): Promise<Row[]> => {
    signal.throwIfAborted();
    connected ??= connect();
    let client: pg.Client;
    try {
      client = await connected;
    } catch (error) {
      connected = undefined;
      throw isCoded(error, "source_unavailable", "back_end_missing") ? error : unavailable(codeOf(error));
    }
    const abort = (): void => void client.end().catch(() => undefined);
    signal.addEventListener("abort", abort, { once: true });
    try {
      return (await client.query(asked)).rows as Row[];
    } catch (error) {
      signal.throwIfAborted();
      // An answer of the server about this statement leaves the session as it was.
      if (isAnswer(error)) throw unreadableAsset(reasonOf(error));
      connected = undefined;
      void client.end().catch(() => undefined);
      throw unavailable(codeOf(error));
    } finally {
      signal.removeEventListener("abort", abort);
    }
  };
  return {
    namespace: `postgres://${host}:${port}`,
    async probe(signal) {
      await query({ text: ROLE }, signal).catch((error: unknown) => {
        throw isCoded(error, "asset_unreadable") ? unavailable(error.message) : error;
      });
    },
    async list(signal) {
      const found = await query<{ schema: string; name: string; kind: string }>({ text: LIST }, signal).catch(
        (error: unknown) => {
          throw isCoded(error, "asset_unreadable") ? unavailable(error.message) : error;
        },
      );
      const assets = found
        .filter(({ schema, name }) => inScope(options, `${schema}.${name}`))
        .map(({ schema, name, kind }) => ({ name: assetName(database, schema, name), kind: KINDS[kind] ?? ("table" as const) }));
      return { assets: assets.slice(0, maxAssets), skipped: 0, truncated: assets.length > maxAssets };
    },
    async sample({ name }, signal) {
      const [, schema = "", table = ""] = partsOf(name);
      type Column = { name: string; type: string; kind: string; tuples: number };
      const columns = await query<Column>({ text: COLUMNS, values: [schema, table] }, signal);
      const [first] = columns;
      if (first === undefined) return [];
      const length = Math.max(16, Math.min(MAX_VALUE, Math.floor(MAX_SAMPLE / (wanted * columns.length))));
      const { escapeIdentifier } = postgres();
      const list = columns.map((column) => `left(${escapeIdentifier(column.name)}::text, ${length})`).join(", ");
      const from = `select ${list} from ${escapeIdentifier(schema)}.${escapeIdentifier(table)}`;
      const rowsOf = (text: string) => query<(string | null)[]>({ text: `${text} limit ${wanted}`, rowMode: "array" }, signal);
      // Views have no pages to choose from. Twice as many as wanted on average: some pages are emptier.
      const share = (200 * wanted) / Math.max(1, first.tuples);
      const spread = "rpm".includes(first.kind) && share < 100 ? await rowsOf(`${from} tablesample system (${share})`) : [];
      const rows = spread.length < wanted ? [...spread, ...(await rowsOf(from))].slice(0, wanted) : spread;
      return columns.map(
        (column, i): SampledColumn => ({
          name: column.name,
          type: column.type,
          values: rows.flatMap((row) => (row[i] === null || row[i] === undefined ? [] : [row[i]])),
        }),
      );
    },
    async close() {
      const client = await connected?.catch(() => undefined);
      await client?.end().catch(() => undefined);
    },
  };
}

/** OpenLineage's name of a table: `database.schema.table`. Parts that hold a dot are quoted, so that no two tables have one name. */
function assetName(...parts: readonly string[]): string {
  return parts.map((part) => (/[."]/.test(part) ? `"${part.replaceAll('"', '""')}"` : part)).join(".");
}

function partsOf(name: string): readonly string[] {
  return [...name.matchAll(/(?:^|\.)(?:"((?:[^"]|"")*)"|([^."]*))/g)].map(
    ([, quoted, plain]) => quoted?.replaceAll('""', '"') ?? plain ?? "",
  );
}

function isAnswer(error: unknown): boolean {
  const code = codeOf(error);
  return /^[0-9A-Z]{5}$/.test(code) && !/^(?:08|57P|53)/.test(code);
}

/** By its code alone: the message of a server may quote a value. */
function reasonOf(error: unknown): string {
  const code = codeOf(error);
  if (code === "42501") return "the role may not read it, or row security hides rows from it";
  return code === "57014" ? "reading it takes too long" : `SQLSTATE ${code}`;
}

function codeOf(error: unknown): string {
  const { code } = error as { readonly code?: unknown };
  return typeof code === "string" && /^[A-Za-z0-9_]{1,40}$/.test(code) ? code : "no connection";
}
