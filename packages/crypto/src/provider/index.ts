export {
  ARGON2_DEFAULT,
  ARGON2_FLOOR,
  assertAesKey,
  assertArgon2,
  assertHkdfLength,
  assertLength,
  assertNonce,
  assertP256PublicKey,
  assertP256Secret,
  assertWrapPayload,
  isStrictEd25519Key,
} from "./policy.ts";
