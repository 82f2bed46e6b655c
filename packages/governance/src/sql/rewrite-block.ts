import { type SqlToken, sqlTokens } from "./split-statements.ts";

/** How a block of statements is wrapped: in a procedure, a function, a trigger; in `DO`; in `BEGIN ... END`, with declarations before. */
const BLOCK =
  /^\s*(?:do\s+(?:language\s+\w+\s+)?'|(?:declare\b[\s\S]*?\bbegin|begin(?:\s+(?:atomic|not\s+atomic|try))?)\b(?!\s*(?:$|;|tran|work|isolation|read|deferred|immediate|exclusive|concurrent))|create\s+(?:or\s+(?:replace|alter)\s+)?(?:definer\s*=\s*\S+\s+)?(?:proc(?:edure)?|function|trigger|event)\b|alter\s+(?:proc(?:edure)?|function)\b|if\s|while\s)/i;

/** Statements that look at what stands in them, at most, and move nothing. */
const CONTROL =
  /^(?:begin(?:\s+(?:atomic|not\s+atomic|try|catch|tran(?:saction)?))?|end(?:\s+(?:if|loop|case|while|repeat|for|try|catch))?(?:\s+\w+)?|else|loop|repeat|null|commit|rollback|exit|continue|leave\s+\w+|iterate\s+\w+|return(?:\s+(?:new|old|null))?|exception|declare|go|set\s+nocount\s+(?:on|off)|close\s+\w+|deallocate\s+\w+|fetch\s+(?:next\s+from\s+)?\w+\s+into\s+[\w\s,.:@]+|get\s+(?:current\s+|stacked\s+)?diagnostics\s[^;]*|raise)$/i;
/** Of these what stands behind is an expression, or a list of some. */
const EXPRESSION =
  /^(?:raise(?:\s+(?:notice|exception|warning|info|log|debug))?|raiserror|print|return(?:\s+next)?|elsif|elseif|if|while|until|when|case|exit\s+when|continue\s+when|perform|signal\s+sqlstate|assert|call|throw|waitfor\s+delay|dbms_output\s*\.\s*put_line)\b\s*/i;
const ASSIGNMENT = /^(?:set\s+)?[@:]?[\w$"]+(?:\s*\.\s*[\w$"]+)*(?:\s*\[[^\]]*\])?\s*(?::=|=)\s*/i;
const DECLARATION =
  /^(?:declare\s+)?[@:]?\w+\s+(?:constant\s+)?(?:(?:[\w.]+\s*%\s*(?:row)?type)|(?!select|insert|update|delete|merge|with|from|into|set|call|exec|execute|perform|return|truncate|drop|create|alter|copy|open|for|if|raise|table)\w+(?:\s*\([\d\s,]*(?:max)?\))?(?:\s*\[\s*\])?)(?:\s+not\s+null)?(?:\s*(?::=|=|default)\s*([\s\S]+))?$/i;
const STATEMENT =
  /^(?:select|insert|update|delete|merge|with|table|values|create|drop|alter|truncate|grant|revoke|exec|execute|copy|call|lock|analyze|refresh|notify|comment|replace|use)\b/i;

/**
 * The statements of a block as texts of their own, with the expressions of its control statements as queries; `undefined` for what is no block, or has a part that is none of these: then nobody knows
 * what it does. A text that is built and run stays what it is.
 */
export function rewriteBlock(sql: string): readonly string[] | undefined {
  const text = sql.replace(/^(?:\s*(?:--[^\n]*\n|\/\*[\s\S]{0,4000}?\*\/))+/, "");
  if (!BLOCK.test(text)) return undefined;
  const body = bodyOf(text);
  if (body === undefined) return undefined;
  const found: string[] = [];
  for (const part of statementsOf(body)) {
    const read = readPart(part, found);
    if (!read) return undefined;
  }
  return found;
}

/** What runs: the text of DO and of a function, what stands behind AS or from BEGIN on. */
function bodyOf(text: string): string | undefined {
  const head = /^\s*(?:do|create|alter)\b/i.test(text);
  if (!head) return text;
  // A body in quotes, in a language of the database.
  const language = /\blanguage\s+(?:'(\w+)'|(\w+))/i.exec(text.replace(/'(?:[^']|'')*'(?=[\s\S]*\blanguage\b)/gi, "''"));
  const named = (language?.[1] ?? language?.[2] ?? "plpgsql").toLowerCase();
  if (!/^(?:sql|plpgsql|plsql|tsql|edbspl)$/.test(named)) return undefined;
  const quoted = /(?:^\s*do\s+(?:language\s+\w+\s+)?|\bas\s+)'((?:[^']|'')*)'/i.exec(text);
  if (quoted !== null) return (quoted[1] ?? "").replaceAll("''", "'").replaceAll("\\\\", "\\");
  if (/^\s*create\s+(?:or\s+replace\s+)?trigger\b/i.test(text) && /\bexecute\s+(?:function|procedure)\b/i.test(text))
    return "null";
  const tokens = sqlTokens(text);
  const begin = tokens.find(({ text: word, depth, quoted: q }) => !q && depth === 0 && /^(?:begin|declare|return)$/i.test(word));
  const as = tokens.find(({ text: word, depth, quoted: q }) => !q && depth === 0 && /^(?:as|is)$/i.test(word));
  const does = tokens.find(({ text: word, depth, quoted: q }) => !q && depth === 0 && /^(?:do)$/i.test(word));
  const at = as !== undefined && (begin === undefined || as.start < begin.start) ? as.end : (begin?.start ?? does?.end);
  if (at !== undefined) return text.slice(at);
  const row = /\bfor\s+each\s+(?:row|statement)\s+/i.exec(text);
  return row === null ? undefined : text.slice(row.index + row[0].length);
}

