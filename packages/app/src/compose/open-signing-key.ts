import { createPrivateKey, generateKeyPairSync, type KeyObject } from "node:crypto";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { dirname } from "node:path";
import { requirePrivateKey } from "./private-files.ts";

/** An Ed25519 private key from a file (PKCS #8, PEM), made on first use (mode 0600); without a file it lives as long as the process. */
export async function openSigningKey(file: string | undefined): Promise<KeyObject> {
  if (file === undefined) return generateKeyPairSync("ed25519").privateKey;
  try {
    const text = await readFile(file);
    await requirePrivateKey(file);
    return createPrivateKey(text);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
  }
  const { privateKey } = generateKeyPairSync("ed25519");
  await mkdir(dirname(file), { recursive: true, mode: 0o700 });
  await writeFile(file, privateKey.export({ type: "pkcs8", format: "pem" }), { mode: 0o600, flag: "wx" });
  return privateKey;
}
