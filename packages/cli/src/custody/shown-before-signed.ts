import { nodeCrypto } from "@seneschal/adapters/node-crypto";
import { base64 } from "@seneschal/crypto";
import { bodyHash, readSigned, type SignedDocument } from "@seneschal/crypto/signing";
import { CodedError, type JsonObject } from "@seneschal/kernel";

/** What bytes are that are to be signed. `signs` is null where they are no document of this project. */
export interface ShownBeforeSigned {
  /** SHA-256 of the bytes, lower-case hex. */
  readonly hash: string;
  readonly signs: (SignedDocument & { readonly body: JsonObject | null }) | null;
  /** For people. */
  readonly lines: readonly string[];
}

/**
 * What is shown before bytes are signed, read from the bytes alone: docs/signing.md, "What is shown before it is signed". `body` is what the
 * operation's `body_sha256` is of, null where it is not known. Throws `file_invalid` for bytes that begin like a document and are none,
 * and for another body.
 */
export function shownBeforeSigned(message: Uint8Array, body: JsonObject | null): ShownBeforeSigned {
  const hash = Buffer.from(nodeCrypto.hash("sha256", message)).toString("hex");
  let document: SignedDocument | undefined;
  try {
    document = readSigned(message);
  } catch (error) {
    throw nothingSigned(message, "the bytes begin like a document and are not the canonical form of one", error);
  }
  if (body !== null && bodyHash(body) !== document?.payload["body_sha256"])
    throw nothingSigned(message, "the body that is shown is not the one of the operation");
  if (document === undefined) {
    const text = visible(Buffer.from(message).toString());
    return { hash, signs: null, lines: [`no document of this project, but these bytes: ${text}`] };
  }
  return { hash, signs: { ...document, body }, lines: documentLines(document.purpose, document.payload, body) };
}

/** Why bytes were left unsigned. */
export function nothingSigned(message: Uint8Array, reason: string, cause?: unknown): CodedError<"file_invalid"> {
  return new CodedError("file_invalid", `${reason}: nothing was signed`, { message: base64(message) }, cause);
}

/** A document for people: of an operation what it does, to what, where and until when. */
function documentLines(purpose: string, payload: JsonObject, body: JsonObject | null): readonly string[] {
  const lines = Object.entries(payload).map(([name, value]) => {
    const at = name === "iat" || name === "exp" ? new Date(Number(value) * 1000) : undefined;
    // A time beyond what a date can say is shown as the number that it is.
    const time = at === undefined || Number.isNaN(at.getTime()) ? "" : ` (${at.toISOString()})`;
    return `  ${visible(name).slice(1, -1)}: ${visible(value)}${time}`;
  });
  const fields =
    body === null ? ["  its fields: not shown; ask for them, and compare body_sha256"] : [`  its fields: ${visible(body)}`];
  return [purpose, ...lines, ...(purpose === "operation" ? fields : [])];
}

/** As JSON in which every character is seen: what is signed can turn no line round, hide nothing and act on no terminal. */
function visible(value: unknown): string {
  return JSON.stringify(value).replaceAll(/[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu, (unseen) =>
    [...unseen].map((character) => `\\u{${character.codePointAt(0)?.toString(16)}}`).join(""),
  );
}
