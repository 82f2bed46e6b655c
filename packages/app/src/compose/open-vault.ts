import { readFile } from "node:fs/promises";
import { connectVault, openEmbeddedVault, openHttpVault, type Unseal } from "@seneschal/adapters/vault";
import { CodedError } from "@seneschal/core";
import type { Clock, CryptoProvider, DocumentStore, Random, Vault } from "@seneschal/core/ports";
import type { VaultSettings } from "./storage-settings.ts";

/**
 * Opens the configured vault. The embedded one lives in the service's own store. Throws `config_invalid` when what
 * unseals it is missing: a vault is never opened with a key made up on the way.
 */
export async function openVault(
  settings: VaultSettings,
  fallbackKeyFile: string,
  parts: { readonly store: DocumentStore; readonly crypto: CryptoProvider; readonly clock: Clock; readonly random: Random },
): Promise<Vault> {
  if (settings.kind === "http") return openServer(settings, parts.clock);
  return openEmbeddedVault({ ...parts, unseal: await unsealOf(settings, fallbackKeyFile) });
}

async function openServer(settings: VaultSettings, clock: Clock): Promise<Vault> {
  const { address, token, namespace, ca_file, timeout, transit_mount } = settings;
  if (address === undefined || token === undefined)
    throw new CodedError("config_invalid", "vault.address and vault.token are needed");
  const connection = connectVault({
    address,
    auth: { kind: "token", token },
    timeout,
    now: () => clock.now(),
    ...(namespace === undefined ? {} : { namespace }),
    ...(ca_file === undefined ? {} : { ca: await readFile(ca_file, "utf8") }),
  });
  return openHttpVault({ connection, mount: transit_mount });
}

async function unsealOf({ passphrase, key_file }: VaultSettings, fallback: string): Promise<Unseal> {
  if (passphrase !== undefined) return { kind: "passphrase", passphrase };
  const file = key_file ?? fallback;
  let text: string;
  try {
    text = await readFile(file, "utf8");
  } catch (error) {
    throw new CodedError("config_invalid", `vault.key_file: ${file} cannot be read; seneschal init makes one`, {}, error);
  }
  const key = new Uint8Array(Buffer.from(text.trim(), "base64"));
  if (key.length !== 32) throw new CodedError("config_invalid", `vault.key_file: ${file} does not hold 32 bytes in base64`);
  return { kind: "key", key };
}
