import type { CodedError } from "@seneschal/kernel";
import { type S3Code, s3Error } from "./errors.ts";

/** What a request says about its own signature. Nothing of it is verified, but all of it is well-formed. */
export interface SignatureClaim {
  readonly accessKey: string;
  /** `yyyyMMdd`. */
  readonly date: string;
  readonly region: string;
  readonly signedHeaders: readonly string[];
  readonly signature: string;
  readonly amzDate: string;
  /** `amzDate` in milliseconds. */
  readonly at: number;
  readonly payloadHash: string;
  readonly presigned: boolean;
}

type Query = readonly (readonly [string, string])[];
type Headers = Readonly<Record<string, string | undefined>>;

const payloadForms = [
  "UNSIGNED-PAYLOAD",
  "STREAMING-UNSIGNED-PAYLOAD-TRAILER",
  "STREAMING-AWS4-HMAC-SHA256-PAYLOAD",
  "STREAMING-AWS4-HMAC-SHA256-PAYLOAD-TRAILER",
  "STREAMING-AWS4-ECDSA-P256-SHA256-PAYLOAD",
  "STREAMING-AWS4-ECDSA-P256-SHA256-PAYLOAD-TRAILER",
];
const maxExpires = 7 * 86_400;
const queryNames = ["Algorithm", "Credential", "Signature", "Date", "SignedHeaders", "Expires"].map((n) => `X-Amz-${n}`);

/**
 * Reads the claim of a request from its query (presigned) or its Authorization header, and answers in the words of S3. Throws
 * `AccessDenied` for an unsigned or expired request, `InvalidArgument`, `InvalidRequest`, `AuthorizationHeaderMalformed`,
 * `AuthorizationQueryParametersError`.
 */
export function signatureClaim(headers: Headers, query: Query, now: number): SignatureClaim {
  if (query.some(([name]) => name === "X-Amz-Algorithm")) return presignedClaim(query, now);
  if (query.some(([name]) => name === "AWSAccessKeyId")) throw unsupportedMechanism();
  return headerClaim(headers);
}

function unsupportedMechanism(): CodedError<S3Code> {
  const text = "The authorization mechanism you have provided is not supported. Please use AWS4-HMAC-SHA256.";
  return s3Error("InvalidRequest", text);
}

function headerClaim(headers: Headers): SignatureClaim {
  const authorization = headers["authorization"];
  if (authorization === undefined || authorization === "") throw s3Error("AccessDenied", "the request is not signed");
  const malformed: Malformed = (text) =>
    s3Error("AuthorizationHeaderMalformed", `The authorization header is malformed; ${text}`);
  const [, type = "", rest = ""] = /^(\S+)\s+(.+)$/.exec(authorization) ?? [];
  const argument = { ArgumentName: "Authorization", ArgumentValue: type === "" ? authorization : type };
  if (type === "")
    throw s3Error("InvalidArgument", "Authorization header is invalid -- one and only one ' ' (space) required.", {
      elements: argument,
    });
  if (type === "AWS") throw unsupportedMechanism();
  if (type !== "AWS4-HMAC-SHA256") throw s3Error("InvalidArgument", "Unsupported Authorization Type", { elements: argument });
  const components = rest.split(",").map((component) => component.trim());
  const fields = new Map<string, string>();
  for (const component of components) {
    const at = component.indexOf("=");
    if (at < 1) throw malformed(`the authorization component "${component}" is malformed.`);
    fields.set(component.slice(0, at), component.slice(at + 1));
  }
  if (components.length !== 3)
    throw malformed("the authorization header requires three components: Credential, SignedHeaders, and Signature.");
  const field = (name: string): string => {
    const value = fields.get(name);
    if (!value) throw malformed(`missing ${name}.`);
    return value;
  };
  const [given, signedHeaders, signature] = [field("Credential"), field("SignedHeaders"), field("Signature")];
  const credential = readCredential(given, malformed);
  if (headers["x-amz-security-token"] !== undefined)
    throw s3Error("InvalidToken", "The provided token is malformed or otherwise invalid.");
  const declared = headers["x-amz-content-sha256"];
  if (declared === undefined) throw s3Error("InvalidRequest", "Missing required header for this request: x-amz-content-sha256");
  const payloadHash = checkedPayloadHash(declared);
  const amzDate = headers["x-amz-date"] || toAmzDate(Date.parse(headers["date"] ?? ""));
  const at = parseAmzDate(amzDate);
  if (at === undefined) throw s3Error("AccessDenied", "AWS authentication requires a valid Date or x-amz-date header.");
  if (!amzDate.startsWith(credential.date)) throw malformed("Invalid credential date. Date is not the same as X-Amz-Date.");
  const listed = { signedHeaders: signedHeaders.split(";"), signature };
  return { ...credential, ...listed, amzDate, at, payloadHash, presigned: false };
}

