import type { CryptoProvider, Random } from "@seneschal/kernel/ports";
import { base64, fromBase64, utf8 } from "../bytes.ts";
import { hpkeOpen, hpkeSeal } from "../hpke/hpke.ts";
import { canonicalJson } from "../json/canonical-json.ts";

/** From which seat to which, and the hash of the transcript when the last commitment was in: another's does not open. */
export interface PackagePlace {
  readonly ceremony: string;
  readonly from: number;
  readonly to: number;
  readonly transcript: string;
}

/**
 * What a package is bound to: `seneschal/custody-package/v1 || 0x00 || JCS(place)`, in `info`, which RFC 9180 section 8.1 has for
 * what is sealed in one shot; the associated data is empty.
 */
export function packageInfo({ ceremony, from, to, transcript }: PackagePlace): Uint8Array {
  return utf8(`seneschal/custody-package/v1\0${canonicalJson({ ceremony, from, to, transcript })}`);
}

/** Seals one value, a scalar of 32 bytes, to the transport key of its receiver: HPKE, base mode, AES-256-GCM. Base64. */
export function sealPackage(
  provider: CryptoProvider,
  place: PackagePlace,
  transportKey: string,
  value: Uint8Array,
  random: Random,
): string {
  return base64(hpkeSeal(provider, fromBase64(transportKey), value, { info: packageInfo(place), random }));
}

/** Opens {@link sealPackage}. Throws `decryption_failed`. */
export function openPackage(provider: CryptoProvider, place: PackagePlace, secret: Uint8Array, sealed: string): Uint8Array {
  return hpkeOpen(provider, secret, fromBase64(sealed), { info: packageInfo(place) });
}
