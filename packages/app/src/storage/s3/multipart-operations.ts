import {
  abortUpload,
  completeUpload,
  createUpload,
  listParts,
  partLimits,
  type UploadTarget,
  uploadPart,
} from "../objects/multipart.ts";
import { readObject } from "../objects/read-object.ts";
import { queryNumber, readText, type S3Call, type S3Reply, xmlReply } from "./call.ts";
import { s3Error } from "./errors.ts";
import { conditionsOf, describeObject } from "./object-headers.ts";
import { copySource, partNumberOf } from "./object-operations.ts";
import { uriEncode } from "./sigv4.ts";
import { childText, parseXml, xmlDocument } from "./xml.ts";

function target(call: S3Call): UploadTarget {
  return { tenant: call.tenant, bucket: call.bucket, key: call.key, upload: call.query.get("uploadId") ?? "" };
}

function partNumber(call: S3Call): number {
  return partNumberOf(call.query.get("partNumber") ?? "");
}

export async function beginUpload(call: S3Call): Promise<S3Reply> {
  const { contentType, headers, meta } = describeObject(call.headers);
  const { tenant, bucket, key } = call;
  const upload = await createUpload(call.services, { tenant, bucket, key, content_type: contentType, headers, meta });
  return xmlReply(xmlDocument("InitiateMultipartUploadResult", { Bucket: bucket, Key: key, UploadId: upload }));
}

export async function storePart(call: S3Call): Promise<S3Reply> {
  const number = partNumber(call);
  const body = call.body();
  if (body.length === undefined) throw s3Error("MissingContentLength", "the length of the content is missing");
  const part = await uploadPart(call.services, target(call), number, body.bytes);
  return { status: 200, headers: { etag: `"${part.etag}"`, ...body.verified } };
}

export async function copyPart(call: S3Call): Promise<S3Reply> {
  const number = partNumber(call);
  const { object, range } = await copySource(call);
  const bytes = readObject(call.services, object, range?.start ?? 0, range?.end ?? object.size);
  const part = await uploadPart(call.services, target(call), number, bytes);
  return xmlReply(
    xmlDocument("CopyPartResult", { LastModified: new Date(part.modified_at).toISOString(), ETag: `"${part.etag}"` }),
  );
}

export async function partsOfUpload(call: S3Call): Promise<S3Reply> {
  const limit = queryNumber(call, "max-parts", 1000, 1, 1000);
  const after = queryNumber(call, "part-number-marker", 0, 0, partLimits.maxNumber);
  const { parts, more } = await listParts(call.services, target(call), after, limit);
  return xmlReply(
    xmlDocument("ListPartsResult", {
      Bucket: call.bucket,
      Key: call.key,
      UploadId: call.query.get("uploadId"),
      Initiator: { ID: call.tenant, DisplayName: call.tenant },
      Owner: { ID: call.tenant, DisplayName: call.tenant },
      StorageClass: "STANDARD",
      PartNumberMarker: after,
      NextPartNumberMarker: parts.at(-1)?.number,
      MaxParts: limit,
      IsTruncated: more,
      Part: parts.map((p) => ({
        PartNumber: p.number,
        LastModified: new Date(p.modified_at).toISOString(),
        ETag: `"${p.etag}"`,
        Size: p.size,
      })),
    }),
  );
}

export async function finishUpload(call: S3Call): Promise<S3Reply> {
  const root = parseXml(await readText(call.body(), 2 * 1024 * 1024));
  const named = root.children
    .filter((c) => c.name === "Part")
    .map((p) => ({
      number: Number(childText(p, "PartNumber")),
      etag: (childText(p, "ETag") ?? "").trim().replace(/^"(.*)"$/, "$1"),
    }));
  const whole = named.length > 0 && named.every((n) => Number.isInteger(n.number) && n.etag !== "");
  if (root.name !== "CompleteMultipartUpload" || !whole)
    throw s3Error("MalformedXML", "expected CompleteMultipartUpload with Parts of PartNumber and ETag");
  if (named.some((n) => n.number < 1))
    throw s3Error("InvalidArgument", "PartNumber must be >= 1", {
      elements: { ArgumentName: "PartNumber", ArgumentValue: String(named.find((n) => n.number < 1)?.number) },
    });
  const object = await completeUpload(call.services, target(call), named, conditionsOf(call.headers));
  return xmlReply(
    xmlDocument("CompleteMultipartUploadResult", {
      Location: `http://${call.host}/${call.bucket}/${call.key.split("/").map(uriEncode).join("/")}`,
      Bucket: call.bucket,
      Key: call.key,
      ETag: `"${object.etag}"`,
    }),
  );
}

export async function giveUpUpload(call: S3Call): Promise<S3Reply> {
  await abortUpload(call.services, target(call));
  return { status: 204 };
}
