import type { JsonObject } from "@seneschal/kernel";
import { checkArgument } from "@seneschal/kernel";
import { fromUtf8, utf8 } from "../bytes.ts";
import { cryptoError } from "../errors.ts";
import { parseCanonicalJson } from "../json/parse-canonical-json.ts";
import { isWellFormed, type OperationPayload } from "./operation.ts";
import { SIGNING_PREFIXES, type SigningPurpose } from "./signing-bytes.ts";

/** What bytes that are to be signed mean. An operation of the purpose `operation` has all its fields, but that which makes the first admin. */
export interface SignedDocument {
  readonly purpose: SigningPurpose;
  readonly payload: JsonObject;
}

const OURS = utf8("seneschal/");
const FIRST_ADMIN = ["audience", "body_sha256", "op", "org_id", "v"];

/**
 * Reads the document of which these bytes are the form that is signed: the other way round of {@link signingBytes}, so that who signs
 * is shown what a verifier will take the signature for, and nothing that is not in the bytes. `undefined` for bytes that begin no document of this
 * project: they mean what their owner says. Throws `not_canonical` for bytes that begin like one and are none: nobody should sign them.
 *
 * @example
 * ```ts
 * import { readSigned, signingBytes } from "@seneschal/crypto/signing";
 * console.log(readSigned(signingBytes("backup", { b: 1 }))); // { purpose: 'backup', payload: { b: 1 } }
 * console.log(readSigned(new TextEncoder().encode("release 7"))); // undefined
 * ```
 */
export function readSigned(message: Uint8Array): SignedDocument | undefined {
  checkArgument("message", message, "bytes");
  if (!OURS.every((byte, i) => message[i] === byte)) return undefined;
  const end = message.indexOf(0);
  const prefix = fromUtf8(message.subarray(0, Math.max(end, 0)));
  const purpose = (Object.keys(SIGNING_PREFIXES) as SigningPurpose[]).find((name) => SIGNING_PREFIXES[name] === prefix);
  if (purpose === undefined) throw cryptoError("not_canonical", "no document of a known purpose");
  const payload = parseCanonicalJson(message.subarray(end + 1));
  if (typeof payload !== "object" || payload === null || Array.isArray(payload)) {
    throw cryptoError("not_canonical", "not a document");
  }
  const document = { purpose, payload: payload as JsonObject };
  if (purpose === "operation" && !isOperation(document.payload)) throw cryptoError("not_canonical", "not an operation");
  return document;
}

function isOperation(payload: JsonObject): boolean {
  if (isWellFormed(payload as unknown as OperationPayload)) return true;
  const names = Object.keys(payload).sort();
  return payload["op"] === "admin.bootstrap" && names.join() === FIRST_ADMIN.join();
}
