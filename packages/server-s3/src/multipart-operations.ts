import { partLimits, type Upload, type UploadChecksum, type UploadPart, type UploadTarget } from "@seneschal/core/storage";
import { queryNumber, type S3Call, type S3Reply, xmlReply } from "./call.ts";
import {
  checksumAlgorithm,
  checksumElements,
  checksumTypes,
  isChecksumHeader,
  isChecksumValue,
  joinChecksums,
  summed,
} from "./checksums.ts";
import { checkPartEncryption, customerKeyOf, encryptionReply } from "./encryption.ts";
import { s3Error } from "./errors.ts";
import { keyEncoder } from "./key-encoder.ts";
import { conditionsOf, describeObject } from "./object-headers.ts";
import { askedAttributes, copySource, madeReply, partNumberOf, sourceReply } from "./object-operations.ts";
import { replicaHeader } from "./replication.ts";
import { uriEncode } from "./sigv4.ts";
import { childText, xmlDocument } from "./xml.ts";
import { readDocument } from "./xml-documents.ts";

const prefix = "x-amz-checksum-";

function target(call: S3Call): UploadTarget {
  return { tenant: call.tenant, bucket: call.bucket, key: call.key, upload: call.query.get("uploadId") ?? "" };
}

function partNumber(call: S3Call): number {
  return partNumberOf(call.query.get("partNumber") ?? "");
}

export async function beginUpload(call: S3Call): Promise<S3Reply> {
  const { contentType, headers, meta } = describeObject(call);
  const { tenant, bucket, key } = call;
  const checksum = uploadChecksum(call);
  const replica = call.headers[replicaHeader];
  const { attributes, customerKey } = await askedAttributes(call);
  const upload = await call.objects.createUpload({
    tenant,
    bucket,
    key,
    content_type: contentType,
    headers,
    meta,
    ...(checksum && { checksum }),
    ...(replica !== undefined && { replica }),
    ...attributes,
  });
  const reply = xmlReply(xmlDocument("InitiateMultipartUploadResult", { Bucket: bucket, Key: key, UploadId: upload }));
  const checksumHeaders = checksum && {
    "x-amz-checksum-algorithm": checksum.algorithm.toUpperCase(),
    "x-amz-checksum-type": checksum.type,
  };
  return { ...reply, headers: { ...reply.headers, ...checksumHeaders, ...encryptionReply(attributes.encryption, customerKey) } };
}

/** The checksum that an upload is to have. Throws `InvalidRequest` for a type that its algorithm does not have. */
function uploadChecksum({ headers }: S3Call): UploadChecksum | undefined {
  const algorithm = checksumAlgorithm(headers["x-amz-checksum-algorithm"]);
  const asked = askedType(headers);
  if (algorithm === undefined) {
    if (asked === undefined) return undefined;
    throw s3Error("InvalidRequest", "The x-amz-checksum-type header can only be used with the x-amz-checksum-algorithm header.");
  }
  const type = checksumTypes(algorithm).find((t) => asked === undefined || t === asked);
  if (type === undefined)
    throw s3Error("InvalidRequest", `The ${asked} checksum type cannot be used with the ${algorithm} checksum algorithm.`);
  return { algorithm, type };
}

/** What a request says its checksum is about. Throws `InvalidRequest` for what is no such type. */
function askedType(headers: S3Call["headers"]): string | undefined {
  const asked = headers["x-amz-checksum-type"]?.toUpperCase();
  if (asked !== undefined && asked !== "COMPOSITE" && asked !== "FULL_OBJECT")
    throw s3Error("InvalidRequest", "Value for x-amz-checksum-type header is invalid.");
  return asked;
}

/**
 * The upload's own checksum by header name; of another algorithm none is taken, and where the whole is summed of the parts each has one.
 * Throws `InvalidRequest`.
 */
function checkPartChecksums({ checksum }: Upload, headers: S3Call["headers"]): void {
  const given = [...Object.keys(headers), headers["x-amz-trailer"] ?? ""].find(isChecksumHeader)?.slice(prefix.length);
  if (checksum === undefined || given === checksum.algorithm || (given === undefined && checksum.type === "FULL_OBJECT")) return;
  throw s3Error(
    "InvalidRequest",
    `Checksum Type mismatch occurred, expected checksum Type: ${checksum.algorithm.toUpperCase()}, actual checksum Type: ${given?.toUpperCase() ?? "null"}`,
  );
}

