import { createHmac } from "node:crypto";
import type { S3Credential, Tags } from "@seneschal/core/storage";
import { asField } from "./call.ts";
import { s3Error } from "./errors.ts";
import { unsignedPayload } from "./sigv2.ts";
import { equalText, hmac, scopedKey, type Verified } from "./sigv4.ts";
import { tagsOfXml } from "./tagging.ts";
import { readXml } from "./xml.ts";
import { documents } from "./xml-documents.ts";

/** Bytes that the fields before the file may take together. */
const maxFields = 64 * 1024;

/** A form as browsers send it: the fields by lower-case name, then the file. */
interface PostForm {
  readonly fields: ReadonlyMap<string, string>;
  /** The bytes of the file; they end where its part ends. */
  readonly file: AsyncIterable<Uint8Array>;
}

/** True for a request that is a form for an upload into a bucket (Amazon S3 API reference, POST Object). */
export function isPostForm(method: string, key: string, contentType: string): boolean {
  return method === "POST" && key === "" && /^multipart\/form-data\s*;/i.test(contentType);
}

/** A form whose maker and policy are verified, as the upload that it is. */
export interface OpenedForm extends PostForm {
  readonly key: string;
  /** What a PUT of the same object would say. */
  readonly headers: Readonly<Record<string, string>>;
  readonly proof: Verified;
}

/** Reads a form up to its file and verifies it. The file throws `EntityTooLarge` and `EntityTooSmall` where the policy has a range. */
export async function openPostForm(
  source: AsyncIterable<Uint8Array>,
  contentType: string,
  context: FormContext,
): Promise<OpenedForm> {
  const form = await readPostForm(source, contentType);
  const { proof, minBytes, maxBytes } = await verifyPostForm(form, context);
  const key = form.fields.get("key") ?? "";
  if (key === "") throw s3Error("InvalidArgument", "Bucket POST must contain a field named 'key'.");
  return { ...form, key, headers: headersOfForm(form), proof, file: within(form.file, minBytes, maxBytes) };
}

interface FormContext {
  readonly bucket: string;
  readonly lookUp: (accessKey: string) => Promise<S3Credential | undefined>;
  readonly now: number;
  readonly signatureV2: boolean;
}

async function* within(file: AsyncIterable<Uint8Array>, minBytes: number, maxBytes: number): AsyncGenerator<Uint8Array> {
  let size = 0;
  for await (const piece of file) {
    size += piece.length;
    if (size > maxBytes) throw s3Error("EntityTooLarge", `the policy allows ${maxBytes} bytes`);
    yield piece;
  }
  if (size < minBytes) throw s3Error("EntityTooSmall", `the policy demands ${minBytes} bytes`);
}

/** Reads a form up to its file. Throws `MalformedPOSTRequest`, `InvalidArgument` without a file, `MaxPostPreDataLengthExceededError`. */
async function readPostForm(source: AsyncIterable<Uint8Array>, contentType: string): Promise<PostForm> {
  const [, quoted, plain] = /;\s*boundary=(?:"([^"]{1,70})"|([^\s;,"]{1,70}))/i.exec(contentType) ?? [];
  const boundary = quoted ?? plain;
  if (boundary === undefined) throw malformed("the form has no boundary");
  const iterator = source[Symbol.asyncIterator]();
  let held = Buffer.from("\r\n");
  const more = async (): Promise<void> => {
    const next = await iterator.next();
    if (next.done === true) throw malformed("the form ends before its end");
    held = Buffer.concat([held, next.value]);
  };
  const delimiter = Buffer.from(`\r\n--${boundary}`);
  /** Up to a mark, which is taken too; at most `limit` bytes. */
  const until = async (mark: Buffer, limit: number): Promise<Buffer> => {
    for (;;) {
      const at = held.indexOf(mark);
      if (at > limit || (at < 0 && held.length > limit + mark.length))
        throw s3Error("MaxPostPreDataLengthExceededError", "Your POST request fields preceding the upload file were too large.");
      if (at >= 0) {
        const before = held.subarray(0, at);
        held = held.subarray(at + mark.length);
        return before;
      }
      await more();
    }
  };
  async function* file(): AsyncGenerator<Uint8Array> {
    for (;;) {
      const at = held.indexOf(delimiter);
      const end = at < 0 ? held.length - delimiter.length : at;
      if (end > 0) {
        yield held.subarray(0, end);
        held = held.subarray(end);
      }
      // What comes behind the file says nothing.
      if (at >= 0) return;
      await more();
    }
  }
  const fields = new Map<string, string>();
  let left = maxFields;
  left -= (await until(delimiter, left)).length;
  for (;;) {
    const line = await until(Buffer.from("\r\n"), left);
    if (line.toString("latin1").startsWith("--"))
      throw s3Error("InvalidArgument", "POST requires exactly one file upload per request.");
    const head = (await until(Buffer.from("\r\n\r\n"), left)).toString("utf8");
    left -= head.length;
    const disposition = /^content-disposition:\s*form-data\s*;(.*)$/im.exec(head)?.[1] ?? "";
    const name = parameter(disposition, "name")?.toLowerCase();
    if (name === undefined) throw malformed("a part of the form has no name");
    if (name === "file") {
      const filename = parameter(disposition, "filename") ?? "";
      const key = fields.get("key");
      if (key !== undefined)
        fields.set(
          "key",
          key.replaceAll(/\$\{filename\}/g, () => filename.replace(/^.*[\\/]/, "")),
        );
      return { fields, file: file() };
    }
    if (fields.has(name)) throw s3Error("InvalidArgument", `the field ${name} is given twice`);
    const value = await until(delimiter, left);
    left -= value.length;
    fields.set(name, value.toString("utf8"));
  }
}

