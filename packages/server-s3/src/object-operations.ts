import {
  isBucketName,
  isFieldValue,
  type ObjectEventName,
  type ObjectVersion,
  partLimits,
  type VersionAttributes,
} from "@seneschal/core/storage";
import { type S3Call, type S3Reply, xmlReply } from "./call.ts";
import { checksumAlgorithm, checksumElements, checksumType, isChecksumHeader, summed } from "./checksums.ts";
import {
  askedEncryption,
  customerKeyOf,
  encryptionHeaders,
  encryptionReply,
  refuseEncryptionNames,
  sourceCustomerHeaders,
} from "./encryption.ts";
import { s3Error } from "./errors.ts";
import { expirationReply } from "./lifecycle.ts";
import {
  conditionsOf,
  deleteConditions,
  describeObject,
  judgeRead,
  objectHeaders,
  rangeHolds,
  redirectHeader,
} from "./object-headers.ts";
import { askedLock, bypasses, lockReply } from "./object-lock.ts";
import { type ByteRange, parseRange } from "./range.ts";
import { replicaHeader, replicationReply } from "./replication.ts";
import type { RequestBody } from "./request-body.ts";
import { uriEncode } from "./sigv4.ts";
import { taggingCount, tagsOfHeader } from "./tagging.ts";
import { xmlDocument } from "./xml.ts";

const overridable = ["content-type", "content-language", "expires", "cache-control", "content-disposition", "content-encoding"];

/** The headers that the request has the answer say. Throws `InvalidArgument` for what no header can. */
function overridesOf({ query }: S3Call): Readonly<Record<string, string>> {
  const overrides: Record<string, string> = {};
  for (const name of overridable) {
    const parameter = `response-${name}`;
    const value = query.get(parameter);
    if (value === undefined) continue;
    if (!isFieldValue(value))
      throw s3Error("InvalidArgument", `${parameter} holds a character that no header can have`, {
        wire: "Header value cannot be represented using ISO-8859-1.",
        elements: { ArgumentName: parameter, ArgumentValue: value },
      });
    overrides[name] = value;
  }
  return overrides;
}

/** What a 304 tells (RFC 9110, 15.4.5). Clients take what else it said, a checksum above all, for that of a body which is not there. */
const cached = ["etag", "last-modified", "cache-control", "expires", "x-amz-version-id"];

export async function getObject(call: S3Call): Promise<S3Reply> {
  const asked = call.query.get("partNumber");
  if (asked !== undefined) partNumberOf(asked);
  const overrides = overridesOf(call);
  const object = await call.objects.headObject(call.tenant, call.bucket, call.key, call.query.get("versionId"));
  refuseEncryptionNames(call.headers);
  const customerKey = call.objects.customerKeyFor(object, customerKeyOf(call.headers));
  const headers: Record<string, string> = {
    ...objectHeaders(object, call.headers),
    ...encryptionReply(object.encryption, customerKey),
    ...versionReply(object),
    ...taggingCount(object),
    ...lockReply(object),
    ...replicationReply(object),
    ...(await expirationReply(call, object)),
  };
  const judged = judgeRead(object, conditionsOf(call.headers));
  if (judged === "failed") throw s3Error("PreconditionFailed", "the object is not the one asked for");
  if (judged === "not_modified") {
    const still = Object.entries(headers).filter(([name]) => cached.includes(name));
    return { status: 304, headers: Object.fromEntries(still) };
  }
  Object.assign(headers, overrides);
  const part = partRange(call, object);
  if (part?.count !== undefined) headers["x-amz-mp-parts-count"] = String(part.count);
  const range =
    part?.range ?? parseRange(rangeHolds(object, call.headers["if-range"]) ? call.headers["range"] : undefined, object.size);
  const { start, end } = range ?? { start: 0, end: object.size };
  if (range !== undefined) {
    headers["content-range"] = `bytes ${start}-${end - 1}/${object.size}`;
    // A checksum of the whole does not fit a range; a part has its own.
    const type = headers["x-amz-checksum-type"];
    for (const name of Object.keys(headers)) if (name.startsWith("x-amz-checksum-")) delete headers[name];
    if (part?.number !== undefined && type !== undefined) {
      const checksums = await call.objects.partChecksums(object, [part.number]);
      Object.assign(headers, checksums.get(part.number), { "x-amz-checksum-type": type });
    }
  }
  const status = range === undefined ? 200 : 206;
  const length = end - start;
  if (call.method === "HEAD") return { status, headers: { ...headers, "content-length": String(length) } };
  // The first chunk is read before the status goes out, so that its failures are answered as such.
  const bytes = call.objects.readObject(object, start, end, { customerKey, lent: true });
  const first = await bytes.next();
  return { status, headers, body: { length, bytes: chain(first, bytes) } };
}

