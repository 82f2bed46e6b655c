import type { CodedError } from "@seneschal/kernel";
import { checkOptions } from "@seneschal/kernel";
import type { BatchItem, TransitKeyInfo, Vault, VaultErrorCode } from "@seneschal/kernel/ports";
import { demandSuccess, type VaultAnswer, type VaultConnection } from "./vault-connection.ts";
import { assertKeyName, CIPHERTEXT_FAULTS, type CiphertextFault, ciphertextError, vaultError } from "./vault-error.ts";

/** Items in one request; larger batches are sent in pieces. */
const PIECE = 250;

const FAULTS = Object.entries(CIPHERTEXT_FAULTS) as readonly [CiphertextFault, string][];

/**
 * A {@link Vault} over the transit engine of HashiCorp Vault or OpenBao. Vault makes a missing key when it is asked to
 * encrypt with it; this adapter asks for the key first, once per name, and the operator should set
 * `transit/config/keys disable_upsert=true` so that the server refuses, too. Give its policy create, read, update and
 * delete on the mount.
 */
export function openHttpVault(options: {
  readonly connection: VaultConnection;
  /** Default `transit`. */
  readonly mount?: string;
}): Vault {
  checkOptions("options", options, { connection: "object", mount: "string?" });
  const { connection, mount = "transit" } = options;
  const known = new Set<string>();

  const keyPath = (name: string, tail = ""): string => {
    assertKeyName(name);
    return `${mount}/keys/${name}${tail}`;
  };

  const keyInfo = async (name: string): Promise<TransitKeyInfo | undefined> => {
    const answer = await connection.call("GET", keyPath(name));
    if (answer.status === 404) {
      known.delete(name);
      return undefined;
    }
    const { data } = demandSuccess(answer);
    known.add(name);
    return {
      name,
      latestVersion: whole(data["latest_version"]),
      minDecryptionVersion: whole(data["min_decryption_version"]),
      minEncryptionVersion: whole(data["min_encryption_version"]),
      minAvailableVersion: whole(data["min_available_version"]),
      deletionAllowed: data["deletion_allowed"] === true,
    };
  };

  const need = async (name: string): Promise<void> => {
    assertKeyName(name);
    if (!known.has(name) && (await keyInfo(name)) === undefined) throw missing(name);
  };

  /** A change of a key; `refusal` is the code for what the server does not allow. */
  const change = async (
    name: string,
    tail: string,
    body: object,
    refusal: VaultErrorCode = "vault_invalid",
  ): Promise<VaultAnswer> => {
    if ((await keyInfo(name)) === undefined) throw missing(name);
    const answer = await connection.call("POST", keyPath(name, tail), body);
    if (answer.status === 400) throw vaultError(refusal, answer.errors[0] ?? "refused", { reason: "setting" });
    if (answer.status === 404) throw missing(name);
    return demandSuccess(answer);
  };

  /** A use of a key for many items. */
  const use = async (
    operation: "encrypt" | "decrypt" | "rewrap",
    name: string,
    items: readonly object[],
  ): Promise<readonly Readonly<Record<string, unknown>>[]> => {
    await need(name);
    const results: Readonly<Record<string, unknown>>[] = [];
    for (let at = 0; at < items.length; at += PIECE) {
      const answer = await connection.call("POST", `${mount}/${operation}/${name}`, { batch_input: items.slice(at, at + PIECE) });
      // A batch with failed items answers with the failure status and the items in the body.
      const batch = answer.data["batch_results"];
      if (Array.isArray(batch)) results.push(...(batch as Readonly<Record<string, unknown>>[]));
      else throw await explain(name, answer);
    }
    return results;
  };

  /** What an answer without items means. */
  const explain = async (name: string, answer: VaultAnswer): Promise<CodedError<VaultErrorCode>> => {
    const [error = ""] = answer.errors;
    if (answer.status === 404 || /key not found|upsert/.test(error)) {
      known.delete(name);
      return missing(name);
    }
    if (answer.status === 400) return failureOf(error);
    return vaultError("vault_unavailable", "the vault did not do it", { status: answer.status });
  };

  const one = async <T>(results: Promise<readonly BatchItem<T>[]>): Promise<T> => {
    const [item] = await results;
    if (item === undefined) throw vaultError("vault_unavailable", "the vault left the item unanswered");
    if (item.ok) return item.value;
    throw isFault(item.reason) ? ciphertextError(item.reason) : vaultError(item.code, "refused", { reason: item.reason });
  };

  const sealing = async (operation: "encrypt" | "rewrap", name: string, items: readonly object[]) =>
    (await use(operation, name, items)).map((result) => itemOf(result, "ciphertext", (value) => value));

  const encryptMany: Vault["encryptMany"] = (name, items) =>
    sealing(
      "encrypt",
      name,
      items.map(({ plaintext, aad }) => ({ plaintext: encode(plaintext), ...associated(aad) })),
    );
  const decryptMany: Vault["decryptMany"] = async (name, items) => {
    const inputs = items.map(({ ciphertext, aad }) => ({ ciphertext, ...associated(aad) }));
    return (await use("decrypt", name, inputs)).map((result) =>
      itemOf(result, "plaintext", (value) => new Uint8Array(Buffer.from(value, "base64"))),
    );
  };

  return {
    async createKey(name) {
      if ((await keyInfo(name)) !== undefined) return;
      demandSuccess(await connection.call("POST", keyPath(name), { type: "aes256-gcm96" }));
      known.add(name);
    },
    keyInfo,
    listKeys: async () => [...(await connection.list(`${mount}/keys`))].sort(),
    async rotateKey(name) {
      const { data } = await change(name, "/rotate", {});
      // OpenBao and newer Vaults answer with the key; older ones with nothing.
      if (data["latest_version"] !== undefined) return whole(data["latest_version"]);
      const info = await keyInfo(name);
      if (info === undefined) throw missing(name);
      return info.latestVersion;
    },
    async configureKey(name, config) {
      await change(name, "/config", {
        ...(config.minDecryptionVersion === undefined ? {} : { min_decryption_version: config.minDecryptionVersion }),
        ...(config.minEncryptionVersion === undefined ? {} : { min_encryption_version: config.minEncryptionVersion }),
        ...(config.deletionAllowed === undefined ? {} : { deletion_allowed: config.deletionAllowed }),
      });
    },
    async trimKey(name, minAvailableVersion) {
      await change(name, "/trim", { min_available_version: minAvailableVersion });
    },
    async deleteKey(name) {
      const info = await keyInfo(name);
      if (info === undefined) throw missing(name);
      if (!info.deletionAllowed) throw vaultError("deletion_not_allowed", "deletion is not allowed for this key", { key: name });
      const answer = await connection.call("DELETE", keyPath(name));
      if (answer.status === 400) throw vaultError("deletion_not_allowed", "deletion is not allowed for this key", { key: name });
      demandSuccess(answer);
      known.delete(name);
    },
    encrypt: (name, plaintext, aad) => one(encryptMany(name, [{ plaintext, ...(aad === undefined ? {} : { aad }) }])),
    decrypt: (name, ciphertext, aad) => one(decryptMany(name, [{ ciphertext, ...(aad === undefined ? {} : { aad }) }])),
    // Rewrap of the server knows no associated data, so the plaintext passes through here and is wiped.
    async rewrap(name, ciphertext, aad) {
      if (aad === undefined || aad.length === 0) return one(sealing("rewrap", name, [{ ciphertext }]));
      const plaintext = await one(decryptMany(name, [{ ciphertext, aad }]));
      try {
        return await one(encryptMany(name, [{ plaintext, aad }]));
      } finally {
        plaintext.fill(0);
      }
    },
    encryptMany,
    decryptMany,
    async health() {
      const answer = await connection.call("GET", "sys/health?standbyok=true");
      const body = JSON.parse(answer.raw.toString() || "{}") as { sealed?: boolean; initialized?: boolean; version?: string };
      return { sealed: body.sealed ?? true, initialized: body.initialized ?? false, version: body.version ?? "" };
    },
  };
}

