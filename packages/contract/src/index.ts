export { checkArgument, checkOptions } from "@seneschal/kernel";
export { basePathOf } from "./base-path.ts";
export { base64Bytes } from "./base64-text.ts";
export { bodyBounds } from "./body-bounds.ts";
export { type CallInput, type Client, type ClientOptions, client, type Fetch, type RawReply } from "./client.ts";
export { contract } from "./contract.ts";
export { decodeJson } from "./decode-json.ts";
export { type Dispatch, dispatcher } from "./dispatcher.ts";
export { docsContract, documentContract } from "./docs.ts";
export { type Endpoint, endpoints } from "./endpoints.ts";
export { type ErrorRow, type ErrorTable, errorTable, failure, type HttpSituation, situation } from "./error-table.ts";
export { requireMatch, versionTag } from "./etag.ts";
export { changes, UndocumentedCode } from "./failures.ts";
export { type Field, fieldsOf } from "./fields.ts";
export type { AuthoriseInput, Hooks, Observe, Outcome, RateLimit, RateVerdict, RouteRef } from "./hooks.ts";
export type { Idempotency, IdempotentRequest, StoredResponse } from "./idempotency.ts";
export type { Issue } from "./issues.ts";
export { type OpenApiInfo, openapi, openapiInSteps } from "./openapi.ts";
export { paginate } from "./paginate.ts";
export { flagParam, integerParam, limitParam, listParam, MAX_PAGE, offsetParam, timeParam } from "./query.ts";
export type { RetryOptions } from "./retry.ts";
export {
  type Contract,
  type Handler,
  type HandlerInput,
  type Handlers,
  type HttpMethod,
  type Payload,
  type Principal,
  type RequestFacts,
  type Route,
  type RouteAuth,
  type WithHeaders,
  withHeaders,
} from "./route.ts";
export { otherSite } from "./same-site.ts";
export { type SealStatus, sealContract } from "./seal.ts";
export { secret, secretFields } from "./secret.ts";
export type { MountOptions, RunningServer, Serve, ServeOptions, ServerProcesses, TlsOptions } from "./serve.ts";
export type { BodyReader, Incoming, PeerCertificate, WireRequest, WireResponse } from "./wire.ts";
