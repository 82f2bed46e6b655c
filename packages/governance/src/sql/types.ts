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
  /** The member that is taken out of the column where it holds a structure (`payload->>'email'`, `profile.email`): the names of its path, with dots between them. */
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

/** A call of a function or a procedure. */
export interface SqlCall {
  readonly name: string;
  /** Constant texts among its arguments. */
  readonly texts: readonly string[];
  /** It stands for rows, or has no arguments to look at: what it gives is somebody's data. */
  readonly rows: boolean;
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
  /** Why a part of the statements cannot be read: what it does is built when it runs, or stands somewhere else. */
  readonly unread: readonly string[];
  /** Functions and procedures that are called, and of which nobody knows what they read. */
  readonly calls: readonly SqlCall[];
  /** Of each call that runs a text: the constant texts among its arguments, of which one is SQL. */
  readonly runs: readonly (readonly string[])[];
  /** Why something in the statements is not explained that has no name. */
  readonly doubts: readonly string[];
  /** Paths into structures that stand where no rule expects one (`$.customer.email`), as their keys with dots between them. */
  readonly paths: readonly string[];
}

/** Column names of a table, if known. Names are compared without case. */
export type SchemaOf = (table: string) => readonly string[] | undefined;
