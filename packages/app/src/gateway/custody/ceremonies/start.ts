import {
  type Ceremony,
  type CeremonyOperation,
  type CeremonyStart,
  invalidField,
  refusal,
  requireThreshold,
  startCeremony,
  stepCrk,
} from "@seneschal/core/keys";
import { crks, currentCrk, type GatewayUnit, requireCrk } from "../../ground/index.ts";
import { admins, custodiansNamed } from "../../people/index.ts";
import { beginTranscript, type Recorded, seatsKept } from "../dealt-transcripts/record.ts";
import type { CustodyServices } from "../services.ts";
import { ceremonies } from "./collections.ts";

export interface CeremonyRequest {
  readonly operation: CeremonyOperation;
  readonly threshold: number;
  readonly total_shares: number | undefined;
  readonly data: string | undefined;
  readonly custodians: NamedCustodians;
}

/** For whom the shares are that the ceremony makes, as the request names them. */
type NamedCustodians = Parameters<typeof custodiansNamed>[2];

/** Starts a ceremony of any operation; what each needs is checked here. */
export async function startAnyCeremony(
  services: CustodyServices,
  unit: GatewayUnit,
  request: CeremonyRequest,
): Promise<Ceremony> {
  if (request.operation !== "sign" && request.data !== undefined)
    throw invalidField("data", "only a sign ceremony signs something");
  const makesShares = request.operation === "generate" || request.operation === "rotate";
  if (!makesShares && request.custodians !== undefined) throw invalidField("custodians", "this ceremony makes no shares");
  switch (request.operation) {
    case "generate":
      return startGenerate(services, unit, request);
    case "rotate":
      return startRotation(services, unit, request);
    case "sign":
      if (request.data === undefined) throw invalidField("data", "required for a sign ceremony");
      return startWithKey(services, unit, request, request.data);
    case "reconstruct":
      return startWithKey(services, unit, request, null);
    default:
      return request.operation satisfies never;
  }
}

/** The ceremony that deals new shares of the same key. `required` is the old threshold, `threshold` the new one. */
export async function startRotation(
  services: CustodyServices,
  unit: GatewayUnit,
  request: Pick<CeremonyRequest, "threshold" | "total_shares" | "custodians">,
): Promise<Ceremony> {
  const crk = await requireCrk(unit, unit.call.principal.org);
  const total = request.total_shares ?? crk.total_shares;
  requireThreshold(request.threshold, total);
  unit.put(crks, crk.id, { ...crk, ...stepCrk(crk, { kind: "start_rotation" }, unit.call.now) });
  return store(services, unit, {
    crk_id: crk.id,
    operation: "rotate",
    threshold: request.threshold,
    total_shares: total,
    required_shares: crk.threshold,
    data: null,
    holders: crk.custodians ?? [],
    custodians: await custodiansNamed(unit, crk.org_id, request.custodians, total),
  });
}

/** A witnessed generation collects no shares; `2 * threshold - 1` shares are made where no total is named. */
async function startGenerate(services: CustodyServices, unit: GatewayUnit, request: CeremonyRequest): Promise<Ceremony> {
  const total = request.total_shares ?? 2 * request.threshold - 1;
  requireThreshold(request.threshold, total);
  if ((await currentCrk(unit, unit.call.principal.org)) !== undefined) {
    throw refusal("CRK_EXISTS", "the organisation has a customer root key already");
  }
  return store(services, unit, {
    crk_id: null,
    operation: "generate",
    threshold: request.threshold,
    total_shares: total,
    required_shares: 0,
    data: null,
    holders: [],
    custodians: await custodiansNamed(unit, unit.call.principal.org, request.custodians, total),
  });
}

async function startWithKey(
  services: CustodyServices,
  unit: GatewayUnit,
  request: CeremonyRequest,
  data: string | null,
): Promise<Ceremony> {
  const crk = await requireCrk(unit, unit.call.principal.org);
  if (request.threshold < crk.threshold || request.threshold > crk.total_shares) {
    throw refusal("INVALID_THRESHOLD", "the ceremony must ask for at least the key's threshold and at most all of its shares", {
      field: "threshold",
      threshold: request.threshold,
      crk_threshold: crk.threshold,
      total_shares: crk.total_shares,
    });
  }
  if (request.total_shares !== undefined) throw invalidField("total_shares", "this ceremony makes no shares");
  return store(services, unit, {
    crk_id: crk.id,
    operation: request.operation,
    threshold: crk.threshold,
    total_shares: crk.total_shares,
    required_shares: request.threshold,
    data,
    holders: crk.custodians ?? [],
    custodians: [],
  });
}

/** What nobody can witness can never complete. */
async function requireSomeWitness(unit: GatewayUnit): Promise<void> {
  const { org, id } = unit.call.principal;
  const known = await unit.list(admins, "by_org", [org]);
  if (known.some((admin) => admin.enrollment_status === "active" && admin.id !== id)) return;
  throw refusal("STATE_CONFLICT", "nobody could witness it: the organisation has no active admin but the caller");
}

async function store(
  services: CustodyServices,
  unit: GatewayUnit,
  facts: Omit<CeremonyStart, "id" | "org" | "by">,
): Promise<Ceremony> {
  const { principal, now } = unit.call;
  await requireSomeWitness(unit);
  const id = services.newId(now);
  const ceremony = startCeremony({ id, org: principal.org, by: principal.id, ...facts }, now, services.config.lifetimes.ceremony);
  unit.insert(ceremonies, id, ceremony);
  const recorded = await began(services, unit, ceremony);
  unit.record({
    type: "crk.ceremony",
    metadata: { ceremony_id: id, operation: facts.operation, event: "started", ...recorded },
  });
  return ceremony;
}

/** The transcript of a ceremony that will deal; what only uses a key has none. */
async function began(services: CustodyServices, unit: GatewayUnit, ceremony: Ceremony): Promise<Recorded> {
  const { id, org_id, operation, threshold, total_shares, required_shares, custodians = [] } = ceremony;
  if (operation !== "generate" && operation !== "rotate") return {};
  const kind = operation === "generate" ? "witnessed" : "rotated";
  const seats = seatsKept(custodians);
  return beginTranscript(services, unit, id, { kind, org_id, threshold, total_shares, required_shares, seats });
}
