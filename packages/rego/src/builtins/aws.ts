import { hmac } from "@noble/hashes/hmac.js";
import { sha256 } from "@noble/hashes/sha2.js";
import { BuiltinError } from "../errors.ts";
import { jsonText, termText } from "../value/format.ts";
import { allocateText, charge } from "../value/meter.ts";
import { toBigInt } from "../value/number.ts";
import {
  compareStrings,
  getKey,
  isNumber,
  isObject,
  type PlainObject,
  RegoObject,
  RegoSet,
  sortedKeys,
  type Value,
} from "../value/value.ts";
import { type Builtin, define } from "./builtin.ts";
import { hex, textToBytes } from "./bytes.ts";
import { civil } from "./go-time.ts";
import { checkRequest } from "./http-request.ts";

/** Proxies may change these, so they are not signed. */
const UNSIGNED: ReadonlySet<string> = new Set(["authorization", "user-agent", "x-amzn-trace-id"]);

const REQUIRED = ["aws_service", "aws_access_key", "aws_secret_access_key", "aws_region"] as const;

type Members = PlainObject | RegoObject;

function refuse(operand: number, message: string): never {
  throw new BuiltinError(`operand ${operand} ${message}`, "eval_type_error");
}

function textAt(object: Members, key: string): string {
  const value = getKey(object, key);
  return typeof value === "string" ? value : "";
}

function checkConfig(config: Members): void {
  const missing = REQUIRED.filter((key) => getKey(config, key) === undefined);
  if (missing.length > 0) refuse(2, `missing required AWS config parameters(s): ${termText(RegoSet.of(missing))}`);
  const invalid = REQUIRED.filter((key) => typeof getKey(config, key) !== "string");
  if (invalid.length > 0) refuse(2, `invalid values for required AWS config parameters(s): ${termText(RegoSet.of(invalid))}`);
}

interface Address {
  readonly host: string;
  readonly path: string;
  readonly query: string;
}

