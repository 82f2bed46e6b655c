import { createPublicKey, sign } from "node:crypto";
import { openSigningKey } from "../../compose/open-signing-key.ts";
import type { CheckpointSigner } from "./audit-log.ts";

/** The Ed25519 key of audit checkpoints, kept in `file`. */
export async function openCheckpointSigner(file: string | undefined, name: string): Promise<CheckpointSigner> {
  const key = await openSigningKey(file);
  const spki = createPublicKey(key).export({ type: "spki", format: "der" });
  return {
    key: { name: `${name}.audit`, publicKey: new Uint8Array(spki.subarray(-32)) },
    sign: (message) => sign(null, message, key),
  };
}
