import { type Custodian, createCrk, refusal, requireThreshold } from "@seneschal/core/keys";
import { type CrkWithShares, crkToJson, type Share } from "@seneschal/crypto/threshold";
import { base64, crks, ensureOrganization, type GatewayUnit, organizations, type StoredCrk } from "../../ground/index.ts";
import type { CustodyServices } from "../services.ts";

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

/** Stores the public half as the organisation's key; nothing is dealt before it is known that there is none. Throws `CRK_EXISTS`. */
export async function storeNewCrk(
  services: CustodyServices,
  unit: GatewayUnit,
  org: string,
  { material: deal }: Dealing,
  custodians: readonly Custodian[],
): Promise<StoredCrk> {
  const owner = await ensureOrganization(unit, org, "crk");
  if (owner.crk_id !== null) throw refusal("CRK_EXISTS", "the organisation has a customer root key already");
  const { crk: material } = await deal();
  const id = services.newId(unit.call.now);
  const crk: StoredCrk = {
    ...createCrk(
      {
        ...{ id, org, custodians, public_key: base64(material.publicKey) },
        ...{ threshold: material.threshold, total_shares: material.total },
      },
      unit.call.now,
    ),
    material: crkToJson(material),
  };
  unit.insert(crks, id, crk);
  unit.put(organizations, org, { ...owner, crk_id: id, updated_at: crk.created_at });
  return crk;
}

/** Shares as they leave the gateway. */
export function dealtShares(services: CustodyServices, crk: StoredCrk, shares: readonly Share[], now: number): DealtShare[] {
  return shares.map((share) => ({ id: services.newId(now), crk_id: crk.id, index: share.index, data: share.encode() }));
}
