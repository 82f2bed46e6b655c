import { checkArgument } from "@seneschal/kernel";
import type { Argon2Params, CryptoProvider, Random } from "@seneschal/kernel/ports";
import { base64, bytesEqual, concat, fromBase64, utf8 } from "../bytes.ts";
import { cryptoError } from "../errors.ts";
import { canonicalJson } from "../json/canonical-json.ts";
import { parseCanonicalJson } from "../json/parse-canonical-json.ts";
import { assertPassphrase } from "../password/passphrase.ts";
import { ARGON2_DEFAULT } from "../provider/policy.ts";
import { type CustodianCard, isCard, readCard } from "./custodian-card.ts";
import { CustodianKeys } from "./custodian-keys.ts";
import {
  assertDeviceSeal,
  type DeviceSeal,
  deviceKey,
  isDeviceSeal,
  isPassphraseSeal,
  type KeyFileSeal,
  passphraseKey,
  passphraseSeal,
} from "./key-file-seal.ts";
import { bytesOf, members, only } from "./shape.ts";

const FORMAT = "seneschal/custodian-key-file";
const MAX_BYTES = 4096;
const LINE_FEED = 0x0a;

/** The file that a custodian keeps: its card in the clear, its private keys sealed by a passphrase (version 1) or a device (version 2). */
interface KeyFile {
  readonly format: typeof FORMAT;
  readonly version: 1 | 2;
  readonly card: CustodianCard;
  readonly kdf: KeyFileSeal;
  readonly nonce: string;
  readonly ciphertext: string;
}

const common = { format: only(FORMAT), card: isCard, nonce: bytesOf(12), ciphertext: bytesOf(64 + 16) };
const isVersion = {
  1: members({ ...common, version: only(1), kdf: isPassphraseSeal }),
  2: members({ ...common, version: only(2), kdf: isDeviceSeal }),
};

/** Why a key file is refused, in `details.reason`. A wrong passphrase or device and a changed byte are `decryption_failed`. */
export type KeyFileRefusal =
  /** Not a canonical JSON document with exactly the members of a key file. */
  | "malformed"
  /** Of a version that this release does not know. */
  | "version"
  /** The card's proofs do not hold. */
  | "proof"
  /** It is sealed by a device and a passphrase was given, or the other way round. */
  | "other_seal"
  /** The sealed keys are not those of the card. */
  | "other_keys";

/** A device's seal, and what the device has answered to it. */
export interface AnsweredSeal {
  readonly seal: DeviceSeal;
  /** 32 bytes. */
  readonly answer: Uint8Array;
}

/**
 * Seals a custodian's keys: one line of canonical JSON (docs/custody.md has every byte). AES-256-GCM under argon2id of a passphrase, or under HKDF
 * of a device's answer; everything else in the file, the card and the seal included, is its associated data. Throws `crypto_invalid`, also for
 * a passphrase that is against `PASSPHRASE_RULE`.
 *
 * @example
 * ```ts
 * import { nodeCrypto } from "@seneschal/adapters/node-crypto";
 * import { systemRandom } from "@seneschal/adapters/system";
 * import { CustodianKeys, custodianCard, openKeyFile, prfSeal, readKeyFile, sealKeyFile } from "@seneschal/crypto/custody";
 * const keys = CustodianKeys.generate(nodeCrypto, systemRandom);
 * const card = custodianCard(nodeCrypto, keys, { orgId: "acme", custodianId: "ada" }, systemRandom);
 * const file = await sealKeyFile(nodeCrypto, { keys, card }, "correct horse", systemRandom);
 * console.log((await openKeyFile(nodeCrypto, file, "correct horse")).card.custodian_id); // ada
 *
 * const seal = prfSeal({ rpId: "custody.example", credentialId: new Uint8Array(32) }, systemRandom);
 * const answer = new Uint8Array(32).fill(7); // what the credential answers
 * const second = await sealKeyFile(nodeCrypto, { keys, card }, { seal, answer }, systemRandom);
 * console.log(readKeyFile(second).seal.name); // webauthn-prf
 * console.log((await openKeyFile(nodeCrypto, second, answer)).card.custodian_id); // ada
 * ```
 */