/** A part number as S3 takes it. Throws `InvalidArgument`. */
export function partNumberOf(text: string): number {
  const number = Number(text);
  if (/^[1-9]\d*$/.test(text) && number >= 1 && number <= partLimits.maxNumber) return number;
  throw s3Error("InvalidArgument", `Part number must be an integer between 1 and ${partLimits.maxNumber}, inclusive.`, {
    elements: { ArgumentName: "partNumber", ArgumentValue: text },
  });
}

/** The bytes of the part that `partNumber` names; an object that was put at once is its own only part. */
function partRange(
  call: S3Call,
  object: ObjectVersion,
): { readonly range?: ByteRange; readonly count?: number; readonly number?: number } | undefined {
  const text = call.query.get("partNumber");
  if (text === undefined) return undefined;
  const number = partNumberOf(text);
  if (call.headers["range"] !== undefined)
    throw s3Error("InvalidRequest", "Cannot specify both Range header and partNumber query parameter");
  const parts = call.objects.partsOf(object);
  const sizes = parts?.map((p) => p.size) ?? [object.size];
  const size = sizes[number - 1];
  if (size === undefined) throw s3Error("InvalidPartNumber", "the object has fewer parts");
  const start = sizes.slice(0, number - 1).reduce((sum, s) => sum + s, 0);
  return {
    ...(size > 0 && { range: { start, end: start + size } }),
    ...(parts !== undefined && { count: parts.length, number: parts[number - 1]?.number ?? 0 }),
  };
}

/** The rest with what was read of it before; its end is theirs, also when nothing of it is asked for. */
function chain(
  first: IteratorResult<Uint8Array, void>,
  rest: AsyncGenerator<Uint8Array, void>,
): AsyncIterableIterator<Uint8Array, void> {
  let pending: IteratorResult<Uint8Array, void> | undefined = first;
  const chained: AsyncIterableIterator<Uint8Array, void> = {
    async next() {
      const before = pending;
      pending = undefined;
      return before ?? rest.next();
    },
    return: () => rest.return(),
    [Symbol.asyncIterator]: () => chained,
  };
  return chained;
}

/** Tags, lock and encryption that the headers of a new version ask for. */
export async function askedAttributes(
  call: S3Call,
): Promise<{ readonly attributes: VersionAttributes; readonly customerKey: Uint8Array | undefined }> {
  const { encryption, customerKey } = await askedEncryption(call);
  const tags = tagsOfHeader(call.headers["x-amz-tagging"]);
  return {
    attributes: { ...askedLock(call), ...(tags && tags.length > 0 && { tags }), ...(encryption && { encryption }) },
    customerKey,
  };
}

export async function storeObject(call: S3Call): Promise<S3Reply> {
  const body = call.body();
  if (body.length === undefined) throw s3Error("MissingContentLength", "the length of the content is missing");
  return (await store(call, body)).reply;
}

/** Stores the file of a form, and answers as the form asks for. */
export async function postObject(call: S3Call): Promise<S3Reply> {
  const { object, reply } = await store(call, call.body(), "ObjectCreated:Post");
  const field = (name: string) => call.form?.fields.get(name);
  const location = `${call.root}/${call.key.split("/").map(uriEncode).join("/")}`;
  const redirect = field("success_action_redirect") ?? field("redirect");
  if (redirect !== undefined && URL.canParse(redirect)) {
    const to = new URL(redirect);
    for (const [name, value] of [
      ["bucket", call.bucket],
      ["key", call.key],
      ["etag", `"${object.etag}"`],
    ] as const)
      to.searchParams.append(name, value);
    return { status: 303, headers: { ...reply.headers, location: to.href } };
  }
  const status = field("success_action_status");
  if (status !== "201") return { status: status === "200" ? 200 : 204, headers: { ...reply.headers, location } };
  const document = { Location: location, Bucket: call.bucket, Key: call.key, ETag: `"${object.etag}"` };
  return {
    ...xmlReply(xmlDocument("PostResponse", document, false), 201),
    headers: { ...reply.headers, location, "content-type": "application/xml" },
  };
}

