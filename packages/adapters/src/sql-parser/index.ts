import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";
import { compileFunction } from "node:vm";
import type { SqlParser } from "@seneschal/governance";
import { missingBackEnd } from "../back-end.ts";

const NAMES: Readonly<Record<string, string>> = { postgres: "postgresql" };

/** What the module's bindings give, for one instance of it. */
interface Bindings {
  initSync(options: { readonly module: WebAssembly.Module }): void;
  parse_sql(dialect: string, sql: string): readonly unknown[];
  format_sql(dialect: string, sql: string): string;
}

/**
 * The SQL parser port over sqlparser-rs compiled to WebAssembly. A text that exhausts the parser (a chain of a thousand operators overflows its stack) throws, and costs the instance that read it:
 * a trap leaves the stack of the instance where it was, so that nothing could be read with it again. The next text is read by a new one.
 *
 * @example
 * ```ts
 * import { openSqlParser } from "@seneschal/adapters/sql-parser";
 * const parser = await openSqlParser();
 * console.log(parser.parse("SELECT 1", "postgres").length); // 1
 * ```
 */
export async function openSqlParser(): Promise<SqlParser> {
  const { module, bind, dialects } = await loading();
  const open = (): Bindings => {
    const bindings = bind();
    bindings.initSync({ module });
    return bindings;
  };
  let instance: Bindings | undefined = open();
  const doing = <T>(dialect: string, work: (bindings: Bindings, dialect: string) => T): T => {
    const name = NAMES[dialect] ?? dialect;
    const known = dialects.find((supported) => supported === name) ?? "generic";
    instance ??= open();
    try {
      return work(instance, known);
    } catch (error) {
      // What the parser says of a text is a record; an error broke off its work.
      if (!(error instanceof Error)) throw new Error(String((error as { readonly message?: unknown }).message ?? error));
      instance = undefined;
      throw error;
    }
  };
  return {
    parse: (sql, dialect) => doing(dialect, (bindings, known) => bindings.parse_sql(known, sql)),
    format: (sql, dialect) => doing(dialect, (bindings, known) => bindings.format_sql(known, sql)),
  };
}

let loaded: Promise<{ readonly module: WebAssembly.Module; readonly dialects: readonly string[]; bind(): Bindings }> | undefined;

/** Compiles once per thread. The package binds one instance for ever, so that its bindings are run anew for each. */
function loading(): NonNullable<typeof loaded> {
  loaded ??= (async () => {
    const { SUPPORTED_DIALECTS } = await import("@guanmingchiu/sqlparser-ts").catch(missingBackEnd);
    const main = pathToFileURL(createRequire(import.meta.url).resolve("@guanmingchiu/sqlparser-ts"));
    const [bytes, source] = await Promise.all([
      readFile(new URL("../wasm/sqlparser_rs_wasm_bg.wasm", main)),
      readFile(new URL("../wasm/sqlparser_rs_wasm.js", main), "utf8"),
    ]);
    const script = source
      .replace(/^export (?=function )/gm, "")
      .replace(/^export \{[^}]*\};?/gm, "")
      .replaceAll("import.meta.url", "undefined");
    return {
      module: await WebAssembly.compile(bytes),
      dialects: SUPPORTED_DIALECTS,
      bind: compileFunction(`${script}\nreturn { initSync, parse_sql, format_sql };`) as () => Bindings,
    };
  })();
  return loaded;
}
