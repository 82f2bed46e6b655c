/** How one input column takes part in an output, in OpenLineage's words. */
export interface ColumnInput {
  readonly table: string;
  /** `*`: the whole row of a table whose columns are not known. */
  readonly field: string;
  readonly type: "DIRECT" | "INDIRECT";
  readonly subtype:
    | "IDENTITY"
    | "TRANSFORMATION"
    | "AGGREGATION"
    | "JOIN"
    | "FILTER"
    | "GROUP_BY"
    | "SORT"
    | "WINDOW"
    | "CONDITIONAL";
  readonly masking: boolean;
  /** The member that is taken out of the column where it holds a structure (`payload->>'email'`, `profile.email`): the last name of its path. */
  readonly member?: string;
  /** Behind an aggregate that shows values themselves (`min`, `array_agg`), not a figure about them. */
  readonly revealing?: true;
}

/** One column of a result, with what it is made from. */
export interface ResultColumn {
  readonly name: string;
  readonly inputs: readonly ColumnInput[];
}

/** Where a statement's rows go. `table` is absent for a plain query. */
export interface SqlOutput {
  readonly table?: string;
  readonly columns: readonly ResultColumn[];
  /** Tables whose columns all pass through a star that no schema could expand. */
  readonly stars: readonly string[];
  /** Columns that decide which rows come out, or in which order. */
  readonly dataset: readonly ColumnInput[];
}

/** A literal with the column it is compared with or written to. */
export interface SqlLiteral {
  readonly value: string;
  readonly column?: string;
}

/** What a list of statements reads, writes and shows. Table names are dotted and unquoted, in order of appearance. */
export interface SqlAnalysis {
  readonly operation: "READ" | "EXPORT" | "WRITE" | "DELETE" | "DEFINE";
  readonly inputs: readonly string[];
  readonly outputs: readonly string[];
  readonly results: readonly SqlOutput[];
  readonly literals: readonly SqlLiteral[];
  readonly limited: boolean;
  /** Names in the statements that no rule explains; each may be a relation. */
  readonly unexplained: readonly string[];
  /** Why a part of the statements cannot be read: what it does is built when it runs. */
  readonly unread: readonly string[];
}

/** Column names of a table, if known. Names are compared without case. */
export type SchemaOf = (table: string) => readonly string[] | undefined;
