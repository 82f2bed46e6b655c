import type { JsonObject } from "@seneschal/core";
import type { BucketDoc } from "../documents.ts";
import { changeBucket, openBucket } from "../objects/buckets.ts";
import { readText, type S3Call, type S3Reply, xmlReply } from "./call.ts";
import { s3Error } from "./errors.ts";
import { childText, onlyChildren, parseXml, xmlDocument } from "./xml.ts";

const maxBytes = 20 * 1024;

/** What a statement is about: those that a pattern fits, or with `except` all others. */
interface Selector extends JsonObject {
  readonly except: boolean;
  readonly patterns: readonly string[];
}

/** A statement as `policies/s3/bucket-policy.rego` reads it. */
export interface Statement extends JsonObject {
  readonly effect: "Allow" | "Deny";
  readonly principal: { readonly except: boolean; readonly accounts: readonly string[] };
  readonly action: Selector;
  readonly resource: Selector;
  readonly conditions: readonly JsonObject[];
}

/** Condition keys that requests have; the last two are families. */
const contextKeys = [
  ...["aws:sourceip", "aws:securetransport", "aws:referer", "aws:useragent", "aws:principalaccount"],
  ...["s3:prefix", "s3:delimiter", "s3:max-keys", "s3:versionid"],
  ...["acl", "copy-source", "metadata-directive", "storage-class", "content-sha256", "server-side-encryption"].map(
    (n) => `s3:x-amz-${n}`,
  ),
  ...["s3:x-amz-server-side-encryption-aws-kms-key-id", "s3:x-amz-server-side-encryption-customer-algorithm"],
  ...["grant-full-control", "grant-read", "grant-write", "grant-read-acp", "grant-write-acp"].map((n) => `s3:x-amz-${n}`),
  ...["s3:object-lock-mode", "s3:object-lock-legal-hold"],
];
const tagFamilies = /^s3:(?:existingobjecttag|requestobjecttag)\/(.+)$/i;

/**
 * Reads a policy document. What is not understood is refused, so that no statement is ever weaker or stronger than it says. Throws
 * `MalformedPolicy`, `NotImplemented` for operators and keys that are not known.
 */
export function readPolicy(text: string): readonly Statement[] {
  let document: unknown;
  try {
    document = JSON.parse(text);
  } catch {
    throw malformed("This policy contains invalid Json");
  }
  const { Version, Id: _, Statement: statements, ...more } = asObject(document, "a policy is an object");
  only(more);
  if (Version !== undefined && Version !== "2012-10-17" && Version !== "2008-10-17")
    throw malformed("The policy must contain a valid version string");
  const list = Array.isArray(statements) ? statements : [statements];
  if (statements === undefined || list.length === 0) throw malformed("Could not parse the policy: Statement is empty!");
  return list.map((statement) => readStatement(asObject(statement, "a statement is an object")));
}

function readStatement({
  Sid: _,
  Effect,
  Principal,
  NotPrincipal,
  Action,
  NotAction,
  Resource,
  NotResource,
  Condition,
  ...more
}: Record<string, unknown>): Statement {
  only(more);
  if (Effect !== "Allow" && Effect !== "Deny") throw malformed("Invalid effect");
  const one = (name: string, yes: unknown, no: unknown): readonly [boolean, unknown] => {
    if ((yes === undefined) === (no === undefined)) throw malformed(`Statement has ${name} or Not${name}`);
    return [no !== undefined, yes ?? no];
  };
  const [noPrincipal, principal] = one("Principal", Principal, NotPrincipal);
  if (noPrincipal && Effect === "Allow") throw malformed("Allow with NotPrincipal is not allowed.");
  const [noAction, action] = one("Action", Action, NotAction);
  const [noResource, resource] = one("Resource", Resource, NotResource);
  const actions = texts(action, "Action");
  if (!actions.every((name) => name === "*" || /^s3:[A-Za-z*?]+$/i.test(name))) throw malformed("Policy has invalid action");
  const resources = texts(resource, "Resource");
  if (!resources.every((name) => name === "*" || name.startsWith("arn:aws:s3:::")))
    throw malformed("Policy has invalid resource");
  return {
    effect: Effect,
    principal: { except: noPrincipal, accounts: accounts(principal) },
    action: { except: noAction, patterns: actions.map((name) => `(?i)${patternOf(name)}`) },
    resource: { except: noResource, patterns: resources.map(patternOf) },
    conditions:
      Condition === undefined ? [] : Object.entries(asObject(Condition, "Condition is an object")).flatMap(readConditions),
  };
}

