import { placeholderIn } from "../templates.ts";
import { argumentsOf, identifier, isIdent, lastName, literalText, type Node, namePath, unnamed } from "../tree.ts";

export const PUT_IN = "a part of the statement is put in before it runs";

export const BUILT_NAME = "the name of a table is built when the statement runs";

export const BUILT_MEMBER = "the name of a member is built when the statement runs";

/** True for a value that stands in the text, and for what only qualifies one: numbers, texts, NULL, `true`, a cast of these. */
export function isConstant(node: unknown): boolean {
  if (typeof node !== "object" || node === null) return true;
  const body = node as Node;
  const value = (body["Value"] as Node | undefined)?.["value"];
  if (value !== undefined) return typeof value !== "object" || value === null || !("Placeholder" in value);
  if (body["Cast"] !== undefined) return isConstant((body["Cast"] as Node)["expr"]);
  if (body["Named"] !== undefined || body["ExprNamed"] !== undefined)
    return isConstant(unnamed(((body["Named"] ?? body["ExprNamed"]) as Node)["arg"]));
  return false;
}

/** The text that an expression of constant texts is: one text, or several that are joined. */
export function constantText(node: unknown): string | undefined {
  const body = (typeof node === "object" && node !== null ? node : {}) as Node;
  const text = literalText(node);
  if (text !== undefined) return text;
  if (body["Nested"] !== undefined) return constantText(body["Nested"]);
  const parts =
    String((body["BinaryOp"] as Node | undefined)?.["op"]) === "StringConcat"
      ? [(body["BinaryOp"] as Node)["left"], (body["BinaryOp"] as Node)["right"]]
      : lastName((body["Function"] as Node | undefined)?.["name"] ?? "").toLowerCase() === "concat"
        ? argumentsOf((body["Function"] as Node)["args"]).map(unnamed)
        : [];
  const texts = parts.map(constantText);
  return texts.length === 0 || texts.includes(undefined) ? undefined : texts.join("");
}

/** Functions that make a text of others. */
const BUILDS =
  /^(?:concat(?:_ws)?|chr|n?char|lower|upper|lcase|ucase|initcap|reverse|replace|regexp_replace|translate|substr(?:ing)?(?:_index)?|left|right|l?r?trim|btrim|lpad|rpad|repeat|format|printf|overlay|unhex|from_base64|decode|convert_from|to_char|json_unquote|quote_ident|quote_literal|split_part)$/;

/** True for an expression in which a text is made of others. */
export function buildsText(node: unknown): boolean {
  if (typeof node !== "object" || node === null) return false;
  const body = node as Node;
  if (
    String((body["BinaryOp"] as Node | undefined)?.["op"]) === "StringConcat" ||
    body["Substring"] !== undefined ||
    body["Trim"] !== undefined
  )
    return true;
  const fn = body["Function"] as Node | undefined;
  if (fn !== undefined && BUILDS.test(lastName(fn["name"]).toLowerCase())) return true;
  return Object.values(body).some(buildsText);
}

/** True for a step into a structure or an array that stands in the text, or is the name of a column. */
export function isStep(step: unknown): boolean {
  if (typeof step !== "object" || step === null) return true;
  const body = step as Node;
  const inner = body["Dot"] ?? (body["Subscript"] as Node | undefined)?.["Index"] ?? body;
  const index = (inner as Node)["index"] ?? inner;
  return isConstant(index) || namePath(index) !== undefined || "Slice" in ((body["Subscript"] ?? {}) as Node);
}

/** How an expression is put in as a whole: as a value or a name (`?`, `${x}`), with or without parentheses. */
export function isPutIn(expr: unknown): "bound" | "text" | undefined {
  const body = (typeof expr === "object" && expr !== null ? expr : {}) as Node;
  if (body["Nested"] !== undefined) return isPutIn(body["Nested"]);
  const value = (body["Value"] as Node | undefined)?.["value"];
  const written = typeof value === "object" && value !== null ? (value as Node)["Placeholder"] : undefined;
  if (typeof written === "string") return placeholderIn(written);
  return body["Identifier"] === undefined ? undefined : placeholderIn(identifier(body["Identifier"]));
}

/** The conditions that AND, OR and NOT join. */
export function conditionsIn(expr: unknown): readonly unknown[] {
  const found: unknown[] = [];
  const left: unknown[] = [expr];
  while (left.length > 0) {
    const node = left.pop();
    const body = (typeof node === "object" && node !== null ? node : {}) as Node;
    const joined = body["BinaryOp"] as Node | undefined;
    if (joined !== undefined && /^(?:And|Or|Xor)$/.test(String(joined["op"]))) left.push(joined["left"], joined["right"]);
    else if (body["Nested"] !== undefined) left.push(body["Nested"]);
    else if (body["UnaryOp"] !== undefined) left.push((body["UnaryOp"] as Node)["expr"]);
    else found.push(node);
  }
  return found;
}

/** True where what is put in stands as the name that is given to a table or a column: it may be anything that goes on there. */
export function putInAsAlias(tree: unknown): boolean {
  const left: unknown[] = [tree];
  while (left.length > 0) {
    const node = left.pop();
    if (typeof node !== "object" || node === null) continue;
    for (const [key, child] of Object.entries(node)) {
      if (key.endsWith("_token") || typeof child !== "object" || child === null) continue;
      const given = key === "alias" ? identifier(isIdent(child as Node) ? child : (child as Node)["name"]) : "";
      if (given !== "" && placeholderIn(given) !== undefined) return true;
      left.push(child);
    }
  }
  return false;
}