function parameter(disposition: string, name: string): string | undefined {
  const [, quoted, plain] = new RegExp(`;?\\s*\\b${name}=(?:"((?:[^"\\\\]|\\\\.)*)"|([^\\s;]+))`, "i").exec(disposition) ?? [];
  return quoted ?? plain;
}

function malformed(text: string) {
  return s3Error("MalformedPOSTRequest", text);
}

/** What the policy of a form leaves to the file. */
interface PostGrant {
  readonly proof: Verified;
  readonly minBytes: number;
  readonly maxBytes: number;
}

/** Fields that are the signature itself, and the file. */
const unchecked = ["policy", "signature", "awsaccesskeyid", "x-amz-signature", "file"];

/**
 * Verifies who made a form and that it is filled in as its policy says: every field must be covered by a condition. A form without a
 * policy is nobody's. Throws `AccessDenied`, `InvalidAccessKeyId`, `SignatureDoesNotMatch`, `InvalidPolicyDocument`.
 */
async function verifyPostForm({ fields }: PostForm, { bucket, lookUp, now, signatureV2 }: FormContext): Promise<PostGrant> {
  const policy = fields.get("policy");
  const all = { minBytes: 0, maxBytes: Number.MAX_SAFE_INTEGER };
  const signs = ["signature", "x-amz-signature", "awsaccesskeyid", "x-amz-credential"].some((name) => fields.has(name));
  if (policy === undefined && !signs)
    return { ...all, proof: { ...unsignedPayload({}), accessKey: "", tenant: "", access: undefined } };
  if (policy === undefined) throw s3Error("InvalidArgument", "Bucket POST must contain a field named 'policy'.");
  const proof = await verifyPolicySignature(fields, policy, lookUp, signatureV2);
  return { ...all, ...checkPolicy(fields, bucket, policy, now), proof };
}

async function verifyPolicySignature(
  fields: PostForm["fields"],
  policy: string,
  lookUp: FormContext["lookUp"],
  signatureV2: boolean,
): Promise<Verified> {
  const need = (name: string): string => {
    const value = fields.get(name);
    if (value === undefined || value === "")
      throw s3Error(
        "InvalidArgument",
        `Bucket POST must contain a field named '${name}'.  If it is specified, please check the order of the fields.`,
      );
    return value;
  };
  const v4 = fields.has("x-amz-signature") || fields.has("x-amz-credential");
  if (!v4 && !signatureV2)
    throw s3Error(
      "InvalidRequest",
      "The authorization mechanism you have provided is not supported. Please use AWS4-HMAC-SHA256.",
    );
  const [accessKey = "", date = "", region = "", service, terminal] = v4
    ? need("x-amz-credential").split("/")
    : [need("awsaccesskeyid")];
  const signature = need(v4 ? "x-amz-signature" : "signature");
  if (v4 && (need("x-amz-algorithm") !== "AWS4-HMAC-SHA256" || service !== "s3" || terminal !== "aws4_request"))
    throw s3Error("InvalidArgument", "the form is not signed by AWS4-HMAC-SHA256 for s3");
  if (v4 && !/^\d{8}T\d{6}Z$/.test(need("x-amz-date")))
    throw s3Error("AccessDenied", "Invalid according to Policy: the date is malformed");
  if (v4 && !need("x-amz-date").startsWith(date)) throw s3Error("AccessDenied", "the date is not that of the credential");
  const credential = await lookUp(accessKey);
  if (credential === undefined)
    throw s3Error("InvalidAccessKeyId", "the access key does not exist", { elements: { AWSAccessKeyId: accessKey } });
  const expected = v4
    ? hmac(scopedKey(credential, `${date}/${region}/s3/aws4_request`), policy).toString("hex")
    : createHmac("sha1", credential.secretKey).update(policy).digest("base64");
  if (!equalText(expected, signature))
    throw s3Error("SignatureDoesNotMatch", "the signature does not fit the policy and the secret key");
  return { ...unsignedPayload({}), accessKey, tenant: credential.tenant, access: credential.access };
}

