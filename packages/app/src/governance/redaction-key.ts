import { hkdfSync } from "node:crypto";
import type { SignBytes } from "@seneschal/crypto/merkle";

const LABEL = "seneschal governance: redaction of an organisation, v1";

/**
 * The key under which an organisation's values are hashed, tokenised and encrypted, derived like the seal of kept answers: from a signature that only the holder of
 * the instance's signing key can make. It outlives restarts, is stored nowhere, and is another one for each organisation.
 */
export function redactionKeyOf(sign: SignBytes): (org: string) => Promise<Uint8Array> {
  return async (org) => new Uint8Array(hkdfSync("sha256", await sign(Buffer.from(`${LABEL}\n${org}`)), "", LABEL, 32));
}
