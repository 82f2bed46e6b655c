import type * as z from "zod";
import { type Issue, shortName } from "./issues.ts";

/** Checks one part of a request; collects every issue of it in `issues` and returns the parsed value if there was none. */
export function parsePart(part: string, schema: z.ZodType | undefined, value: unknown, issues: Issue[]): unknown {
  if (schema === undefined) return undefined;
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  for (const issue of result.error.issues) collect(issue, [part, ...issue.path], issues);
  return undefined;
}

function collect(issue: z.core.$ZodIssue, path: readonly PropertyKey[], issues: Issue[]): void {
  const at = dotted(path);
  switch (issue.code) {
    case "unrecognized_keys":
      for (const key of issue.keys) issues.push({ path: `${at}.${shortName(key)}`, message: "unknown field" });
      return;
    case "invalid_union": {
      // The branch that came closest tells most; a union of plain types says what it is by itself.
      const nearest = [...issue.errors].sort((a, b) => a.length - b.length)[0];
      if (nearest === undefined || nearest.length === 0 || nearest.some(isAboutAll)) break;
      for (const inner of nearest) collect(inner, [...path, ...inner.path], issues);
      return;
    }
    case "invalid_type":
      // Zod speaks of `undefined` where a JSON caller knows a missing field.
      if (issue.message.endsWith("received undefined")) {
        issues.push({ path: at, message: "required" });
        return;
      }
      break;
  }
  issues.push({ path: at, message: issue.message });
}

/** Not of a place inside: that a value is of none of the types says more. */
function isAboutAll(issue: z.core.$ZodIssue): boolean {
  return issue.path.length === 0 && issue.code !== "unrecognized_keys";
}

function dotted(path: readonly PropertyKey[]): string {
  return path
    .map((part, i) => (typeof part === "number" ? `[${part}]` : `${i === 0 ? "" : "."}${shortName(String(part))}`))
    .join("");
}

/** Every issue of all parts, or the parsed parts. Unknown query keys of a route without `query` are issues too. */
export function parseQuery(schema: z.ZodType | undefined, query: Readonly<Record<string, unknown>>, issues: Issue[]): unknown {
  if (schema !== undefined) return parsePart("query", schema, query, issues);
  for (const key of Object.keys(query)) issues.push({ path: `query.${shortName(key)}`, message: "unknown parameter" });
  return undefined;
}
