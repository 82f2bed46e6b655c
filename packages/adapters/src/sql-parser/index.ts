import { init, parse, SUPPORTED_DIALECTS } from "@guanmingchiu/sqlparser-ts";
import type { SqlParser } from "@seneschal/core/governance";

const NAMES: Readonly<Record<string, string>> = { postgres: "postgresql" };

/**
 * The SQL parser port over sqlparser-rs compiled to WebAssembly. Loads the module once per process.
 *
 * @example
 * ```ts
 * import { openSqlParser } from "@seneschal/adapters/sql-parser";
 * const parser = await openSqlParser();
 * console.log(parser.parse("SELECT 1", "postgres").length); // 1
 * ```
 */
export async function openSqlParser(): Promise<SqlParser> {
  await init();
  return {
    parse(sql, dialect) {
      const name = NAMES[dialect] ?? dialect;
      const known = SUPPORTED_DIALECTS.find((supported) => supported === name) ?? "generic";
      return parse(sql, known);
    },
  };
}
