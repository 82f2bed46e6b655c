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
      lines: [`no document of this project, but these bytes: ${JSON.stringify(Buffer.from(message).toString())}`],
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
    const time =
      (name === "iat" || name === "exp") && typeof value === "number" ? ` (${new Date(value * 1000).toISOString()})` : "";
    return `  ${name}: ${JSON.stringify(value)}${time}`;
  });
  const fields =
    body === null
      ? ["  its fields: not shown; ask for them, and compare body_sha256"]
      : [`  its fields: ${JSON.stringify(body)}`];
  return [purpose, ...lines, ...(purpose === "operation" ? fields : [])];
}
