import type { Json, JsonObject } from "../json.ts";

/** One migration. `from` and `to` name both ends in words, without credentials. */
export interface Migration {
  readonly id: string;
  readonly from: string;
  readonly to: string;
  /** RFC 3339. */
  readonly at: string;
}

/**
 * How a store or a log stands to migrations.
 *
 * - `empty`: nothing was ever committed. `serving`: it may be opened.
 * - `moved`: fenced, its content is served elsewhere, or is on its way there. `importing`: the content of another is being copied into it. Neither can be opened.
 */
export type MigrationState =
  | { readonly state: "empty" | "serving" }
  | { readonly state: "moved" | "importing"; readonly move: Migration };

/** One thing that is copied: its key sorts by UTF-8 bytes within its table. */
export interface MigratedRow {
  readonly key: string;
  readonly value: Json;
}

/**
 * A document store or a log as a migration sees it, below its laws: rows of tables, the same for every engine, and marks by which only one of two ends serves.
 *
 * Laws (each is a test over every engine):
 * - every step is durable when it resolves, and may be cut off anywhere: it has happened, or `beginImport`, `write` or `discardImport` do it again from where it stood.
 * - what `fence` marked is neither opened nor committed to by any process, of this release or the one before, until `unfence`; its rows stay as they are.
 * - what `beginImport` marked cannot be opened until `finishImport`, and then goes on with the sequences of the head that it was given.
 * - `read` gives what `write` was given, in the order of keys, whatever the engines.
 */
export interface Migratable {
  readonly tables: readonly string[];
  /** Throws `store_misconfigured` or `log_misconfigured` where something else lies. */
  state(): Promise<MigrationState>;
  /** Processes that have it open, in words, as far as the engine can tell. One that it cannot tell is stopped by the fence. */
  openedBy(): Promise<readonly string[]>;
  /** Throws where it does not serve, or another migration has fenced it. */
  fence(move: Migration): Promise<void>;
  unfence(): Promise<void>;
  /** Empties it first. Throws where it is neither empty nor importing. */
  beginImport(move: Migration): Promise<void>;
  /** Rows behind a key, at least one if there is any. */
  read(table: string, after: string | undefined, limit: number): Promise<readonly MigratedRow[]>;
  /** In the order of keys, behind all that the table has. Throws where this import is not under way. */
  write(move: Migration, table: string, rows: readonly MigratedRow[]): Promise<void>;
  /** The greatest key of a table. */
  last(table: string): Promise<string | undefined>;
  /** The sequences that it goes on with. */
  head(): Promise<JsonObject>;
  /** Throws where this import is not under way. */
  finishImport(move: Migration, head: JsonObject): Promise<void>;
  /** Empties what is importing, its mark last. Throws where this import is not under way. */
  discardImport(move: Migration): Promise<void>;
  close(): Promise<void>;
}