function missing(name: string) {
  return vaultError("key_not_found", "no such key", { key: name });
}

/** An error text of the server as a coded error. */
function failureOf(error: string): CodedError<VaultErrorCode> {
  const fault = FAULTS.find(([, text]) => error.includes(text))?.[0];
  if (fault !== undefined) return ciphertextError(fault);
  if (/invalid ciphertext|unable to decrypt|message authentication/.test(error)) return ciphertextError("authentication");
  return vaultError("vault_invalid", "the vault refused the input", { reason: "input" });
}

function itemOf<T>(result: Readonly<Record<string, unknown>>, field: string, read: (value: string) => T): BatchItem<T> {
  const error = result["error"];
  if (typeof error === "string" && error !== "") {
    const failure = failureOf(error);
    return { ok: false, code: failure.code, reason: String(failure.details["reason"]) };
  }
  // An empty plaintext is left out of the answer.
  return { ok: true, value: read(String(result[field] ?? "")) };
}

function isFault(reason: string): reason is CiphertextFault {
  return Object.hasOwn(CIPHERTEXT_FAULTS, reason);
}

function associated(aad: Uint8Array | undefined): object {
  return aad === undefined || aad.length === 0 ? {} : { associated_data: encode(aad) };
}

function encode(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString("base64");
}

/** Numbers arrive as JSON numbers or as text. */
function whole(value: unknown): number {
  const number = Number(value);
  if (!Number.isSafeInteger(number))
    throw vaultError("vault_unavailable", "the vault answered with something else than a number");
  return number;
}