async function store(
  call: S3Call,
  body: RequestBody,
  event: ObjectEventName = "ObjectCreated:Put",
): Promise<{ readonly object: ObjectVersion; readonly reply: S3Reply }> {
  const described = describeObject(call);
  const asked = await askedAttributes(call);
  // Checksums become part of the object, but a trailer's value is known only at the end: the record is filled then.
  const headers: Record<string, string> = { ...described.headers };
  const bytes = (async function* () {
    yield* body.bytes;
    Object.assign(headers, body.verified);
  })();
  const object = await call.objects.putObject({
    tenant: call.tenant,
    bucket: call.bucket,
    key: call.key,
    body: bytes,
    length: body.length,
    contentType: described.contentType,
    headers,
    meta: described.meta,
    conditions: conditionsOf(call.headers),
    event,
    replica: call.headers[replicaHeader],
    ...asked,
  });
  const checksum = Object.values(body.verified)[0];
  const reply = {
    status: 200,
    headers: {
      etag: `"${object.etag}"`,
      "x-amz-object-size": String(object.size),
      ...body.verified,
      ...(checksum !== undefined && { "x-amz-checksum-type": checksumType(checksum) }),
      ...encryptionReply(object.encryption, asked.customerKey),
      ...madeReply(object),
      ...(await expirationReply(call, object)),
    },
  };
  return { object, reply };
}

export async function removeObject(call: S3Call): Promise<S3Reply> {
  const conditions = deleteConditions({
    etag: call.headers["if-match"],
    size: call.headers["x-amz-if-match-size"],
    modified: call.headers["x-amz-if-match-last-modified-time"],
  });
  const options = {
    conditions,
    version: call.query.get("versionId"),
    bypass: bypasses(call),
    replica: call.headers[replicaHeader],
  };
  const { version, marker } = await call.objects.deleteObject(call.tenant, call.bucket, call.key, options);
  const headers = { ...versionReply({ version_id: version }), ...(marker === true && { "x-amz-delete-marker": "true" }) };
  return { status: 204, headers };
}

/** What `x-amz-copy-source` names; `undefined` for a malformed escape. */
export function namedSource(
  raw: string,
): { readonly bucket: string; readonly key: string; readonly version: string | undefined } | undefined {
  const [path = "", version] = raw.split("?versionId=");
  try {
    const [, bucket = "", key = ""] = /^\/?([^/]*)(?:\/(.*))?$/s.exec(decodeURIComponent(path.replaceAll("+", "%20"))) ?? [];
    return { bucket, key, version };
  } catch {
    return undefined;
  }
}

/** The source of a copy, opened for the caller's tenant and judged by its conditions. */
export async function copySource(call: S3Call): Promise<{
  readonly object: ObjectVersion;
  readonly range: ByteRange | undefined;
  readonly customerKey: Uint8Array | undefined;
}> {
  const raw = call.headers["x-amz-copy-source"] ?? "";
  const invalid = (what: string, ArgumentValue: string) =>
    s3Error("InvalidArgument", `Invalid copy source ${what}`, { elements: { ArgumentName: "x-amz-copy-source", ArgumentValue } });
  const named = namedSource(raw);
  if (named === undefined) throw invalid("encoding", raw);
  const { bucket, key, version } = named;
  if (!isBucketName(bucket)) throw invalid("bucket name", raw);
  if (key === "") throw invalid("object key", key);
  const actions = [version === undefined ? "s3:GetObject" : "s3:GetObjectVersion"];
  const owner = await call.reach({ bucket, key, version, actions });
  checkOwner(call.headers, "x-amz-source-expected-bucket-owner", owner);
  const object = await call.objects.headObject(owner, bucket, key, version);
  if (judgeRead(object, conditionsOf(call.headers, "x-amz-copy-source-")) !== "proceed")
    throw s3Error("PreconditionFailed", "the source is not the one asked for");
  const customerKey = call.objects.customerKeyFor(object, customerKeyOf(call.headers, sourceCustomerHeaders));
  return { object, range: copyRange(call.headers["x-amz-copy-source-range"], object.size), customerKey };
}

/** A caller may insist on whose bucket it is. Throws `AccessDenied`. */
export function checkOwner(headers: S3Call["headers"], name: string, owner: string): void {
  if (headers[name] !== undefined && headers[name] !== owner)
    throw s3Error("AccessDenied", `the bucket does not belong to the account that ${name} names`, { wire: "Access Denied." });
}

/** What a reply says of the version that was copied. */
export function sourceReply({ version_id }: ObjectVersion): Readonly<Record<string, string>> {
  return version_id === undefined ? {} : { "x-amz-copy-source-version-id": version_id };
}

/** What a reply says of the version that was made; one called `null` has no name of its own. */
export function madeReply({ version_id }: ObjectVersion): Readonly<Record<string, string>> {
  return version_id === "null" || version_id === undefined ? {} : versionReply({ version_id });
}

