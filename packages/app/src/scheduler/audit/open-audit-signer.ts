import { createPublicKey, sign } from "node:crypto";
import { openSigningKey } from "../../compose/open-signing-key.ts";
import type { AuditSigner } from "../services.ts";

/** The Ed25519 key of this process's audit checkpoints, kept in `file`. */
export async function openAuditSigner(file?: string): Promise<AuditSigner> {
  const key = await openSigningKey(file);
  return {
    publicKey: createPublicKey(key).export({ type: "spki", format: "der" }).toString("base64"),
    sign: (text) => sign(null, Buffer.from(text), key).toString("base64"),
  };
}
