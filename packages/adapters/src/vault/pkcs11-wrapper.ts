import { CodedError } from "@seneschal/kernel";
import type { Random } from "@seneschal/kernel/ports";
import { backEnd } from "../back-end.ts";
import { vaultError } from "./vault-error.ts";
import type { KeyWrapper } from "./vault-seal.ts";

/** Where a hardware module keeps the key that wraps. */
export interface Pkcs11Key {
  /** Path of the module's PKCS#11 library, such as `/usr/lib/softhsm/libsofthsm2.so`. */
  readonly lib: string;
  readonly tokenLabel: string;
  /** Of an AES key that may encrypt and decrypt. */
  readonly keyLabel: string;
  readonly pin: string;
}

/** What is used of the package pkcs11js, version 2. */
interface Pkcs11Js {
  readonly PKCS11: new () => Pkcs11Library;
  readonly [constant: string]: unknown;
}

interface Pkcs11Library {
  load(lib: string): void;
  close(): void;
  C_Initialize(): void;
  C_Finalize(): void;
  C_GetSlotList(tokenPresent: boolean): readonly Buffer[];
  C_GetTokenInfo(slot: Buffer): { readonly label: string };
  C_OpenSession(slot: Buffer, flags: number): Buffer;
  C_Login(session: Buffer, user: number, pin: string): void;
  C_FindObjectsInit(session: Buffer, template: readonly { readonly type: number; readonly value: number | string }[]): void;
  C_FindObjects(session: Buffer, most: number): readonly Buffer[];
  C_FindObjectsFinal(session: Buffer): void;
  C_EncryptInit(session: Buffer, mechanism: object, key: Buffer): void;
  C_Encrypt(session: Buffer, data: Buffer, out: Buffer): Buffer;
  C_DecryptInit(session: Buffer, mechanism: object, key: Buffer): void;
  C_Decrypt(session: Buffer, data: Buffer, out: Buffer): Buffer;
}

const [IV, TAG] = [12, 16];
const AAD = Buffer.from("seneschal/unseal-key/v1");
const PIN_REFUSED = ["CKR_PIN_INCORRECT", "CKR_PIN_INVALID", "CKR_PIN_LEN_RANGE", "CKR_PIN_LOCKED", "CKR_PIN_EXPIRED"];

/**
 * Wraps unseal keys by a key in a hardware module (AES-GCM, CKM_AES_GCM), which never leaves it, for auto-unseal. The module is opened
 * for each use and closed again. The package `pkcs11js` is the caller's to install: it is compiled on the machine.
 *
 * Its functions throw `back_end_missing` without that package; `config_invalid` for a PIN that the token refuses: repeated, it would lock the token;
 * `vault_unavailable` when module, token or key are not there.
 */
export function openPkcs11Wrapper(
  key: Pkcs11Key,
  {
    random,
    load = backEnd("pkcs11js"),
  }: { readonly random: Random /** Default: the installed `pkcs11js`. */; readonly load?: () => unknown },
): KeyWrapper {
  const within = async <R>(use: (session: Session) => R): Promise<R> => withSession(load() as Pkcs11Js, key, use);
  return {
    wrap: (plain) =>
      within(({ library, session, handle, gcm }) => {
        const iv = Buffer.from(random(IV));
        library.C_EncryptInit(session, gcm(iv), handle);
        const sealed = library.C_Encrypt(session, Buffer.from(plain), Buffer.alloc(plain.length + TAG));
        return Buffer.concat([iv, sealed]).toString("base64");
      }),
    unwrap: (wrapped) =>
      within(({ library, session, handle, gcm }) => {
        const bytes = Buffer.from(wrapped, "base64");
        try {
          library.C_DecryptInit(session, gcm(bytes.subarray(0, IV)), handle);
          return new Uint8Array(library.C_Decrypt(session, bytes.subarray(IV), Buffer.alloc(bytes.length)));
        } catch (cause) {
          throw vaultError("decryption_failed", "the key of the module did not wrap this", { reason: "authentication" }, cause);
        }
      }),
  };
}

interface Session {
  readonly library: Pkcs11Library;
  readonly session: Buffer;
  readonly handle: Buffer;
  readonly gcm: (iv: Buffer) => object;
}

/** Opens module, token and key, and closes the module whatever happens. All of it is synchronous: nobody else is in it meanwhile. */
function withSession<R>(js: Pkcs11Js, { lib, tokenLabel, keyLabel, pin }: Pkcs11Key, use: (session: Session) => R): R {
  const constant = (name: string): number => js[name] as number;
  const library = new js.PKCS11();
  const unavailable = (what: string, cause?: unknown) => vaultError("vault_unavailable", what, {}, cause);
  try {
    library.load(lib);
    library.C_Initialize();
  } catch (cause) {
    throw unavailable(`the PKCS#11 module ${lib} does not open`, cause);
  }
  try {
    const slot = library.C_GetSlotList(true).find((one) => library.C_GetTokenInfo(one).label.trim() === tokenLabel);
    if (slot === undefined) throw unavailable(`the module has no token ${tokenLabel}`);
    const session = library.C_OpenSession(slot, constant("CKF_SERIAL_SESSION"));
    try {
      library.C_Login(session, constant("CKU_USER"), pin);
    } catch (cause) {
      if (PIN_REFUSED.includes((cause as Error).message))
        throw new CodedError("config_invalid", `the token ${tokenLabel} refuses the PIN: ${(cause as Error).message}`);
      throw unavailable(`the token ${tokenLabel} lets nobody in`, cause);
    }
    library.C_FindObjectsInit(session, [
      { type: constant("CKA_CLASS"), value: constant("CKO_SECRET_KEY") },
      { type: constant("CKA_LABEL"), value: keyLabel },
    ]);
    const [handle, second] = library.C_FindObjects(session, 2);
    library.C_FindObjectsFinal(session);
    if (handle === undefined) throw unavailable(`the token has no secret key ${keyLabel}`);
    if (second !== undefined) throw unavailable(`the token has more than one secret key ${keyLabel}`);
    const gcm = (iv: Buffer): object => ({
      mechanism: constant("CKM_AES_GCM"),
      parameter: { type: constant("CK_PARAMS_AES_GCM"), iv, ivBits: IV * 8, aad: AAD, tagBits: TAG * 8 },
    });
    return use({ library, session, handle, gcm });
  } finally {
    library.C_Finalize();
    library.close();
  }
}
