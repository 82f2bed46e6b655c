import { CodedError } from "@seneschal/kernel";

/** What a token can refuse. */
export type TokenErrorCode =
  /** Module, token or key are not there, or the key does not do what it is asked for. */
  | "token_unavailable"
  /** The token refuses the PIN: repeated, it would lock the token. */
  | "pin_refused";

/** Where a hardware module keeps a key. */
export interface Pkcs11Key {
  /** Path of the module's PKCS#11 library, such as `/usr/lib/softhsm/libsofthsm2.so`. */
  readonly lib: string;
  readonly tokenLabel: string;
  readonly keyLabel: string;
  readonly pin: string;
}

type Attributes = readonly { readonly type: number; readonly value?: number | string | boolean }[];

/** What is used of the package pkcs11js, version 2. */
export interface Pkcs11Js {
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
  C_FindObjectsInit(session: Buffer, template: Attributes): void;
  C_FindObjects(session: Buffer, most: number): readonly Buffer[];
  C_FindObjectsFinal(session: Buffer): void;
  C_EncryptInit(session: Buffer, mechanism: object, key: Buffer): void;
  C_Encrypt(session: Buffer, data: Buffer, out: Buffer): Buffer;
  C_DecryptInit(session: Buffer, mechanism: object, key: Buffer): void;
  C_Decrypt(session: Buffer, data: Buffer, out: Buffer): Buffer;
  C_DeriveKey(session: Buffer, mechanism: object, key: Buffer, template: Attributes): Buffer;
  C_GetAttributeValue(session: Buffer, object: Buffer, template: Attributes): readonly { readonly value: Buffer }[];
}

/** A key in an open session. */
export interface TokenKey {
  readonly library: Pkcs11Library;
  readonly session: Buffer;
  readonly handle: Buffer;
  /** A constant of PKCS#11, such as `CKM_AES_GCM`. */
  readonly constant: (name: string) => number;
}

const PIN_REFUSED = ["CKR_PIN_INCORRECT", "CKR_PIN_INVALID", "CKR_PIN_LEN_RANGE", "CKR_PIN_LOCKED", "CKR_PIN_EXPIRED"];

/** A {@link CodedError} of a token; never with the PIN. */
export function tokenError(code: TokenErrorCode, message: string, cause?: unknown): CodedError<TokenErrorCode> {
  return new CodedError(code, message, {}, cause);
}

/**
 * Opens module, token and the one key of that class and label, and closes the module whatever happens. All of it is synchronous: nobody else is in it
 * meanwhile. Throws a {@link TokenErrorCode}.
 */
export function withTokenKey<R>(
  js: Pkcs11Js,
  { lib, tokenLabel, keyLabel, pin }: Pkcs11Key,
  kind: "secret" | "private",
  use: (key: TokenKey) => R,
): R {
  const constant = (name: string): number => js[name] as number;
  const library = new js.PKCS11();
  const unavailable = (what: string, cause?: unknown) => tokenError("token_unavailable", what, cause);
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
      const { message } = cause as Error;
      if (PIN_REFUSED.includes(message)) throw tokenError("pin_refused", `the token ${tokenLabel} refuses the PIN: ${message}`);
      throw unavailable(`the token ${tokenLabel} lets nobody in`, cause);
    }
    library.C_FindObjectsInit(session, [
      { type: constant("CKA_CLASS"), value: constant(kind === "secret" ? "CKO_SECRET_KEY" : "CKO_PRIVATE_KEY") },
      { type: constant("CKA_LABEL"), value: keyLabel },
    ]);
    const [handle, second] = library.C_FindObjects(session, 2);
    library.C_FindObjectsFinal(session);
    if (handle === undefined) throw unavailable(`the token has no ${kind} key ${keyLabel}`);
    if (second !== undefined) throw unavailable(`the token has more than one ${kind} key ${keyLabel}`);
    return use({ library, session, handle, constant });
  } finally {
    library.C_Finalize();
    library.close();
  }
}
