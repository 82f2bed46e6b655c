import type { Client } from "@seneschal/contract";
import type { GatewayContract } from "@seneschal/contract/gateway";
import { canonicalJson, fromBase64 } from "@seneschal/crypto";
import { nothingSigned, type ShownBeforeSigned, shownBeforeSigned } from "./shown-before-signed.ts";

type Session = Awaited<ReturnType<Client<GatewayContract>["getSigningSession"]>>;

/**
 * What a session is to sign, read from its bytes here and not as the gateway shows it. Throws `file_invalid` for bytes that begin like a
 * document and are none, and where the gateway shows something else than they are.
 */
export function signedBySession({ round, signs: told }: Pick<Session, "round" | "signs">): ShownBeforeSigned {
  const message = fromBase64(round.message);
  const shown = shownBeforeSigned(message, told?.body ?? null);
  if ((told === null) !== (shown.signs === null) || (told !== null && canonicalJson(told) !== canonicalJson(shown.signs)))
    throw nothingSigned(message, "the gateway shows something else than the bytes are");
  return shown;
}
