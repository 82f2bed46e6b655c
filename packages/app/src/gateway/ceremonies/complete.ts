import { type Ceremony, type Custodian, refusal, stepCrk, succeedCustodians } from "@seneschal/core/keys";
import { type CrkWithShares, crkFromJson, crkToJson, reshareWithShares, signWithShares } from "@seneschal/crypto/threshold";
import { base64, bytes, utf8 } from "../bytes.ts";
import type { GatewayUnit } from "../call.ts";
import { crks, type StoredCrk } from "../crk/collections.ts";
import { requireCrk } from "../crk/current.ts";
import { type DealtShare, dealtShares, storeNewCrk } from "../crk/deal.ts";
import { crkView } from "../crk/view.ts";
import { activeHolders, asKnownNow } from "../identities/holder.ts";
import type { GatewayServices } from "../services.ts";
import { openHeldShares } from "./held-shares.ts";

/** What a ceremony came to. `result` is base64: a signature, or the public key that the quorum holds. */
export interface CeremonyOutcome {
  readonly result: string;
  readonly crk: ReturnType<typeof crkView> | null;
  readonly shares: readonly DealtShare[];
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

/** Does what the ceremony was held for. `dealt` is fresh key material for `generate`, made before the transaction. */
export async function carryOut(
  services: GatewayServices,
  unit: GatewayUnit,
  ceremony: Ceremony,
  dealt: CrkWithShares | undefined,
): Promise<CeremonyOutcome> {
  const { now } = unit.call;
  if (ceremony.operation === "generate") {
    if (dealt === undefined) throw new Error("a generate ceremony needs key material");
    const crk = await storeNewCrk(services, unit, ceremony.org_id, dealt.crk, await stillThere(unit, ceremony));
    return { result: crk.public_key, crk: crkView(crk), shares: dealtShares(services, crk, dealt.shares, now) };
  }
  const crk = await requireCrk(unit, ceremony.org_id);
  const material = crkFromJson(crk.material);
  const shares = await openHeldShares(services, unit, ceremony);
  switch (ceremony.operation) {
    case "sign": {
      const signature = signWithShares(material, shares, bytes(ceremony.data ?? ""), services.random);
      return { result: base64(signature), crk: null, shares: [] };
    }
    case "reconstruct": {
      // The quorum is proved by a signature that only it can make; the private key is never assembled.
      signWithShares(material, shares, utf8(`seneschal/quorum/v1\0${ceremony.id}`), services.random);
      return { result: crk.public_key, crk: crkView(crk), shares: [] };
    }
    case "rotate": {
      const { threshold, total_shares } = ceremony;
      const next = reshareWithShares(material, shares, { threshold, total: total_shares, random: services.random });
      const present = await asKnownNow(unit, ceremony.org_id, crk.custodians ?? []);
      const active = await activeHolders(unit, ceremony.org_id, present);
      const custodians = succeedCustodians(present, await stillThere(unit, ceremony), total_shares, active);
      const rotated: StoredCrk = {
        ...crk,
        ...stepCrk(crk, { kind: "finish_rotation", threshold, total_shares, custodians }, now),
        material: crkToJson(next.crk),
      };
      unit.put(crks, crk.id, rotated);
      const out = dealtShares(services, rotated, next.shares, now);
      for (const share of next.shares) share.erase();
      return { result: rotated.public_key, crk: crkView(rotated), shares: out };
    }
    default:
      return ceremony.operation satisfies never;
  }
}
