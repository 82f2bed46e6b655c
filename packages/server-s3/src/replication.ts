import {
  type Bucket,
  destinationArn,
  destinationKey,
  destinationOfArn,
  type ObjectVersion,
  type Replication,
  type ReplicationRule,
  replicationStatus,
} from "@seneschal/core/storage";
import { type S3Call, type S3Reply, xmlReply } from "./call.ts";
import { s3Error } from "./errors.ts";
import { readFilter, shownFilter } from "./lifecycle.ts";
import { childText, type XmlElement, type XmlObject, xmlDocument } from "./xml.ts";
import { readDocument } from "./xml-documents.ts";

const maxRules = 1000;

/** Makes what is written a copy of a version elsewhere, which it is called by. Other servers than this one do not know it. */
export const replicaHeader = "x-seneschal-replica-version";

/** Sets where new versions of a bucket are copied. */
export async function putReplication(call: S3Call): Promise<S3Reply> {
  const root = await readDocument(call, "ReplicationConfiguration", { limit: 1024 * 1024 });
  const role = childText(root, "Role")?.trim();
  if (role) checkRole(role, call.tenant);
  const elements = root.children.filter(({ name }) => name === "Rule");
  if (elements.length === 0 || elements.length > maxRules)
    throw s3Error("MalformedXML", `expected ReplicationConfiguration with 1 to ${maxRules} Rules`);
  const rules = elements.map((rule) => readRule(rule, Buffer.from(call.random(18)).toString("base64url")));
  checkTogether(rules);
  for (const { destination } of rules) {
    const leave = call.objects.replicationTo(call.tenant, destination);
    if (leave === "leave") continue;
    const { name, bucket } = destination;
    const said =
      leave === "no destination"
        ? `No replication destination called ${name} is configured for this tenant.`
        : `The replication destination ${name} is not configured for a bucket called ${bucket}.`;
    throw s3Error("InvalidRequest", said, { elements: { ArgumentName: "Bucket", ArgumentValue: destinationArn(destination) } });
  }
  const configuration = Buffer.from(call.random(18)).toString("base64url");
  const replication = { ...(role && { role }), rules, configuration } as unknown as NonNullable<Bucket["replication"]>;
  await call.objects.changeBucket(call.tenant, call.bucket, "replication", (bucket) => {
    if (bucket.versioning !== "Enabled")
      throw s3Error("InvalidRequest", "Versioning must be 'Enabled' on the bucket to apply a replication configuration");
    return { ...bucket, replication };
  });
  return { status: 200 };
}

/** There are no roles: what writes the copies is the operator's to say. One that is named is kept, and is the bucket's own. */
function checkRole(role: string, tenant: string): void {
  const account = /^arn:(?:aws|seneschal|minio):iam::([^:]*):role\/[\w+=,.@/-]{1,512}$/.exec(role)?.[1];
  if (account !== "" && account !== tenant)
    throw s3Error("InvalidArgument", `a Role is arn:aws:iam::${tenant}:role/NAME`, {
      elements: { ArgumentName: "Role", ArgumentValue: role },
    });
}

function readRule(rule: XmlElement, freshId: string): ReplicationRule {
  const child = (name: string) => rule.children.find((c) => c.name === name);
  const id = childText(rule, "ID") || freshId;
  if (id.length > 255) throw s3Error("InvalidArgument", "ID length should not exceed allowed limit of 255");
  const [filter, prefix] = [child("Filter"), childText(rule, "Prefix")];
  if (filter !== undefined && prefix !== undefined) throw s3Error("MalformedXML", "a Rule has a Filter or a Prefix");
  if (filter !== undefined && filter.children.length > 1)
    throw s3Error("MalformedXML", "a Filter has Prefix, Tag or And, and And what it has of both");
  const read = filter === undefined ? { ...(prefix && { prefix }) } : readFilter(filter);
  const priority = readPriority(childText(rule, "Priority")?.trim());
  const markers = status(child("DeleteMarkerReplication"), "DeleteMarkerReplication");
  if (filter === undefined) {
    if (priority !== undefined || markers !== undefined)
      throw s3Error("InvalidRequest", "Priority and DeleteMarkerReplication can be specified only with a Filter.");
  } else {
    if (priority === undefined) throw s3Error("InvalidRequest", "Priority must be specified for this version of the schema.");
    if (markers === undefined)
      throw s3Error("InvalidRequest", "DeleteMarkerReplication must be specified for this version of the schema.");
    if (markers && read.tags !== undefined)
      throw s3Error("InvalidRequest", "Delete marker replication is not supported if any Tag filter is specified.");
  }
  const existing = status(child("ExistingObjectReplication"), "ExistingObjectReplication");
  return {
    id,
    enabled: status(rule, "Rule") ?? missing("Status of a Rule"),
    form: filter === undefined ? "prefix" : "filter",
    filter: read,
    ...(priority !== undefined && { priority }),
    destination: readDestination(child("Destination")),
    // Of the older form all are.
    deleteMarkers: markers ?? filter === undefined,
    ...(existing !== undefined && { existing }),
  };
}

