export {
  type Certificate,
  type CertificateSpec,
  certificatePem,
  createRoot,
  fingerprint,
  type Issuer,
  isSignedBy,
  issueCertificate,
  parseCertificate,
  parseCertificates,
} from "./certificate.ts";
export {
  type CertificateRequest,
  createRequest,
  parseRequest,
  requestPem,
  samePublicKey,
  verifyRequest,
} from "./certificate-request.ts";
export { ecdsaSignatureFromDer, ecdsaSignatureToDer } from "./ecdsa-signature.ts";
export type { CertificateExtensions, KeyUsage, ParsedExtensions, Purpose, SubjectAltName } from "./extensions.ts";
export { ipText, parseIp } from "./ip-address.ts";
export { type Name, type NameAttribute, nameText, nameValue } from "./name.ts";
export type { NameConstraints, NameSubtree } from "./name-constraints.ts";
export {
  createOcspResponse,
  isIssuedBy,
  type OcspCertificateId,
  type OcspRequest,
  type OcspStatus,
  ocspError,
  parseOcspRequest,
} from "./ocsp.ts";
export { decodePem, encodePem, type PemLabel } from "./pem.ts";
export {
  encodePublicKey,
  keyIdentifier,
  type PublicKey,
  type PublicKeyKind,
  parsePublicKey,
  verifySignature,
} from "./public-key.ts";
export {
  createRevocationList,
  parseRevocationList,
  type Revocation,
  type RevocationList,
  type RevocationListSpec,
  type RevocationReason,
  revocationListPem,
  verifyRevocationList,
} from "./revocation-list.ts";
export { newSerial, parseSerial, serialText } from "./serial.ts";
export {
  decodePrivateKey,
  encodePrivateKey,
  localSigner,
  newPrivateKey,
  type PrivateKey,
  publicKeyOf,
  type X509Signer,
} from "./signer.ts";
export { type ChainDecision, type ChainOptions, type ChainRefusal, isNamedIssuer, verifyChain } from "./verify-chain.ts";
