import { type Bucket, type BucketLogging, isBucketName, logObjectKey, maxKeyBytes } from "@seneschal/core/storage";
import { type S3Call, type S3Reply, xmlReply } from "./call.ts";
import { s3Error } from "./errors.ts";
import { childText, type XmlElement, xmlDocument } from "./xml.ts";
import { readDocument } from "./xml-documents.ts";

/** Sets where the requests of a bucket are written down; a document without `LoggingEnabled` ends it. */
export async function putLogging(call: S3Call): Promise<S3Reply> {
  const root = await readDocument(call, "BucketLoggingStatus");
  const [enabled] = root.children;
  const logging = enabled === undefined ? undefined : readLogging(enabled);
  const bucket = await call.objects.openBucket(call.tenant, call.bucket);
  if (logging !== undefined) {
    const facts = { tenant: call.tenant, region: bucket.region, bucket: call.bucket, at: call.now, since: call.now };
    if (Buffer.byteLength(logObjectKey(logging, { ...facts, unique: "0".repeat(16) })) > maxKeyBytes)
      throw s3Error("InvalidArgument", `keys of log objects would be longer than ${maxKeyBytes} bytes`, {
        elements: { ArgumentName: "TargetPrefix", ArgumentValue: logging.prefix },
      });
    // One that is another's is as one that there is not.
    if (!(await call.mayDeliverLogs(bucket, logging)))
      throw s3Error("InvalidTargetBucketForLogging", "the target's policy lets logging.s3.amazonaws.com put no such object", {
        elements: { TargetBucket: logging.target },
      });
  }
  await call.objects.changeBucket(call.tenant, call.bucket, "logging", ({ logging: _, ...rest }) => {
    return { ...rest, ...(logging && { logging }) } as unknown as Bucket;
  });
  return { status: 200 };
}

function readLogging(element: XmlElement): BucketLogging {
  const child = (name: string) => element.children.find((c) => c.name === name);
  const [target, prefix] = [childText(element, "TargetBucket")?.trim(), childText(element, "TargetPrefix")];
  if (target === undefined || prefix === undefined)
    throw s3Error("MalformedXML", "LoggingEnabled has a TargetBucket and a TargetPrefix");
  if ((child("TargetGrants")?.children.length ?? 0) > 0)
    throw s3Error("AccessControlListNotSupported", "grants of log objects are ACLs: the target's policy says who may read them");
  if (!isBucketName(target))
    throw s3Error("InvalidTargetBucketForLogging", "no bucket is called so", { elements: { TargetBucket: target } });
  const format = readFormat(child("TargetObjectKeyFormat"));
  return { target, prefix, ...(format && { format }) };
}

function readFormat(element: XmlElement | undefined): BucketLogging["format"] {
  if (element === undefined) return undefined;
  const [form] = element.children;
  if (form === undefined || element.children.length > 1)
    throw s3Error("MalformedXML", "a TargetObjectKeyFormat is SimplePrefix or PartitionedPrefix");
  if (form.name === "SimplePrefix") return "SimplePrefix";
  const source = childText(form, "PartitionDateSource")?.trim();
  if (source !== "EventTime" && source !== "DeliveryTime")
    throw s3Error("MalformedXML", "a PartitionDateSource is EventTime or DeliveryTime");
  return source;
}

/** A bucket whose requests are not logged has an empty status. */
export async function getLogging(call: S3Call): Promise<S3Reply> {
  const { logging } = await call.objects.openBucket(call.tenant, call.bucket);
  if (logging === undefined) return xmlReply(xmlDocument("BucketLoggingStatus", {}));
  const { target, prefix, format } = logging as BucketLogging;
  const partitioned = format !== "SimplePrefix" && { PartitionedPrefix: { PartitionDateSource: format } };
  return xmlReply(
    xmlDocument("BucketLoggingStatus", {
      LoggingEnabled: {
        TargetBucket: target,
        TargetPrefix: prefix,
        ...(format !== undefined && { TargetObjectKeyFormat: partitioned || { SimplePrefix: {} } }),
      },
    }),
  );
}
