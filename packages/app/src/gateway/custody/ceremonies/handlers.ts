import type { Handlers } from "@seneschal/contract";
import type { GatewayContract } from "@seneschal/contract/gateway";
import { type Ceremony, notFound, refusal, stepCeremony } from "@seneschal/core/keys";
import { base64, bytes, ownOrganization, type Reader, requireCrk } from "../../ground/index.ts";
import {
  activeHolders,
  asKnownNow,
  findWitness,
  holderCalling,
  personCalling,
  personNamed,
  personSeated,
  requireAnother,
} from "../../people/index.ts";
import { dealing } from "../crk/deal.ts";
import { recordAct } from "../dealt-transcripts/record.ts";
import type { CustodyServices } from "../services.ts";
import { ceremonies, sharesOfCeremony } from "./collections.ts";
import { carryOut } from "./complete.ts";
import { endCeremony } from "./end.ts";
import { startAnyCeremony } from "./start.ts";
import { ceremonyView } from "./view.ts";

type Routes = Pick<
  GatewayContract,
  "startCeremony" | "listCeremonies" | "getCeremony" | "submitCeremonyShare" | "completeCeremony" | "cancelCeremony"
>;

async function find(read: Reader, id: string, org: string): Promise<Ceremony> {
  const ceremony = await read.get(ceremonies, id);
  if (ceremony === undefined || ceremony.org_id !== org) throw notFound("ceremony");
  return ceremony;
}

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

  async listCeremonies({ read }, { principal, query, now }) {
    const { items, total } = await read.page(ceremonies, "by_org", [principal.org], query);
    return { ceremonies: items.map((item) => ceremonyView(item, now)), count: items.length, total };
  },

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