/** The range of lengths that the policy allows. Throws when a field is not as it says, or is not in it. */
function checkPolicy(fields: PostForm["fields"], bucket: string, policy: string, now: number): Partial<PostGrant> {
  const wrong = (text: string) => s3Error("InvalidPolicyDocument", `Invalid Policy: ${text}`);
  let document: { expiration?: unknown; conditions?: unknown };
  try {
    document = JSON.parse(Buffer.from(policy, "base64").toString("utf8")) as typeof document;
  } catch {
    throw wrong("it is no JSON");
  }
  const { expiration, conditions, ...more } = document ?? {};
  if (Object.keys(more).length > 0) throw wrong(`unexpected ${Object.keys(more)[0]}`);
  if (typeof expiration !== "string" || !/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z$/.test(expiration))
    throw wrong("Invalid 'expiration' value");
  if (!Array.isArray(conditions)) throw wrong("Policy missing conditions.");
  if (now > Date.parse(expiration)) throw s3Error("AccessDenied", "Invalid according to Policy: Policy expired.");
  const covered = new Set<string>();
  let range: { readonly minBytes: number; readonly maxBytes: number } | undefined;
  const fieldOf = (name: string) => (name === "bucket" ? bucket : (fields.get(name) ?? ""));
  const check = (name: string, fits: boolean, condition: unknown): void => {
    covered.add(name);
    if (!fits)
      throw s3Error("AccessDenied", `Invalid according to Policy: Policy Condition failed: ${JSON.stringify(condition)}`);
  };
  for (const condition of conditions as readonly unknown[]) {
    if (Array.isArray(condition)) {
      const [operator, a, b] = condition as readonly unknown[];
      if (condition.length !== 3) throw wrong("a condition has three parts");
      const kind = String(operator).toLowerCase();
      if (kind === "content-length-range") {
        const [minBytes, maxBytes] = [Number(a), Number(b)];
        if (!Number.isInteger(minBytes) || !Number.isInteger(maxBytes) || minBytes < 0 || maxBytes < minBytes)
          throw wrong("a range is two numbers");
        range = { minBytes, maxBytes };
        continue;
      }
      if ((kind !== "eq" && kind !== "starts-with") || typeof a !== "string" || typeof b !== "string" || !a.startsWith("$"))
        throw wrong(`no such condition: ${JSON.stringify(condition)}`);
      const name = a.slice(1).toLowerCase();
      check(name, kind === "eq" ? fieldOf(name) === b : fieldOf(name).startsWith(b), condition);
      continue;
    }
    const entries = typeof condition === "object" && condition !== null ? Object.entries(condition) : [];
    const [[name, value] = ["", undefined]] = entries;
    if (entries.length !== 1 || typeof value !== "string")
      throw wrong("Invalid Simple-Condition: Simple-Conditions must have exactly one property specified.");
    check(name.toLowerCase(), fieldOf(name.toLowerCase()) === value, condition);
  }
  for (const name of ["bucket", ...fields.keys()])
    if (!unchecked.includes(name) && !name.startsWith("x-ignore-") && !covered.has(name))
      throw s3Error("AccessDenied", `Invalid according to Policy: Extra input fields: ${name}`);
  return range ?? {};
}

/** Fields that are about the form, not about the object. */
const aboutForm = [
  ...[...unchecked, "key", "bucket", "success_action_redirect", "success_action_status", "redirect", "tagging", "submit"],
  ...["x-amz-algorithm", "x-amz-credential", "x-amz-date"],
];
const objectFields = [
  "content-type",
  "cache-control",
  "content-disposition",
  "content-encoding",
  "content-language",
  "expires",
  "content-md5",
];

/** The headers that a PUT of the same object would have. Throws `NotImplemented` for fields that mean nothing here. */
function headersOfForm({ fields }: PostForm): Readonly<Record<string, string>> {
  const headers: Record<string, string> = {};
  for (const [name, value] of fields) {
    if (aboutForm.includes(name) || name.startsWith("x-ignore-")) continue;
    if (name === "acl") headers["x-amz-acl"] = value;
    else if (name.startsWith("x-amz-") || objectFields.includes(name)) headers[name] = asField(value);
    else throw s3Error("NotImplemented", `The form field ${JSON.stringify(name)} is not implemented here.`);
  }
  const tagging = fields.get("tagging");
  if (tagging !== undefined) headers["x-amz-tagging"] = query(tagsOfXml(readXml(tagging, "Tagging", documents.Tagging)));
  return headers;
}

function query(tags: Tags): string {
  return tags.map(({ key, value }) => `${encodeURIComponent(key)}=${encodeURIComponent(value)}`).join("&");
}
