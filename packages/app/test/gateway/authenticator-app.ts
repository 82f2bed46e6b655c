import { nodeCrypto } from "@seneschal/adapters/node-crypto";
import { totpCode } from "@seneschal/crypto";

/** A person's authenticator app: codes by time step out of an `otpauth://` address. */
export function authenticatorApp(provisioningUrl: string, now: () => number): (offset?: number) => string {
  const text = new URL(provisioningUrl).searchParams.get("secret") ?? "";
  const bits = Array.from(text, (c) => "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567".indexOf(c).toString(2).padStart(5, "0")).join("");
  const secret = Uint8Array.from(bits.match(/.{8}/g) ?? [], (byte) => Number.parseInt(byte, 2));
  return (offset = 0) => totpCode(nodeCrypto, secret, Math.floor(now() / 30_000) + offset);
}
