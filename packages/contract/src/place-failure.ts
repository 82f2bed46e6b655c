import type { ErrorTable, Failure } from "./error-table.ts";
import { fieldsOf } from "./fields.ts";
import { fieldAt } from "./issues.ts";
import type { Route } from "./route.ts";

type Part = "body" | "query" | "params";

/**
 * Completes what a 400 of a route says of its place: `field`, `reason` and `issues`, whoever found it. Rules and handlers name the field alone, as
 * `custodians[0].index`; in which part of the request it stands is the route's to say.
 */
export function failurePlacer(route: Route, errors: ErrorTable): (failed: Failure) => Failure {
  const takesBody = route.body !== undefined || route.consumes !== undefined;
  /** What is said of no field is said of the whole body. */
  const ofBody = takesBody ? [errors.find("validation_failed")?.code, errors.find("invalid_json")?.code] : [];
  const unknown: Part = takesBody ? "body" : route.query === undefined ? "params" : "query";
  let parts: ReadonlyMap<string, Part> | undefined;
  return (failed) => {
    const { details, message } = failed;
    if (failed.status !== 400 || details["issues"] !== undefined) return failed;
    const named = details["field"] ?? (ofBody.includes(failed.code) ? "body" : undefined);
    if (typeof named !== "string") return failed;
    parts ??= partsOf(route);
    const { field, path } = placeOf(named, parts, unknown);
    const prefix = `${named}: `;
    const text = message.startsWith(prefix) ? message.slice(prefix.length) : message;
    const reason = typeof details["reason"] === "string" ? details["reason"] : text;
    return { ...failed, details: { ...details, field, reason, issues: [{ path, message: reason }] } };
  };
}

/** In which part the fields of a route's requests stand; of one name in two parts it is the body's. */
function partsOf({ params, query, body }: Route): ReadonlyMap<string, Part> {
  const schemas = [["params", params] as const, ["query", query] as const, ["body", body] as const];
  return new Map(schemas.flatMap(([part, schema]) => fieldsOf(schema).map(({ name }) => [name, part] as const)));
}

function placeOf(
  named: string,
  parts: ReadonlyMap<string, Part>,
  unknown: Part,
): { readonly field: string; readonly path: string } {
  const [first = ""] = /^[^.[]*/.exec(named) ?? [];
  // Rules have the names of their language, the wire its own.
  const wire = [first, first.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)].find((name) => parts.has(name));
  if (wire !== undefined) {
    const field = wire + named.slice(first.length);
    return { field, path: `${parts.get(wire)}.${field}` };
  }
  if (/^(body|query|params|headers)$/.test(first)) return { field: fieldAt(named), path: named };
  return { field: named, path: `${unknown}.${named}` };
}
