/**
 * What a template engine or a driver puts something in for, before a statement runs, becomes a name of its own, so that a parser reads the rest: one that is bound is a value wherever it stands (`?`,
 * `%s`, `%(id)s`); any other is a text, that may be a value, a name, a list of columns or a piece of a statement.
 */
const BOUND = "placeholder__b";
const TEXT = "placeholder__t";
const MARK = /placeholder__[bt]\d+/i;

/** Names of places that a parser takes for such itself. */
const WRITTEN = /^(?:\?\d*|[:@]\w+|\$\d+)$/;

/** How a name of the tree stands for what is put in; `undefined` for any other name. */
export function placeholderIn(name: string): "bound" | "text" | undefined {
  if (WRITTEN.test(name)) return "bound";
  if (/^\$(?:\w+|\{.*)$|^##?\w+##?$(?<=#)/.test(name)) return "text";
  const mark = MARK.exec(name)?.[0];
  if (mark === undefined) return undefined;
  return mark.toLowerCase().startsWith(BOUND) && mark.length === name.length ? "bound" : "text";
}

/** A name of a table of which a part is put in, as the pattern of what it may be; `undefined` where all of it is. */
export function patternOf(name: string): string | undefined {
  const parts = name.split(".");
  const last = parts.pop() ?? "";
  const pattern = last.replace(/(?:placeholder__[bt]\d+)+/gi, "*");
  return /^\**$/.test(pattern) ? undefined : [...parts.filter((part) => !MARK.test(part)), pattern].join(".");
}

/** True for a text that is nothing but what is put in. */
export function isPutIn(text: string): boolean {
  return MARK.test(text) && !/\w/.test(text.replace(/placeholder__[bt]\d+/gi, ""));
}

const SIGNS = /[{$#%&]|\[\[|:["']/;

/** Words behind which a value or a name begins. */
const OPENS =
  /(?:^|[(,=<>+*/|;-]|\b(?:select|from|join|where|and|or|not|in|like|ilike|between|by|on|set|values|limit|offset|then|else|when|case|into|update|table|using|having|distinct|all|top|is|union|with|returning|interval|exists|any|call|exec|execute|end))\s*$/i;

const QUERY_OF_DBT = /^-?\s*(?:ref|source)\s*\(\s*(["'])([\w.$-]+)\1(?:\s*,\s*(["'])([\w.$-]+)\3)?[^()]*\)\s*-?$/;
/** What a model of dbt made when it ran before: rows of the tables that it is made of. */
const OWN_TABLE = "dbt_this";

/** True for a model of dbt that goes on from what it made before, and that says what it is made of. */
function isModel(sql: string): boolean {
  return /\{%-?\s*if\s+is_incremental\(\)/.test(sql) && /\{\{-?\s*(?:ref|source)\s*\(/.test(sql);
}

const SILENT = /^-?\s*(?:config|log|print|do|return|exceptions\.\w+)\s*\(/;

/** Forms of one piece, at a place. */
const FORMS: readonly (readonly [form: RegExp, kind: "bound" | "text", where?: "opens"])[] = [
  [/##\w{1,100}##|#\w{1,100}#(?!\w)|@\{[^{}]{0,200}\}|\[\[\s{0,9}\w{1,100}\s{0,9}\]\]|\$\(\w{1,100}\)/y, "text"],
  [/%\(\w{1,100}\)[sdfr]|:'\w{1,100}'/y, "bound"],
  [/:"\w{1,100}"/y, "text"],
  [/%[sdifr](?!\w)/y, "bound", "opens"],
  [/&&?\w{1,100}\.?/y, "text", "opens"],
  [/\{\w{1,100}:(?!Identifier)[A-Z]\w{1,60}(?:\([^{}]{0,100}\))?\}/y, "bound"],
  [/\{\s{0,9}[\w.]{0,100}(?:\[[^\]{}]{0,60}\])?(?:![rsa])?(?::[^{}'"]{0,60})?\s{0,9}\}/y, "text"],
];
/** Delimiters of longer ones. */
const LONG: readonly (readonly [open: string, close: string])[] = [
  ["{%", "%}"],
  ["{#", "#}"],
  ["{{", "}}"],
  ["${", "}"],
  ["#{", "}"],
];

/** The text with a name in each place of a template; the same text where it has none. */
export function filledTemplates(sql: string): string {
  if (!SIGNS.test(sql)) return sql;
  const out: string[] = [];
  const closed = new Map<string, number>();
  /** Where it goes on behind what is closed so; nothing is looked for twice that is not there. */
  const behind = (close: string, from: number): number => {
    const known = closed.get(close);
    const at = known !== undefined && (known < 0 || known >= from) ? known : sql.indexOf(close, from);
    closed.set(close, at);
    return at < 0 ? -1 : at + close.length;
  };
  let count = 0;
  let changed = false;
  const put = (kind: "bound" | "text"): void => {
    const tail = out.slice(-2).join("").slice(-40);
    count++;
    changed = true;
    // What only gives a name to a column is none; drivers write all of a list in one place.
    if (/\bas\s+$/i.test(tail)) out.push(`renamed__${count}`);
    else if (/\bin\s+$/i.test(tail)) out.push(`(${kind === "bound" ? BOUND : TEXT}${count})`);
    else out.push(`${kind === "bound" ? BOUND : TEXT}${count}`);
  };
  let from = 0;
  const special = /[-'"`/{$#%&@[:]/g;
  for (let i = 0; i < sql.length; ) {
    special.lastIndex = i;
    const at = special.exec(sql)?.index ?? sql.length;
    i = at;
    if (i >= sql.length) break;
    const c = sql[i] ?? "";
    const two = sql.slice(i, i + 2);
    let end = -1;
    if (two === "--") end = behind("\n", i);
    else if (two === "/*") end = behind("*/", i + 2);
    else if (c === "'") {
      end = behind("'", i + 1);
      // A template is filled before a quote is one: `'{{ var('day') }}'`.
      const open = end < 0 ? -1 : sql.slice(i, end).lastIndexOf("{{");
      if (open >= 0 && !sql.slice(i + open, end).includes("}}")) {
        const close = behind("}}", end);
        end = close < 0 ? end : behind("'", close);
        if (close >= 0 && end > 0) {
          out.push(sql.slice(from, i + open), sql.slice(close, end));
          from = end;
          changed = true;
        }
      }
    } else if (c === '"' || c === "`") {
      end = behind(c, i + 1);
      const inner = end < 0 ? "" : sql.slice(i + 1, end - 1);
      if (SIGNS.test(inner) && inner.length < 400 && filledTemplates(inner) !== inner) {
        out.push(sql.slice(from, i), c);
        put("text");
        const plain = inner.replace(/\$\{[^{}]*\}|\{\{[\s\S]*?\}\}|#\{[^{}]*\}|\{[^{}]*\}|\$\(\w+\)|%\(\w+\)s|%s/g, "\0");
        const name = out.pop() ?? "";
        out.push(plain.includes("\0") ? plain.replaceAll("\0", name) : name, c);
        from = end;
      }
    } else {
      const long = LONG.find(([open]) => two === open);
      if (long !== undefined) {
        end = behind(long[1], i + 2);
        if (end > 0) {
          out.push(sql.slice(from, i));
          from = end;
          const inner = sql.slice(i + 2, end - long[1].length);
          const [, , first = "", , second] = QUERY_OF_DBT.exec(inner) ?? [];
          if (two === "{%" || two === "{#" || (two === "{{" && SILENT.test(inner))) {
            out.push(" ");
            changed = true;
          } else if (two === "{{" && first !== "") {
            const name = /^-?\s*source/.test(inner) && second !== undefined ? `${first}.${second}` : (second ?? first);
            out.push(/^[\w.]+$/.test(name) ? name : `"${name}"`);
            changed = true;
          } else if (two === "{{" && /^-?\s*this\s*-?$/.test(inner) && isModel(sql)) {
            out.push(OWN_TABLE);
            changed = true;
          } else put("text");
        }
      } else {
        // Grafana: `$__timeFilter(ts)` looks at what it is given.
        const macro = c === "$" ? /^\$__\w{1,60}(\()?/.exec(sql.slice(i, i + 70)) : null;
        const form =
          macro !== null
            ? undefined
            : FORMS.find(([pattern, , where]) => {
                pattern.lastIndex = i;
                return pattern.test(sql) && (where === undefined || OPENS.test(sql.slice(Math.max(0, i - 40), i)));
              });
        if (macro !== null) {
          out.push(sql.slice(from, i));
          if (macro[1] === undefined) put("bound");
          else out.push("coalesce(");
          changed = true;
          end = i + macro[0].length;
          from = end;
        } else if (form !== undefined) {
          end = form[0].lastIndex;
          out.push(sql.slice(from, i));
          from = end;
          put(form[1]);
        }
      }
    }
    i = end > i ? end : i + 1;
  }
  out.push(sql.slice(from));
  return changed ? out.join("") : sql;
}
