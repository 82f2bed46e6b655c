import { createPrivateKey, createPublicKey, generateKeyPairSync, type KeyObject, sign } from "node:crypto";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { dirname } from "node:path";
import type { CheckpointSigner } from "./audit-log.ts";

/** The Ed25519 key of audit checkpoints: from a file, made on first use (mode 0600); without a file it lives as long as the process. */
export async function openCheckpointSigner(file: string | undefined, name: string): Promise<CheckpointSigner> {
  const key = file === undefined ? generateKeyPairSync("ed25519").privateKey : await keyIn(file);
  const spki = createPublicKey(key).export({ type: "spki", format: "der" });
  return {
    key: { name: `${name}.audit`, publicKey: new Uint8Array(spki.subarray(-32)) },
    sign: (message) => sign(null, message, key),
  };
}

async function keyIn(file: string): Promise<KeyObject> {
  try {
    return createPrivateKey(await readFile(file));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
  }
  const { privateKey } = generateKeyPairSync("ed25519");
  await mkdir(dirname(file), { recursive: true, mode: 0o700 });
  await writeFile(file, privateKey.export({ type: "pkcs8", format: "pem" }), { mode: 0o600, flag: "wx" });
  return privateKey;
}
