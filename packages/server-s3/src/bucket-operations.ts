import type { DeleteConditions } from "@seneschal/core/storage";
import { isCoded } from "@seneschal/kernel";
import { checkOwnership, refuseAcl } from "./acl-headers.ts";
import { queryNumber, readText, type S3Call, type S3Reply, xmlReply } from "./call.ts";
import { s3Error, s3Failure } from "./errors.ts";
import { keyEncoder } from "./key-encoder.ts";
import { deleteConditions } from "./object-headers.ts";
import { bypasses } from "./object-lock.ts";
import { bucketLimit, tagsOfXml } from "./tagging.ts";
import { childFlag, childText, readXml, type XmlElement, type XmlObject, xmlDocument } from "./xml.ts";
import { documents, readDocument } from "./xml-documents.ts";

const maxBuckets = 10_000;
/** Regions are names that the operators of a store give: any will do that a header can tell. */
const regionForm = /^[A-Za-z0-9][A-Za-z0-9._-]{0,62}$/;
const iso = (at: number) => new Date(at).toISOString();

export async function listAllBuckets(call: S3Call): Promise<S3Reply> {
  const { query } = call;
  const limit = Number(query.get("max-buckets") ?? maxBuckets);
  if (!Number.isInteger(limit) || limit < 1 || limit > maxBuckets)
    throw s3Error("InvalidArgument", `Argument max-buckets must be an integer between 1 and ${maxBuckets}.`, {
      elements: { ArgumentName: "max-buckets", ArgumentValue: query.get("max-buckets") ?? "" },
    });
  const prefix = query.get("prefix") ?? "";
  const token = query.get("continuation-token");
  const after = token ? decodeToken(token) : "";
  const region = query.get("bucket-region");
  const rest = (await call.objects.listBuckets(call.tenant)).filter(
    (b) => b.name.startsWith(prefix) && b.name > after && (region === undefined || b.region === region),
  );
  const buckets = rest.slice(0, limit);
  const last = buckets.at(-1);
  return xmlReply(
    xmlDocument("ListAllMyBucketsResult", {
      Owner: { ID: call.tenant, DisplayName: call.tenant },
      Buckets: {
        Bucket: buckets.map((b) => ({ Name: b.name, CreationDate: iso(b.created_at), BucketRegion: b.region })),
      },
      ContinuationToken: rest.length > limit && last !== undefined ? encodeToken(last.name) : undefined,
      Prefix: query.get("prefix"),
    }),
  );
}

export async function putBucket(call: S3Call): Promise<S3Reply> {
  const ownership = call.headers["x-amz-object-ownership"];
  if (ownership !== undefined) checkOwnership(ownership, "InvalidArgument");
  refuseAcl(call.headers, call.tenant, "InvalidBucketAclWithObjectOwnership");
  const lock = call.headers["x-amz-bucket-object-lock-enabled"]?.toLowerCase() === "true";
  const text = await readText(call, call.body(), 64 * 1024);
  const asked = text.trim() === "" ? undefined : readXml(text, "CreateBucketConfiguration", documents.CreateBucketConfiguration);
  const region = (asked && childText(asked, "LocationConstraint")) || undefined;
  if (region !== undefined && !regionForm.test(region))
    throw s3Error(
      "InvalidLocationConstraint",
      "a location constraint is 1 to 63 of letters, digits, dot, hyphen and underscore",
      {
        elements: { LocationConstraint: region },
      },
    );
  const tags = asked?.children.find(({ name }) => name === "Tags");
  await call.objects.createBucket(call.tenant, call.bucket, region, {
    ...(lock && ({ versioning: "Enabled", object_lock: {} } as const)),
    ...(tags && { tags: tagsOfXml(tags, bucketLimit) }),
  });
  return { status: 200, headers: { location: `/${call.bucket}`, "x-amz-bucket-arn": `arn:aws:s3:::${call.bucket}` } };
}