function presignedClaim(query: Query, now: number): SignatureClaim {
  const wrong: Malformed = (text) => s3Error("AuthorizationQueryParametersError", text);
  const [algorithm = "", given = "", signature = "", amzDate = "", signedHeaders = "", expires = ""] = queryNames.map((name) => {
    const values = query.filter(([n]) => n === name).map(([, value]) => value);
    if (values.length !== 1 || !values[0])
      throw wrong(
        "Query-string authentication version 4 requires the X-Amz-Algorithm, X-Amz-Credential, X-Amz-Signature, X-Amz-Date, X-Amz-SignedHeaders, and X-Amz-Expires parameters.",
      );
    return values[0];
  });
  if (algorithm !== "AWS4-HMAC-SHA256") throw wrong('X-Amz-Algorithm only supports "AWS4-HMAC-SHA256"');
  const seconds = Number(expires);
  if (!Number.isInteger(seconds)) throw wrong("X-Amz-Expires should be a number");
  if (seconds < 0) throw wrong("X-Amz-Expires must be non-negative");
  if (seconds < 1 || seconds > maxExpires)
    throw wrong(
      "X-Amz-Expires must be less than a week (in seconds); that is, the given X-Amz-Expires must be less than 604800 seconds",
    );
  const credential = readCredential(given, (text) => wrong(`Error parsing the X-Amz-Credential parameter; ${text}`));
  const at = parseAmzDate(amzDate);
  if (at === undefined) throw wrong("X-Amz-Date must be in the ISO8601 Long Format \"yyyyMMdd'T'HHmmss'Z'\"");
  if (!amzDate.startsWith(credential.date))
    throw wrong(
      `Invalid credential date "${credential.date}". This date is not the same as X-Amz-Date: "${amzDate.slice(0, 8)}".`,
    );
  const end = at + seconds * 1000;
  if (now > end)
    throw s3Error("AccessDenied", "Request has expired.", {
      elements: {
        ServerTime: new Date(now).toISOString(),
        "X-Amz-Expires": String(seconds),
        Expires: new Date(end).toISOString(),
      },
    });
  if (query.some(([name]) => name === "X-Amz-Security-Token"))
    throw s3Error("InvalidToken", "The provided token is malformed or otherwise invalid.");
  const payloadHash = checkedPayloadHash(query.find(([name]) => name === "X-Amz-Content-Sha256")?.[1] ?? "UNSIGNED-PAYLOAD");
  const listed = { signedHeaders: signedHeaders.split(";"), signature };
  return { ...credential, ...listed, amzDate, at, payloadHash, presigned: true };
}

/** Checked before the signature: what is no hash and no known form could pass as a payload that is not looked at. */
function checkedPayloadHash(text: string): string {
  if (/^[0-9a-f]{64}$/.test(text) || payloadForms.includes(text)) return text;
  throw s3Error("InvalidArgument", `x-amz-content-sha256 must be ${payloadForms.join(", ")} or a valid sha256 value.`, {
    elements: { ArgumentName: "x-amz-content-sha256", ArgumentValue: text },
  });
}

type Malformed = (text: string) => CodedError<S3Code>;

function readCredential(text: string, malformed: Malformed): Pick<SignatureClaim, "accessKey" | "date" | "region"> {
  const [accessKey, date = "", region, service, terminal, ...more] = text.split("/");
  if (!accessKey || !region || service === undefined || terminal === undefined || more.length > 0)
    throw malformed('the Credential is mal-formed; expecting "<YOUR-AKID>/YYYYMMDD/REGION/SERVICE/aws4_request".');
  if (service !== "s3") throw malformed(`incorrect service "${service}". This endpoint belongs to "s3".`);
  if (terminal !== "aws4_request") throw malformed(`incorrect terminal "${terminal}". This endpoint uses "aws4_request".`);
  if (!/^\d{8}$/.test(date))
    throw malformed(`incorrect date format "${date}". This date in the credential must be in the format "yyyyMMdd".`);
  return { accessKey, date, region };
}

function parseAmzDate(text: string): number | undefined {
  const m = /^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/.exec(text);
  const at = m === null ? Number.NaN : Date.parse(`${m[1]}-${m[2]}-${m[3]}T${m[4]}:${m[5]}:${m[6]}Z`);
  return Number.isNaN(at) ? undefined : at;
}

/** `20260101T000000Z`; empty for no time. */
function toAmzDate(at: number): string {
  return Number.isNaN(at) ? "" : new Date(at).toISOString().replace(/[-:]|\.\d{3}/g, "");
}
