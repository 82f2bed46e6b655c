import { readFile } from "node:fs/promises";
import { spanned } from "@seneschal/adapters/telemetry";
import {
  connectVault,
  openEmbeddedVault,
  openHttpVault,
  type PortableKeys,
  type Unseal,
  type VaultAuth,
} from "@seneschal/adapters/vault";
import { CodedError } from "@seneschal/kernel";
import type { Clock, CryptoProvider, DocumentStore, Random, Vault } from "@seneschal/kernel/ports";
import { requirePrivateKey } from "./private-files.ts";
import type { VaultSettings } from "./storage-settings.ts";

/**
 * Opens the configured vault. The embedded one lives in the service's own store. Throws `config_invalid` when what
 * unseals it is missing: a vault is never opened with a key made up on the way.
 */
export async function openVault(
  settings: VaultSettings,
  fallbackKeyFile: string,
  parts: { readonly store: DocumentStore; readonly crypto: CryptoProvider; readonly clock: Clock; readonly random: Random },
): Promise<Vault & Partial<PortableKeys>> {
  const vault: Vault & Partial<PortableKeys> =
    settings.kind === "http"
      ? await openServer(settings, parts.clock)
      : await openEmbeddedVault({ ...parts, unseal: await unsealOf(settings, fallbackKeyFile) });
  return spanned(vault, "vault", ["createKey", "rotateKey", "encrypt", "decrypt", "encryptMany", "decryptMany", "rewrap"]);
}

async function openServer(settings: VaultSettings, clock: Clock): Promise<Vault> {
  const { address, namespace, ca_file, cert, timeout, transit_mount } = settings;
  if (address === undefined) throw new CodedError("config_invalid", "vault.address is needed");
  const connection = connectVault({
    address,
    auth: loginOf(settings),
    timeout,
    now: () => clock.now(),
    ...(namespace === undefined ? {} : { namespace }),
    ...(ca_file === undefined ? {} : { ca: await readSetting("vault.ca_file", ca_file) }),
    ...(cert === undefined
      ? {}
      : {
          cert: await readSetting("vault.cert.cert_file", cert.cert_file),
          key: await readSetting("vault.cert.key_file", cert.key_file),
        }),
  });
  return openHttpVault({ connection, mount: transit_mount });
}

function loginOf({ token, approle, kubernetes, cert }: VaultSettings): VaultAuth {
  if (token !== undefined) return { kind: "token", token };
  if (approle !== undefined) {
    const { role_id, secret_id_file, mount } = approle;
    const secretId = async (): Promise<string> => (await readSetting("vault.approle.secret_id_file", secret_id_file)).trim();
    return { kind: "approle", roleId: role_id, secretId, mount };
  }
  if (kubernetes !== undefined) {
    const { role, jwt_file, mount } = kubernetes;
    const jwt = async (): Promise<string> => (await readSetting("vault.kubernetes.jwt_file", jwt_file)).trim();
    return { kind: "kubernetes", role, jwt, mount };
  }
  if (cert !== undefined) return { kind: "cert", mount: cert.mount, ...(cert.name === undefined ? {} : { name: cert.name }) };
  throw new CodedError("config_invalid", "vault: a way to log in is needed");
}

/** A file that the configuration names. Throws `config_invalid` naming the setting. */
async function readSetting(setting: string, file: string): Promise<string> {
  try {
    return await readFile(file, "utf8");
  } catch (error) {
    throw new CodedError("config_invalid", `${setting}: ${file} cannot be read`, {}, error);
  }
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
  await requirePrivateKey(file);
  const key = new Uint8Array(Buffer.from(text.trim(), "base64"));
  if (key.length !== 32) throw new CodedError("config_invalid", `vault.key_file: ${file} does not hold 32 bytes in base64`);
  return { kind: "key", key };
}
