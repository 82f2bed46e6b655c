import type { ObjectVersion } from "@seneschal/core/storage";
import { type S3Call, type S3Reply, xmlReply } from "./call.ts";
import { checksumElements } from "./checksums.ts";
import { customerKeyOf } from "./encryption.ts";
import { s3Error } from "./errors.ts";
import { versionReply } from "./object-operations.ts";
import { type XmlObject, xmlDocument } from "./xml.ts";

const known = ["ETag", "Checksum", "ObjectParts", "StorageClass", "ObjectSize"];

/** GetObjectAttributes: what is asked for of the object, without its bytes. */
export async function objectAttributes(call: S3Call): Promise<S3Reply> {
  const asked = (call.headers["x-amz-object-attributes"] ?? "").split(",").map((name) => name.trim());
  if (asked.some((name) => !known.includes(name))) throw s3Error("InvalidArgument", "Invalid attribute name specified.");
  const object = await call.objects.headObject(call.tenant, call.bucket, call.key, call.query.get("versionId"));
  call.objects.customerKeyFor(object, customerKeyOf(call.headers));
  const checksum = checksumElements(object.headers);
  const all: XmlObject = {
    ETag: object.etag,
    Checksum: Object.keys(checksum).length === 0 ? undefined : checksum,
    ObjectParts: asked.includes("ObjectParts") ? await partsOf(call, object) : undefined,
    StorageClass: "STANDARD",
    ObjectSize: object.size,
  };
  const document = Object.fromEntries(Object.entries(all).filter(([name]) => asked.includes(name)));
  const reply = xmlReply(xmlDocument("GetObjectAttributesResponse", document));
  return {
    ...reply,
    headers: { ...reply.headers, "last-modified": new Date(object.modified_at).toUTCString(), ...versionReply(object) },
  };
}

/** The parts of a multipart object; S3 lists them one by one only where they have checksums. */
async function partsOf(call: S3Call, object: ObjectVersion): Promise<XmlObject | undefined> {
  const parts = call.objects.partsOf(object);
  if (parts === undefined) return undefined;
  const number = (name: string, fallback: number) => {
    const text = call.headers[name] ?? String(fallback);
    if (!/^\d+$/.test(text)) throw s3Error("InvalidArgument", `${name} must be a number`);
    return Number(text);
  };
  const limit = Math.min(number("x-amz-max-parts", 1000), 1000);
  const after = number("x-amz-part-number-marker", 0);
  const rest = parts.filter((part) => part.number > after);
  const page = rest.slice(0, limit);
  const checksums = await call.objects.partChecksums(
    object,
    page.map(({ number }) => number),
  );
  const listed = page.flatMap((part): XmlObject[] => {
    const sums = checksums.get(part.number);
    if (sums === undefined) return [];
    const { ChecksumType: _, ...checksum } = checksumElements(sums);
    return [{ PartNumber: part.number, Size: part.size, ...checksum }];
  });
  return {
    PartsCount: parts.length,
    PartNumberMarker: after,
    NextPartNumberMarker: page.at(-1)?.number ?? 0,
    MaxParts: limit,
    IsTruncated: rest.length > page.length,
    Part: listed,
  };
}
