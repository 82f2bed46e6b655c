import { BlockList, isIP } from "node:net";
import { decodeJson } from "@seneschal/contract";
import { type Bucket, loggingService } from "@seneschal/core/storage";
import { type JsonObject, wildcardEnds } from "@seneschal/kernel";
import { isKnownAction } from "./actions.ts";
import { readText, type S3Call, type S3Reply, xmlReply } from "./call.ts";
import { s3Error } from "./errors.ts";
import { childFlag, xmlDocument } from "./xml.ts";
import { readDocument } from "./xml-documents.ts";

const maxBytes = 20 * 1024;

/** What a statement is about: those that a pattern fits, or with `except` all others. */
interface Selector extends JsonObject {
  readonly except: boolean;
  readonly patterns: readonly string[];
}

/** A statement as `policies/s3/bucket-policy.rego` reads it. */
export interface Statement extends JsonObject {
  readonly effect: "Allow" | "Deny";
  readonly principal: { readonly except: boolean; readonly accounts: readonly string[]; readonly services: readonly string[] };
  readonly action: Selector;
  readonly resource: Selector;
  readonly conditions: readonly JsonObject[];
}

/** What a value of a condition is. */
type Kind = "text" | "address" | "boolean" | "arn";

/** Condition keys that requests have, and what their values are. */
const contextKeys: Readonly<Record<string, Kind>> = Object.fromEntries([
  ["aws:sourceip", "address"],
  ["aws:securetransport", "boolean"],
  ["aws:principalisawsservice", "boolean"],
  ["aws:sourcearn", "arn"],
  ["s3:x-amz-server-side-encryption-aws-kms-key-id", "arn"],
  ...[
    ...["aws:referer", "aws:useragent", "aws:principalaccount", "aws:sourceaccount"],
    ...["s3:prefix", "s3:delimiter", "s3:max-keys", "s3:versionid"],
    ...["acl", "copy-source", "metadata-directive", "storage-class", "content-sha256", "server-side-encryption"].map(
      (n) => `s3:x-amz-${n}`,
    ),
    "s3:x-amz-server-side-encryption-customer-algorithm",
    ...["grant-full-control", "grant-read", "grant-write", "grant-read-acp", "grant-write-acp"].map((n) => `s3:x-amz-${n}`),
    ...["s3:object-lock-mode", "s3:object-lock-legal-hold"],
  ].map((key) => [key, "text"] as const),
]);
const tagFamilies = /^s3:(?:existingobjecttag|requestobjecttag)\/(.+)$/i;

/** Condition operators, and the kinds of keys that each is for; `Null` is for every one. */
const operators: Readonly<Record<string, readonly Kind[]>> = {
  StringEquals: ["text", "arn"],
  StringNotEquals: ["text", "arn"],
  StringEqualsIgnoreCase: ["text", "arn"],
  StringNotEqualsIgnoreCase: ["text", "arn"],
  StringLike: ["text", "arn"],
  StringNotLike: ["text", "arn"],
  ArnEquals: ["arn"],
  ArnNotEquals: ["arn"],
  ArnLike: ["arn"],
  ArnNotLike: ["arn"],
  Bool: ["boolean"],
  IpAddress: ["address"],
  NotIpAddress: ["address"],
};

/**
 * Reads a policy document. What is not understood is refused, so that no statement is ever weaker or stronger than it says. Throws
 * `MalformedPolicy`, `NotImplemented` for operators and keys that are not known.
 */
export function readPolicy(text: string, bucket: string): readonly Statement[] {
  let document: unknown;
  try {
    document = decodeJson(Buffer.from(text), { path: "policy" });
  } catch {
    throw malformed("This policy contains invalid Json");
  }
  const { Version, Id, Statement: statements, ...more } = asObject(document, "a policy is an object");
  only(more);
  if (Id !== undefined && typeof Id !== "string") throw malformed("Invalid Id");
  if (Version !== undefined && Version !== "2012-10-17" && Version !== "2008-10-17")
    throw malformed("The policy must contain a valid version string");
  const list = Array.isArray(statements) ? statements : [statements];
  if (statements === undefined || list.length === 0) throw malformed("Could not parse the policy: Statement is empty!");
  const variables = Version === "2012-10-17";
  return list.map((statement) => readStatement(asObject(statement, "a statement is an object"), { bucket, variables }));
}

/** What a statement is read for: its bucket, and whether `${` begins a variable in it. */
interface Reading {
  readonly bucket: string;
  readonly variables: boolean;
}