export async function headBucket(call: S3Call): Promise<S3Reply> {
  const bucket = await call.objects.openBucket(call.tenant, call.bucket);
  return { status: 200, headers: { "x-amz-bucket-region": bucket.region, "x-amz-bucket-arn": `arn:aws:s3:::${call.bucket}` } };
}

export async function removeBucket(call: S3Call): Promise<S3Reply> {
  await call.objects.deleteBucket(call.tenant, call.bucket);
  return { status: 204 };
}

export async function bucketLocation(call: S3Call): Promise<S3Reply> {
  const bucket = await call.objects.openBucket(call.tenant, call.bucket);
  // us-east-1 is the absence of a constraint.
  const region = bucket.region === "us-east-1" ? "" : bucket.region;
  return xmlReply(
    `<?xml version="1.0" encoding="UTF-8"?>\n<LocationConstraint xmlns="http://s3.amazonaws.com/doc/2006-03-01/">${region}</LocationConstraint>`,
  );
}

/** ListObjects in both versions: they differ in how a page goes on. */
export async function listObjects(call: S3Call): Promise<S3Reply> {
  await call.objects.openBucket(call.tenant, call.bucket);
  const { query } = call;
  const second = query.has("list-type");
  if (second && query.get("list-type") !== "2") throw s3Error("InvalidArgument", "list-type must be 2");
  const encode = keyEncoder(call);
  const limit = queryNumber(call, "max-keys", 1000, 0, 1000);
  const prefix = query.get("prefix") ?? "";
  const delimiter = query.get("delimiter") ?? "";
  const token = query.get("continuation-token");
  const after = second ? (!token ? (query.get("start-after") ?? "") : decodeToken(token)) : (query.get("marker") ?? "");
  const page = await call.objects.listKeys({
    bucket: call.bucket,
    prefix,
    delimiter,
    after,
    limit,
  });
  const owner = { ID: call.tenant, DisplayName: call.tenant };
  const contents = page.items.map(
    (o): XmlObject => ({
      Key: encode(o.key),
      LastModified: iso(o.modified_at),
      ETag: `"${o.etag}"`,
      Size: o.size,
      StorageClass: "STANDARD",
      ...(!second || query.get("fetch-owner")?.toLowerCase() === "true" ? { Owner: owner } : {}),
    }),
  );
  const common = {
    Name: call.bucket,
    Prefix: encode(prefix),
    ...(delimiter === "" ? {} : { Delimiter: encode(delimiter) }),
    MaxKeys: limit,
    ...(query.has("encoding-type") ? { EncodingType: "url" } : {}),
    IsTruncated: page.next !== undefined,
    Contents: contents,
    CommonPrefixes: page.prefixes.map((p) => ({ Prefix: encode(p) })),
  };
  const paging: XmlObject = second
    ? {
        KeyCount: page.items.length + page.prefixes.length,
        ContinuationToken: token,
        StartAfter: query.has("start-after") ? encode(query.get("start-after") ?? "") : undefined,
        NextContinuationToken: page.next === undefined ? undefined : encodeToken(page.next),
      }
    : { Marker: encode(after), NextMarker: page.next === undefined ? undefined : encode(page.next) };
  return xmlReply(xmlDocument("ListBucketResult", { ...common, ...paging }));
}

function encodeToken(key: string): string {
  return Buffer.from(`k:${key}`).toString("base64url");
}

function decodeToken(token: string): string {
  const text = Buffer.from(token, "base64url").toString("utf8");
  if (!text.startsWith("k:") || text.includes("\0") || encodeToken(text.slice(2)) !== token)
    throw s3Error("InvalidArgument", "the continuation token is not one of ours");
  return text.slice(2);
}

