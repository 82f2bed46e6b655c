import { CodedError, checkArgument, isCoded } from "@seneschal/kernel";

/** What the dispatcher itself can meet. A service's table gives each one its wire code. */
export type HttpSituation =
  | "invalid_request"
  | "invalid_json"
  | "validation_failed"
  | "unauthenticated"
  | "forbidden"
  | "not_found"
  | "method_not_allowed"
  | "precondition_failed"
  | "payload_too_large"
  | "unsupported_media_type"
  | "idempotency_conflict"
  | "idempotency_mismatch"
  | "reply_not_kept"
  | "rate_limited"
  | "internal_error"
  | "service_unavailable";

/** Code and status that a thrown code leaves as. */
export interface ErrorRow {
  readonly code: string;
  readonly status: number;
}

/** The only place where HTTP meets failures: thrown code -> wire code and status. */
export interface ErrorTable {
  /** `undefined`: not in the catalogue, to be answered as an opaque internal error. */
  find(thrown: string): ErrorRow | undefined;
  readonly internal: ErrorRow;
  /** Wire code -> status, for documents. */
  readonly codes: Readonly<Record<string, number>>;
  /** Wire code -> the operations that can give it; what is not here can stand wherever its status can. */
  readonly only: Readonly<Record<string, readonly string[]>>;
}

/**
 * Builds a service's error table from its catalogue (wire code -> status) and the names that the dispatcher's situations and
 * the domain's codes have in it. A thrown wire code stands for itself. `only` names the operations of codes that few can give. Throws `TypeError` when a name is not in the catalogue.
 *
 * @example
 * ```ts
 * import { errorTable } from "@seneschal/contract";
 * const table = errorTable(
 *   { BAD_REQUEST: 400, UNAUTHORIZED: 401, FORBIDDEN: 403, NOT_FOUND: 404, CONFLICT: 409, RATE_LIMITED: 429, INTERNAL_ERROR: 500, UNAVAILABLE: 503 },
 *   {
 *     invalid_request: "BAD_REQUEST", invalid_json: "BAD_REQUEST", validation_failed: "BAD_REQUEST", payload_too_large: "BAD_REQUEST",
 *     unsupported_media_type: "BAD_REQUEST", unauthenticated: "UNAUTHORIZED", forbidden: "FORBIDDEN", not_found: "NOT_FOUND",
 *     method_not_allowed: "NOT_FOUND", precondition_failed: "CONFLICT", idempotency_conflict: "CONFLICT", idempotency_mismatch: "CONFLICT",
 *     reply_not_kept: "CONFLICT", rate_limited: "RATE_LIMITED", internal_error: "INTERNAL_ERROR", service_unavailable: "UNAVAILABLE",
 *   },
 * );
 * console.log(table.find("not_found")); // { code: 'NOT_FOUND', status: 404 }
 * ```
 */
export function errorTable(
  codes: Readonly<Record<string, number>>,
  names: Readonly<Record<HttpSituation, string>> & Readonly<Record<string, string>>,
  only: Readonly<Record<string, readonly string[]>> = {},
): ErrorTable {
  checkArgument("codes", codes, "object");
  checkArgument("names", names, "object");
  const rows = new Map(Object.entries(codes).map(([code, status]) => [code, { code, status }]));
  for (const [thrown, code] of Object.entries(names)) {
    const row = rows.get(code);
    if (row === undefined || codes[code] === undefined) throw new TypeError(`${thrown} is named ${code}, which has no status`);
    rows.set(thrown, row);
  }
  const internal = rows.get("internal_error");
  if (internal === undefined) throw new TypeError("a table needs internal_error");
  for (const code of Object.keys(only))
    if (codes[code] === undefined) throw new TypeError(`${code}, which few operations give, has no status`);
  return { find: (thrown) => rows.get(thrown), internal, codes, only };
}

/** A failure on its way out: what the caller may see, and whether the operator must look. */
export interface Failure extends ErrorRow {
  readonly message: string;
  readonly details: Readonly<Record<string, unknown>>;
  /** The error is ours: log it. */
  readonly ours: boolean;
}

/** Maps what was thrown. Anything outside the table becomes the opaque internal error, without its text. */
export function failure(error: unknown, table: ErrorTable): Failure {
  checkArgument("table", table, "object");
  const row = isCoded(error) ? table.find(error.code) : undefined;
  if (row === undefined || !isCoded(error)) {
    return { ...table.internal, message: "internal error", details: {}, ours: true };
  }
  return { ...row, message: error.message, details: error.details, ours: row.status >= 500 };
}

/** A failure of the dispatcher's own. */
export function situation(
  code: HttpSituation,
  message: string,
  details?: Readonly<Record<string, unknown>>,
): CodedError<HttpSituation> {
  return new CodedError(code, message, details);
}
