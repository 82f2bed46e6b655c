import { type KeyObject, sign } from "node:crypto";

/** An ES256 token, made by hand. */
export function signJwt(claims: object, key: KeyObject): string {
  const part = (value: object): string => Buffer.from(JSON.stringify(value)).toString("base64url");
  const text = `${part({ alg: "ES256", typ: "JWT" })}.${part(claims)}`;
  return `${text}.${sign("sha256", Buffer.from(text), { key, dsaEncoding: "ieee-p1363" }).toString("base64url")}`;
}
