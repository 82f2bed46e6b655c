import { type SqlToken, sqlTokens } from "./split-statements.ts";

/** A statement that moves a whole table or directory, in the shape that `analyseSql` reads. */
interface ExternalCopy {
  readonly ExternalCopy: {
    readonly operation: "EXPORT" | "WRITE";
    readonly from: string;
    readonly to: string;
    readonly filter: readonly string[];
  };
}

/**
 * What the parser does not read of Hive: `EXPORT TABLE`, `IMPORT TABLE` and `LOAD DATA` become a tree of their own, `FROM x INSERT ... INSERT ...` becomes
 * one text per insert. Anything else: `undefined`.
 */
export function rewriteHive(
  sql: string,
): { readonly trees: readonly ExternalCopy[] } | { readonly texts: readonly string[] } | undefined {
  const tokens = sqlTokens(sql);
  const word = (i: number) => tokens[i]?.text.toUpperCase();
  if (word(0) === "EXPORT" && word(1) === "TABLE") return moved(tokens, 2, "TO", "EXPORT");
  if (word(0) === "IMPORT") {
    const table = tokens.findIndex((t) => t.text.toUpperCase() === "TABLE");
    const from = tokens.findIndex((t) => t.text.toUpperCase() === "FROM");
    const path = tokens[from + 1];
    if (from < 0 || path === undefined) return undefined;
    return copy("WRITE", unquoted(path.text), table < 0 ? "" : nameAt(tokens, table + 1).name, []);
  }
  if (word(0) === "LOAD" && word(1) === "DATA") {
    const path = tokens.findIndex((t) => t.text.toUpperCase() === "INPATH");
    const table = tokens.findIndex((t) => t.text.toUpperCase() === "TABLE");
    if (path < 0 || table < 0) return undefined;
    return copy("WRITE", unquoted(tokens[path + 1]?.text ?? ""), nameAt(tokens, table + 1).name, []);
  }
  return multiInsert(sql, tokens);
}

function moved(
  tokens: readonly SqlToken[],
  at: number,
  to: string,
  operation: "EXPORT",
): { readonly trees: readonly ExternalCopy[] } | undefined {
  const { name, next } = nameAt(tokens, at);
  const target = tokens.findIndex((t, i) => i >= next && t.depth === 0 && t.text.toUpperCase() === to);
  const path = tokens[target + 1];
  if (target < 0 || path === undefined) return undefined;
  const filter: string[] = [];
  for (let i = next; i < target; i++) if (tokens[i + 1]?.text === "=") filter.push(unquoted(tokens[i]?.text ?? ""));
  return copy(operation, name, unquoted(path.text), filter);
}

function copy(
  operation: "EXPORT" | "WRITE",
  from: string,
  to: string,
  filter: readonly string[],
): { readonly trees: readonly ExternalCopy[] } {
  return { trees: [{ ExternalCopy: { operation, from, to, filter } }] };
}

/** A dotted name starting at a token. */
function nameAt(tokens: readonly SqlToken[], at: number): { readonly name: string; readonly next: number } {
  const parts = [unquoted(tokens[at]?.text ?? "")];
  let next = at + 1;
  while (tokens[next]?.text === "." && tokens[next + 1] !== undefined) {
    parts.push(unquoted(tokens[next + 1]?.text ?? ""));
    next += 2;
  }
  return { name: parts.join("."), next };
}

function unquoted(text: string): string {
  return text.replace(/^['"`[]|['"`\]]$/g, "");
}

/** `[WITH ...] FROM x INSERT ... SELECT ... INSERT ... SELECT ...`: every insert gets the FROM behind its select list. */
function multiInsert(sql: string, tokens: readonly SqlToken[]): { readonly texts: readonly string[] } | undefined {
  const top = tokens.filter((t) => t.depth === 0 && !t.quoted);
  const inserts = top.filter((t) => t.text.toUpperCase() === "INSERT");
  const from = top.find((t) => t.text.toUpperCase() === "FROM");
  const first = inserts[0];
  if (first === undefined || from === undefined || from.start > first.start) return undefined;
  const prefix = sql.slice(0, from.start);
  const source = sql.slice(from.start, first.start);
  const texts = inserts.map((insert, i) => {
    const end = inserts[i + 1]?.start ?? sql.length;
    const tail = top.find(
      (t) =>
        t.start > insert.start &&
        t.start < end &&
        /^(?:WHERE|GROUP|HAVING|ORDER|SORT|CLUSTER|DISTRIBUTE|LIMIT|LATERAL)$/i.test(t.text),
    );
    const cut = tail?.start ?? end;
    return `${prefix} ${sql.slice(insert.start, cut)} ${source} ${sql.slice(cut, end)}`;
  });
  return { texts };
}
