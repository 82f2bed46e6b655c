import { foldedName } from "./folded-name.ts";

/**
 * The parts of a table's name, folded, the table itself last: of a dotted name, of an id with slashes or colons (`postgres://db:5432/shop.orders`), of one quoted name that holds dots. Without the parts
 * that say nothing about which table it is: empty ones (`db..orders`), a link (`orders@remote`), a partition (`orders$20260301`), the sign of a stage (`@%orders`).
 */
function nameParts(name: string): readonly string[] {
  // A link may have dots of its own.
  const parts = name
    .replace(SCHEME, (scheme) => SCHEMES.get(scheme) ?? scheme)
    .replace(/(?<=[^@/:\\])@[^@/:\\]*$/, "")
    .split(/[./:\\]+/)
    .map((part) => part.replace(/["'`[\]\s]+/g, "").replace(/^@[%~]?/, ""))
    .filter((part) => part !== "" && part !== "@" && part !== "~");
  const last = (parts.pop() ?? "").replace(/^(.+?)(?:@.*|\$\d+)$/, "$1");
  return [...parts, last];
}

/** Schemes of addresses of one store. */
const SCHEMES: ReadonlyMap<string, string> = new Map([
  ["s3a", "s3"],
  ["s3n", "s3"],
  ["gcs", "gs"],
  ["abfss", "abfs"],
  ["wasbs", "wasb"],
]);
const SCHEME = /^[a-z][a-z\d]{1,5}(?=:)/;

/** Ends of the names of files that hold rows. */
const FILE_ENDS: ReadonlySet<string> = new Set(
  "csv tsv txt json jsonl ndjson parquet avro orc arrow feather xls xlsx db sqlite sqlite3 duckdb sas7bdat dta sav rds pkl dmp sql gz zst bz2 snappy zip".split(
    " ",
  ),
);

/** A name of a file without its ends (`orders.csv.gz`); the same where it has none. */
function withoutFileEnds(name: string): string {
  let end = name.length;
  for (;;) {
    const dot = name.lastIndexOf(".", end - 1);
    if (end === 0 || dot < 0 || !FILE_ENDS.has(name.slice(dot + 1, end))) return name.slice(0, end);
    end = dot;
  }
}

/** A name, and without what only says in which form the rows are kept (`orders.csv`). */
function formsOf(folded: string): readonly (readonly string[])[] {
  const bare = withoutFileEnds(folded.replace(/(?<!["'`])["'`]+$/, ""));
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

/** True when two names whose last parts are the same may mean one table: each part before of the shorter one stands in the longer one, in the same order. */
function mayBeOne(a: readonly string[], b: readonly string[]): boolean {
  const [short, long] = a.length <= b.length ? [a, b] : [b, a];
  return standsIn(short.slice(0, -1), long.slice(0, -1));
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

const IRREGULAR: ReadonlyMap<string, string> = new Map([
  ["people", "person"],
  ["children", "child"],
  ["men", "man"],
  ["women", "woman"],
  ["indices", "index"],
  ["matrices", "matrix"],
  ["vertices", "vertex"],
]);

/** Longer than any word: what is longer has no plural. */
const LONGEST_WORD = 64;

/** What is left of a word without its endings: the same for its singular and its plural. */
function stemOf(word: string): string {
  if (word.length > LONGEST_WORD) return word;
  let stem = IRREGULAR.get(word) ?? word;
  for (let before = ""; before !== stem && stem.length > 2; ) {
    before = stem;
    stem = stem
      .replace(/ies$/, "i")
      .replace(/(?<=[sxz]|[cs]h)es$|(?<![sui])s$|(?<=..)(?:e|is)$/, "")
      .replace(/y$/, "i")
      .replace(/f$/, "v");
  }
  return stem;
}

/** What a table's name has in common with those that code makes of it: its words in the singular, put together; and as if it were one word. */
function likenessesOf(table: string): readonly string[] {
  const words = table.split(/[\s_-]+/).filter((word) => word !== "");
  return [...new Set([words.map(stemOf).join(""), stemOf(words.join(""))])].filter((key) => key !== "");
}

/** With a sign between the words that capitals begin. */
function spaced(name: string): string {
  return name.replace(/(?<=[\p{Ll}\d])(?=\p{Lu})|(?<=\p{Lu})(?=\p{Lu}\p{Ll})/gu, "_");
}

type Index = Map<string, Map<string, readonly (readonly string[])[]>>;

function put(index: Index, key: string, name: string, parts: readonly string[]): void {
  const known = index.get(key) ?? new Map();
  index.set(key, known.set(name, [...(known.get(name) ?? []), parts]));
}

function take(index: Index, key: string, name: string): void {
  const known = index.get(key);
  known?.delete(name);
  if (known?.size === 0) index.delete(key);
}

/** Names of tables, found by each more or less qualified, quoted or re-cased way of writing them, and by the paths of files below them; what is none of these, by its words, in whatever number and however they are put together. */
export class TableNames {
  /** By the last part of a name. */
  readonly #exact: Index = new Map();
  readonly #alike: Index = new Map();

  add(name: string): void {
    this.delete(name);
    for (const parts of writtenForms(name)) put(this.#exact, lastOf(parts), name, parts);
    for (const parts of likeFormsOf(name)) for (const key of likenessesOf(lastOf(parts))) put(this.#alike, key, name, parts);
  }

  delete(name: string): void {
    for (const parts of writtenForms(name)) take(this.#exact, lastOf(parts), name);
    for (const parts of likeFormsOf(name)) for (const key of likenessesOf(lastOf(parts))) take(this.#alike, key, name);
  }

  /** All that a name may mean: of a pattern (`orders_*`, `lake/orders/*.parquet`) each table that it may take. */
  meant(name: string): readonly string[] {
    const forms = writtenForms(name);
    const found = forms.flatMap((parts) =>
      WILD.test(name)
        ? this.#matching(parts)
        : [parts, ...ownersOf(parts)].flatMap((each) => among(this.#exact, lastOf(each), each)),
    );
    if (/[/\\]/.test(name)) for (const parts of forms) found.push(...this.#above(parts, isStored(name)));
    if (found.length > 0 || WILD.test(name)) return [...new Set(found)];
    const alike = likeFormsOf(name).flatMap((parts) =>
      likenessesOf(lastOf(parts)).flatMap((key) => among(this.#alike, key, parts)),
    );
    return [...new Set(alike)];
  }

  /** Of a path, what is registered above it: directories and buckets, and, where it is one of files that are `stored`, tables, in whose directories they are. */
  #above(parts: readonly string[], stored: boolean): readonly string[] {
    const found: string[] = [];
    for (let length = parts.length - 1; length > 0; length--) {
      const above = parts.slice(0, length);
      found.push(...among(this.#exact, lastOf(above), above).filter((name) => stored || /[/\\]/.test(name)));
    }
    return found;
  }

  /** Tables whose names begin as the last part does before its first wild sign; where it has nothing before, those that the parts before it name, and all below them. */
  #matching(parts: readonly string[]): readonly string[] {
    const fixed = parts.slice(0, -1).filter((part) => !WILD.test(part));
    const last = lastOf(parts);
    const wild = last.search(WILD);
    if (wild < 0) return among(this.#exact, last, [...fixed, last]);
    const prefix = last.slice(0, wild);
    const whole = prefix === "" && fixed.length > 0;
    const begun = [...this.#exact].flatMap(([table, known]) =>
      table.startsWith(prefix)
        ? [...known].flatMap(([name, forms]) =>
            forms.some((other) => (whole ? standsIn(fixed, other.slice(0, -1)) : mayBeOne([...fixed, table], other)))
              ? [name]
              : [],
          )
        : [],
    );
    return whole ? [...begun, ...among(this.#exact, lastOf(fixed), fixed)] : begun;
  }
}

function lastOf(parts: readonly string[]): string {
  return parts.at(-1) ?? "";
}

/** Units of a name that are looked at, from its beginning and up to its end: so that the work for a text grows with its length, whatever it says. */
const LOOKED_AT = 1024;

/** The forms of a name; of one that is longer than any table's, those of its beginning and of its end. */
function writtenForms(name: string): readonly (readonly string[])[] {
  const pieces = name.length <= LOOKED_AT ? [name] : [name.slice(0, LOOKED_AT), name.slice(-LOOKED_AT)];
  return pieces.flatMap((piece) => formsOf(foldedName(piece)));
}

/** The forms of a name as it is written, and with its words apart. */
function likeFormsOf(name: string): readonly (readonly string[])[] {
  const apart = spaced(name);
  return [name, ...(apart === name ? [] : [apart])].flatMap(writtenForms);
}

/** True for the address of a store, an absolute path, or the name of a file of rows. */
function isStored(name: string): boolean {
  return /^[a-z][a-z\d+.-]{0,20}:[/\\]|^[/\\~]/i.test(name) || withoutFileEnds(name.toLowerCase()) !== name.toLowerCase();
}

/** The names of an index under a key, that may be one with the parts of another one. */
function among(index: Index, key: string, parts: readonly string[]): readonly string[] {
  const found: string[] = [];
  for (const [name, forms] of index.get(key) ?? []) if (forms.some((known) => mayBeOne(parts, known))) found.push(name);
  return found;
}