function readStatement(
  { Sid, Effect, Principal, NotPrincipal, Action, NotAction, Resource, NotResource, Condition, ...more }: Record<string, unknown>,
  { bucket, variables }: Reading,
): Statement {
  only(more);
  if (Sid !== undefined && typeof Sid !== "string") throw malformed("Invalid Sid");
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
  if (!actions.every(isKnownAction)) throw malformed("Policy has invalid action");
  const resources = texts(resource, "Resource");
  if (!resources.every((name) => isResourceOf(bucket, name))) throw malformed("Policy has invalid resource");
  if (variables) refuseVariables(resources);
  return {
    effect: Effect,
    principal: { except: noPrincipal, ...principals(principal) },
    action: { except: noAction, patterns: actions.map((name) => `(?i)${patternOf(name)}`) },
    resource: { except: noResource, patterns: resources.map(patternOf) },
    conditions:
      Condition === undefined
        ? []
        : Object.entries(asObject(Condition, "Condition is an object")).flatMap((block) => readConditions(block, variables)),
  };
}

/** What `${` begins is a variable, whose value is not known here. */
function refuseVariables(texts: readonly string[]): void {
  const found = texts.find((text) => text.includes("${"));
  if (found !== undefined) throw notImplemented(`the variable in ${found}`);
}

/** True for a pattern that a resource of the bucket fits: the bucket itself, or a key in it. */
function isResourceOf(bucket: string, name: string): boolean {
  if (name === "*") return true;
  const prefix = "arn:aws:s3:::";
  if (!name.startsWith(prefix)) return false;
  const pattern = name.slice(prefix.length);
  // Having read the name of the bucket, the pattern may be at its end, or go on with what a slash can be.
  return [...wildcardEnds(pattern, bucket)].some((at) => at === pattern.length || "/*?".includes(pattern[at] ?? ""));
}

/** `*` and `?` are any text and any character; everything else is itself. */
function patternOf(text: string): string {
  const escaped = text.replace(/[.+^${}()|[\]\\]/g, "\\$&");
  return `^(?s:${escaped.replace(/\*+/g, ".*").replaceAll("?", ".")})$`;
}

/** Accounts are tenants; the forms by which clients name one. Of services there is one. */
function principals(principal: unknown): Pick<Statement["principal"], "accounts" | "services"> {
  if (principal === "*") return { accounts: ["*"], services: [] };
  const { AWS, CanonicalUser, Service, ...more } = asObject(principal, "Invalid principal in policy");
  if (Object.keys(more).length > 0) throw notImplemented(`the principal ${Object.keys(more)[0]}`);
  if (AWS === undefined && CanonicalUser === undefined && Service === undefined) throw malformed("Invalid principal in policy");
  const services = Service === undefined ? [] : texts(Service, "Principal");
  const unknown = services.find((name) => name !== loggingService);
  if (unknown !== undefined) throw notImplemented(`the service ${unknown} as a principal`);
  const named = [
    ...(AWS === undefined ? [] : texts(AWS, "Principal")),
    ...(CanonicalUser === undefined ? [] : texts(CanonicalUser, "Principal")),
  ];
  const accounts = named.map((name) => {
    if (name === "*") return name;
    const [, account] =
      /^(?:arn:aws:iam::([^:/]+):root|arn:aws:iam:::user\/([^:/]+)|([^:/]+))$/.exec(name)?.filter((g) => g !== undefined) ?? [];
    if (account === undefined || !isTenantName(account)) throw malformed("Invalid principal in policy");
    return account;
  });
  return { accounts, services };
}

function isTenantName(text: string): boolean {
  return /^[A-Za-z0-9][A-Za-z0-9_.@-]{0,127}$/.test(text);
}

