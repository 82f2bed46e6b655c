export {
  type OperationDecision,
  type OperationExpectation,
  type OperationPayload,
  type OperationRefusal,
  operationBytes,
  verifyOperation,
} from "./operation.ts";
export { readSigned, type SignedDocument } from "./read-signed.ts";
export { bodyHash, SIGNING_PREFIXES, type SigningPurpose, signingBytes } from "./signing-bytes.ts";
