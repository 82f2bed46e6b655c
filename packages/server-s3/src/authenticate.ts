import type { S3Credential } from "@seneschal/core/storage";
import { s3Error } from "./errors.ts";
import { isSignedV2, unsignedPayload, verifySignatureV2 } from "./sigv2.ts";
import { type SignedRequest, splitTarget, type Verified, verifySignature } from "./sigv4.ts";

/**
 * Who asks. A request without any signature is nobody's, whose tenant is empty; one of Version 2 is refused unless it is taken. Throws
 * what the verification of the signature throws.
 */
export async function authenticateS3(
  request: SignedRequest,
  lookUp: (accessKey: string) => Promise<S3Credential | undefined>,
  now: number,
  signatureV2: boolean,
): Promise<Verified> {
  const { query } = splitTarget(request.target);
  const { authorization } = request.headers;
  const inQuery = ["X-Amz-Algorithm", "X-Amz-Signature", "X-Amz-Credential", "AWSAccessKeyId", "Signature"];
  if (authorization !== undefined && query.some(([name]) => inQuery.includes(name)))
    throw s3Error(
      "InvalidArgument",
      "Only one auth mechanism allowed; only the X-Amz-Algorithm query parameter, Signature query string parameter or the Authorization header should be specified",
      { elements: { ArgumentName: "Authorization", ArgumentValue: authorization } },
    );
  if (signatureV2 && isSignedV2(request, query)) return verifySignatureV2(request, lookUp, now);
  const signed = query.some(([name]) => name !== "Signature" && inQuery.includes(name));
  if (authorization !== undefined || signed) return verifySignature(request, lookUp, now);
  if (query.some(([name]) => name === "Signature")) throw s3Error("AccessDenied", "the request is half signed");
  return { ...unsignedPayload(request.headers), accessKey: "", tenant: "", access: undefined };
}
