import { utf8Encode } from "@seneschal/kernel";
import type * as z from "zod";
import type { Failure } from "./error-table.ts";
import type { StoredResponse } from "./idempotency.ts";
import { type Payload, REPLY, type Route, type WithHeaders } from "./route.ts";
import type { WireResponse } from "./wire.ts";

const NOTHING = new Uint8Array();

/**
 * Turns what a handler returned into bytes. A JSON reply passes through its schema, which doubles as an allow-list: a field that
 * the schema does not name cannot leave. Throws plain `Error` (an internal error) when the reply breaks its own schema.
 */
export function reply(route: Route, returned: unknown): WireResponse {
  const [produces] = route.streamed === true ? [JSON_TYPE] : [route.produces].flat();
  if (produces !== undefined) return payload(route, produces, returned as Payload);
  const wrapped = isWithHeaders(returned);
  const body = wrapped ? returned.body : returned;
  const status = (wrapped ? returned.status : undefined) ?? route.status;
  const headers = lowerCased(wrapped ? returned.headers : {});
  if (route.reply === undefined) return { status, headers, body: NOTHING };
  return { status, headers: { "content-type": JSON_TYPE, ...headers }, body: json(checked(route.reply, body)) };
}

/** Every failure's shape: `{ error: { code, message, details } }`. */
export function failureReply(failure: Failure): StoredResponse {
  const headers: Record<string, string> = { "content-type": JSON_TYPE };
  if (failure.status === 401) headers["www-authenticate"] = "Bearer";
  const retryAfter = failure.details["retry_after"];
  if (typeof retryAfter === "number") headers["retry-after"] = String(Math.max(1, Math.ceil(retryAfter)));
  const { code, message, details } = failure;
  return { status: failure.status, headers, body: json({ error: { code, message, details } }) };
}

const JSON_TYPE = "application/json; charset=utf-8";

function json(value: unknown): Uint8Array {
  return utf8Encode(JSON.stringify(value));
}

function checked(schema: z.ZodType, body: unknown): unknown {
  const result = schema.safeParse(body);
  if (result.success) return result.data;
  // Paths and codes only: a reply may hold secrets, and this text is logged.
  const where = result.error.issues.map((issue) => `${issue.path.join(".")} ${issue.code}`).join(", ");
  throw new Error(`the reply breaks its own schema: ${where}`);
}

function payload(route: Route, produces: string, { mediaType, filename, headers, status, body }: Payload): WireResponse {
  return {
    status: status ?? route.status,
    headers: {
      "content-type": mediaType ?? produces,
      ...(filename === undefined ? {} : { "content-disposition": attachment(filename) }),
      ...lowerCased(headers ?? {}),
    },
    body: typeof body === "string" ? utf8Encode(body) : body,
  };
}

/** RFC 6266, with the ASCII form for old clients. */
function attachment(filename: string): string {
  const ascii = filename.replace(/[^A-Za-z0-9._ -]/g, "_");
  const extended = encodeURIComponent(filename).replace(/['()*]/g, (c) => `%${c.charCodeAt(0).toString(16).toUpperCase()}`);
  return ascii === filename ? `attachment; filename="${ascii}"` : `attachment; filename="${ascii}"; filename*=UTF-8''${extended}`;
}

function lowerCased(headers: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
}

function isWithHeaders(value: unknown): value is WithHeaders<unknown> {
  return typeof value === "object" && value !== null && REPLY in value;
}
