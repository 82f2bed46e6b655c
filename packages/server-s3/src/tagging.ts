import { type Bucket, type ObjectVersion, type Tags, versionIdOf } from "@seneschal/core/storage";
import { type S3Call, type S3Reply, xmlReply } from "./call.ts";
import { s3Error } from "./errors.ts";
import { childText, type XmlElement, xmlDocument } from "./xml.ts";
import { readDocument } from "./xml-documents.ts";

const objectLimit = 10;
/** Letters, digits and spaces of any script, and what S3 has beside them (Amazon S3 user guide, "Categorizing your storage using tags"). */
const allowed = /^[\p{L}\p{N}\p{Z}+\-=._:/@]*$/u;
/** Tags that a bucket may have. */
export const bucketLimit = 50;

/** Tags as `x-amz-tagging` has them: a query string. Throws `InvalidArgument` for what is none, `InvalidTag`. */
export function tagsOfHeader(text: string | undefined): Tags | undefined {
  if (text === undefined) return undefined;
  const pairs = text.split("&").filter((pair) => pair !== "");
  const decode = (part: string) => {
    try {
      return decodeURIComponent(part.replaceAll("+", " "));
    } catch {
      throw noQuery();
    }
  };
  const tags = pairs.map((pair) => {
    const at = pair.indexOf("=");
    return { key: decode(at < 0 ? pair : pair.slice(0, at)), value: at < 0 ? "" : decode(pair.slice(at + 1)) };
  });
  if (tags.some(({ key }) => key === "") || new Set(tags.map(({ key }) => key)).size < tags.length) throw noQuery();
  return checked(tags, objectLimit);
}

/** Tags as a `Tagging` document has them, or the `Tags` of a new bucket. Throws `MalformedXML`, `InvalidTag`. */
export function tagsOfXml(root: XmlElement, limit = objectLimit): Tags {
  const set = root.name === "Tags" ? root : root.children[0];
  if (set === undefined) throw s3Error("MalformedXML", "expected Tagging with a TagSet");
  return checked(
    set.children.map((tag) => {
      const [key, value] = [childText(tag, "Key"), childText(tag, "Value")];
      if (key === undefined || value === undefined) throw s3Error("MalformedXML", "a Tag has a Key and a Value");
      return { key, value };
    }),
    limit,
  );
}

const noQuery = () =>
  s3Error(
    "InvalidArgument",
    "The header 'x-amz-tagging' shall be encoded as UTF-8 then URLEncoded URL query parameters without tag name duplicates.",
    { elements: { ArgumentName: "x-amz-tagging", ArgumentValue: "" } },
  );

function invalidTag(text: string) {
  return s3Error("InvalidTag", text);
}

function checked(tags: readonly { readonly key: string; readonly value: string }[], limit: number): Tags {
  if (tags.length > limit)
    throw limit === objectLimit
      ? invalidTag("Object tags cannot be greater than 10")
      : s3Error("BadRequest", `Bucket tag count cannot be greater than ${limit}`);
  if (new Set(tags.map(({ key }) => key)).size < tags.length) throw invalidTag("Cannot provide multiple Tags with the same key");
  for (const { key, value } of tags) {
    if (key.length === 0 || key.length > 128 || !allowed.test(key)) throw invalidTag("The TagKey you have provided is invalid");
    if (value.length > 256 || !allowed.test(value)) throw invalidTag("The TagValue you have provided is invalid");
    if (key.startsWith("aws:")) throw invalidTag("System tags cannot be added/updated by requester");
  }
  return [...tags].sort((a, b) => (a.key < b.key ? -1 : 1));
}

function tagging(tags: Tags): string {
  return xmlDocument("Tagging", { TagSet: { Tag: tags.map(({ key, value }) => ({ Key: key, Value: value })) } });
}

/** How many tags a version has, for its replies. */
export function taggingCount({ tags = [] }: ObjectVersion): Readonly<Record<string, string>> {
  return tags.length === 0 ? {} : { "x-amz-tagging-count": String(tags.length) };
}

const versionOf = (doc: ObjectVersion) => (doc.version_id === undefined ? {} : { "x-amz-version-id": versionIdOf(doc) });

export async function getObjectTagging(call: S3Call): Promise<S3Reply> {
  const object = await call.objects.headObject(call.tenant, call.bucket, call.key, call.query.get("versionId"));
  const reply = xmlReply(tagging(object.tags ?? []));
  return { ...reply, headers: { ...reply.headers, ...versionOf(object) } };
}

export async function putObjectTagging(call: S3Call): Promise<S3Reply> {
  const tags = tagsOfXml(await readDocument(call, "Tagging"));
  return { status: 200, headers: versionOf(await setTags(call, tags)) };
}

export async function removeObjectTagging(call: S3Call): Promise<S3Reply> {
  return { status: 204, headers: versionOf(await setTags(call, [])) };
}

function setTags({ objects, tenant, bucket, key, query }: S3Call, tags: Tags): Promise<ObjectVersion> {
  const target = { tenant, bucket, key, version: query.get("versionId") };
  return objects.describeVersion(
    target,
    ({ tags: _, ...doc }) => ({ ...doc, ...(tags.length > 0 && { tags }) }) as ObjectVersion,
  );
}

export async function getBucketTagging(call: S3Call): Promise<S3Reply> {
  const bucket = await call.objects.openBucket(call.tenant, call.bucket);
  if (bucket.tags === undefined) throw s3Error("NoSuchTagSet", "the bucket has no tags");
  return xmlReply(tagging(bucket.tags));
}

export async function putBucketTagging(call: S3Call): Promise<S3Reply> {
  const tags = tagsOfXml(await readDocument(call, "Tagging"), bucketLimit);
  await call.objects.changeBucket(call.tenant, call.bucket, "tagging", (bucket) => ({ ...bucket, tags }));
  return { status: 204 };
}

export async function removeBucketTagging(call: S3Call): Promise<S3Reply> {
  await call.objects.changeBucket(call.tenant, call.bucket, "tagging", ({ tags: _, ...bucket }) => bucket as Bucket);
  return { status: 204 };
}
