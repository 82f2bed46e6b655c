import { type Bucket, expiresAt, type LifecycleFilter, type LifecycleRule, type ObjectVersion } from "@seneschal/core/storage";
import { type S3Call, type S3Reply, xmlReply } from "./call.ts";
import { s3Error } from "./errors.ts";
import { childFlag, childText, type XmlElement, type XmlObject, xmlDocument } from "./xml.ts";
import { readDocument } from "./xml-documents.ts";

const maxRules = 1000;
const dayMs = 86_400_000;

export async function putLifecycle(call: S3Call): Promise<S3Reply> {
  const root = await readDocument(call, "LifecycleConfiguration", { limit: 1024 * 1024 });
  if (root.children.length === 0 || root.children.length > maxRules)
    throw s3Error("MalformedXML", `expected LifecycleConfiguration with 1 to ${maxRules} Rules`);
  const rules = root.children.map((rule) => readRule(rule, Buffer.from(call.random(18)).toString("base64url")));
  if (new Set(rules.map(({ id }) => id)).size < rules.length)
    throw s3Error("InvalidArgument", "Rule ID must be unique. Found same ID for more than one rule");
  await call.objects.changeBucket(
    call.tenant,
    call.bucket,
    "lifecycle",
    (bucket) => ({ ...bucket, lifecycle: rules }) as unknown as Bucket,
  );
  return { status: 200 };
}

/** Reads a rule. */
function readRule(rule: XmlElement, freshId: string): LifecycleRule {
  const child = (name: string) => rule.children.find((c) => c.name === name);
  const id = childText(rule, "ID") || freshId;
  if (id.length > 255) throw s3Error("InvalidArgument", "ID length should not exceed allowed limit of 255");
  const status = childText(rule, "Status");
  if (status !== "Enabled" && status !== "Disabled") throw s3Error("MalformedXML", "the Status of a Rule is Enabled or Disabled");
  const [filter, prefix] = [child("Filter"), childText(rule, "Prefix")];
  if (filter !== undefined && prefix !== undefined) throw s3Error("MalformedXML", "a Rule has a Filter or a Prefix");
  const [expiration, noncurrent, abort] = [
    child("Expiration"),
    child("NoncurrentVersionExpiration"),
    child("AbortIncompleteMultipartUpload"),
  ];
  if (expiration === undefined && noncurrent === undefined && abort === undefined)
    throw s3Error("InvalidRequest", "At least one action needs to be specified in a rule.");
  const read: LifecycleRule = {
    id,
    enabled: status === "Enabled",
    form: filter === undefined ? "prefix" : "filter",
    filter: filter === undefined ? { ...(prefix && { prefix }) } : readFilter(filter),
    ...(expiration && { expiration: readExpiration(expiration) }),
    ...(noncurrent && { noncurrent: readNoncurrent(noncurrent) }),
    ...(abort && {
      abort: number(abort, "DaysAfterInitiation") ?? missing("DaysAfterInitiation"),
    }),
  };
  if (
    read.abort !== undefined &&
    ((read.filter.tags?.length ?? 0) > 0 || read.filter.over !== undefined || read.filter.under !== undefined)
  )
    throw s3Error("InvalidRequest", "AbortIncompleteMultipartUpload cannot be specified with Tags or object sizes.");
  return read;
}

function missing(name: string): never {
  throw s3Error("MalformedXML", `${name} is missing`);
}

/** The greatest number of days and versions: `int` of the schema. */
const maxInt = 2 ** 31 - 1;

function number(element: XmlElement, name: string, min = 1, max = maxInt): number | undefined {
  const text = childText(element, name);
  if (text === undefined) return undefined;
  if (!/^\d{1,15}$/.test(text) || Number(text) > max)
    throw s3Error(/^-\d+$/.test(text) ? "InvalidArgument" : "MalformedXML", `'${name}' must be an integer from ${min} to ${max}`);
  if (Number(text) < min) throw s3Error("InvalidArgument", `'${name}' for this action must be a positive integer`);
  return Number(text);
}

/** What a Filter says, the conditions of its And or its own. */
export function readFilter(filter: XmlElement): LifecycleFilter {
  const and = filter.children.find(({ name }) => name === "And");
  if (and !== undefined && filter.children.length > 1) throw s3Error("MalformedXML", "a Filter has And alone, or conditions");
  const { children } = and ?? filter;
  const from: XmlElement = { name: "Filter", text: "", children };
  const tags = children
    .filter(({ name }) => name === "Tag")
    .map((tag) => ({
      key: childText(tag, "Key") ?? missing("Key"),
      value: childText(tag, "Value") ?? missing("Value"),
    }));
  const [prefix, over, under] = [
    childText(from, "Prefix"),
    number(from, "ObjectSizeGreaterThan", 0, Number.MAX_SAFE_INTEGER),
    number(from, "ObjectSizeLessThan", 1, Number.MAX_SAFE_INTEGER),
  ];
  return {
    ...(prefix && { prefix }),
    ...(tags.length > 0 && { tags }),
    ...(over !== undefined && { over }),
    ...(under !== undefined && { under }),
  };
}