export async function storePart(call: S3Call): Promise<S3Reply> {
  const number = partNumber(call);
  const upload = await call.objects.openUpload(target(call));
  checkPartChecksums(upload, call.headers);
  checkPartEncryption(call.headers, upload.encryption);
  const body = call.body(upload.checksum?.algorithm);
  if (body.length === undefined) throw s3Error("MissingContentLength", "the length of the content is missing");
  const customerKey = customerKeyOf(call.headers);
  const { bytes, length, verified } = body;
  const part = await call.objects.uploadPart(target(call), number, { bytes, length, checksums: verified, customerKey });
  return { status: 200, headers: { etag: `"${part.etag}"`, ...verified, ...encryptionReply(upload.encryption, customerKey) } };
}

export async function copyPart(call: S3Call): Promise<S3Reply> {
  const number = partNumber(call);
  const upload = await call.objects.openUpload(target(call));
  const { object, range, customerKey: sourceKey } = await copySource(call);
  const { start, end } = range ?? { start: 0, end: object.size };
  const source = call.objects.readObject(object, start, end, { counted: true, customerKey: sourceKey });
  const customerKey = customerKeyOf(call.headers);
  const checksums: Record<string, string> = {};
  const bytes = summed(source, upload.checksum?.algorithm, checksums);
  const body = { bytes, checksums, length: end - start, customerKey };
  const part = await call.objects.uploadPart(target(call), number, body);
  const { ChecksumType: _, ...checksum } = checksumElements(checksums);
  const reply = xmlReply(
    xmlDocument("CopyPartResult", {
      LastModified: new Date(part.modified_at).toISOString(),
      ETag: `"${part.etag}"`,
      ...checksum,
    }),
  );
  const more = { ...encryptionReply(upload.encryption, customerKey), ...sourceReply(object) };
  return { ...reply, headers: { ...reply.headers, ...more } };
}

export async function partsOfUpload(call: S3Call): Promise<S3Reply> {
  const limit = queryNumber(call, "max-parts", 1000, 1, 1000);
  const after = queryNumber(call, "part-number-marker", 0, 0, partLimits.maxNumber);
  const encode = keyEncoder(call);
  const { upload, parts, more } = await call.objects.listParts(target(call), after, limit);
  return xmlReply(
    xmlDocument("ListPartsResult", {
      Bucket: call.bucket,
      Key: encode(call.key),
      UploadId: call.query.get("uploadId"),
      Initiator: { ID: call.tenant, DisplayName: call.tenant },
      Owner: { ID: call.tenant, DisplayName: call.tenant },
      StorageClass: "STANDARD",
      PartNumberMarker: after,
      NextPartNumberMarker: parts.at(-1)?.number,
      MaxParts: limit,
      IsTruncated: more,
      ...(upload.checksum && {
        ChecksumAlgorithm: upload.checksum.algorithm.toUpperCase(),
        ChecksumType: upload.checksum.type,
      }),
      Part: parts.map((p) => {
        const { ChecksumType: _, ...checksum } = checksumElements(p.checksums ?? {});
        return {
          PartNumber: p.number,
          LastModified: new Date(p.modified_at).toISOString(),
          ETag: `"${p.etag}"`,
          Size: p.size,
          ...checksum,
        };
      }),
    }),
  );
}

export async function finishUpload(call: S3Call): Promise<S3Reply> {
  const claimed = claimedChecksum(call.headers);
  const root = await readDocument(call, "CompleteMultipartUpload", { limit: 2 * 1024 * 1024, body: call.body(null) });
  const named = root.children.map((p) => {
    return {
      number: Number(childText(p, "PartNumber") ?? Number.NaN),
      etag: (childText(p, "ETag") ?? "").trim().replace(/^"(.*)"$/, "$1"),
      checksums: p.children.flatMap(({ name, text }) =>
        name.startsWith("Checksum") ? [[`x-amz-${name.replace("Checksum", "checksum-").toLowerCase()}`, text] as const] : [],
      ),
    };
  });
  const whole = named.length > 0 && named.every((n) => Number.isInteger(n.number) && n.etag !== "");
  if (!whole) throw s3Error("MalformedXML", "expected CompleteMultipartUpload with Parts of PartNumber and ETag");
  if (named.some((n) => n.number < 1))
    throw s3Error("InvalidArgument", "PartNumber must be >= 1", {
      elements: { ArgumentName: "PartNumber", ArgumentValue: String(named.find((n) => n.number < 1)?.number) },
    });
  const customerKey = customerKeyOf(call.headers);
  const object = await call.objects.completeUpload(target(call), {
    parts: named,
    customerKey,
    conditions: conditionsOf(call.headers),
    async join(upload, parts) {
      checkPartEncryption(call.headers, upload.encryption);
      return wholeChecksum(call, upload, { parts, named, claimed });
    },
  });
  const reply = xmlReply(
    xmlDocument("CompleteMultipartUploadResult", {
      Location: `${call.root}/${call.key.split("/").map(uriEncode).join("/")}`,
      Bucket: call.bucket,
      Key: call.key,
      ETag: `"${object.etag}"`,
      ...checksumElements(object.headers),
    }),
  );
  const more = { ...encryptionReply(object.encryption, customerKey), ...madeReply(object) };
  return { ...reply, headers: { ...reply.headers, ...more } };
}

