export {
  type CertificateErrorCode,
  type CertificateIdentity,
  type PresentedCertificate,
  untrusted,
  verifyPeer,
} from "./verify-peer.ts";
