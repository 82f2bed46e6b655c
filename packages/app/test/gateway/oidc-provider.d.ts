declare module "oidc-provider" {
  import type { RequestListener } from "node:http";

  /** The part of the provider that the tests use; the package carries no types. */
  export default class Provider {
    constructor(issuer: string, configuration: object);
    callback(): RequestListener;
  }
}