/**
 * What a completion says of its parts and of the whole is checked: their checksums and the size. Returns the object's checksum by
 * header name, where the upload has one. Throws `InvalidPart`, `InvalidRequest`, `BadDigest`.
 */
async function wholeChecksum(
  { headers }: S3Call,
  { checksum }: Upload,
  {
    parts,
    named,
    claimed,
  }: {
    readonly parts: readonly UploadPart[];
    readonly named: readonly { readonly number: number; readonly checksums: readonly (readonly [string, string])[] }[];
    readonly claimed: string | undefined;
  },
): Promise<Readonly<Record<string, string>>> {
  const size = headers["x-amz-mp-object-size"];
  const sum = parts.reduce((sum, part) => sum + part.size, 0);
  if (size !== undefined && !/^\d+$/.test(size))
    throw s3Error(
      "InvalidRequest",
      `Value for x-amz-mp-object-size header is ${/^-\d+$/.test(size) ? "less than zero" : "invalid"}: '${size}'`,
    );
  if (size !== undefined && size !== String(sum))
    throw s3Error(
      "InvalidRequest",
      `The provided 'x-amz-mp-object-size' header value ${size} does not match what was computed: ${sum}`,
    );
  for (const [i, { number, checksums: given }] of named.entries()) {
    if (given.length > 1 || given.some(([name, value]) => !isChecksumValue(name, value)))
      throw s3Error("InvalidArgument", "Invalid Base64 or multiple checksums present in request", {
        elements: { ArgumentName: "Checksum", ArgumentValue: given.map(([, value]) => value).join() },
      });
    for (const [name, value] of given) {
      const known = parts[i]?.checksums?.[name];
      if (known === undefined)
        throw s3Error(
          "BadDigest",
          `The ${name.slice(prefix.length)} you specified for part ${number} did not match what we received.`,
        );
      if (known !== value) throw s3Error("InvalidPart", `part ${number} was not uploaded with this checksum`);
    }
    if (checksum?.type === "COMPOSITE" && given.length === 0)
      throw s3Error(
        "InvalidRequest",
        `The upload was created using a ${checksum.algorithm} checksum. The complete request must include the checksum for each part. It was missing for part ${number} in the request.`,
      );
  }
  const asked = askedType(headers);
  if (asked !== undefined && asked !== checksum?.type)
    throw s3Error(
      "InvalidRequest",
      checksum === undefined
        ? "The upload was created without a checksum type."
        : `The upload was created using the ${checksum.type} checksum mode. The complete request must use the same checksum mode.`,
    );
  if (checksum === undefined) {
    if (claimed === undefined) return {};
    throw s3Error(
      "InvalidRequest",
      "The upload was created without a checksum algorithm: the object has no checksum to compare.",
    );
  }
  const name = `x-amz-checksum-${checksum.algorithm}`;
  const sums = parts.map((part) => ({ checksum: part.checksums?.[name] ?? "", size: part.size }));
  const whole = await joinChecksums(checksum.algorithm, checksum.type, sums);
  if (claimed !== undefined && (claimed !== name || ![whole, whole.replace(/-\d+$/, "")].includes(headers[claimed] ?? "")))
    throw s3Error("BadDigest", `The ${checksum.algorithm.toUpperCase()} you specified did not match the calculated checksum.`);
  return { [name]: whole };
}

/** The name of the header that says what the checksum of the whole is. Throws `InvalidRequest` for several, and for what is no value of it. */
function claimedChecksum(headers: S3Call["headers"]): string | undefined {
  const [claimed, ...others] = Object.keys(headers).filter(isChecksumHeader);
  if (others.length > 0)
    throw s3Error("InvalidRequest", "Expecting a single x-amz-checksum- header. Multiple checksum Types are not allowed.");
  if (claimed !== undefined && !isChecksumValue(claimed, (headers[claimed] ?? "").replace(/-\d+$/, "")))
    throw s3Error("InvalidRequest", `Value for ${claimed} header is invalid.`);
  return claimed;
}

export async function giveUpUpload(call: S3Call): Promise<S3Reply> {
  const initiated = call.headers["x-amz-if-match-initiated-time"];
  // A time that is still to come is no condition, as for `If-Modified-Since` (RFC 9110, 13.1.3).
  const at = initiated === undefined || Date.parse(initiated) > call.now ? undefined : Date.parse(initiated);
  await call.objects.abortUpload(target(call), at);
  return { status: 204 };
}
