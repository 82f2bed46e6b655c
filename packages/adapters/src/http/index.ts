export { type Breaker, openBreaker } from "./breaker.ts";
export { type IdentityFetch, mtlsFetch, type TlsIdentity } from "./mtls-fetch.ts";
export { type TargetGuard, targetGuard } from "./target-guard.ts";
