export { type OidcKeys, type OidcOptions, type OidcProvider, oidcKeys } from "./oidc-keys.ts";
export { type ServiceAccount, type ServiceAccountVerifier, serviceAccountVerifier } from "./service-account-verifier.ts";
export { staticKeys } from "./static-keys.ts";
export {
  type ClaimMapping,
  claimedIssuer,
  TOKEN_ALGORITHMS,
  type TokenClaims,
  type TokenErrorCode,
  type TokenVerifier,
  type TokenVerifierOptions,
  tokenVerifier,
} from "./token-verifier.ts";
