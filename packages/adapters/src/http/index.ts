export { type IdentityFetch, mtlsFetch, type TlsIdentity } from "./mtls-fetch.ts";
export { type TargetGuard, targetGuard } from "./target-guard.ts";
