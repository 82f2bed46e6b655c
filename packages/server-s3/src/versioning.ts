import { type ListedVersion, versionIdOf } from "@seneschal/core/storage";
import { queryNumber, type S3Call, type S3Reply, xmlReply } from "./call.ts";
import { s3Error } from "./errors.ts";
import { keyEncoder } from "./key-encoder.ts";
import { childText, type XmlObject, xmlDocument } from "./xml.ts";
import { readDocument } from "./xml-documents.ts";

/** An empty document where versioning was never enabled. */
export async function getVersioning(call: S3Call): Promise<S3Reply> {
  const bucket = await call.objects.openBucket(call.tenant, call.bucket);
  return xmlReply(xmlDocument("VersioningConfiguration", { Status: bucket.versioning }));
}

export async function putVersioning(call: S3Call): Promise<S3Reply> {
  const root = await readDocument(call, "VersioningConfiguration");
  const mfa = childText(root, "MfaDelete");
  if (mfa !== undefined && mfa !== "Enabled" && mfa !== "Disabled")
    throw s3Error("MalformedXML", "MfaDelete is Enabled or Disabled");
  if (mfa === "Enabled") throw s3Error("NotImplemented", "MfaDelete is not implemented here");
  const status = childText(root, "Status");
  if (status !== "Enabled" && status !== "Suspended")
    throw s3Error("MalformedXML", "expected VersioningConfiguration with Status Enabled or Suspended");
  await call.objects.changeBucket(call.tenant, call.bucket, "versioning", (bucket) => {
    if (status === "Suspended" && bucket.object_lock !== undefined)
      throw s3Error(
        "InvalidBucketState",
        "An Object Lock configuration is present on this bucket, so the versioning state cannot be changed.",
      );
    if (status === "Suspended" && bucket.replication !== undefined)
      throw s3Error(
        "InvalidBucketState",
        "A replication configuration is present on this bucket, so the versioning state cannot be changed.",
      );
    return { ...bucket, versioning: status };
  });
  return { status: 200 };
}

/** Every version of every key, delete markers too; in a bucket that never had versions each object is the one called `null`. */
export async function listVersions(call: S3Call): Promise<S3Reply> {
  await call.objects.openBucket(call.tenant, call.bucket);
  const { query } = call;
  const encode = keyEncoder(call);
  const limit = queryNumber(call, "max-keys", 1000, 0, 1000);
  const prefix = query.get("prefix") ?? "";
  const delimiter = query.get("delimiter") ?? "";
  const after = query.get("key-marker") ?? "";
  const afterVersion = query.get("version-id-marker") || undefined;
  if (afterVersion !== undefined && after === "")
    throw s3Error("InvalidArgument", "A version-id marker cannot be specified without a key marker.");
  const page = await call.objects.listVersions({ bucket: call.bucket, prefix, delimiter, after, afterVersion, limit });
  const last = page.items.at(-1);
  const owner = { ID: call.tenant, DisplayName: call.tenant };
  const shown = (version: ListedVersion): XmlObject => ({
    Key: encode(version.key),
    VersionId: versionIdOf(version),
    IsLatest: version.latest,
    LastModified: new Date(version.modified_at).toISOString(),
  });
  return xmlReply(
    xmlDocument("ListVersionsResult", {
      Name: call.bucket,
      Prefix: encode(prefix),
      ...(delimiter === "" ? {} : { Delimiter: encode(delimiter) }),
      KeyMarker: encode(after),
      VersionIdMarker: afterVersion ?? "",
      MaxKeys: limit,
      ...(query.has("encoding-type") ? { EncodingType: "url" } : {}),
      IsTruncated: page.next !== undefined,
      ...(page.next !== undefined && { NextKeyMarker: encode(page.next) }),
      ...(page.next !== undefined && last?.key === page.next && { NextVersionIdMarker: versionIdOf(last) }),
      Version: page.items
        .filter((version) => version.delete_marker !== true)
        .map((version) => ({
          ...shown(version),
          ETag: `"${version.etag}"`,
          Size: version.size,
          StorageClass: "STANDARD",
          Owner: owner,
        })),
      DeleteMarker: page.items
        .filter((version) => version.delete_marker === true)
        .map((version) => ({ ...shown(version), Owner: owner })),
      CommonPrefixes: page.prefixes.map((p) => ({ Prefix: encode(p) })),
    }),
  );
}