export async function sealKeyFile(
  provider: CryptoProvider,
  given: { readonly keys: CustodianKeys; readonly card: CustodianCard },
  secret: string | AnsweredSeal,
  random: Random,
  cost: Argon2Params = ARGON2_DEFAULT,
): Promise<Uint8Array> {
  checkArgument("provider", provider, "object");
  checkArgument("given", given, "object");
  checkArgument("random", random, "function");
  const { keys, card } = given;
  if (!belongs(keys, card)) throw cryptoError("crypto_invalid", "the card is not of these keys");
  const byPassphrase = typeof secret === "string";
  if (byPassphrase) assertPassphrase(secret);
  else assertDeviceSeal(secret.seal);
  const [version, kdf] = byPassphrase ? ([1, passphraseSeal(cost, random)] as const) : ([2, secret.seal] as const);
  const nonce = random(12);
  const head = { format: FORMAT, version, card, kdf, nonce: base64(nonce) } as const;
  const key = await keyOf(provider, head, byPassphrase ? secret : secret.answer);
  const secrets = keys.toBytes();
  const ciphertext = base64(provider.seal(key, nonce, secrets, associatedData(head)));
  secrets.fill(0);
  key.fill(0);
  return concat(utf8(canonicalJson({ ...head, ciphertext } satisfies KeyFile)), Uint8Array.of(LINE_FEED));
}

/**
 * Opens {@link sealKeyFile} by the passphrase, or by the 32 bytes that the device of its seal answers ({@link readKeyFile} says which one is to be
 * asked for what). Throws `decryption_failed` for a wrong passphrase or answer or a changed byte, `custody_invalid` with a
 * {@link KeyFileRefusal} for what is no key file.
 */
export async function openKeyFile(
  provider: CryptoProvider,
  file: Uint8Array,
  secret: string | Uint8Array,
): Promise<{ readonly keys: CustodianKeys; readonly card: CustodianCard }> {
  checkArgument("provider", provider, "object");
  checkArgument("file", file, "bytes");
  const { ciphertext, ...head } = parsed(file);
  const card = readCard(provider, head.card);
  const key = await keyOf(provider, head, secret);
  const secrets = provider.open(key, fromBase64(head.nonce), fromBase64(ciphertext), associatedData(head));
  key.fill(0);
  const keys = new CustodianKeys(provider, secrets);
  secrets.fill(0);
  if (!belongs(keys, card)) throw refuse("other_keys", "the sealed keys are not those of the card");
  return { keys, card };
}

/**
 * How a key file is sealed, without opening it. Nothing of it is proven before it is open: not who made it, nor that its card holds. Throws `custody_invalid` with a
 * {@link KeyFileRefusal}.
 */
export function readKeyFile(file: Uint8Array): { readonly card: CustodianCard; readonly seal: KeyFileSeal } {
  checkArgument("file", file, "bytes");
  const { card, kdf: seal } = parsed(file);
  return { card, seal };
}

function parsed(file: Uint8Array): KeyFile {
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
  if (format === FORMAT && version !== 1 && version !== 2) throw refuse("version", "a key file of an unknown version");
  if (!isVersion[version === 2 ? 2 : 1](value)) throw refuse("malformed", "not a custodian's key file");
  return value as KeyFile;
}

/** The key of a file, by what was given to open or to seal it. */
async function keyOf(provider: CryptoProvider, { version, kdf }: Head, secret: string | Uint8Array): Promise<Uint8Array> {
  if (kdf.name === "argon2id") {
    if (typeof secret !== "string") throw refuse("other_seal", "the key file is sealed by a passphrase");
    return passphraseKey(provider, kdf, secret);
  }
  if (typeof secret === "string") throw refuse("other_seal", `the key file is sealed by a device, by ${kdf.name}`);
  return deviceKey(provider, kdf, secret, `${FORMAT}/v${version}`);
}

type Head = Omit<KeyFile, "ciphertext">;

function belongs(keys: CustodianKeys, card: CustodianCard): boolean {
  const [signing, agreement] = [fromBase64(card.signing_key), fromBase64(card.agreement_key)];
  return bytesEqual(keys.signingKey, signing) && bytesEqual(keys.agreementKey, agreement);
}

function associatedData(head: Head): Uint8Array {
  return concat(utf8(`${FORMAT}/v${head.version}`), Uint8Array.of(0), utf8(canonicalJson(head)));
}

function refuse(reason: KeyFileRefusal, message: string, cause?: unknown) {
  return cryptoError("custody_invalid", message, { reason }, cause);
}
