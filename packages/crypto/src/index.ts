export { bindRecord, openRecord, type RecordBinding, type RecordPlace, recordKeyVersion, sealRecord } from "./aead/record.ts";
export { xchachaOpen, xchachaSeal } from "./aead/xchacha.ts";
export { base64, bytesEqual, concat, fromBase64, fromHex, fromUtf8, hex, utf8 } from "./bytes.ts";
export { type CryptoErrorCode, cryptoError } from "./errors.ts";
export { canonicalJson } from "./json/canonical-json.ts";
export { parseStrictJson } from "./json/parse-strict-json.ts";
export { assertPassphrase, PASSPHRASE_RULE } from "./password/passphrase.ts";
export {
  decodePasswordHash,
  encodePasswordHash,
  hashPassword,
  needsRehash,
  type PasswordHash,
  verifyPassword,
} from "./password/password-hash.ts";
export { base32, type TotpDecision, type TotpParams, totpCode, totpUri, verifyTotp } from "./password/totp.ts";
export { nobleCrypto } from "./provider/noble.ts";
export { ARGON2_DEFAULT, ARGON2_FLOOR } from "./provider/policy.ts";
