import { createHash } from "node:crypto";
import { type Bucket, customerKeyBytes, type ObjectEncryption } from "@seneschal/core/storage";
import { type S3Call, type S3Reply, xmlReply } from "./call.ts";
import { s3Error } from "./errors.ts";
import { childText, xmlDocument } from "./xml.ts";
import { readDocument } from "./xml-documents.ts";

type Headers = Readonly<Record<string, string | undefined>>;

const algorithmHeader = "x-amz-server-side-encryption";
const keyIdHeader = `${algorithmHeader}-aws-kms-key-id`;
const customerHeader = `${algorithmHeader}-customer-`;
const customerNames = ["algorithm", "key", "key-md5"];

/** The headers by which a client names a key that it keeps. */
export const customerHeaders = customerNames.map((name) => customerHeader + name);
/** The same of the source of a copy. */
export const sourceCustomerHeaders = customerHeaders.map((name) => name.replace("x-amz-", "x-amz-copy-source-"));
/** The headers by which a client names keys of the cluster. */
const namedHeaders = [algorithmHeader, keyIdHeader];
/** The headers by which a client asks for encryption. */
export const encryptionHeaders = [...namedHeaders, ...customerHeaders];

/** The key that the client keeps, where it sent one. Throws `InvalidArgument`. */
export function customerKeyOf(headers: Headers, names: readonly string[] = customerHeaders): Uint8Array | undefined {
  const [algorithm, key, md5] = names.map((name) => headers[name]);
  if (algorithm === undefined && key === undefined && md5 === undefined) return undefined;
  const wrong = (text: string) => s3Error("InvalidArgument", text);
  if (algorithm === undefined)
    throw wrong(
      "Requests specifying Server Side Encryption with Customer provided keys must provide a valid encryption algorithm.",
    );
  if (algorithm !== "AES256") throw s3Error("InvalidEncryptionAlgorithmError", "The encryption algorithm is not AES256");
  if (key === undefined || key === "")
    throw wrong("Requests specifying Server Side Encryption with Customer provided keys must provide an appropriate secret key.");
  const bytes = Buffer.from(key, "base64");
  if (bytes.length !== customerKeyBytes || bytes.toString("base64") !== key)
    throw wrong("The secret key was invalid for the specified algorithm.");
  if (md5 === undefined || md5 === "")
    throw wrong(
      "Requests specifying Server Side Encryption with Customer provided keys must provide the client calculated MD5 of the secret key.",
    );
  if (createHash("md5").update(bytes).digest("base64") !== md5)
    throw wrong("The calculated MD5 hash of the key did not match the hash that was provided.");
  return bytes;
}

/** How a new object is encrypted. */
export interface AskedEncryption {
  readonly encryption?: ObjectEncryption & Bucket["encryption"];
  readonly customerKey: Uint8Array | undefined;
}

/** What the headers ask for, else what the bucket has. Throws `InvalidArgument`, `KMS.NotFoundException`. */
export async function askedEncryption(call: S3Call): Promise<AskedEncryption> {
  const { headers, tenant, objects, bucket } = call;
  const customerKey = customerKeyOf(headers);
  const algorithm = headers[algorithmHeader];
  const keyId = headers[keyIdHeader];
  if (customerKey !== undefined) {
    if (algorithm !== undefined || keyId !== undefined)
      throw s3Error(
        "InvalidArgument",
        "Server Side Encryption with Customer provided key is incompatible with the encryption method specified",
      );
    return { encryption: { ...objects.customerEncryption(customerKey) }, customerKey };
  }
  if (algorithm === undefined && keyId === undefined) {
    const { encryption } = await objects.openBucket(tenant, bucket);
    return { ...(encryption && { encryption }), customerKey };
  }
  const encryption = namedEncryption(tenant, algorithm, keyId);
  return { ...(encryption && { encryption }), customerKey };
}

