import { bodyBounds } from "./body-bounds.ts";
import { decodeElements } from "./decode-elements.ts";
import { decodeJson } from "./decode-json.ts";
import { situation } from "./error-table.ts";
import { invalid } from "./issues.ts";
import type { Route } from "./route.ts";
import { isForm } from "./same-site.ts";
import type { WireRequest } from "./wire.ts";

/** The body as received and, where the route takes JSON, parsed but not yet checked. */
export interface DecodedBody {
  readonly raw: Uint8Array;
  readonly json: unknown;
}

/**
 * Reads and decodes a body as its route asks. A route without a body schema ignores any body but a form's, unread. JSON comes as
 * `application/json`, in UTF-8, unencoded; anything else is `unsupported_media_type`.
 */
export async function decodeBody(route: Route, wire: WireRequest, pause?: () => Promise<void>): Promise<DecodedBody> {
  if (route.consumes === undefined && isForm(wire.headers["content-type"]))
    throw situation("unsupported_media_type", "expected content-type application/json, or none without a body");
  if (route.body === undefined && route.consumes === undefined) return { raw: new Uint8Array(), json: undefined };
  const { bytes: limit, values } = bodyBounds(route);
  const raw = await readAll(wire.body, limit);
  if (raw === undefined)
    throw situation("payload_too_large", `the body is larger than ${limit} bytes`, { field: "body", limit, unit: "bytes" });
  if (raw.length === 0 && route.body !== undefined) {
    if (route.bodyOptional !== true) throw invalid([{ path: "body", message: "required" }]);
    return { raw, json: {} };
  }
  const encoding = wire.headers["content-encoding"]?.trim().toLowerCase() ?? "identity";
  if (encoding !== "identity") throw situation("unsupported_media_type", "content encodings are not supported");
  const [media = "", ...parameters] = (wire.headers["content-type"] ?? "").split(";").map((part) => part.trim().toLowerCase());
  const charset = parameters.find((parameter) => parameter.startsWith("charset="))?.slice("charset=".length);
  if (charset !== undefined && !/^"?utf-?8"?$/.test(charset)) {
    throw situation("unsupported_media_type", "what is read is UTF-8: expected no charset, or utf-8");
  }
  if (route.consumes !== undefined) {
    const types = [route.consumes].flat();
    if (!types.includes(media)) throw situation("unsupported_media_type", `expected content-type ${types.join(" or ")}`);
    return { raw, json: undefined };
  }
  if (media !== "application/json") throw situation("unsupported_media_type", "expected content-type application/json");
  const { elements } = route;
  return {
    raw,
    json: elements === undefined ? decodeJson(raw, { values }) : await decodeElements(raw, { ...elements, values }, pause),
  };
}

async function readAll(body: WireRequest["body"], limit: number): Promise<Uint8Array | undefined> {
  if (typeof body === "function") return body(limit);
  return body.length > limit ? undefined : body;
}
