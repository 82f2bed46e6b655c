export {
  type Contract,
  contract,
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
export type { PeerCertificate, WireRequest, WireResponse } from "./wire.ts";
