import { readFile } from "node:fs/promises";
import { systemRandom } from "@seneschal/adapters/system";
import { spanned } from "@seneschal/adapters/telemetry";
import {
  connectVault,
  openEmbeddedVault,
  openHttpVault,
  openPkcs11Wrapper,
  openTransitWrapper,
  type PortableKeys,
  type Unseal,
  type VaultAuth,
  type VaultConnection,
} from "@seneschal/adapters/vault";
import { CodedError } from "@seneschal/kernel";
import type { Clock, Vault } from "@seneschal/kernel/ports";
import type { Seal, SealedVault } from "../platform/index.ts";
import { openedSeal, type SealParts, sealedVault } from "./operators.ts";
import { requirePrivateKey } from "./private-files.ts";
import { type SealSettings, sealOf, type VaultSettings } from "./storage-settings.ts";

/** A vault that is open. */
export interface OpenedVault {
  readonly vault: Vault & Partial<PortableKeys>;
  /** Of an embedded one. */
  readonly seal?: Seal;
  /** Erases the root key of an embedded one from memory. */
  close(): void;
}

/** What an embedded vault is opened with. */
export interface VaultParts extends SealParts {
  readonly clock: Clock;
  /** Where a seal in shares is opened: see `Platform.operators`. */
  readonly operators?: ((vault: SealedVault) => Promise<Uint8Array>) | undefined;
}

/**
 * Opens the configured vault. The embedded one lives in the service's own store. Throws `config_invalid` when what
 * unseals it is missing: a vault is never opened with a key made up on the way.
 */
export async function openVault(settings: VaultSettings, fallbackKeyFile: string, parts: VaultParts): Promise<OpenedVault> {
  const seal = sealOf(settings);
  if (seal === undefined) return { vault: await openVaultServer(settings, parts.clock), close: () => undefined };
  const { clock, crypto, random, store } = parts;
  const unseal = await unsealOf(seal, fallbackKeyFile, parts);
  const vault = await openEmbeddedVault({ clock, crypto, random, store, unseal });
  return { vault: spannedVault(vault), seal: openedSeal(parts, seal), close: () => vault.seal() };
}

/** A vault server of the configuration. */
export async function openVaultServer(settings: VaultSettings, clock: Clock): Promise<Vault> {
  return spannedVault(await openServer(settings, clock));
}

function spannedVault<V extends Vault>(vault: V): V {
  return spanned(vault, "vault", ["createKey", "rotateKey", "encrypt", "decrypt", "encryptMany", "decryptMany", "rewrap"]);
}

type ServerSettings = Omit<VaultSettings, "kind" | "key_file" | "passphrase" | "seal">;

async function openServer(settings: ServerSettings, clock: Clock): Promise<Vault> {
  return openHttpVault({ connection: await connectServer(settings, clock), mount: settings.transit_mount });
}

/** A connection to a vault server of the configuration. */
export async function connectServer(settings: ServerSettings, clock: Clock): Promise<VaultConnection> {
  const { address, namespace, ca_file, cert, timeout } = settings;
  if (address === undefined) throw new CodedError("config_invalid", "vault.address is needed");
  return connectVault({
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
}

function loginOf({ token, approle, kubernetes, cert }: ServerSettings): VaultAuth {
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

/** What opens a seal: read, unwrapped, or brought by operators. */
async function unsealOf(seal: SealSettings, fallback: string, parts: VaultParts): Promise<Unseal> {
  if (seal.kind !== "shamir") return keptUnseal(seal, fallback, parts.clock);
  if (parts.operators === undefined)
    throw new CodedError("vault_sealed", "the vault is sealed, and nothing here listens for its operators");
  return { kind: "shamir", key: await parts.operators(await sealedVault(parts)) };
}

/** The same for every seal that needs no operators. */
export async function keptUnseal(
  seal: Exclude<SealSettings, { readonly kind: "shamir" }>,
  fallback: string,
  clock: Clock,
): Promise<Exclude<Unseal, { readonly kind: "shamir" }>> {
  if (seal.kind === "passphrase") return { kind: "passphrase", passphrase: seal.passphrase };
  if (seal.kind === "transit")
    return { kind: "transit", wrapper: openTransitWrapper(await openServer(seal, clock), seal.key_name) };
  if (seal.kind === "pkcs11") {
    const { lib, token_label, key_label, pin } = seal;
    const wrapper = openPkcs11Wrapper({ lib, tokenLabel: token_label, keyLabel: key_label, pin }, { random: systemRandom });
    return { kind: "pkcs11", wrapper };
  }
  const file = seal.key_file ?? fallback;
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
