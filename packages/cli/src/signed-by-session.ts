import { nodeCrypto } from "@seneschal/adapters/node-crypto";
import type { Client } from "@seneschal/contract";
import type { GatewayContract } from "@seneschal/contract/gateway";
import { canonicalJson, fromBase64 } from "@seneschal/crypto";
import { bodyHash, readSigned } from "@seneschal/crypto/signing";
import { CodedError, type JsonObject } from "@seneschal/kernel";

type Session = Awaited<ReturnType<Client<GatewayContract>["getSigningSession"]>>;

/**
 * What a session is to sign, read from its bytes here and not as the gateway shows it. Throws `file_invalid` for bytes that begin like a
 * document and are none, and where the gateway shows something else than they are.
 */
export function signedBySession({ round, signs: told }: Pick<Session, "round" | "signs">) {
  const message = fromBase64(round.message);
  const hash = Buffer.from(nodeCrypto.hash("sha256", message)).toString("hex");
  const nothing = (reason: string, cause?: unknown) =>
    new CodedError("file_invalid", `${reason}: nothing was signed`, { message: round.message }, cause);
  let document: ReturnType<typeof readSigned>;
  try {
    document = readSigned(message);
  } catch (error) {
    throw nothing("the bytes begin like a document and are not the canonical form of one", error);
  }
  if (document === undefined) {
    if (told !== null) throw nothing("the gateway shows a document, and the bytes are none");
    return {
      hash,
      signs: null,
      lines: [`no document of this project, but these bytes: ${visible(Buffer.from(message).toString())}`],
    };
  }
  const { purpose, payload } = document;
  if (told === null || canonicalJson({ purpose: told.purpose, payload: told.payload }) !== canonicalJson(document))
    throw nothing("the gateway shows something else than the bytes are");
  const { body } = told;
  if (body !== null && bodyHash(body) !== payload["body_sha256"])
    throw nothing("the body that the gateway shows is not the one of the operation");
  return { hash, signs: { ...document, body }, lines: documentLines(purpose, payload, body) };
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
