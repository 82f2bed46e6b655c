import type { Argon2Params, CryptoProvider, Random } from "@seneschal/kernel/ports";
import { base64, bytesEqual, concat, fromBase64, utf8 } from "../bytes.ts";
import { cryptoError } from "../errors.ts";
import { canonicalJson } from "../json/canonical-json.ts";
import { parseCanonicalJson } from "../json/parse-canonical-json.ts";
import { passwordBytes } from "../password/password-bytes.ts";
import { ARGON2_DEFAULT, ARGON2_FLOOR } from "../provider/policy.ts";
import { type CustodianCard, isCard, readCard } from "./custodian-card.ts";
import { CustodianKeys } from "./custodian-keys.ts";
import { bytesOf, members, only, wholeNumber } from "./shape.ts";

const FORMAT = "seneschal/custodian-key-file";
const VERSION = 1;
const MAX_BYTES = 4096;
const LINE_FEED = 0x0a;

/** The file that a custodian keeps: its card in the clear, its private keys sealed by a passphrase. */
interface KeyFile {
  readonly format: typeof FORMAT;
  readonly version: typeof VERSION;
  readonly card: CustodianCard;
  readonly kdf: {
    readonly name: "argon2id";
    readonly time: number;
    readonly memory_kib: number;
    readonly parallelism: number;
    readonly salt: string;
  };
  readonly nonce: string;
  readonly ciphertext: string;
}

const isKeyFile = members({
  ...{ format: only(FORMAT), version: only(VERSION), card: isCard, nonce: bytesOf(12), ciphertext: bytesOf(64 + 16) },
  kdf: members({
    ...{ name: only("argon2id"), salt: bytesOf(16), time: wholeNumber(ARGON2_FLOOR.time, 64) },
    ...{ memory_kib: wholeNumber(ARGON2_FLOOR.memoryKiB, 2 ** 21), parallelism: wholeNumber(ARGON2_FLOOR.parallelism, 64) },
  }),
});

/** Why a key file is refused, in `details.reason`. A wrong passphrase and a changed byte are `decryption_failed`. */
export type KeyFileRefusal =
  /** Not a canonical JSON document with exactly the members of a key file. */
  | "malformed"
  /** Of a version that this release does not know. */
  | "version"
  /** The card's proofs do not hold. */
  | "proof"
  /** The sealed keys are not those of the card. */
  | "other_keys";

/**
 * Seals a custodian's keys by a passphrase: one line of canonical JSON (docs/custody.md has every byte). AES-256-GCM under
 * argon2id; everything else in the file, the card and the cost included, is its associated data. Throws `crypto_invalid`.
 *
 * @example
 * ```ts
 * import { nodeCrypto } from "@seneschal/adapters/node-crypto";
 * import { systemRandom } from "@seneschal/adapters/system";
 * import { CustodianKeys, custodianCard, openKeyFile, sealKeyFile } from "@seneschal/crypto/custody";
 * const keys = CustodianKeys.generate(nodeCrypto, systemRandom);
 * const card = custodianCard(nodeCrypto, keys, { orgId: "acme", custodianId: "ada" }, systemRandom);
 * const file = await sealKeyFile(nodeCrypto, { keys, card }, "correct horse", systemRandom);
 * console.log((await openKeyFile(nodeCrypto, file, "correct horse")).card.custodian_id); // ada
 * ```
 */
export async function sealKeyFile(
  provider: CryptoProvider,
  { keys, card }: { readonly keys: CustodianKeys; readonly card: CustodianCard },
  passphrase: string,
  random: Random,
  cost: Argon2Params = ARGON2_DEFAULT,
): Promise<Uint8Array> {
  if (passphrase === "") throw cryptoError("crypto_invalid", "the passphrase must not be empty");
  if (!belongs(keys, card)) throw cryptoError("crypto_invalid", "the card is not of these keys");
  const salt = random(16);
  const nonce = random(12);
  const head = {
    ...({ format: FORMAT, version: VERSION, card, nonce: base64(nonce) } as const),
    kdf: {
      ...({ name: "argon2id", time: cost.time, memory_kib: cost.memoryKiB, parallelism: cost.parallelism } as const),
      salt: base64(salt),
    },
  };
  const key = await provider.argon2id(passwordBytes(passphrase), salt, cost, 32);
  const secrets = keys.toBytes();
  const ciphertext = base64(provider.seal(key, nonce, secrets, associatedData(head)));
  secrets.fill(0);
  key.fill(0);
  return concat(utf8(canonicalJson({ ...head, ciphertext } satisfies KeyFile)), Uint8Array.of(LINE_FEED));
}

/**
 * Opens {@link sealKeyFile}. Throws `decryption_failed` for a wrong passphrase or a changed byte, `custody_invalid` with a
 * {@link KeyFileRefusal} for what is no key file.
 */
export async function openKeyFile(
  provider: CryptoProvider,
  file: Uint8Array,
  passphrase: string,
): Promise<{ readonly keys: CustodianKeys; readonly card: CustodianCard }> {
  const { ciphertext, ...head } = readKeyFile(file);
  const card = readCard(provider, head.card);
  const { time, memory_kib: memoryKiB, parallelism, salt } = head.kdf;
  const key = await provider.argon2id(passwordBytes(passphrase), fromBase64(salt), { time, memoryKiB, parallelism }, 32);
  const secrets = provider.open(key, fromBase64(head.nonce), fromBase64(ciphertext), associatedData(head));
  key.fill(0);
  const keys = new CustodianKeys(provider, secrets);
  secrets.fill(0);
  if (!belongs(keys, card)) throw refuse("other_keys", "the sealed keys are not those of the card");
  return { keys, card };
}

function readKeyFile(file: Uint8Array): KeyFile {
  if (file.length > MAX_BYTES || file[file.length - 1] !== LINE_FEED)
    throw refuse("malformed", "not one line of a key file's size");
  let value: unknown;
  try {
    value = parseCanonicalJson(file.subarray(0, file.length - 1));
  } catch (cause) {
    throw refuse("malformed", "not canonical JSON", cause);
  }
  // First of all, so that a file of a later release is told from a damaged one.
  const { format, version } = ((typeof value === "object" ? value : null) as { format?: unknown; version?: unknown }) ?? {};
  if (format === FORMAT && version !== VERSION) throw refuse("version", "a key file of an unknown version");
  if (!isKeyFile(value)) throw refuse("malformed", "not a custodian's key file");
  return value as KeyFile;
}

function belongs(keys: CustodianKeys, card: CustodianCard): boolean {
  const [signing, agreement] = [fromBase64(card.signing_key), fromBase64(card.agreement_key)];
  return bytesEqual(keys.signingKey, signing) && bytesEqual(keys.agreementKey, agreement);
}

function associatedData(head: Omit<KeyFile, "ciphertext">): Uint8Array {
  return concat(utf8(`${FORMAT}/v${VERSION}`), Uint8Array.of(0), utf8(canonicalJson(head)));
}

function refuse(reason: KeyFileRefusal, message: string, cause?: unknown) {
  return cryptoError("custody_invalid", message, { reason }, cause);
}
