import type { Handlers } from "@seneschal/contract";
import type { GatewayContract } from "@seneschal/contract/gateway";
import {
  type Ceremony,
  type CeremonyInput,
  type CeremonyOperation,
  type CeremonyStart,
  type Custodian,
  ceremonyStatus,
  invalidField,
  lastMoment,
  refusal,
  requireThreshold,
  startCeremony,
  stepCeremony,
  stepCrk,
  succeedCustodians,
} from "@seneschal/core/keys";
import { crkToJson } from "@seneschal/crypto/threshold";
import {
  base64,
  bytes,
  crks,
  crkView,
  currentCrk,
  findOwn,
  type GatewayUnit,
  listed,
  ownOrganization,
  type Reader,
  requireCrk,
  type StoredCrk,
  utf8,
} from "../ground/index.ts";
import {
  activeHolders,
  admins,
  asKnownNow,
  custodiansNamed,
  findWitness,
  holderCalling,
  personCalling,
  personNamed,
  personSeated,
  requireAnother,
} from "../people/index.ts";
import { ceremonies, sharesOfCeremony } from "./collections.ts";
import { type Dealing, type DealtShare, dealing, dealtShares, storeNewCrk } from "./deal-crk.ts";
import { beginTranscript, type Recorded, recordAct, recordDealt, seatsKept } from "./dealt-transcripts.ts";
import type { CustodyServices } from "./services.ts";

/** What a ceremony came to. `result` is base64: a signature, or the public key that the quorum holds. */
interface CeremonyOutcome {
  readonly result: string;
  readonly crk: ReturnType<typeof crkView> | null;
  readonly shares: readonly DealtShare[];
  /** Where new shares were dealt: what its transcript says. */
  readonly recorded?: Recorded;
}

/** Those whom the start named for the new shares; throws `STATE_CONFLICT` when one of them has left meanwhile. */
async function stillThere(unit: GatewayUnit, ceremony: Ceremony): Promise<readonly Custodian[]> {
  const named = ceremony.custodians ?? [];
  const active = await activeHolders(unit, ceremony.org_id, named);
  const gone = named.filter(({ identity_id }) => !active.includes(identity_id)).map(({ index }) => index);
  if (gone.length > 0) {
    throw refusal("STATE_CONFLICT", "a named custodian is not a registered, active identity any more: cancel and start anew", {
      indexes: gone,
    });
  }
  return named;
}

/** Does what the ceremony was held for. `dealt` is the key material of `generate`, which is made once. */
async function carryOut(
  services: CustodyServices,
  unit: GatewayUnit,
  ceremony: Ceremony,
  dealt: Dealing | undefined,
): Promise<CeremonyOutcome> {
  const { now } = unit.call;
  if (ceremony.operation === "generate") {
    if (dealt === undefined) throw new Error("a generate ceremony needs key material");
    const crk = await storeNewCrk(services, unit, ceremony.org_id, dealt, await stillThere(unit, ceremony));
    const { shares } = await dealt.material();
    const recorded = await recordDealt(services, unit, ceremony.id, crk);
    return { result: crk.public_key, crk: crkView(crk), shares: dealtShares(services, crk, shares, now), recorded };
  }
  const crk = await requireCrk(unit, ceremony.org_id);
  const shares = await sharesOfCeremony.open(services, unit, ceremony);
  switch (ceremony.operation) {
    case "sign": {
      const signature = await services.threshold.signWithShares(
        crk.material,
        shares,
        bytes(ceremony.data ?? ""),
        ceremony.org_id,
      );
      return { result: base64(signature), crk: null, shares: [] };
    }
    case "reconstruct": {
      // The quorum is proved by a signature that only it can make; the private key is never assembled.
      await services.threshold.signWithShares(crk.material, shares, utf8(`seneschal/quorum/v1\0${ceremony.id}`), ceremony.org_id);
      return { result: crk.public_key, crk: crkView(crk), shares: [] };
    }
    case "rotate": {
      const { threshold, total_shares } = ceremony;
      const named = await stillThere(unit, ceremony);
      const next = await services.threshold.reshareWithShares(
        crk.material,
        shares,
        { threshold, total: total_shares },
        ceremony.org_id,
      );
      const present = await asKnownNow(unit, ceremony.org_id, crk.custodians ?? []);
      const active = await activeHolders(unit, ceremony.org_id, present);
      const custodians = succeedCustodians(present, named, total_shares, active);
      const rotated: StoredCrk = {
        ...crk,
        ...stepCrk(crk, { kind: "finish_rotation", threshold, total_shares, custodians }, now),
        material: crkToJson(next.crk),
      };
      unit.put(crks, crk.id, rotated);
      const out = dealtShares(services, rotated, next.shares, now);
      for (const share of next.shares) share.erase();
      const recorded = await recordDealt(services, unit, ceremony.id, rotated);
      return { result: rotated.public_key, crk: crkView(rotated), shares: out, recorded };
    }
    default:
      return ceremony.operation satisfies never;
  }
}