function missing(name: string): never {
  throw s3Error("MalformedXML", `the ${name} is missing`);
}

function readPriority(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  if (!/^\d{1,9}$/.test(text)) throw s3Error("MalformedXML", "a Priority is a number that is not negative");
  return Number(text);
}

/** What an element's Status says; `undefined` without the element. */
function status(element: XmlElement | undefined, name: string): boolean | undefined {
  if (element === undefined) return undefined;
  const text = childText(element, "Status")?.trim();
  if (text !== "Enabled" && text !== "Disabled") throw s3Error("MalformedXML", `the Status of ${name} is Enabled or Disabled`);
  return text === "Enabled";
}

function readDestination(element: XmlElement | undefined): ReplicationRule["destination"] {
  const arn = element && childText(element, "Bucket")?.trim();
  if (element === undefined || arn === undefined) throw s3Error("MalformedXML", "a Rule has a Destination with a Bucket");
  const storageClass = childText(element, "StorageClass")?.trim();
  if (storageClass !== undefined && storageClass !== "STANDARD")
    throw s3Error("InvalidStorageClass", "copies are asked for as STANDARD alone");
  const destination = destinationOfArn(arn);
  if (destination !== undefined) return destination;
  throw s3Error("InvalidArgument", "Invalid bucket ARN: a destination is arn:seneschal:replication::NAME:BUCKET", {
    elements: { ArgumentName: "Bucket", ArgumentValue: arn },
  });
}

/** Throws `InvalidArgument`, `InvalidRequest` for rules that each may be, and not together. */
function checkTogether(rules: readonly ReplicationRule[]): void {
  const several = (values: readonly unknown[]) => new Set(values).size < values.length;
  if (several(rules.map(({ id }) => id)))
    throw s3Error("InvalidArgument", "Rule ID must be unique. Found same ID for more than one rule");
  if (new Set(rules.map(({ form }) => form)).size > 1)
    throw s3Error("InvalidRequest", "Rules with a Filter and rules with a Prefix cannot be in one configuration.");
  if (rules[0]?.form === "filter") {
    if (several(rules.map(({ priority }) => priority)))
      throw s3Error("InvalidRequest", "Found duplicate priority. Priority must be unique between rules.");
    return;
  }
  const prefixes = rules.map(({ filter }) => filter.prefix ?? "");
  if (prefixes.some((one, i) => prefixes.some((other, j) => i !== j && other.startsWith(one))))
    throw s3Error("InvalidRequest", "Found overlapping prefixes: without a Filter each key is of one rule at the most.");
  if (new Set(rules.map(({ destination }) => destinationKey(destination))).size > 1)
    throw s3Error("InvalidRequest", "Rules without a Filter have one destination.");
}

export async function getReplication(call: S3Call): Promise<S3Reply> {
  const { replication } = await call.objects.openBucket(call.tenant, call.bucket);
  if (replication === undefined)
    throw s3Error("ReplicationConfigurationNotFoundError", "nothing of the bucket is copied elsewhere");
  const { role, rules }: Replication = replication;
  return xmlReply(xmlDocument("ReplicationConfiguration", { Role: role, Rule: rules.map(shownRule) }));
}

function shownRule({ id, enabled, form, filter, priority, destination, deleteMarkers, existing }: ReplicationRule): XmlObject {
  return {
    ID: id,
    Priority: priority,
    ...(form === "prefix" ? { Prefix: filter.prefix ?? "" } : { Filter: shownFilter(filter) }),
    Status: shownStatus(enabled),
    ExistingObjectReplication: existing === undefined ? undefined : { Status: shownStatus(existing) },
    Destination: { Bucket: destinationArn(destination) },
    DeleteMarkerReplication: form === "prefix" ? undefined : { Status: shownStatus(deleteMarkers) },
  };
}

const shownStatus = (on: boolean): string => (on ? "Enabled" : "Disabled");

/** What waits to be copied is not any more. */
export async function removeReplication(call: S3Call): Promise<S3Reply> {
  await call.objects.changeBucket(call.tenant, call.bucket, "replication", ({ replication: _, ...bucket }) => bucket as Bucket);
  return { status: 204 };
}

/** How far the copies of a version are, for its replies. */
export function replicationReply(version: ObjectVersion): Readonly<Record<string, string>> {
  const status = replicationStatus(version);
  return status === undefined ? {} : { "x-amz-replication-status": status };
}
