import { checkArgument } from "@seneschal/kernel";

/** Where the requests to a bucket are written down (Amazon S3 User Guide, Logging requests with server access logging). */
export interface BucketLogging {
  /** A bucket of the same tenant. */
  readonly target: string;
  /** What the keys of log objects begin with. */
  readonly prefix: string;
  /** What the keys go on with; absent: time and a unique text, and nobody said so. */
  readonly format?: LogKeyFormat;
}

/** `EventTime` and `DeliveryTime`: keys have tenant, region, bucket and a day between prefix and time, the day of the requests or that of the delivery. */
export type LogKeyFormat = "SimplePrefix" | "EventTime" | "DeliveryTime";

/** Who delivers logs, as policies of buckets name it. */
export const loggingService = "logging.s3.amazonaws.com";

/**
 * What logs may take of a node's memory until they are delivered, bytes: of all tenants, of one, and of one object, which is due when it has
 * so many.
 */
export const accessLogLimits = Object.freeze({ all: 32 << 20, tenant: 8 << 20, object: 4 << 20 });

/** How often the bucket that is named may refuse a log object before what it would hold is given up. */
export const maxLogDeliveries = 12;

/**
 * Whether a line of so many bytes is kept beside what waits already. What is not is lost: logs hold up no request.
 *
 * @example
 * ```ts
 * import { keepsLine } from "@seneschal/core/storage";
 * console.log(keepsLine(100, { all: 0, tenant: 0 }), keepsLine(100, { all: 1e12, tenant: 0 })); // true false
 * ```
 */
export function keepsLine(bytes: number, waiting: { readonly all: number; readonly tenant: number }): boolean {
  checkArgument("bytes", bytes, "number");
  checkArgument("waiting", waiting, "object");
  return waiting.all + bytes <= accessLogLimits.all && waiting.tenant + bytes <= accessLogLimits.tenant;
}

/** One request as it is written down. What is absent is not known, or there is none. */
export interface AccessRecord {
  /** The tenant whose bucket it is. */
  readonly owner: string;
  readonly bucket: string;
  /** When the request came, milliseconds. */
  readonly at: number;
  readonly address?: string | undefined;
  /** The tenant that signed it. */
  readonly requester?: string | undefined;
  readonly requestId: string;
  /** As S3 logs name it: `REST.GET.OBJECT`. */
  readonly operation: string;
  readonly key?: string | undefined;
  /** The request line with its target as {@link shownTarget} leaves it. */
  readonly line?: string | undefined;
  readonly status?: number | undefined;
  readonly errorCode?: string | undefined;
  /** Bytes of the answer's body. */
  readonly sent?: number | undefined;
  /** Bytes of the object. */
  readonly size?: number | undefined;
  /** From the first byte of the request to the last of the answer, milliseconds. */
  readonly totalMs?: number | undefined;
  /** Of these, from the last byte of the request to the first of the answer. */
  readonly turnAroundMs?: number | undefined;
  /** As {@link shownReferrer} leaves it. */
  readonly referrer?: string | undefined;
  readonly userAgent?: string | undefined;
  readonly version?: string | undefined;
  readonly signature?: "SigV2" | "SigV4" | undefined;
  readonly cipher?: string | undefined;
  readonly authentication?: "AuthHeader" | "QueryString" | undefined;
  readonly host?: string | undefined;
  readonly tls?: string | undefined;
}

/**
 * The line of a request, without its end (Amazon S3 User Guide, Amazon S3 server access log format): 26 fields, whatever the request says.
 * What could end a field is written as `%` and two digits.
 *
 * @example
 * ```ts
 * import { accessLogLine } from "@seneschal/core/storage";
 * const line = accessLogLine({ owner: "acme", bucket: "photos", at: 0, requestId: "3E57", operation: "REST.GET.OBJECT", key: "a b" });
 * console.log(line.split(" ").slice(0, 9).join(" ")); // acme photos [01/Jan/1970:00:00:00 +0000] - - 3E57 REST.GET.OBJECT a%20b
 * ```
 */
export function accessLogLine(record: AccessRecord): string {
  checkArgument("record", record, "object");
  const { owner, bucket, at, address, requester, requestId, operation, key, line, status, errorCode, sent, size } = record;
  const { totalMs, turnAroundMs, referrer, userAgent, version, signature, cipher, authentication, host, tls } = record;
  return [
    ...[field(owner), field(bucket), `[${logTime(at)}]`, field(address), field(requester), field(requestId), field(operation)],
    ...[field(key), quoted(line), field(status), field(errorCode), field(sent), field(size), field(totalMs), field(turnAroundMs)],
    ...[quoted(referrer), quoted(userAgent), field(version), "-", field(signature), field(cipher), field(authentication)],
    // Neither access points nor ACLs are here to be used.
    ...[field(host), field(tls), "-", "-"],
  ].join(" ");
}

const months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];

function logTime(at: number): string {
  const [, year, month, day, time] = /^(\d+)-(\d\d)-(\d\d)T(.{8})/.exec(new Date(at).toISOString()) ?? [];
  return `${day}/${months[Number(month) - 1]}/${year}:${time} +0000`;
}

