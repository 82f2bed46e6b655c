import { createPublicKey, sign } from "node:crypto";
import { fromHex } from "@seneschal/crypto";
import { checkpointText, noteVerifierKey, signNote } from "@seneschal/crypto/merkle";
import { openSigningKey } from "../../compose/open-signing-key.ts";
import type { AuditSigner } from "../services.ts";

const NAME = "seneschal.scheduler.audit";

/** The Ed25519 key of this process's audit checkpoints, kept in `file`. */
export async function openAuditSigner(file?: string): Promise<AuditSigner> {
  const key = await openSigningKey(file);
  const spki = createPublicKey(key).export({ type: "spki", format: "der" });
  const noteKey = { name: NAME, publicKey: new Uint8Array(spki.subarray(-32)) };
  return {
    publicKey: spki.toString("base64"),
    sign: (text) => sign(null, Buffer.from(text), key).toString("base64"),
    verifierKey: noteVerifierKey(noteKey),
    note: (size, head) => {
      // The line says that the 32 bytes are the newest hash of a chain, and no root of a tree.
      const text = checkpointText({ origin: NAME, size, root: fromHex(head), extensions: ["sha256-chain"] });
      return signNote(text, noteKey, (message) => sign(null, message, key));
    },
  };
}
