import { createPrivateKey, createPublicKey, generateKeyPairSync, type KeyObject, sign } from "node:crypto";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { dirname } from "node:path";
import type { AuditSigner } from "./services.ts";

/** The Ed25519 key of this process's audit checkpoints: from a file, made on first use; without a file it lives as long as the process. */
export async function openAuditSigner(file?: string): Promise<AuditSigner> {
  const key = file === undefined ? generateKeyPairSync("ed25519").privateKey : await keyIn(file);
  return {
    publicKey: createPublicKey(key).export({ type: "spki", format: "der" }).toString("base64"),
    sign: (text) => sign(null, Buffer.from(text), key).toString("base64"),
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
