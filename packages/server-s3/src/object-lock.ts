import {
  type Bucket,
  type DefaultRetention,
  needLock,
  type ObjectVersion,
  type RetentionChange,
  type RetentionMode,
  retentionModes,
  type VersionAttributes,
  type VersionTarget,
} from "@seneschal/core/storage";
import { type S3Call, type S3Reply, xmlReply } from "./call.ts";
import { s3Error } from "./errors.ts";
import { replicaHeader } from "./replication.ts";
import { childText, type XmlElement, xmlDocument } from "./xml.ts";
import { readDocument } from "./xml-documents.ts";

/** The headers by which a new version is locked. */
export const lockHeaders = ["mode", "retain-until-date", "legal-hold"].map((name) => `x-amz-object-lock-${name}`);
const maxDays = 36_500;

/** True when the caller wants to end a `GOVERNANCE` retention before its time. */
export function bypasses({ headers }: Pick<S3Call, "headers">): boolean {
  return headers["x-amz-bypass-governance-retention"]?.toLowerCase() === "true";
}

function modeOf(text: string | undefined): RetentionMode {
  const mode = retentionModes.find((m) => m === text);
  if (mode === undefined) throw s3Error("MalformedXML", "the mode of a retention is GOVERNANCE or COMPLIANCE");
  return mode;
}

/** The lock that the headers of a new version ask for. Throws `InvalidArgument`. */
export function askedLock({ headers, now }: S3Call): Pick<VersionAttributes, "retention" | "legal_hold"> {
  const [mode, until, hold] = lockHeaders.map((name) => headers[name]);
  const argument = (name: string, value = "") => ({
    elements: { ArgumentName: `x-amz-object-lock-${name}`, ArgumentValue: value },
  });
  if ((mode === undefined) !== (until === undefined))
    throw s3Error(
      "InvalidArgument",
      "x-amz-object-lock-retain-until-date and x-amz-object-lock-mode must both be supplied.",
      argument(mode === undefined ? "mode" : "retain-until-date"),
    );
  if (mode !== undefined && !retentionModes.some((m) => m === mode))
    throw s3Error("InvalidArgument", "Unknown wormMode directive.", argument("mode", mode));
  if (hold !== undefined && hold !== "ON" && hold !== "OFF")
    throw s3Error("InvalidArgument", "Legal Hold must be either of 'ON' or 'OFF'", argument("legal-hold", hold));
  return {
    ...(mode !== undefined && { retention: { mode: mode as RetentionMode, until: untilOf(until, now) } }),
    ...(hold === "ON" && { legal_hold: true }),
  };
}

function untilOf(text: string | undefined, now: number): number {
  const until = Date.parse(text ?? "");
  const argument = { elements: { ArgumentName: "x-amz-object-lock-retain-until-date", ArgumentValue: text ?? "" } };
  if (Number.isNaN(until))
    throw s3Error("InvalidArgument", "The retain until date must be provided in ISO 8601 format", argument);
  if (until <= now) throw s3Error("InvalidArgument", "The retain until date must be in the future!", argument);
  return until;
}

/** What replies say of a version's lock. */
export function lockReply({ retention, legal_hold }: ObjectVersion): Readonly<Record<string, string>> {
  return {
    ...(retention && {
      "x-amz-object-lock-mode": retention.mode,
      "x-amz-object-lock-retain-until-date": new Date(retention.until).toISOString(),
    }),
    ...(legal_hold !== undefined && { "x-amz-object-lock-legal-hold": legal_hold ? "ON" : "OFF" }),
  };
}

export async function getLockConfiguration(call: S3Call): Promise<S3Reply> {
  const bucket = await call.objects.openBucket(call.tenant, call.bucket);
  if (bucket.object_lock === undefined) throw s3Error("ObjectLockConfigurationNotFoundError", "the bucket has no object lock");
  const kept = bucket.object_lock.default;
  const rule = kept && {
    DefaultRetention: { Mode: kept.mode, [kept.unit === "days" ? "Days" : "Years"]: kept.count },
  };
  return xmlReply(xmlDocument("ObjectLockConfiguration", { ObjectLockEnabled: "Enabled", Rule: rule }));
}

