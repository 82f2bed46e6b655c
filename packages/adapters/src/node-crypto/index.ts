export { nodeCrypto, openInto, sealInto } from "./node-crypto.ts";