/** `*` and `?` are any text and any character; everything else is itself. */
function patternOf(text: string): string {
  const escaped = text.replace(/[.+^${}()|[\]\\]/g, "\\$&");
  return `^(?s:${escaped.replaceAll("*", ".*").replaceAll("?", ".")})$`;
}

/** Accounts are tenants; the forms by which clients name one. */
function accounts(principal: unknown): readonly string[] {
  if (principal === "*") return ["*"];
  const { AWS, CanonicalUser, ...more } = asObject(principal, "Invalid principal in policy");
  if (Object.keys(more).length > 0) throw notImplemented(`the principal ${Object.keys(more)[0]}`);
  const named = [
    ...(AWS === undefined ? [] : texts(AWS, "Principal")),
    ...(CanonicalUser === undefined ? [] : texts(CanonicalUser, "Principal")),
  ];
  return named.map((name) => {
    if (name === "*") return name;
    const [, account] =
      /^(?:arn:aws:iam::([^:/]+):root|arn:aws:iam:::user\/([^:/]+)|([^:/]+))$/.exec(name)?.filter((g) => g !== undefined) ?? [];
    if (account === undefined) throw malformed("Invalid principal in policy");
    return account;
  });
}

function readConditions([operator, keys]: readonly [string, unknown]): readonly JsonObject[] {
  const [, name = "", ifExists] = /^(.*?)(IfExists)?$/.exec(operator) ?? [];
  return Object.entries(asObject(keys, "a condition is an object")).map(([key, value]) => {
    const lower = contextKey(key);
    if (lower === undefined) throw notImplemented(`the condition key ${key}`);
    const values = (Array.isArray(value) ? value : [value]).map(String);
    const negated = name.includes("Not");
    const common = { key: lower, negated, unless_absent: negated || ifExists !== undefined };
    const pattern = (patterns: readonly string[]) => ({ ...common, test: "pattern", patterns });
    switch (name.replace("Not", "")) {
      case "StringEquals":
      case "ArnEquals":
        return pattern(values.map(exactly));
      case "StringEqualsIgnoreCase":
        return pattern(values.map((v) => `(?i)${exactly(v)}`));
      case "StringLike":
      case "ArnLike":
        return pattern(values.map(patternOf));
      case "Bool":
        return pattern(values.map((v) => `(?i)${exactly(v)}`));
      case "IpAddress":
        return { ...common, test: "address", ranges: values.map(rangeOf) };
      case "Null":
        if (values.length !== 1 || !/^(?:true|false)$/i.test(values[0] ?? "")) throw malformed("Null is true or false");
        return { key: lower, test: "null", absent: values[0]?.toLowerCase() === "true" };
      default:
        throw notImplemented(`the condition operator ${operator}`);
    }
  });
}

function exactly(text: string): string {
  return `^(?s:${text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&")})$`;
}

function rangeOf(text: string): string {
  if (!/^[0-9a-f.:]+(?:\/\d{1,3})?$/i.test(text)) throw malformed("an address is an IP address or a range");
  return text.includes("/") ? text : `${text}/${text.includes(":") ? 128 : 32}`;
}

/** A condition key as requests have it: names of tags keep their case. */
function contextKey(key: string): string | undefined {
  const [, tag] = tagFamilies.exec(key) ?? [];
  if (tag !== undefined) return `${key.slice(0, key.length - tag.length).toLowerCase()}${tag}`;
  const lower = key.toLowerCase();
  return contextKeys.includes(lower) ? lower : undefined;
}

/** True for a policy that lets in who is not named: nobody in particular, from anywhere. */
export function isPublic(statements: readonly Statement[]): boolean {
  return statements.some(
    ({ effect, principal, conditions }) =>
      effect === "Allow" &&
      (principal.except || principal.accounts.includes("*")) &&
      !conditions.some(
        (c) =>
          c["negated"] !== true &&
          c["unless_absent"] !== true &&
          ["aws:sourceip", "aws:principalaccount"].includes(String(c["key"])),
      ),
  );
}