/** What a reply says of the version that it is about, where the bucket has versions. */
export function versionReply({ version_id }: { readonly version_id?: string | undefined }): Readonly<Record<string, string>> {
  return version_id === undefined ? {} : { "x-amz-version-id": version_id };
}

/** The range of a copied part: unlike a range that is read it must lie within the source. Throws `InvalidArgument`. */
function copyRange(text: string | undefined, size: number): ByteRange | undefined {
  if (text === undefined) return undefined;
  const [, first, last] = /^bytes=(\d+)-(\d+)$/.exec(text) ?? [];
  const argument = (ArgumentValue: string) => ({ elements: { ArgumentName: "x-amz-copy-source-range", ArgumentValue } });
  if (first === undefined || Number(last) < Number(first))
    throw s3Error(
      "InvalidArgument",
      "The x-amz-copy-source-range value must be of the form bytes=first-last where first and last are the zero-based offsets of the first and last bytes to copy",
      argument(text),
    );
  if (Number(last) >= size)
    throw s3Error("InvalidArgument", `Range specified is not valid for source object of size: ${size}`, argument(String(size)));
  return { start: Number(first), end: Number(last) + 1 };
}

export async function copyObject(call: S3Call): Promise<S3Reply> {
  const asks = checksumAlgorithm(call.headers["x-amz-checksum-algorithm"]);
  const { object: source, customerKey: sourceKey } = await copySource(call);
  const directive = directiveOf(call, "x-amz-metadata-directive");
  const tagDirective = directiveOf(call, "x-amz-tagging-directive");
  const asked = await askedAttributes(call);
  const same = source.bucket === call.bucket && source.key === call.key;
  const version = (call.headers["x-amz-copy-source"] ?? "").includes("?versionId=");
  const changed = version || [...encryptionHeaders, redirectHeader].some((name) => call.headers[name] !== undefined);
  if (directive === "COPY" && same && !changed)
    throw s3Error(
      "InvalidRequest",
      "This copy request is illegal because it is trying to copy an object to itself without changing the object's metadata, storage class, website redirect location or encryption attributes.",
    );
  const described = describeObject(call);
  const kept = Object.entries(source.headers).filter(([name]) => isChecksumHeader(name));
  const redirect = described.headers[redirectHeader];
  // Where a website sends people on is said anew for each copy.
  const plain = Object.fromEntries(
    Object.entries(source.headers).filter(([name]) => !isChecksumHeader(name) && name !== redirectHeader),
  );
  // A checksum over the parts of the source is not one of a copy, which has none.
  const composite = kept.find(([, value]) => checksumType(value) === "COMPOSITE")?.[0].slice("x-amz-checksum-".length);
  const algorithm = asks ?? composite;
  const headers: Record<string, string> = {
    ...(directive === "COPY" ? { ...plain, ...(redirect && { [redirectHeader]: redirect }) } : described.headers),
    ...(algorithm === undefined && Object.fromEntries(kept)),
  };
  const { tags: replaced, ...attributes } = asked.attributes;
  const tags = tagDirective === "COPY" ? source.tags : replaced;
  const object = await call.objects.putObject({
    tenant: call.tenant,
    bucket: call.bucket,
    key: call.key,
    // Equal content is one chunk: the bytes are read to be sealed for this use, not stored again.
    body: summed(call.objects.readObject(source, 0, source.size, { counted: true, customerKey: sourceKey }), algorithm, headers),
    length: source.size,
    contentType: directive === "COPY" ? source.content_type : described.contentType,
    headers,
    meta: directive === "COPY" ? source.meta : described.meta,
    conditions: conditionsOf(call.headers),
    attributes: { ...attributes, ...(tags && { tags }) },
    event: "ObjectCreated:Copy",
    customerKey: asked.customerKey,
  });
  const reply = xmlReply(
    xmlDocument("CopyObjectResult", {
      LastModified: new Date(object.modified_at).toISOString(),
      ETag: `"${object.etag}"`,
      ...checksumElements(object.headers),
    }),
  );
  const more = { ...encryptionReply(object.encryption, asked.customerKey), ...madeReply(object), ...sourceReply(source) };
  return { ...reply, headers: { ...reply.headers, ...more } };
}

function directiveOf({ headers }: S3Call, name: string): "COPY" | "REPLACE" {
  const directive = headers[name] ?? "COPY";
  if (directive !== "COPY" && directive !== "REPLACE")
    throw s3Error("InvalidArgument", `${name} must be COPY or REPLACE`, {
      wire: `Unknown ${name === "x-amz-tagging-directive" ? "tagging" : "metadata"} directive.`,
    });
  return directive;
}