/** Words behind which another statement begins, without a semicolon. */
const OPENERS = /^(?:begin|then|else|loop|do|declare|atomic|try|catch|is|exception|repeat)$/i;

/** The parts of a body, cut at semicolons and where one statement stands in another. */
function statementsOf(body: string): readonly string[] {
  const parts: string[] = [];
  let from = 0;
  let before: SqlToken | undefined;
  let cases = 0;
  const cut = (to: number, next: number): void => {
    parts.push(body.slice(from, to));
    from = next;
  };
  for (const token of sqlTokens(body)) {
    const word = token.quoted ? "" : token.text.toLowerCase();
    if (token.depth > 0) {
      before = token;
      continue;
    }
    if (word === ";") {
      cut(token.start, token.end);
      cases = 0;
    } else if (word === "case" && before !== undefined && !OPENERS.test(before.text) && before.text !== ";") cases++;
    else if (word === "end" && cases > 0) cases--;
    else if (cases === 0 && OPENERS.test(word) && !(word === "do" && /^(?:conflict|on)$/i.test(before?.text ?? ""))) {
      const outer = body.slice(from, token.start).trim();
      // `THEN` of MERGE, `IS NULL`, `FOR ... LOOP`.
      if (word === "is" || (word === "then" && /^(?:merge)\b/i.test(outer)) || /\bon\s+conflict\b/i.test(outer)) {
        before = token;
        continue;
      }
      if (outer !== "" && !/^(?:end|exit|begin|else)$/i.test(outer)) cut(token.start, token.end);
      else from = token.end;
    } else if (
      cases === 0 &&
      before !== undefined &&
      /^(?:set|print|return|end|exec|if|while)$/.test(word) &&
      /^(?:end|on|off)$/i.test(before.text)
    )
      cut(token.start, token.start);
    before = token;
  }
  parts.push(body.slice(from));
  return parts.map((part) => part.trim()).filter((part) => part !== "" && !/^<<\w+>>$/.test(part));
}

/** Takes one part of a block for what it is; `false` where nobody knows. */
function readPart(given: string, found: string[]): boolean {
  const part = given
    .replace(/^(?:<<\w+>>|\w+\s*:(?!=))\s*/, "")
    .replace(/\s+end$/i, "")
    .trim();
  if (part === "" || CONTROL.test(part)) return true;
  // FOR r IN SELECT ... , FOR r IN (SELECT ...), FOR i IN 1..10, OPEN c FOR SELECT ..., c CURSOR FOR SELECT ..., CURSOR c IS SELECT ...
  const query =
    /^(?:for(?:each)?\s+[\w\s,]+?\s+in\s+(?:reverse\s+)?|open\s+[:@]?\w+\s+for\s+|(?:declare\s+)?(?:cursor\s+\w+(?:\s*\([^)]*\))?|\w+\s+(?:(?:no\s+)?scroll\s+)?cursor(?:\s+with\s+hold)?(?:\s*\([^)]*\))?)\s+(?:is|for)\s+|return\s+query\s+)([\s\S]+)$/i.exec(
      part,
    )?.[1];
  if (query !== undefined) {
    const inner = query.trim();
    if (/^[\w@:$(). +-]+\.\.[\w@:$(). +-]+$/.test(inner)) return true;
    if (/^(?:\(\s*)*(?:select|with|values|table|execute|delete|update|insert)\b/i.test(inner)) {
      found.push(/^execute\b/i.test(inner) ? inner : inner.replace(/^\(([\s\S]*)\)$/, "$1"));
      return true;
    }
    return /^\w+$/.test(inner);
  }
  if (/^(?:execute\s+immediate|execute|exec)\b/i.test(part) || STATEMENT.test(part)) {
    found.push(
      part.replace(
        /^(select\b[\s\S]*?)\s+into\s+(?:strict\s+)?[:@]?\w+(?:\.\w+)?(?:\s*,\s*[:@]?\w+(?:\.\w+)?)*(?=\s+from\b|\s*$)/i,
        "$1",
      ),
    );
    return true;
  }
  if (/^raise\s+(?:notice|exception|warning|info|log|debug)\b/i.test(part)) {
    found.push(`select ${part.replace(/^raise\s+\w+\s*/i, "").replace(/\s+using\s+\w+\s*=\s*/i, ", ") || "1"}`);
    return true;
  }
  const declared = DECLARATION.exec(part);
  if (declared !== null && !EXPRESSION.test(part)) {
    if (declared[1] !== undefined) found.push(`select ${declared[1]}`);
    return true;
  }
  if (ASSIGNMENT.test(part)) {
    found.push(`select ${part.replace(ASSIGNMENT, "")}`);
    return true;
  }
  if (/^perform\b/i.test(part)) {
    found.push(part.replace(/^perform\b/i, "select"));
    return true;
  }
  if (EXPRESSION.test(part)) {
    // `CASE a WHEN 1 THEN` of statements.
    const rest = part
      .replace(EXPRESSION, "")
      .replace(/^\s*when\b/i, "")
      .replace(/^([^()]+?)\bwhen\b/i, "$1,")
      .trim();
    found.push(`select ${rest === "" ? "1" : rest}`);
    return true;
  }
  // A procedure by its name, as Oracle calls it.
  if (/^[\w$.]+\s*(?:\([\s\S]*\))?$/.test(part)) {
    found.push(`call ${part}${part.includes("(") ? "" : "()"}`);
    return true;
  }
  return false;
}