function readExpiration(expiration: XmlElement): NonNullable<LifecycleRule["expiration"]> {
  const [days, date] = [number(expiration, "Days"), childText(expiration, "Date")];
  if (expiration.children.length !== 1)
    throw s3Error("MalformedXML", "an Expiration has Days, Date or ExpiredObjectDeleteMarker");
  if (days !== undefined) return { days };
  if (date !== undefined) {
    const at = /^\d{4}-\d\d-\d\d(?:T00:00:00(?:\.0+)?(?:Z|\+00:?00))?$/.test(date) ? Date.parse(date.slice(0, 10)) : Number.NaN;
    if (Number.isNaN(at)) throw s3Error("InvalidArgument", "'Date' must be at midnight GMT");
    return { date: at };
  }
  if (!childFlag(expiration, "ExpiredObjectDeleteMarker"))
    throw s3Error("NotImplemented", "ExpiredObjectDeleteMarker is true here, or not there");
  return { marker: true };
}

function readNoncurrent(noncurrent: XmlElement): NonNullable<LifecycleRule["noncurrent"]> {
  const [days, newer] = [number(noncurrent, "NoncurrentDays"), number(noncurrent, "NewerNoncurrentVersions")];
  if (days === undefined && newer === undefined) throw s3Error("MalformedXML", "NoncurrentDays is missing");
  return { ...(days !== undefined && { days }), ...(newer !== undefined && { newer }) };
}

export async function getLifecycle(call: S3Call): Promise<S3Reply> {
  const bucket = await call.objects.openBucket(call.tenant, call.bucket);
  if (bucket.lifecycle === undefined) throw s3Error("NoSuchLifecycleConfiguration", "the bucket has no lifecycle");
  return xmlReply(xmlDocument("LifecycleConfiguration", { Rule: bucket.lifecycle.map(shownRule) }));
}

function shownRule({ id, enabled, form, filter, expiration, noncurrent, abort }: LifecycleRule): XmlObject {
  return {
    ID: id,
    ...(form === "prefix" ? { Prefix: filter.prefix ?? "" } : { Filter: shownFilter(filter) }),
    Status: enabled ? "Enabled" : "Disabled",
    Expiration:
      expiration &&
      ("days" in expiration
        ? { Days: expiration.days }
        : "date" in expiration
          ? { Date: new Date(expiration.date).toISOString() }
          : { ExpiredObjectDeleteMarker: true }),
    NoncurrentVersionExpiration: noncurrent && { NoncurrentDays: noncurrent.days, NewerNoncurrentVersions: noncurrent.newer },
    AbortIncompleteMultipartUpload: abort === undefined ? undefined : { DaysAfterInitiation: abort },
  };
}

/** A filter as it is given back. */
export function shownFilter({ prefix, tags = [], over, under }: LifecycleFilter): XmlObject {
  const conditions = {
    ...(prefix !== undefined && { Prefix: prefix }),
    ...(tags.length > 0 && { Tag: tags.map(({ key, value }) => ({ Key: key, Value: value })) }),
    ...(over !== undefined && { ObjectSizeGreaterThan: over }),
    ...(under !== undefined && { ObjectSizeLessThan: under }),
  };
  const count = Object.keys(conditions).length + Math.max(0, tags.length - 1);
  if (count === 0) return { Prefix: "" };
  return count === 1 ? conditions : { And: conditions };
}

export async function removeLifecycle(call: S3Call): Promise<S3Reply> {
  await call.objects.changeBucket(call.tenant, call.bucket, "lifecycle", ({ lifecycle: _, ...bucket }) => bucket as Bucket);
  return { status: 204 };
}

/** When the current version of a key expires, for its replies. */
export async function expirationReply(
  { objects, tenant, bucket }: S3Call,
  object: ObjectVersion,
): Promise<Readonly<Record<string, string>>> {
  const { lifecycle } = await objects.openBucket(tenant, bucket);
  if (lifecycle === undefined) return {};
  const { key, size, tags = [], modified_at: modifiedAt } = object;
  const due = expiresAt(lifecycle, { key, size, tags, modifiedAt, marker: false, others: 0 }, dayMs);
  if (due === undefined || object.superseded_at !== undefined) return {};
  return { "x-amz-expiration": `expiry-date="${new Date(due.at).toUTCString()}", rule-id="${encodeURIComponent(due.rule)}"` };
}
