export { type CustodianCard, cardFingerprint, custodianCard, readCard } from "./custodian-card.ts";
export { CustodianKeys } from "./custodian-keys.ts";
export { type KeyFileRefusal, openKeyFile, sealKeyFile } from "./key-file.ts";
