import { backEnd } from "../back-end.ts";
import { type Pkcs11Js, type Pkcs11Key, tokenError, withTokenKey } from "./with-token-key.ts";

/**
 * Multiplies a P-256 point (SEC 1, uncompressed, 65 bytes) with a private key in a PKCS#11 token, which never leaves it: the x coordinate, 32 bytes big
 * endian (SEC 1, section 3.3.1; `CKM_ECDH1_DERIVE` with `CKD_NULL`). The module is opened and closed again; a token that wants to be
 * touched blocks the process until then. The package `pkcs11js` is the caller's to install: it is compiled on the machine.
 *
 * Throws `back_end_missing` without that package, `pin_refused`, and `token_unavailable` when module, token or key are not there or the key does not
 * multiply this point.
 *
 * @example
 * ```ts
 * import { tokenEcdh } from "@seneschal/adapters/pkcs11";
 * import type { TokenSeal } from "@seneschal/crypto/custody";
 * const answerOf = ({ token, key, point }: TokenSeal, pin: string) =>
 *   tokenEcdh({ lib: "/usr/lib/libykcs11.so", tokenLabel: token, keyLabel: key, pin }, Buffer.from(point, "base64"));
 * ```
 */
export function tokenEcdh(
  key: Pkcs11Key,
  point: Uint8Array,
  load: () => unknown /** Default: the installed `pkcs11js`. */ = backEnd("pkcs11js"),
): Uint8Array {
  const js = load() as Pkcs11Js;
  return withTokenKey(js, key, "private", ({ library, session, handle, constant }) => {
    try {
      const mechanism = {
        mechanism: constant("CKM_ECDH1_DERIVE"),
        parameter: { type: constant("CK_PARAMS_EC_DH"), kdf: constant("CKD_NULL"), publicData: Buffer.from(point) },
      };
      const product = library.C_DeriveKey(session, mechanism, handle, [
        { type: constant("CKA_CLASS"), value: constant("CKO_SECRET_KEY") },
        { type: constant("CKA_KEY_TYPE"), value: constant("CKK_GENERIC_SECRET") },
        { type: constant("CKA_VALUE_LEN"), value: 32 },
        { type: constant("CKA_TOKEN"), value: false },
        { type: constant("CKA_SENSITIVE"), value: false },
        { type: constant("CKA_EXTRACTABLE"), value: true },
      ]);
      const [x] = library.C_GetAttributeValue(session, product, [{ type: constant("CKA_VALUE") }]);
      if (x?.value.length !== 32) throw new Error("not 32 bytes");
      return Uint8Array.from(x.value);
    } catch (cause) {
      const { message } = cause as Error;
      throw tokenError("token_unavailable", `the key ${key.keyLabel} does no ECDH on P-256 with this point: ${message}`, cause);
    }
  });
}
