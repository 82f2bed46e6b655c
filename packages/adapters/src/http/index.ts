export { type IdentityFetch, mtlsFetch, type TlsIdentity } from "./mtls-fetch.ts";
