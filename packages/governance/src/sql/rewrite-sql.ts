import { rewriteHive } from "./rewrite-hive.ts";

/** What no dialect of the parser reads, in forms that one does; `text` in quotes is taken as it stands, for no such form is read otherwise. */
const FORMS: readonly (readonly [form: RegExp, instead: string])[] = [
  // PostgreSQL: rows without those of child tables; members of a composite value, all of them.
  [/\b(from|join|update|into|using|,)(\s{1,9})only\s{1,9}(?=["\w])/gi, "$1$2"],
  [/\(\s{0,9}("[^"]{1,200}"|\w{1,200})\s{0,9}\)\s{0,9}\.\s{0,9}\*/g, "$1.*"],
  // The standard: all of a table.
  [
    /(^|\(|\b(?:union|all|distinct|except|intersect|as|into\s{1,9}[\w.]{1,200}|insert\s{1,9}[\w.]{1,200})\s)(\s{0,9})table\s{1,9}(?:only\s{1,9})?((?:"[^"]{1,200}"|`[^`]{1,200}`|\w{1,200})(?:\s{0,9}\.\s{0,9}(?:"[^"]{1,200}"|`[^`]{1,200}`|\w{1,200})){0,4})(?:\s{0,9}\*)?(?=\s{0,9}(?:$|\)|\b(?:union|except|intersect|order|limit|offset|fetch)\b))/gi,
    "$1$2select * from $3",
  ],
  // Spark: every column of the source.
  [/\bupdate(\s{1,9})set(\s{1,9})\*/gi, 'update$1set$2"*" = 1'],
  [/\binsert\s{1,9}\*/gi, 'insert ("*") values (1)'],
];

/** Another form of a statement that the parser lacks: trees of our own, an inner query that is exported, or texts that stand for it. `undefined`: none is known. */
export function rewritten(
  sql: string,
): ReturnType<typeof rewriteHive> | { readonly exported: string } | { readonly texts: readonly string[] } {
  const plain = sql.replace(/\binto\s{1,9}(?:outfile|dumpfile)\s{1,9}(?:'[^']{0,4096}'|"[^"]{0,4096}")/i, " ");
  if (plain !== sql) return { exported: plain };
  // MySQL: the statement that is prepared is a text.
  const prepared =
    /^\s*prepare\s{1,9}[\w`]{1,64}\s{1,9}from\s{1,9}(?:'((?:[^'\\]|''|\\.){0,65536})'|"((?:[^"\\]|""|\\.){0,65536})")\s*$/i.exec(
      sql,
    );
  if (prepared !== null) return { texts: [(prepared[1] ?? prepared[2] ?? "").replace(/''|\\'/g, "'").replace(/""|\\"/g, '"')] };
  const other = FORMS.reduce((text, [form, instead]) => text.replace(form, instead), sql);
  return other === sql ? rewriteHive(sql) : { texts: [other] };
}
