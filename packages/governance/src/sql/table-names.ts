import { foldedName } from "./folded-name.ts";

/**
 * The parts of a table's name, folded, the table itself last: of a dotted name, of an id with slashes or colons (`postgres://db:5432/shop.orders`), of one quoted name that holds dots. Without the parts
 * that say nothing about which table it is: empty ones (`db..orders`), a link (`orders@remote`), a partition (`orders$20260301`), the sign of a stage (`@%orders`).
 */
function nameParts(name: string): readonly string[] {
  // A link may have dots of its own.
  const parts = name
    .replace(/(?<=[^@/:\\])@[^@/:\\]*$/, "")
    .split(/[./:\\]+/)
    .map((part) => part.replace(/["'`[\]\s]+/g, "").replace(/^@[%~]?/, ""))
    .filter((part) => part !== "" && part !== "@" && part !== "~");
  const last = (parts.pop() ?? "").replace(/^(.+?)(?:@.*|\$\d+)$/, "$1");
  return [...parts, last];
}

/** Ends of the names of files that hold rows. */
const FILE_END =
  /(?:\.(?:csv|tsv|txt|jsonl?|ndjson|parquet|avro|orc|arrow|feather|xlsx?|db|sqlite3?|duckdb|sas7bdat|dta|sav|rds|pkl|dmp|sql|gz|zst|bz2|snappy|zip))+$/;

/** A name, and without what only says in which form the rows are kept (`orders.csv`). */
function formsOf(folded: string): readonly (readonly string[])[] {
  const bare = folded.replace(/["'`]+$/, "").replace(FILE_END, "");
  return bare === folded || bare === "" ? [nameParts(folded)] : [nameParts(folded), nameParts(bare)];
}

/** What Iceberg, Delta, Hudi and Paimon keep of a table under its name: other states of its rows, its files with the bounds of their columns. */
const STATES =
  /^(?:all_)?(?:history|snapshots|files|data_files|delete_files|manifests|partitions|entries|refs|metadata_log_entries|position_deletes|changes|properties|options|schemas|tags|branches|audit_log|ro|rt|timeline)$|^(?:branch|tag|snapshot_id|at_timestamp)_./;

/** A change table or function of SQL Server for another table: `cdc.dbo_orders_CT`. */
const CHANGES = /^(?:fn_cdc_get_(?:all|net)_changes_(.+)|(.+)_ct)$/;

/** What a written name may mean besides itself: the table whose states, branches, metadata or changes it names. */
function ownersOf(parts: readonly string[]): readonly (readonly string[])[] {
  const last = parts.at(-1) ?? "";
  const before = parts.slice(0, -1);
  const found: (readonly string[])[] = [];
  const [, base] = /^(.+?)\$[\p{L}_].*$/u.exec(last) ?? [];
  if (base !== undefined) found.push([...before, base]);
  if (before.length > 0 && STATES.test(last)) found.push(before);
  const changed = before.includes("cdc") ? CHANGES.exec(last) : null;
  for (let name = changed?.[1] ?? changed?.[2] ?? ""; name !== ""; name = name.replace(/^[^_]*_?/, "")) found.push([name]);
  return found;
}

/** True when two names may mean one table: each part of the shorter one stands in the longer one, in the same order, and the last ones are the same. */
function mayBeOne(a: readonly string[], b: readonly string[]): boolean {
  const [short, long] = a.length <= b.length ? [a, b] : [b, a];
  return short.at(-1) === long.at(-1) && standsIn(short.slice(0, -1), long.slice(0, -1));
}

/** True when the parts stand among the others, in the same order. */
function standsIn(short: readonly string[], long: readonly string[]): boolean {
  let at = long.length - 1;
  for (let i = short.length - 1; i >= 0; i--, at--) {
    while (at >= 0 && long[at] !== short[i]) at--;
    if (at < 0) return false;
  }
  return true;
}

const WILD = /[*?{]/;

/** Names of tables, found by each more or less qualified, quoted or re-cased way of writing them. */
export class TableNames {
  readonly #byTable = new Map<string, Map<string, readonly string[]>>();

  add(name: string): void {
    for (const parts of formsOf(foldedName(name))) {
      const table = parts.at(-1) ?? "";
      const known = this.#byTable.get(table);
      if (known === undefined) this.#byTable.set(table, new Map([[name, parts]]));
      else known.set(name, parts);
    }
  }

  delete(name: string): void {
    for (const parts of formsOf(foldedName(name))) {
      const table = parts.at(-1) ?? "";
      const known = this.#byTable.get(table);
      known?.delete(name);
      if (known?.size === 0) this.#byTable.delete(table);
    }
  }

  /** All that a name may mean: of a pattern (`orders_*`, `lake/orders/*.parquet`) each table that it may take. */
  meant(name: string): readonly string[] {
    const forms = formsOf(foldedName(name));
    const found = forms.flatMap((parts) =>
      WILD.test(name)
        ? this.#matching(parts)
        : [parts, ...ownersOf(parts)].flatMap((each) => this.#among(each.at(-1) ?? "", each)),
    );
    return [...new Set(found)];
  }

  /** Tables whose names begin as the last part does before its first wild sign; where it has nothing before, those that the parts before it name, and all below them. */
  #matching(parts: readonly string[]): readonly string[] {
    const fixed = parts.slice(0, -1).filter((part) => !WILD.test(part));
    const last = parts.at(-1) ?? "";
    const wild = last.search(WILD);
    if (wild < 0) return this.#among(last, [...fixed, last]);
    const prefix = last.slice(0, wild);
    const whole = prefix === "" && fixed.length > 0;
    const begun = [...this.#byTable].flatMap(([table, known]) =>
      table.startsWith(prefix)
        ? [...known].flatMap(([name, other]) =>
            (whole ? standsIn(fixed, other.slice(0, -1)) : mayBeOne([...fixed, table], other)) ? [name] : [],
          )
        : [],
    );
    return whole ? [...begun, ...this.#among(fixed.at(-1) ?? "", fixed)] : begun;
  }

  #among(table: string, parts: readonly string[]): readonly string[] {
    const found: string[] = [];
    for (const [name, known] of this.#byTable.get(table) ?? []) if (mayBeOne(parts, known)) found.push(name);
    return found;
  }
}