/** Gives a bucket with versions object lock, which it then has for good, and what new versions are kept for. */
export async function putLockConfiguration(call: S3Call): Promise<S3Reply> {
  const root = await readDocument(call, "ObjectLockConfiguration");
  if (childText(root, "ObjectLockEnabled") !== "Enabled")
    throw s3Error("MalformedXML", "expected ObjectLockConfiguration with ObjectLockEnabled");
  const rule = root.children.find(({ name }) => name === "Rule");
  const kept = rule && defaultOf(rule);
  await call.objects.changeBucket(call.tenant, call.bucket, "object-lock", (bucket) => {
    if (bucket.versioning !== "Enabled")
      throw s3Error("InvalidBucketState", "Versioning must be 'Enabled' on the bucket to apply a Object Lock configuration");
    return { ...bucket, object_lock: kept === undefined ? {} : { default: { ...kept } } } as Bucket;
  });
  return { status: 200 };
}

function defaultOf(rule: XmlElement): DefaultRetention {
  const [kept] = rule.children;
  if (kept === undefined) throw s3Error("MalformedXML", "a Rule has a DefaultRetention");
  const mode = modeOf(childText(kept, "Mode"));
  const [days, years] = [childText(kept, "Days"), childText(kept, "Years")];
  if ((days === undefined) === (years === undefined)) throw s3Error("MalformedXML", "a retention has Days or Years");
  const count = Number(days ?? years);
  if (!Number.isInteger(count)) throw s3Error("MalformedXML", "Days and Years are whole numbers");
  if (count < 1 || count * (years === undefined ? 1 : 365) > maxDays)
    throw s3Error("InvalidRetentionPeriod", "Default retention period must be a positive integer value.");
  return { mode, unit: years === undefined ? "days" : "years", count };
}

/** The version that is named; an empty name, as SDKs send it where they have none, is none. */
const versionOf = ({ query }: S3Call): string | undefined => query.get("versionId") || undefined;

const target = (call: S3Call): VersionTarget => ({
  tenant: call.tenant,
  bucket: call.bucket,
  key: call.key,
  version: versionOf(call),
});

/** The version whose lock is asked for, in a bucket that has locks. */
async function lockable(call: S3Call): Promise<ObjectVersion> {
  const bucket = await call.objects.openBucket(call.tenant, call.bucket);
  needLock(bucket);
  return call.objects.headObject(call.tenant, call.bucket, call.key, versionOf(call));
}

export async function getRetention(call: S3Call): Promise<S3Reply> {
  const { retention } = await lockable(call);
  if (retention === undefined) throw s3Error("NoSuchObjectLockConfiguration", "the version has no retention");
  const until = new Date(retention.until).toISOString();
  return xmlReply(xmlDocument("Retention", { Mode: retention.mode, RetainUntilDate: until }));
}

/** By what a retention is changed: who copies says which version it is of, and so which one it changes. */
function changeOf(call: S3Call): RetentionChange {
  const replica = call.headers[replicaHeader];
  if (replica === undefined) return bypasses(call) ? "bypass" : "holder";
  if (replica !== versionOf(call)) throw s3Error("InvalidRequest", `${replicaHeader} names another version than versionId`);
  return "replica";
}

/** Sets how long a version is kept; an empty Retention ends one, where that may be. */
export async function putRetention(call: S3Call): Promise<S3Reply> {
  const root = await readDocument(call, "Retention");
  const bucket = await call.objects.openBucket(call.tenant, call.bucket);
  needLock(bucket);
  const [mode, until] = [childText(root, "Mode"), childText(root, "RetainUntilDate")];
  const by = changeOf(call);
  if (mode === undefined && until === undefined) await call.objects.retain(target(call), undefined, by);
  else {
    if (until === undefined) throw s3Error("MalformedXML", "a Retention has Mode and RetainUntilDate");
    await call.objects.retain(target(call), { mode: modeOf(mode), until: untilOf(until, call.now) }, by);
  }
  return { status: 200 };
}

export async function getLegalHold(call: S3Call): Promise<S3Reply> {
  const { legal_hold } = await lockable(call);
  if (legal_hold === undefined) throw s3Error("NoSuchObjectLockConfiguration", "the version never had a legal hold");
  return xmlReply(xmlDocument("LegalHold", { Status: legal_hold ? "ON" : "OFF" }));
}

export async function putLegalHold(call: S3Call): Promise<S3Reply> {
  const root = await readDocument(call, "LegalHold");
  const bucket = await call.objects.openBucket(call.tenant, call.bucket);
  needLock(bucket);
  const status = childText(root, "Status");
  if (status !== "ON" && status !== "OFF") throw s3Error("MalformedXML", "expected LegalHold with Status ON or OFF");
  await call.objects.holdLegally(target(call), status === "ON");
  return { status: 200 };
}
