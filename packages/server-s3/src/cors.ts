import { type Bucket, type CorsRule, corsRuleFor } from "@seneschal/core/storage";
import { type S3Call, type S3Reply, xmlReply } from "./call.ts";
import { s3Error } from "./errors.ts";
import { childText, type XmlElement, xmlDocument } from "./xml.ts";
import { readDocument } from "./xml-documents.ts";

const maxRules = 100;
const methods = ["GET", "PUT", "POST", "DELETE", "HEAD"];

type Headers = Readonly<Record<string, string | undefined>>;

export async function putCors(call: S3Call): Promise<S3Reply> {
  const root = await readDocument(call, "CORSConfiguration");
  if (root.children.length === 0 || root.children.length > maxRules)
    throw s3Error("MalformedXML", `expected CORSConfiguration with 1 to ${maxRules} CORSRules`);
  const rules = root.children.map(readRule);
  const ids = rules.flatMap(({ id }) => id ?? []);
  if (new Set(ids).size < ids.length) throw s3Error("InvalidRequest", "the ID of a CORSRule is there twice");
  const set = (bucket: Bucket) => ({ ...bucket, cors: rules }) as unknown as Bucket;
  await call.objects.changeBucket(call.tenant, call.bucket, "cors", set);
  return { status: 200 };
}

/** Reads a rule. Throws `MalformedXML`, `InvalidRequest`. */
function readRule(element: XmlElement): CorsRule {
  const all = (name: string) => element.children.filter((child) => child.name === name).map(({ text }) => text.trim());
  const [id, age] = [childText(element, "ID"), childText(element, "MaxAgeSeconds")];
  const [origins, named, headers, exposed] = [
    all("AllowedOrigin"),
    all("AllowedMethod"),
    all("AllowedHeader"),
    all("ExposeHeader"),
  ];
  if (origins.length === 0 || named.length === 0 || [...origins, ...headers, ...exposed].includes(""))
    throw s3Error("MalformedXML", "a CORSRule has AllowedOrigins and AllowedMethods");
  if (id !== undefined && id.length > 255) throw s3Error("InvalidRequest", "the ID of a CORSRule takes at most 255 characters");
  const unknown = named.find((method) => !methods.includes(method));
  if (unknown !== undefined)
    throw s3Error("InvalidRequest", `Found unsupported HTTP method in CORS config. Unsupported method is ${unknown}`);
  for (const [name, values, most] of [
    ["AllowedOrigin", origins, 1],
    ["AllowedHeader", headers, 1],
    ["ExposeHeader", exposed, 0],
  ] as const)
    for (const value of values)
      if (value.split("*").length - 1 > most)
        throw s3Error("InvalidRequest", `${name} "${value}" can not have ${most === 0 ? "a" : "more than one"} wildcard.`);
  // It goes out as a header's value.
  for (const name of [...headers, ...exposed])
    if (!/^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/.test(name)) throw s3Error("InvalidRequest", `${JSON.stringify(name)} names no header`);
  // Below 0 it tells browsers to keep nothing.
  const maxAgeSeconds = Number(age?.trim());
  return { ...(id && { id }), origins, methods: named, headers, exposed, ...(age !== undefined && { maxAgeSeconds }) };
}

export async function getCors(call: S3Call): Promise<S3Reply> {
  const bucket = await call.objects.openBucket(call.tenant, call.bucket);
  if (bucket.cors === undefined) throw s3Error("NoSuchCORSConfiguration", "the bucket has no CORS configuration");
  const rules = bucket.cors.map((rule) => ({
    ID: rule.id,
    AllowedOrigin: rule.origins,
    AllowedMethod: rule.methods,
    AllowedHeader: rule.headers,
    ExposeHeader: rule.exposed,
    MaxAgeSeconds: rule.maxAgeSeconds,
  }));
  return xmlReply(xmlDocument("CORSConfiguration", { CORSRule: rules }));
}

export async function removeCors(call: S3Call): Promise<S3Reply> {
  await call.objects.changeBucket(call.tenant, call.bucket, "cors", ({ cors: _, ...bucket }) => bucket as Bucket);
  return { status: 204 };
}

/** What an answer tells the browser of a page of another origin; nothing where no rule of the bucket allows the request. */
export function corsHeaders(bucket: Bucket | undefined, method: string, origin: string): Readonly<Record<string, string>> {
  const found = corsRuleFor(bucket?.cors ?? [], { origin, method, headers: [] });
  return found === undefined ? {} : allowing(found, origin);
}

/**
 * Answers what a browser asks before a request from a page of another origin. Nobody signs it, and it tells of the bucket what its rules allow:
 * one that is not there and one without rules are the same. Throws `BadRequest`, `AccessForbidden`.
 */
export function preflight(bucket: Bucket | undefined, on: "BUCKET" | "OBJECT", headers: Headers): S3Reply {
  const origin = headers["origin"];
  if (!origin) throw s3Error("BadRequest", "Insufficient information. Origin request header needed.");
  const method = headers["access-control-request-method"];
  if (method === undefined || !methods.includes(method))
    throw s3Error("BadRequest", `Invalid Access-Control-Request-Method: ${method ?? "null"}`);
  const refused = (text: string) => s3Error("AccessForbidden", text, { elements: { Method: method, ResourceType: on } });
  if (bucket?.cors === undefined) throw refused("CORSResponse: CORS is not enabled for this bucket.");
  const asked = (headers["access-control-request-headers"] ?? "")
    .split(",")
    .map((name) => name.trim().toLowerCase())
    .filter((name) => name !== "");
  const found = corsRuleFor(bucket.cors, { origin, method, headers: asked });
  if (found === undefined)
    throw refused(
      "CORSResponse: This CORS request is not allowed. This is usually because the evalution of Origin, request method / Access-Control-Request-Method or Access-Control-Request-Headers are not whitelisted by the resource's CORS spec.",
    );
  return {
    status: 200,
    headers: { ...allowing(found, origin), ...(asked.length > 0 && { "access-control-allow-headers": asked.join(", ") }) },
  };
}

function allowing(
  { rule, anyOrigin }: NonNullable<ReturnType<typeof corsRuleFor>>,
  origin: string,
): Readonly<Record<string, string>> {
  return {
    "access-control-allow-origin": anyOrigin ? "*" : origin,
    "access-control-allow-methods": rule.methods.join(", "),
    ...(!anyOrigin && { "access-control-allow-credentials": "true" }),
    ...(rule.exposed.length > 0 && { "access-control-expose-headers": rule.exposed.join(", ") }),
    ...(rule.maxAgeSeconds !== undefined && { "access-control-max-age": String(rule.maxAgeSeconds) }),
    vary: "Origin, Access-Control-Request-Headers, Access-Control-Request-Method",
  };
}