/** Host, escaped path and raw query of a URL as Go's net/url has them. */
function parseUrl(url: string): Address {
  const bad = (what: string): never => {
    throw new BuiltinError(`parse ${JSON.stringify(url)}: ${what}`);
  };
  if (/\p{Cc}/u.test(url.replace(/[\u0080-\u009f]/g, ""))) bad("net/url: invalid control character in URL");
  const [, scheme, authority = "", path = "", query = ""] =
    /^([^:/?#]+:)?(?:\/\/([^/?#]*))?([^?#]*)(?:\?([^#]*))?/.exec(url) ?? [];
  if (url.startsWith(":")) bad("missing protocol scheme");
  if (scheme !== undefined && !/^[a-zA-Z][a-zA-Z0-9+.-]*:$/.test(scheme)) bad("first path segment in URL cannot contain colon");
  const broken = /%(?![\da-fA-F]{2}).{0,2}/.exec(path)?.[0];
  if (broken !== undefined) bad(`invalid URL escape ${JSON.stringify(broken)}`);
  const host = authority.slice(authority.lastIndexOf("@") + 1);
  if (/[\s<>"%^`{}|\\]/.test(host)) bad("invalid character in host name");
  if (/:[^\]]*$/.test(host) && !/:\d*$/.test(host)) bad("invalid port after host");
  return { host, path: escapedPath(path), query };
}

/** As written where that is a valid encoding; else decoded and encoded again. */
function escapedPath(path: string): string {
  if (/^[A-Za-z0-9\-_.~!$&'()*+,/:;=@[\]%]*$/.test(path)) return path;
  return [...textToBytes(path)]
    .map((byte) => {
      const c = String.fromCharCode(byte);
      return /[A-Za-z0-9\-_.~$&+,/:;=@%]/.test(c) ? c : `%${byte.toString(16).toUpperCase().padStart(2, "0")}`;
    })
    .join("");
}

function bodyOf(request: Members): Uint8Array {
  const raw = getKey(request, "raw_body");
  const body = getKey(request, "body");
  if (raw !== undefined) return textToBytes(typeof raw === "string" ? raw : "");
  return body === undefined ? new Uint8Array() : textToBytes(jsonText(body));
}

function stamp(ns: bigint): string {
  const seconds = ns / 1_000_000_000n - (ns % 1_000_000_000n < 0n ? 1n : 0n);
  const { year, month, day, hour, minute, second } = civil(Number(seconds), 0, 0, "UTC");
  const two = (n: number): string => String(n).padStart(2, "0");
  return `${String(year).padStart(4, "0")}${two(month)}${two(day)}T${two(hour)}${two(minute)}${two(second)}Z`;
}

/** A request's headers with an AWS Signature Version 4 (docs.aws.amazon.com, "Signature Version 4 signing process"). */
function sign(request: Members, config: Members, ns: bigint, unsignedPayload: boolean): ReadonlyMap<string, string> {
  const { host, path, query } = parseUrl(textAt(request, "url"));
  const body = bodyOf(request);
  charge(body.length >> 2);
  const service = textAt(config, "aws_service");
  const content = unsignedPayload ? "UNSIGNED-PAYLOAD" : hex(sha256(body));
  const now = stamp(ns);
  const own = new Map([
    ["host", host],
    ["x-amz-date", now],
  ]);
  if (service === "s3" || service === "glacier") own.set("x-amz-content-sha256", content);
  const token = textAt(config, "aws_session_token");
  if (token !== "") own.set("x-amz-security-token", token);
  const given = getKey(request, "headers");
  const headers = new Map<string, string>();
  if (given !== undefined && isObject(given)) {
    for (const key of sortedKeys(given)) {
      const value = getKey(given, key);
      headers.set(typeof key === "string" ? key : "", typeof value === "string" ? value : "");
    }
  }
  const signed = new Map(own);
  for (const [name, value] of headers) if (!UNSIGNED.has(name.toLowerCase())) signed.set(name.toLowerCase(), value);
  const names = [...signed.keys()].sort(compareStrings);
  const list = names.join(";");
  const lines = names.map((name) => `${name}:${signed.get(name)}\n`).join("");
  const canonical = `${textAt(request, "method")}\n${path}\n${query}\n${lines}\n${list}\n${content}`;
  const day = now.slice(0, 8);
  const region = textAt(config, "aws_region");
  const scope = `${day}/${region}/${service}/aws4_request`;
  const mac = (key: Uint8Array, text: string): Uint8Array => hmac(sha256, key, textToBytes(text));
  const key = [day, region, service, "aws4_request"].reduce(mac, textToBytes(`AWS4${textAt(config, "aws_secret_access_key")}`));
  const signature = hex(mac(key, `AWS4-HMAC-SHA256\n${now}\n${scope}\n${hex(sha256(textToBytes(canonical)))}`));
  allocateText(canonical.length);
  headers.set(
    "Authorization",
    `AWS4-HMAC-SHA256 Credential=${textAt(config, "aws_access_key")}/${scope},SignedHeaders=${list},Signature=${signature}`,
  );
  for (const [name, value] of own) headers.set(name, value);
  return headers;
}

/** Signing for Amazon's services. */
export const awsBuiltins: readonly Builtin[] = [
  define("providers.aws.sign_req", "{string: any}, {string: any}, number -> {any: any}", ([of, how, time]) => {
    const [request, config] = [of, how] as [Members, Members];
    checkConfig(config);
    const ns = isNumber(time) ? toBigInt(time) : undefined;
    if (ns === undefined || BigInt.asIntN(64, ns) !== ns) refuse(3, "could not convert time_ns value into a unix timestamp");
    checkRequest(request);
    const headers = getKey(request, "headers");
    if (headers !== undefined && !isObject(headers)) refuse(0, "must be object");
    const invalid = ["method", "url"].filter((key) => typeof getKey(request, key) !== "string");
    if (invalid.length > 0) refuse(1, `invalid values for required request parameters(s): ${termText(RegoSet.of(invalid))}`);
    const unsigned = getKey(config, "disable_payload_signing") ?? false;
    if (typeof unsigned !== "boolean") return refuse(2, "invalid value for 'disable_payload_signing' in AWS config");
    const out = new RegoObject();
    for (const key of sortedKeys(request)) out.set(key, getKey(request, key) as Value);
    out.set("headers", RegoObject.of(sign(request, config, ns, unsigned)));
    return out;
  }),
];