/** A field that a space ends. */
function field(value: string | number | undefined): string {
  if (value === undefined || value === "") return "-";
  // A text that is the sign for none is not one.
  if (value === "-") return "%2D";
  return typeof value === "number" ? String(Math.round(value)) : escaped(value, /[^A-Za-z0-9._~:/-]/gu);
}

/** A field between quotation marks. */
function quoted(value: string | undefined): string {
  return `"${value === undefined || value === "" ? "-" : escaped(value, /[^ !#-Z^-~]/gu)}"`;
}

function escaped(text: string, what: RegExp): string {
  return text.replace(what, (c) => {
    if (c.charCodeAt(0) < 128) return `%${c.charCodeAt(0).toString(16).toUpperCase().padStart(2, "0")}`;
    // Half a character is none: it stands as U+FFFD, as encoders have it.
    return encodeURIComponent(/\p{Surrogate}/u.test(c) ? "\uFFFD" : c);
  });
}

/**
 * A request's target as logs show it: of its query what `shown` names, and `REDACTED` for everything else, so that no signature, key or
 * token of any form that a client could send is written down.
 *
 * @example
 * ```ts
 * import { shownTarget } from "@seneschal/core/storage";
 * console.log(shownTarget("/b/k?versionId=1&X-Amz-Signature=ab", new Set(["versionId"]))); // /b/k?versionId=1&REDACTED
 * ```
 */
export function shownTarget(target: string, shown: ReadonlySet<string>): string {
  checkArgument("target", target, "string");
  checkArgument("shown", shown, "object");
  const at = target.indexOf("?");
  if (at < 0) return target;
  const pairs = target.slice(at + 1).split("&");
  return `${target.slice(0, at)}?${pairs.map((pair) => (shown.has(pair.split("=", 1)[0] ?? "") ? pair : "REDACTED")).join("&")}`;
}

/**
 * A `Referer` without user, query and fragment: the page may have been reached by a URL that is signed. Absent: it is no URL of the web.
 *
 * @example
 * ```ts
 * import { shownReferrer } from "@seneschal/core/storage";
 * console.log(shownReferrer("https://ada@acme.example/page?token=1#top")); // https://acme.example/page
 * ```
 */
export function shownReferrer(referrer: string | undefined): string | undefined {
  const [, scheme, host, path] = /^(https?:\/\/)(?:[^/?#]*@)?([^/?#]*)([^?#]*)/i.exec(referrer ?? "") ?? [];
  return scheme === undefined ? undefined : `${scheme}${host}${path}`;
}

/** What is known of a log object when its key is made. Times in milliseconds. */
export interface LogDelivery {
  readonly tenant: string;
  readonly region: string;
  readonly bucket: string;
  /** When it is delivered. */
  readonly at: number;
  /** When its first request came. */
  readonly since: number;
  /** Sixteen characters that no other object has. */
  readonly unique: string;
}

/**
 * The key of a log object (Amazon S3 User Guide, Log object key format).
 *
 * @example
 * ```ts
 * import { logObjectKey } from "@seneschal/core/storage";
 * const delivery = { tenant: "acme", region: "us-east-1", bucket: "photos", at: 0, since: 0, unique: "E568B2907131C0C0" };
 * console.log(logObjectKey({ target: "logs", prefix: "log/" }, delivery)); // log/1970-01-01-00-00-00-E568B2907131C0C0
 * ```
 */
export function logObjectKey(logging: BucketLogging, delivery: LogDelivery): string {
  checkArgument("logging", logging, "object");
  checkArgument("delivery", delivery, "object");
  const { prefix, format } = logging;
  const { tenant, region, bucket, at, since, unique } = delivery;
  const [day, time] = new Date(format === "EventTime" ? since : at).toISOString().slice(0, 19).split("T") as [string, string];
  // Objects by the day of their requests are of the whole day.
  const name = `${day}-${format === "EventTime" ? "00-00-00" : time.replaceAll(":", "-")}-${unique}`;
  if (format === undefined || format === "SimplePrefix") return `${prefix}${name}`;
  return `${prefix}${tenant}/${region}/${bucket}/${day.replaceAll("-", "/")}/${name}`;
}

/**
 * What the requests that may lie in one log object have in common: where it goes, and by the format its day.
 *
 * @example
 * ```ts
 * import { logBatch } from "@seneschal/core/storage";
 * console.log(logBatch("docs", { target: "logs", prefix: "docs/" }, 0) === logBatch("docs", { target: "logs", prefix: "docs/" }, 1)); // true
 * ```
 */
export function logBatch(bucket: string, logging: BucketLogging, at: number): string {
  checkArgument("bucket", bucket, "string");
  checkArgument("logging", logging, "object");
  checkArgument("at", at, "number");
  const { target, prefix, format } = logging;
  const day = format === "EventTime" ? Math.floor(at / 86_400_000) : 0;
  return JSON.stringify([bucket, target, prefix, format ?? "", day]);
}
