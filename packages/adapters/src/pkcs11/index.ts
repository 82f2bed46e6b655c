export { tokenEcdh } from "./token-ecdh.ts";
export type { Pkcs11Key, TokenErrorCode } from "./with-token-key.ts";
