import { CodedError, checkArgument, isCoded } from "@seneschal/kernel";
import type { Random } from "@seneschal/kernel/ports";
import { backEnd } from "../back-end.ts";
import { type Pkcs11Js, type Pkcs11Key, type TokenKey, withTokenKey } from "../pkcs11/with-token-key.ts";
import { vaultError } from "./vault-error.ts";
import type { KeyWrapper } from "./vault-seal.ts";

const [IV, TAG] = [12, 16];
const AAD = Buffer.from("seneschal/unseal-key/v1");

/**
 * Wraps unseal keys by an AES key in a hardware module (AES-GCM, CKM_AES_GCM), which never leaves it, for auto-unseal. The module is opened
 * for each use and closed again. The package `pkcs11js` is the caller's to install: it is compiled on the machine.
 *
 * Its functions throw `back_end_missing` without that package; `config_invalid` for a PIN that the token refuses: repeated, it would lock the token;
 * `vault_unavailable` when module, token or key are not there.
 */
export function openPkcs11Wrapper(
  key: Pkcs11Key,
  given: { readonly random: Random /** Default: the installed `pkcs11js`. */; readonly load?: () => unknown },
): KeyWrapper {
  checkArgument("key", key, "object");
  checkArgument("given", given, "object");
  const { random, load = backEnd("pkcs11js") } = given;
  const within = async <R>(use: (key: TokenKey) => R): Promise<R> => {
    try {
      return withTokenKey(load() as Pkcs11Js, key, "secret", use);
    } catch (error) {
      if (isCoded(error, "pin_refused")) throw new CodedError("config_invalid", error.message);
      if (isCoded(error, "token_unavailable")) throw vaultError("vault_unavailable", error.message, {}, error);
      throw error;
    }
  };
  const gcm = ({ constant }: TokenKey, iv: Buffer): object => ({
    mechanism: constant("CKM_AES_GCM"),
    parameter: { type: constant("CK_PARAMS_AES_GCM"), iv, ivBits: IV * 8, aad: AAD, tagBits: TAG * 8 },
  });
  return {
    wrap: (plain) =>
      within((token) => {
        const { library, session, handle } = token;
        const iv = Buffer.from(random(IV));
        library.C_EncryptInit(session, gcm(token, iv), handle);
        const sealed = library.C_Encrypt(session, Buffer.from(plain), Buffer.alloc(plain.length + TAG));
        return Buffer.concat([iv, sealed]).toString("base64");
      }),
    unwrap: (wrapped) =>
      within((token) => {
        const { library, session, handle } = token;
        const bytes = Buffer.from(wrapped, "base64");
        try {
          library.C_DecryptInit(session, gcm(token, bytes.subarray(0, IV)), handle);
          return new Uint8Array(library.C_Decrypt(session, bytes.subarray(IV), Buffer.alloc(bytes.length)));
        } catch (cause) {
          throw vaultError("decryption_failed", "the key of the module did not wrap this", { reason: "authentication" }, cause);
        }
      }),
  };
}