function readConditions([operator, keys]: readonly [string, unknown], variables: boolean): readonly JsonObject[] {
  const [, name = "", ifExists] = /^(.*?)(IfExists)?$/s.exec(operator) ?? [];
  const kinds = Object.hasOwn(operators, name) ? operators[name] : undefined;
  if (operator !== "Null" && kinds === undefined) throw notImplemented(`the condition operator ${operator}`);
  return Object.entries(asObject(keys, "a condition is an object")).map(([key, value]) => {
    const lower = contextKey(key);
    if (lower === undefined) throw notImplemented(`the condition key ${key}`);
    const kind = contextKeys[lower] ?? "text";
    if (kinds === undefined) {
      const [absent, ...more] = conditionValues(value, "boolean");
      if (more.length > 0) throw malformed("Null is true or false");
      return { key: lower, test: "null", absent: absent === "true" };
    }
    if (!kinds.includes(kind)) throw malformed(`${operator} is not for ${key}`);
    const values = conditionValues(value, name.startsWith("Arn") ? "arn" : kind === "arn" ? "text" : kind);
    if (variables) refuseVariables(values);
    const negated = name.includes("Not");
    const loose = negated || ifExists !== undefined;
    const closes = !loose && closing[lower]?.(values) === true;
    const tenants = lower === "aws:principalaccount" ? values.filter(isTenantName).map((value) => value.toLowerCase()) : [];
    const common = { key: lower, negated, unless_absent: loose, closes, tenants };
    if (kind === "address") return { ...common, test: "address", ranges: values };
    return { ...common, test: "pattern", patterns: values.map(patternFor(name.replace("Not", ""))) };
  });
}

/**
 * Keys whose values no caller chooses, and which of their values let in those alone whom they name (Amazon S3 User Guide, The meaning of
 * "public"). What a caller says of itself in headers closes nothing.
 */
const closing: Readonly<Record<string, (values: readonly string[]) => boolean>> = {
  "aws:sourceip": (ranges) => !areWide(ranges),
  "aws:principalaccount": (values) => values.every(isTenantName),
  "aws:sourceaccount": (values) => values.every(isFixed),
  "aws:sourcearn": (values) => values.every(isFixed),
};