function asObject(value: unknown, text: string): Record<string, unknown> {
  if (typeof value !== "object" || value === null || Array.isArray(value)) throw malformed(text);
  return value as Record<string, unknown>;
}

function texts(value: unknown, name: string): readonly string[] {
  const list = Array.isArray(value) ? value : [value];
  if (list.length === 0 || !list.every((item) => typeof item === "string")) throw malformed(`Invalid ${name}`);
  return list as string[];
}

function only(more: Record<string, unknown>): void {
  const [unknown] = Object.keys(more);
  if (unknown !== undefined) throw malformed(`Unknown field ${unknown}`);
}

function malformed(text: string) {
  return s3Error("MalformedPolicy", text);
}

function notImplemented(what: string) {
  return s3Error("NotImplemented", `${what} of a bucket policy is not implemented here`);
}

export async function getPolicy(call: S3Call): Promise<S3Reply> {
  const { bucket } = await openBucket(call.services, call.tenant, call.bucket);
  if (bucket.policy === undefined) throw s3Error("NoSuchBucketPolicy", "the bucket has no policy");
  return { status: 200, headers: { "content-type": "application/json" }, body: bucket.policy };
}

/** Sets the policy of a bucket, unless it is public and the bucket may have no such one. */
export async function putPolicy(call: S3Call): Promise<S3Reply> {
  const policy = await readText(call, call.body(), maxBytes);
  const statements = readPolicy(policy);
  await changeBucket(call.services, call.tenant, call.bucket, "policy", (bucket) => {
    if (bucket.public_access_block?.["BlockPublicPolicy"] === true && isPublic(statements))
      throw s3Error("AccessDenied", "public policies are blocked by the BlockPublicPolicy block public access setting.");
    return { ...bucket, policy };
  });
  return { status: 204 };
}

export async function removePolicy(call: S3Call): Promise<S3Reply> {
  await changeBucket(call.services, call.tenant, call.bucket, "policy", ({ policy: _, ...bucket }) => bucket as BucketDoc);
  return { status: 204 };
}

export async function policyStatus(call: S3Call): Promise<S3Reply> {
  const { bucket } = await openBucket(call.services, call.tenant, call.bucket);
  return xmlReply(xmlDocument("PolicyStatus", { IsPublic: bucket.policy !== undefined && isPublic(readPolicy(bucket.policy)) }));
}

const blocks = ["BlockPublicAcls", "IgnorePublicAcls", "BlockPublicPolicy", "RestrictPublicBuckets"] as const;

export async function getPublicAccessBlock(call: S3Call): Promise<S3Reply> {
  const { bucket } = await openBucket(call.services, call.tenant, call.bucket);
  const block = bucket.public_access_block;
  if (block === undefined) throw s3Error("NoSuchPublicAccessBlockConfiguration", "the bucket has no public access block");
  return xmlReply(
    xmlDocument("PublicAccessBlockConfiguration", Object.fromEntries(blocks.map((name) => [name, block[name] === true]))),
  );
}

export async function putPublicAccessBlock(call: S3Call): Promise<S3Reply> {
  const root = parseXml(await readText(call, call.body(), 64 * 1024));
  onlyChildren(root, blocks);
  if (root.name !== "PublicAccessBlockConfiguration") throw s3Error("MalformedXML", "expected PublicAccessBlockConfiguration");
  const set = Object.fromEntries(
    blocks.map((name) => {
      const text = (childText(root, name) ?? "false").toLowerCase();
      if (text !== "true" && text !== "false") throw s3Error("MalformedXML", `${name} is true or false`);
      return [name, text === "true"];
    }),
  );
  await changeBucket(call.services, call.tenant, call.bucket, "publicAccessBlock", (bucket) => ({
    ...bucket,
    public_access_block: set,
  }));
  return { status: 200 };
}

export async function removePublicAccessBlock(call: S3Call): Promise<S3Reply> {
  const change = ({ public_access_block: _, ...bucket }: BucketDoc) => bucket as BucketDoc;
  await changeBucket(call.services, call.tenant, call.bucket, "publicAccessBlock", change);
  return { status: 204 };
}
