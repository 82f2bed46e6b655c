export { openRecord, type RecordBinding, recordKeyVersion, sealRecord } from "./aead/record.ts";
export { xchachaOpen, xchachaSeal } from "./aead/xchacha.ts";
export { base64, bytesEqual, concat, fromBase64, fromHex, fromUtf8, hex, utf8 } from "./bytes.ts";
export { type CryptoErrorCode, cryptoError } from "./errors.ts";
export { canonicalJson } from "./json/canonical-json.ts";
export { parseStrictJson } from "./json/parse-strict-json.ts";
export { nobleCrypto } from "./provider/noble.ts";
export { ARGON2_DEFAULT, ARGON2_FLOOR } from "./provider/policy.ts";