/** Encryption by name. `AES256` is what everything has, so that nothing is kept of it. */
function namedEncryption(
  tenant: string,
  algorithm: string | undefined,
  keyId: string | undefined,
): (ObjectEncryption & { readonly kind: "aws:kms" }) | undefined {
  if (algorithm === "AES256" && keyId === undefined) return undefined;
  if (algorithm !== "aws:kms")
    throw s3Error(
      "InvalidArgument",
      keyId === undefined || (algorithm !== undefined && algorithm !== "AES256")
        ? "The encryption method specified is not supported"
        : "Server Side Encryption with AWS KMS managed key requires HTTP header x-amz-server-side-encryption : aws:kms",
    );
  // A tenant has one key, which all of its objects are under; it is called as the tenant is.
  const id = keyId ?? tenant;
  if (id.replace(/^arn:aws:kms:[^:]*:[^:]*:(?:key|alias)\//, "") !== tenant)
    throw s3Error(
      "KMS.NotFoundException",
      `the tenant has no key ${JSON.stringify(id)}: its key is called ${JSON.stringify(tenant)}`,
    );
  return { kind: "aws:kms", key_id: id };
}

/** How an object is encrypted was said when it was written: saying it of a read is a mistake. Throws `InvalidArgument`. */
export function refuseEncryptionNames(headers: Headers): void {
  if (namedHeaders.some((name) => headers[name] !== undefined))
    throw s3Error("InvalidArgument", "x-amz-server-side-encryption header is not supported for this operation.");
}

/** A part, and the whole, is encrypted as its upload is; a request may say so, and nothing else. Throws `InvalidArgument`. */
export function checkPartEncryption(headers: Headers, encryption: ObjectEncryption | undefined): void {
  const own = encryptionReply(encryption, undefined);
  if (namedHeaders.some((name) => headers[name] !== undefined && headers[name] !== own[name]))
    throw s3Error("InvalidArgument", "a part is encrypted as its upload is");
}

/** What a reply says of the encryption of an object. `customerKey`: the one that opened it. */
export function encryptionReply(
  encryption: ObjectEncryption | undefined,
  customerKey: Uint8Array | undefined,
): Readonly<Record<string, string>> {
  if (customerKey !== undefined)
    return {
      [`${customerHeader}algorithm`]: "AES256",
      [`${customerHeader}key-md5`]: createHash("md5").update(customerKey).digest("base64"),
    };
  if (encryption?.kind === "aws:kms") return { [algorithmHeader]: "aws:kms", [keyIdHeader]: encryption.key_id };
  return encryption?.kind === "customer" ? {} : { [algorithmHeader]: "AES256" };
}

/** What new objects of a bucket get: every object is encrypted by its own key under AES-256, whether a client asks or not. */
export async function getBucketEncryption(call: S3Call): Promise<S3Reply> {
  const bucket = await call.objects.openBucket(call.tenant, call.bucket);
  const { encryption } = bucket;
  const chosen =
    encryption?.kind === "aws:kms" ? { SSEAlgorithm: "aws:kms", KMSMasterKeyID: encryption.key_id } : { SSEAlgorithm: "AES256" };
  const rule = { ApplyServerSideEncryptionByDefault: chosen, BucketKeyEnabled: false };
  return xmlReply(xmlDocument("ServerSideEncryptionConfiguration", { Rule: rule }));
}

export async function putBucketEncryption(call: S3Call): Promise<S3Reply> {
  const root = await readDocument(call, "ServerSideEncryptionConfiguration");
  const chosen = root.children[0]?.children.find(({ name }) => name === "ApplyServerSideEncryptionByDefault");
  if (chosen === undefined) throw s3Error("MalformedXML", "expected a Rule with ApplyServerSideEncryptionByDefault");
  const encryption = namedEncryption(
    call.tenant,
    childText(chosen, "SSEAlgorithm"),
    childText(chosen, "KMSMasterKeyID") || undefined,
  );
  await call.objects.changeBucket(
    call.tenant,
    call.bucket,
    "encryption",
    ({ encryption: _, ...bucket }) =>
      ({
        ...bucket,
        ...(encryption && { encryption }),
      }) as Bucket,
  );
  return { status: 200 };
}

/** New objects are encrypted as everything is, and as nothing else. */
export async function removeBucketEncryption(call: S3Call): Promise<S3Reply> {
  await call.objects.changeBucket(call.tenant, call.bucket, "encryption", ({ encryption: _, ...bucket }) => bucket as Bucket);
  return { status: 204 };
}
