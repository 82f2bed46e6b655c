export { openRevocations, type RevocationOptions, type Revocations } from "./open-revocations.ts";
export {
  type CertificateErrorCode,
  type CertificateIdentity,
  type PresentedCertificate,
  untrusted,
  verifyPeer,
} from "./verify-peer.ts";
