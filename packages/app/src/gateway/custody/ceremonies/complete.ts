import { type Ceremony, type Custodian, refusal, stepCrk, succeedCustodians } from "@seneschal/core/keys";
import { crkToJson } from "@seneschal/crypto/threshold";
import { base64, bytes, crks, crkView, type GatewayUnit, requireCrk, type StoredCrk, utf8 } from "../../ground/index.ts";
import { activeHolders, asKnownNow } from "../../people/index.ts";
import { type Dealing, type DealtShare, dealtShares, storeNewCrk } from "../crk/deal.ts";
import { type Recorded, recordDealt } from "../dealt-transcripts/record.ts";
import type { CustodyServices } from "../services.ts";
import { sharesOfCeremony } from "./collections.ts";

/** What a ceremony came to. `result` is base64: a signature, or the public key that the quorum holds. */
export interface CeremonyOutcome {
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
export async function carryOut(
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