/** Cancels or expires a ceremony: shares are erased, a key in rotation goes back to `active`. */
export async function endCeremony(
  services: CustodyServices,
  unit: GatewayUnit,
  ceremony: Ceremony,
  input: Extract<CeremonyInput, { readonly kind: "cancel" | "expire" }>,
): Promise<void> {
  const at = input.kind === "expire" ? lastMoment(ceremony.expires_at) : unit.call.now;
  const { state } = stepCeremony(ceremony, input, at);
  unit.put(ceremonies, ceremony.id, state);
  sharesOfCeremony.erase(unit, ceremony);
  const crk = ceremony.operation === "rotate" && ceremony.crk_id !== null ? await unit.get(crks, ceremony.crk_id) : undefined;
  if (crk?.status === "rotating")
    unit.put(crks, crk.id, { ...crk, ...stepCrk(crk, { kind: "abandon_rotation" }, unit.call.now) });
  const reason = input.kind === "cancel" ? "cancelled" : "expired";
  const recorded = await recordAct(services, unit, ceremony.id, { type: "end", reason });
  unit.record({
    type: "crk.ceremony",
    org: ceremony.org_id,
    metadata: { ceremony_id: ceremony.id, operation: ceremony.operation, event: state.status, ...recorded },
  });
}

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
async function startAnyCeremony(services: CustodyServices, unit: GatewayUnit, request: CeremonyRequest): Promise<Ceremony> {
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

/** A ceremony as callers see it at `now`. */
export function ceremonyView(ceremony: Ceremony, now: number) {
  return {
    ...ceremony,
    status: ceremonyStatus(ceremony, now),
    seats: [...(ceremony.seats ?? [])],
    custodians: [...(ceremony.custodians ?? [])],
    shares_collected: ceremony.submitted_indexes.length,
    submitted_indexes: [...ceremony.submitted_indexes],
    // Who completes it names the witness, who signs nothing: in a custody ceremony it does.
    witness_confirmed: false,
  };
}

type Routes = Pick<
  GatewayContract,
  "startCeremony" | "listCeremonies" | "getCeremony" | "submitCeremonyShare" | "completeCeremony" | "cancelCeremony"
>;

const find = (read: Reader, id: string, org: string) => findOwn(read, ceremonies, id, org, "ceremony");

const auditType = {
  generate: "crk.generate",
  sign: "crk.sign",
  rotate: "crk.rotate",
  reconstruct: "crk.reconstruct",
} as const;

export const ceremonyHandlers: Handlers<Routes, CustodyServices> = {
  async startCeremony(services, { principal, body, now, requestId }) {
    ownOrganization(principal, body.org_id);
    const { operation, threshold, total_shares, data, custodians } = body;
    return services.transact({ principal, now, requestId }, async (unit) =>
      ceremonyView(await startAnyCeremony(services, unit, { operation, threshold, total_shares, data, custodians }), now),
    );
  },

  listCeremonies: async ({ read }, { principal, query, now }) =>
    listed("ceremonies", await read.page(ceremonies, "by_org", [principal.org], query), (item) => ceremonyView(item, now)),

  async getCeremony({ read }, { principal, params, now }) {
    return ceremonyView(await find(read, params.id, principal.org), now);
  },

  async submitCeremonyShare(services, { principal, params, body, now, requestId }) {
    await services.transact({ principal, now, requestId }, async (unit) => {
      const ceremony = await find(unit, params.id, principal.org);
      if (ceremony.required_shares === 0) throw refusal("STATE_CONFLICT", "this ceremony takes no shares");
      const seats = await asKnownNow(unit, principal.org, ceremony.seats ?? []);
      const holder = await holderCalling(unit, principal);
      const { state } = stepCeremony({ ...ceremony, seats }, { kind: "share", index: body.index, holder }, now);
      const crk = await requireCrk(unit, principal.org);
      const share = { index: body.index, data: base64(bytes(body.data)) };
      const problems = await services.threshold.inspectShares(crk.material, [share], principal.org);
      if (problems.length > 0) {
        throw refusal("SHARE_INVALID", `share ${body.index} is not valid`, { indexes: [body.index], problems });
      }
      await sharesOfCeremony.hold(services, unit, ceremony, share);
      unit.put(ceremonies, ceremony.id, state);
      const recorded = await recordAct(services, unit, ceremony.id, { type: "share", index: body.index });
      unit.record({
        type: "crk.ceremony",
        metadata: { ceremony_id: ceremony.id, operation: ceremony.operation, event: "share", index: body.index, ...recorded },
      });
    });
  },

  async completeCeremony(services, { principal, params, body, now, requestId }) {
    const before = await find(services.read, params.id, principal.org);
    const { operation, threshold, total_shares } = before;
    const dealt = operation === "generate" ? dealing(services, principal.org, threshold, total_shares) : undefined;
    return services.transact({ principal, now, requestId }, async (unit) => {
      const ceremony = await find(unit, params.id, principal.org);
      const witness = await findWitness(unit, principal.org, body.witness);
      const seats = await asKnownNow(unit, principal.org, ceremony.seats ?? []);
      const active = await activeHolders(unit, principal.org, seats);
      const { state } = stepCeremony({ ...ceremony, seats }, { kind: "complete", witness, by: principal.id, active }, now);
      const seated = seats.filter(({ taken_at }) => taken_at !== null).map(personSeated);
      const part = [await personCalling(unit, principal), ...seated];
      requireAnother(
        await personNamed(unit, principal.org, witness),
        part,
        "the witness must be neither the caller nor a submitter",
      );
      const named = await recordAct(services, unit, ceremony.id, { type: "witness_named", identity_id: witness });
      const { recorded = named, ...outcome } = await carryOut(services, unit, ceremony, dealt);
      unit.put(ceremonies, ceremony.id, state);
      sharesOfCeremony.erase(unit, ceremony);
      unit.record({
        type: auditType[ceremony.operation],
        metadata: {
          ceremony_id: ceremony.id,
          witness,
          witness_confirmed: false,
          indexes: ceremony.submitted_indexes,
          ...recorded,
        },
      });
      return { ceremony: ceremonyView(state, now), ...outcome, shares: [...outcome.shares] };
    });
  },

  async cancelCeremony(services, { principal, params, now, requestId }) {
    await services.transact({ principal, now, requestId }, async (unit) => {
      await endCeremony(services, unit, await find(unit, params.id, principal.org), { kind: "cancel" });
    });
  },
};
