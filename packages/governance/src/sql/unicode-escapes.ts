/** `U&"..."` and `U&'...'` of the standard, with the escape character that may be named behind. */
const ESCAPED = /(?<![\w$])U&("(?:[^"]|""){0,4096}"|'(?:[^']|''){0,65536}')(?:\s{1,9}UESCAPE\s{1,9}'([^'0-9A-Fa-f+"\s])')?/gi;

/** The same SQL with its Unicode escapes (ISO/IEC 9075-2, 5.3) written out: what a database reads. */
export function withoutUnicodeEscapes(sql: string): string {
  if (!/u&["']/i.test(sql)) return sql;
  return sql.replace(ESCAPED, (_, quoted: string, named: string | undefined) => {
    const quote = quoted[0] ?? '"';
    const mark = named ?? "\\";
    let text = "";
    for (let i = 1; i < quoted.length - 1; i++) {
      if (quoted[i] !== mark) {
        text += quoted[i];
        continue;
      }
      const digits = /^(?:\+([0-9A-Fa-f]{6})|([0-9A-Fa-f]{4}))/.exec(quoted.slice(i + 1, i + 8));
      const code = digits === null ? Number.NaN : Number.parseInt(digits[1] ?? digits[2] ?? "", 16);
      if (digits === null || code > 0x10ffff) text += quoted[++i] ?? "";
      else {
        const character = String.fromCodePoint(code);
        text += character === quote ? quote + quote : character;
        i += digits[0].length;
      }
    }
    return quote + text + quote;
  });
}
