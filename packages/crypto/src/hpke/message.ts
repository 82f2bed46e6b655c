import { checkArgument } from "@seneschal/kernel";
import type { CryptoProvider, Random } from "@seneschal/kernel/ports";
import { utf8 } from "../bytes.ts";
import { canonicalJson } from "../json/canonical-json.ts";
import { hpkeOpen, hpkeSeal } from "./hpke.ts";

/** Who writes to whom about what: a sealed body opens only with the same. */
export interface MessageEnvelope {
  readonly sender_org_id: string;
  readonly sender_id: string;
  readonly recipient_org_id: string;
  readonly recipient_id: string;
  readonly subject: string;
}

const INFO = utf8("seneschal/message/v1");

function associated(envelope: MessageEnvelope): Uint8Array {
  const { sender_org_id, sender_id, recipient_org_id, recipient_id, subject } = envelope;
  return utf8(canonicalJson({ sender_org_id, sender_id, recipient_org_id, recipient_id, subject }));
}

/**
 * Seals the body of a message end to end (HPKE in auth mode): only the holder of the recipient's X25519 key reads it, and it
 * learns that the holder of the sender's key wrote it. The gateways on the way see ciphertext.
 *
 * @example
 * ```ts
 * import { systemRandom } from "@seneschal/adapters/system";
 * import { nobleCrypto } from "@seneschal/crypto";
 * import { openMessage, sealMessage } from "@seneschal/crypto/hpke";
 * const [ada, bob] = [systemRandom(32), systemRandom(32)];
 * const envelope = {
 *   sender_org_id: "acme", sender_id: "ada", recipient_org_id: "globex", recipient_id: "bob", subject: "plan",
 * };
 * const keys = { senderSecret: ada, recipientKey: nobleCrypto.x25519PublicKey(bob) };
 * const sealed = sealMessage(nobleCrypto, keys, envelope, Uint8Array.of(7), systemRandom);
 * const opened = openMessage(
 *   nobleCrypto, { recipientSecret: bob, senderKey: nobleCrypto.x25519PublicKey(ada) }, envelope, sealed,
 * );
 * console.log(opened); // Uint8Array(1) [ 7 ]
 * ```
 */
export function sealMessage(
  provider: CryptoProvider,
  keys: { readonly senderSecret: Uint8Array; readonly recipientKey: Uint8Array },
  envelope: MessageEnvelope,
  plaintext: Uint8Array,
  random: Random,
): Uint8Array {
  checkArgument("provider", provider, "object");
  checkArgument("keys", keys, "object");
  checkArgument("envelope", envelope, "object");
  checkArgument("plaintext", plaintext, "bytes");
  checkArgument("random", random, "function");
  const { senderSecret, recipientKey } = keys;
  return hpkeSeal(provider, recipientKey, plaintext, { info: INFO, aad: associated(envelope), senderSecret, random });
}

/** Opens {@link sealMessage}. Throws `decryption_failed` for another sender, recipient, subject or a changed body alike. */
export function openMessage(
  provider: CryptoProvider,
  keys: { readonly recipientSecret: Uint8Array; readonly senderKey: Uint8Array },
  envelope: MessageEnvelope,
  sealed: Uint8Array,
): Uint8Array {
  checkArgument("provider", provider, "object");
  checkArgument("keys", keys, "object");
  checkArgument("envelope", envelope, "object");
  checkArgument("sealed", sealed, "bytes");
  const { recipientSecret, senderKey } = keys;
  return hpkeOpen(provider, recipientSecret, sealed, { info: INFO, aad: associated(envelope), senderKey });
}
