import type { NoteKey, SignBytes } from "@seneschal/crypto/merkle";
import { CodedError } from "@seneschal/kernel";
import type { CryptoProvider, Random, Vault } from "@seneschal/kernel/ports";
import { base64, utf8 } from "../../../platform/bytes.ts";
import { collection } from "../../../platform/collection.ts";
import type { Unit } from "../store/unit-of-work.ts";
import { KEY_NAME } from "./form.ts";

interface StoredLogKey {
  readonly public_key: string;
  readonly sealed: string;
}

export const logKeys = collection<StoredLogKey>("audit_log_keys");

const VAULT_KEY = "gateway-audit-log";
const ID = "current";

/** The key that answers for the audit log's checkpoints. */
export interface LogKey {
  readonly note: NoteKey;
  readonly sign: SignBytes;
  /** A checkpoint was signed before: one must be there now. */
  readonly begun: boolean;
  /** Remembers, under the vault's seal, that checkpoints exist from now on. */
  begin(unit: Unit): Promise<void>;
}

const ciphertextOfAnother = () => new CodedError("decryption_failed", "the audit log's key is not the one that its record names");

const aad = (instance: string): Uint8Array => utf8(`seneschal/audit-log-key/v1\0${instance}`);

/**
 * Opens the log key, or makes it with the first use. `undefined` when the vault has sealed one before and the record is
 * gone although the log is not empty: somebody removed it, and a fresh key would hide what they did.
 *
 * What is sealed is the seed and a byte that says whether checkpoints exist, so that deleting all of them shows.
 */
export async function openLogKey(
  unit: Unit,
  {
    vault,
    crypto,
    random,
    instance,
    logIsEmpty,
  }: {
    readonly vault: Vault;
    readonly crypto: CryptoProvider;
    readonly random: Random;
    readonly instance: string;
    readonly logIsEmpty: boolean;
  },
): Promise<LogKey | undefined> {
  const known = (await vault.keyInfo(VAULT_KEY)) !== undefined;
  if (!known) await vault.createKey(VAULT_KEY);
  const stored = await unit.get(logKeys, ID);
  if (stored === undefined && known && !logIsEmpty) return undefined;
  const seal = async (plain: Uint8Array): Promise<string> => vault.encrypt(VAULT_KEY, plain, aad(instance));

  if (stored !== undefined && typeof stored.sealed !== "string") throw ciphertextOfAnother();
  const plain =
    stored === undefined ? Uint8Array.of(...random(32), 0) : await vault.decrypt(VAULT_KEY, stored.sealed, aad(instance));
  const seed = plain.subarray(0, 32);
  const publicKey = crypto.ed25519PublicKey(seed);
  const record = { public_key: base64(publicKey) };
  if (stored !== undefined && stored.public_key !== record.public_key) throw ciphertextOfAnother();
  if (stored === undefined) unit.insert(logKeys, ID, { ...record, sealed: await seal(plain) });
  return {
    note: { name: KEY_NAME, publicKey },
    sign: (message) => crypto.ed25519Sign(seed, message),
    begun: plain[32] === 1,
    async begin(into) {
      into.put(logKeys, ID, { ...record, sealed: await seal(Uint8Array.of(...seed, 1)) });
    },
  };
}
