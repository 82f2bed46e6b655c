import { type Custodian, createCrk, refusal, requireThreshold } from "@seneschal/core/keys";
import { type CrkPublicJson, type CrkWithShares, crkToJson, type Share } from "@seneschal/crypto/threshold";
import { crks, ensureOrganization, type GatewayUnit, organizations, type StoredCrk } from "../ground/index.ts";
import type { CustodyServices } from "./services.ts";

/** A share on its way to its custodian, shown once. */
export interface DealtShare {
  readonly id: string;
  readonly crk_id: string;
  readonly index: number;
  readonly data: string;
}

/** Key material of one request, made when it is asked for the first time: a transaction that is tried again takes the same. */
export interface Dealing {
  material(): Promise<CrkWithShares>;
  /** Overwrites the shares, if any were made. */
  erase(): void;
}

/** A dealing for an organisation. Throws `INVALID_THRESHOLD`. */
export function dealing(services: CustodyServices, org: string, threshold: number, total: number): Dealing {
  requireThreshold(threshold, total);
  let dealt: Promise<CrkWithShares> | undefined;
  let made: CrkWithShares | undefined;
  return {
    async material() {
      dealt ??= services.threshold.dealCrk({ threshold, total }, org);
      made = await dealt;
      return made;
    },
    erase() {
      for (const share of made?.shares ?? []) share.erase();
    },
  };
}

/** Deals the organisation's key and stores its public half; nothing is dealt before it is known that there is none. Throws `CRK_EXISTS`. */
export async function storeNewCrk(
  services: CustodyServices,
  unit: GatewayUnit,
  org: string,
  { material: deal }: Dealing,
  custodians: readonly Custodian[],
): Promise<StoredCrk> {
  await requireNoCrk(unit, org);
  const { crk } = await deal();
  return storeCrk(services, unit, org, crkToJson(crk), custodians);
}

/** Stores the public half as the organisation's key. Throws `CRK_EXISTS`. */
export async function storeCrk(
  services: CustodyServices,
  unit: GatewayUnit,
  org: string,
  material: CrkPublicJson,
  custodians: readonly Custodian[],
): Promise<StoredCrk> {
  const owner = await requireNoCrk(unit, org);
  const id = services.newId(unit.call.now);
  const { public_key, threshold, total_shares } = material;
  const crk: StoredCrk = {
    ...createCrk({ id, org, custodians, public_key, threshold, total_shares }, unit.call.now),
    material,
  };
  unit.insert(crks, id, crk);
  unit.put(organizations, org, { ...owner, crk_id: id, updated_at: crk.created_at });
  return crk;
}

async function requireNoCrk(unit: GatewayUnit, org: string) {
  const owner = await ensureOrganization(unit, org, "crk");
  if (owner.crk_id !== null) throw refusal("CRK_EXISTS", "the organisation has a customer root key already");
  return owner;
}

/** Shares as they leave the gateway. */
export function dealtShares(services: CustodyServices, crk: StoredCrk, shares: readonly Share[], now: number): DealtShare[] {
  return shares.map((share) => ({ id: services.newId(now), crk_id: crk.id, index: share.index, data: share.encode() }));
}