export async function listMultipartUploads(call: S3Call): Promise<S3Reply> {
  await call.objects.openBucket(call.tenant, call.bucket);
  const { query } = call;
  const encode = keyEncoder(call);
  const limit = queryNumber(call, "max-uploads", 1000, 1, 1000);
  const prefix = query.get("prefix") ?? "";
  const delimiter = query.get("delimiter") ?? "";
  const after = query.get("key-marker") ?? "";
  // Without a key it marks nothing, as S3 has it.
  const afterUpload = after === "" ? undefined : query.get("upload-id-marker") || undefined;
  const page = await call.objects.listUploads({ bucket: call.bucket, prefix, delimiter, after, afterUpload, limit });
  const last = page.items.at(-1);
  const who = { ID: call.tenant, DisplayName: call.tenant };
  return xmlReply(
    xmlDocument("ListMultipartUploadsResult", {
      Bucket: call.bucket,
      ...(query.has("encoding-type") ? { EncodingType: "url" } : {}),
      ...(delimiter === "" ? {} : { Delimiter: encode(delimiter) }),
      KeyMarker: encode(after),
      UploadIdMarker: afterUpload ?? "",
      NextKeyMarker: page.next === undefined ? undefined : encode(page.next),
      NextUploadIdMarker: page.next !== undefined && last?.key === page.next ? last.id : undefined,
      MaxUploads: limit,
      IsTruncated: page.next !== undefined,
      Prefix: encode(prefix),
      Upload: page.items.map((u) => ({
        Key: encode(u.key),
        UploadId: u.id,
        Initiator: who,
        Owner: who,
        StorageClass: "STANDARD",
        Initiated: iso(u.started_at),
        ChecksumAlgorithm: u.checksum?.algorithm.toUpperCase(),
        ChecksumType: u.checksum?.type,
      })),
      CommonPrefixes: page.prefixes.map((p) => ({ Prefix: encode(p) })),
    }),
  );
}

/** DeleteObjects: up to 1000 keys, each with its own outcome. */
export async function deleteObjects(call: S3Call): Promise<S3Reply> {
  await call.objects.openBucket(call.tenant, call.bucket);
  const root = await readDocument(call, "Delete", { limit: 2 * 1024 * 1024 });
  const named = root.children.filter((c) => c.name === "Object").map((o) => deletionOf(o));
  if (named.length === 0 || named.length > 1000)
    throw s3Error("MalformedXML", "expected Delete with 1 to 1000 Objects, each with a Key");
  const quiet = childFlag(root, "Quiet");
  const deleted: XmlObject[] = [];
  const removed: NonNullable<S3Reply["removed"]>[number][] = [];
  const errors: XmlObject[] = [];
  for (const { key, version, conditions } of named) {
    const VersionId = version === undefined ? {} : { VersionId: version };
    try {
      const options = { conditions, version, bypass: bypasses(call) };
      const action = version === undefined ? "s3:DeleteObject" : "s3:DeleteObjectVersion";
      await call.reach({ bucket: call.bucket, key, version, actions: [action] });
      const done = await call.objects.deleteObject(call.tenant, call.bucket, key, options);
      const marker = done.marker === true && { DeleteMarker: true, DeleteMarkerVersionId: done.version };
      deleted.push({ Key: key, ...VersionId, ...marker });
      removed.push({ key, version: version ?? done.version });
    } catch (error) {
      if (isCoded(error, "NoSuchBucket")) throw error;
      const { code, message } = s3Failure(error);
      errors.push({ Key: key, ...VersionId, Code: code, Message: message });
      removed.push({ key, version, errorCode: code });
    }
  }
  return { ...xmlReply(xmlDocument("DeleteResult", { Deleted: quiet ? [] : deleted, Error: errors })), removed };
}

/** One Object of a Delete. Throws `MalformedXML`. */
function deletionOf(element: XmlElement): {
  readonly key: string;
  readonly version: string | undefined;
  readonly conditions: DeleteConditions;
} {
  const key = childText(element, "Key");
  if (!key) throw s3Error("MalformedXML", "expected Delete with 1 to 1000 Objects, each with a Key");
  const textOf = (name: string) => childText(element, name);
  const conditions = deleteConditions({ etag: textOf("ETag"), size: textOf("Size"), modified: textOf("LastModifiedTime") });
  return { key, version: textOf("VersionId") || undefined, conditions };
}
