import { nodeCrypto } from "@seneschal/adapters/node-crypto";
import { tokenEcdh } from "@seneschal/adapters/pkcs11";
import { systemRandom } from "@seneschal/adapters/system";
import { assertPassphrase } from "@seneschal/crypto";
import {
  type CustodianCard,
  type CustodianKeys,
  openKeyFile,
  readKeyFile,
  sealKeyFile,
  type TokenSeal,
  tokenSeal,
} from "@seneschal/crypto/custody";
import { CodedError, isCoded } from "@seneschal/kernel";
import type { Command } from "commander";
import type { Host } from "../host.ts";
import { readBytes } from "../read-file.ts";

interface Own {
  readonly keys: CustodianKeys;
  readonly card: CustodianCard;
}

/** By what library a token is called. Never said by a key file: whoever sends one would have their code run. */
export interface ModuleOption {
  readonly pkcs11?: string;
}

/** What seals a key file: a token's key, or a passphrase where none is named. */
export interface SealOptions extends ModuleOption {
  readonly pkcs11Token?: string;
  readonly pkcs11Key?: string;
}

/** Adds the option of every command that opens a key file. */
export function withModule(command: Command): Command {
  return command.option("--pkcs11 <library>", "the PKCS#11 library of the token by which the key file is sealed");
}

/** Adds the options of every command that seals one. */
export function withSeal(command: Command): Command {
  return withModule(command)
    .option("--pkcs11-token <label>", "seal by a key in this token, and not by a passphrase")
    .option("--pkcs11-key <label>", "the token's P-256 private key, which may derive");
}

/** Opens a custodian's key file, by the passphrase or the PIN that is asked for. Throws `usage` for one that cannot be opened from here. */
export async function openKeys(host: Host, name: string, { pkcs11 }: ModuleOption): Promise<Own> {
  const file = await readBytes(host, name);
  const { seal } = readKeyFile(file);
  switch (seal.name) {
    case "argon2id":
      return openByPassphrase(name, file, await host.askSecret(`passphrase of ${name}: `));
    case "pkcs11-ecdh": {
      if (pkcs11 === undefined)
        throw new CodedError("usage", `${name} is sealed by the token ${seal.token}: --pkcs11 names the library that calls it`);
      return openBy(file, answered(seal, pkcs11, await pinOf(host, seal)));
    }
    case "webauthn-prf":
      throw new CodedError("usage", `${name} is sealed by a security key for ${seal.rp_id}: only a page of that domain opens it`);
    default:
      return seal satisfies never;
  }
}

async function openByPassphrase(name: string, file: Uint8Array, passphrase: string): Promise<Own> {
  try {
    return await openKeyFile(nodeCrypto, file, passphrase);
  } catch (error) {
    if (!isCoded(error, "decryption_failed")) throw error;
    throw new CodedError(error.code, `${name} does not open: the passphrase is another, or the file was changed`, {}, error);
  }
}

/** The key file of these keys, sealed as the options say. Throws `usage`, `crypto_invalid` for a passphrase that is against the rule. */
export async function sealKeys(
  host: Host,
  own: Own,
  { pkcs11, pkcs11Token: token, pkcs11Key: key }: SealOptions,
): Promise<Uint8Array> {
  if (token === undefined && key === undefined) {
    const passphrase = await host.askSecret("new passphrase for the keys: ");
    assertPassphrase(passphrase);
    if (passphrase !== (await host.askSecret("the same again: "))) throw new CodedError("usage", "the passphrases differ");
    return sealKeyFile(nodeCrypto, own, passphrase, systemRandom);
  }
  if (pkcs11 === undefined || token === undefined || key === undefined)
    throw new CodedError("usage", "--pkcs11, --pkcs11-token and --pkcs11-key belong together");
  const seal = tokenSeal(nodeCrypto, { token, key }, systemRandom);
  const pin = await pinOf(host, seal);
  const answer = answered(seal, pkcs11, pin);
  const file = await sealKeyFile(nodeCrypto, own, { seal, answer }, systemRandom);
  answer.fill(0);
  // Asked once more: a token that does not answer the same would never open it.
  (await openBy(file, answered(seal, pkcs11, pin))).keys.erase();
  return file;
}

async function openBy(file: Uint8Array, answer: Uint8Array): Promise<Own> {
  try {
    return await openKeyFile(nodeCrypto, file, answer);
  } finally {
    answer.fill(0);
  }
}

async function pinOf(host: Host, { token }: TokenSeal): Promise<string> {
  const pin = await host.askSecret(`PIN of the token ${token}: `);
  // Not tried: it would be one of the few wrong ones after which the token locks itself.
  if (pin === "") throw new CodedError("usage", "the PIN is empty");
  return pin;
}

function answered({ token, key, point }: TokenSeal, lib: string, pin: string): Uint8Array {
  return tokenEcdh({ lib, tokenLabel: token, keyLabel: key, pin }, Buffer.from(point, "base64"));
}