const isFixed = (value: string): boolean => !/^$|[*?]|\$\{/.test(value);

/** Those of private networks (RFC 1918). */
const privateRanges = (["10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16"] as const).map((range) => {
  const [address = "", prefix] = range.split("/");
  const list = new BlockList();
  list.addSubnet(address, Number(prefix));
  return { list, prefix: Number(prefix) };
});

/** True for ranges that are together wider than a /8 of IPv4 addresses, without those of private networks, or than a /32 of IPv6 addresses. */
function areWide(ranges: readonly string[]): boolean {
  let [four, six] = [0, 0];
  for (const range of ranges) {
    const [address = "", bits] = range.split("/");
    if (isIP(address) === 6) six += 2 ** (32 - Number(bits));
    else if (!privateRanges.some(({ list, prefix }) => Number(bits) >= prefix && list.check(address)))
      four += 2 ** (8 - Number(bits));
  }
  return four > 1 || six > 1;
}

function patternFor(operator: string): (value: string) => string {
  if (operator === "StringEquals") return exactly;
  if (operator === "StringEqualsIgnoreCase" || operator === "Bool") return (value) => `(?i)${exactly(value)}`;
  return patternOf;
}

/** The values of a condition in the closed form of their kind: what could never match is refused. */
function conditionValues(value: unknown, kind: Kind): readonly string[] {
  const list: readonly unknown[] = Array.isArray(value) ? value : [value];
  if (list.length === 0) throw malformed("a condition has values");
  return list.map((item) => {
    const text = kind === "boolean" && typeof item === "boolean" ? String(item) : item;
    if (typeof text !== "string") throw malformed("a value of a condition is a text");
    if (kind === "address") return rangeOf(text);
    if (kind === "arn" && !/^arn:[^:]+:[^:]+:[^:]*:[^:]*:./s.test(text) && text !== "*") throw malformed(`${text} is no ARN`);
    if (kind !== "boolean") return text;
    if (!/^(?:true|false)$/i.test(text)) throw malformed(`${text} is neither true nor false`);
    return text.toLowerCase();
  });
}

function exactly(text: string): string {
  return `^(?s:${text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&")})$`;
}

/** A range of addresses; an address is the range of itself. One that IPv6 maps of IPv4 has no request: it comes as IPv4. */
function rangeOf(text: string): string {
  const [, address = "", prefix] = /^([0-9a-f.:]+)(?:\/(0|[1-9]\d{0,2}))?$/i.exec(text) ?? [];
  const bits = { 0: -1, 4: 32, 6: 128 }[isIP(address)] ?? -1;
  const mapped = bits === 128 && /^\[::ffff:[0-9a-f]+:[0-9a-f]+\]$/.test(new URL(`http://[${address}]`).hostname);
  if (bits < 0 || mapped || Number(prefix ?? bits) > bits)
    throw malformed(`${text} is neither an address nor a range of addresses`);
  return `${address}/${prefix ?? bits}`;
}

/** A condition key as requests have it: names of tags keep their case. */
function contextKey(key: string): string | undefined {
  const [, tag] = tagFamilies.exec(key) ?? [];
  if (tag !== undefined) return `${key.slice(0, key.length - tag.length).toLowerCase()}${tag}`;
  const lower = key.toLowerCase();
  return Object.hasOwn(contextKeys, lower) ? lower : undefined;
}

/** True for a policy that lets in who is not named: a statement is public unless one of its conditions closes it. */
export function isPublic(statements: readonly Statement[]): boolean {
  return statements.some(
    ({ effect, principal, conditions }) =>
      effect === "Allow" &&
      (principal.except || principal.accounts.includes("*")) &&
      !conditions.some((condition) => condition["closes"] === true),
  );
}

/** The tenants that a policy names, each once: as principals, or as the whole of a value of `aws:PrincipalAccount`. */
function tenantsNamed(statements: readonly Statement[]): readonly string[] {
  return [
    ...new Set(
      statements.flatMap(({ principal, conditions }) => [
        ...principal.accounts.filter((name) => name !== "*"),
        ...conditions.flatMap(({ tenants }) => (tenants as readonly string[] | undefined) ?? []),
      ]),
    ),
  ];
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
  const bucket = await call.objects.openBucket(call.tenant, call.bucket);
  if (bucket.policy === undefined) throw s3Error("NoSuchBucketPolicy", "the bucket has no policy");
  return { status: 200, headers: { "content-type": "application/json" }, body: bucket.policy };
}

/** Sets the policy of a bucket, unless it names tenants that there are not, or is public and the bucket may have no such one. */
export async function putPolicy(call: S3Call): Promise<S3Reply> {
  const policy = await readText(call, call.body(), maxBytes, "MalformedPolicy");
  const statements = readPolicy(policy, call.bucket);
  // One that there is not would be opened to whoever is called so one day.
  for (const tenant of tenantsNamed(statements))
    if (!(await call.objects.hasTenant(tenant)))
      throw s3Error("MalformedPolicy", `no tenant is called ${tenant}`, { wire: "Invalid principal in policy" });
  await call.objects.changeBucket(call.tenant, call.bucket, "policy", (bucket) => {
    if (bucket.public_access_block?.["BlockPublicPolicy"] === true && isPublic(statements))
      throw s3Error("AccessDenied", "public policies are blocked by the BlockPublicPolicy block public access setting.");
    return { ...bucket, policy };
  });
  return { status: 204 };
}

export async function removePolicy(call: S3Call): Promise<S3Reply> {
  await call.objects.changeBucket(call.tenant, call.bucket, "policy", ({ policy: _, ...bucket }) => bucket as Bucket);
  return { status: 204 };
}

export async function policyStatus(call: S3Call): Promise<S3Reply> {
  const bucket = await call.objects.openBucket(call.tenant, call.bucket);
  return xmlReply(
    xmlDocument("PolicyStatus", { IsPublic: bucket.policy !== undefined && isPublic(readPolicy(bucket.policy, bucket.name)) }),
  );
}

const blocks = ["BlockPublicAcls", "IgnorePublicAcls", "BlockPublicPolicy", "RestrictPublicBuckets"] as const;

export async function getPublicAccessBlock(call: S3Call): Promise<S3Reply> {
  const bucket = await call.objects.openBucket(call.tenant, call.bucket);
  const block = bucket.public_access_block;
  if (block === undefined) throw s3Error("NoSuchPublicAccessBlockConfiguration", "the bucket has no public access block");
  return xmlReply(
    xmlDocument("PublicAccessBlockConfiguration", Object.fromEntries(blocks.map((name) => [name, block[name] === true]))),
  );
}

export async function putPublicAccessBlock(call: S3Call): Promise<S3Reply> {
  const root = await readDocument(call, "PublicAccessBlockConfiguration");
  const set = Object.fromEntries(blocks.map((name) => [name, childFlag(root, name)]));
  await call.objects.changeBucket(call.tenant, call.bucket, "publicAccessBlock", (bucket) => ({
    ...bucket,
    public_access_block: set,
  }));
  return { status: 200 };
}

export async function removePublicAccessBlock(call: S3Call): Promise<S3Reply> {
  const change = ({ public_access_block: _, ...bucket }: Bucket) => bucket as Bucket;
  await call.objects.changeBucket(call.tenant, call.bucket, "publicAccessBlock", change);
  return { status: 204 };
}
