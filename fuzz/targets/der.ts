import {
  decodePem,
  decodePrivateKey,
  ecdsaSignatureFromDer,
  ecdsaSignatureToDer,
  parseCertificate,
  parseCertificates,
  parseOcspRequest,
  parsePublicKey,
  parseRequest,
  parseRevocationList,
  parseSerial,
  serialText,
} from "@seneschal/crypto/x509";
import { type FuzzTarget, law, orRefused, textOf } from "../target.ts";

const same = (a: Uint8Array, b: Uint8Array): boolean => Buffer.compare(a, b) === 0;

/** DER: certificates, requests, revocation lists, OCSP requests, keys, signatures, serials, PEM. */
export const target: FuzzTarget = {
  words: [
    "-----BEGIN CERTIFICATE-----\n",
    "-----END CERTIFICATE-----\n",
    "\x30\x82",
    "\x06\x03\x55\x1d",
    "\x02\x01",
    "\x03\x02",
    "\xa0\x03",
  ],
  run(bytes) {
    const text = textOf(bytes);
    const blocks = orRefused(() => parseCertificates(text)) ?? [];
    for (const certificate of blocks) law(certificate.der.length > 0, "a certificate of PEM has its DER");
    orRefused(() => decodePem("PRIVATE KEY", text));
    const pem = /-----BEGIN ([A-Z0-9 ]+)-----([^-]*)-----END/.exec(text);
    const der = pem === null ? bytes : new Uint8Array(Buffer.from(pem[2] ?? "", "base64"));
    const certificate = orRefused(() => parseCertificate(der));
    if (certificate !== undefined) {
      law(same(certificate.der, der), "a certificate keeps the bytes it was read from");
      law(Number.isFinite(certificate.notBefore) && Number.isFinite(certificate.notAfter), "its times are numbers");
    }
    orRefused(() => parseRequest(der));
    orRefused(() => parseRevocationList(der));
    orRefused(() => parseOcspRequest(der));
    orRefused(() => parsePublicKey(der));
    orRefused(() => decodePrivateKey(der));
    const raw = orRefused(() => ecdsaSignatureFromDer(der, 32));
    if (raw !== undefined) law(same(ecdsaSignatureToDer(raw), der), "a DER signature has one form");
    const serial = orRefused(() => parseSerial(text));
    if (serial !== undefined) law(same(parseSerial(serialText(serial)), serial), "a serial is read as it is written");
  },
};
