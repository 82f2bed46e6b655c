import { type CeremonyParticipant, type Custodian, invalidField, refusal, stepCrk } from "@seneschal/core/keys";
import { canonicalJson } from "@seneschal/crypto";
import type { StartAct, TranscriptStanding } from "@seneschal/crypto/custody";
import { crks, type GatewayUnit, requireCrk, type StoredCrk } from "../../ground/index.ts";
import { asKnownNow } from "../../people/index.ts";
import { storeCrk } from "../crk/deal.ts";
import { requireActiveCustodians } from "../custodians/handlers.ts";
import type { CustodyServices } from "../services.ts";
import type { StoredCustodyCeremony } from "./collections.ts";

/** New shares are added to the old ones: each seat must be of who holds the share of its index. */
export function requireRefreshable(
  crk: StoredCrk,
  start: Extract<StartAct, { readonly kind: "refresh" }>,
  participants: readonly CeremonyParticipant[],
): void {
  if (canonicalJson(start.crk) !== canonicalJson(crk.material))
    throw invalidField("entry.act.crk", "is not the organisation's key");
  for (const { seat, identity_id } of participants) {
    const holder = crk.custodians?.find(({ index }) => index === seat);
    if (seat > 0 && holder?.identity_id !== identity_id) {
      throw invalidField(`entry.act.seats[${seat - 1}]`, `does not hold the share of index ${seat}`);
    }
  }
}

/**
 * All custodians have confirmed one transcript and the witness has signed it: the key is the organisation's, or has new shares. Throws
 * `STATE_CONFLICT` when somebody of them is not a confirmed custodian any more, `CRK_EXISTS` when another key came first.
 */
export async function activate(
  services: CustodyServices,
  unit: GatewayUnit,
  ceremony: StoredCustodyCeremony,
  { crk: material, transcript }: TranscriptStanding,
): Promise<{ readonly crk_id: string; readonly crk_version: number }> {
  if (material === undefined || transcript === undefined) throw new Error("an active ceremony has a key");
  const enrolled = await requireActiveCustodians(
    unit,
    ceremony.participants.map(({ enrollment_id }) => enrollment_id),
  );
  const custodians = await holders(unit, ceremony, enrolled);
  const { id: ceremony_id, kind, threshold, total_shares } = ceremony;
  const witness = ceremony.participants.find(({ role }) => role === "witness")?.identity_id ?? null;
  const metadata = { ceremony_id, transcript, witness, threshold, total_shares };
  if (kind === "generate") {
    const crk = await storeCrk(services, unit, ceremony.org_id, material, custodians);
    unit.record({ type: "crk.generate", metadata: { crk_id: crk.id, ...metadata } });
    return { crk_id: crk.id, crk_version: crk.version };
  }
  const crk = await requireCrk(unit, ceremony.org_id);
  if (crk.id !== ceremony.crk_id) throw refusal("STATE_CONFLICT", "the organisation has another root key now");
  const refreshed: StoredCrk = {
    ...crk,
    ...stepCrk(crk, { kind: "finish_rotation", threshold, total_shares, custodians }, unit.call.now),
    material,
  };
  unit.put(crks, crk.id, refreshed);
  unit.record({ type: "crk.rotate", metadata: { crk_id: crk.id, ...metadata } });
  return { crk_id: refreshed.id, crk_version: refreshed.version };
}

/** Those on the seats, as the records know them now. */
async function holders(
  unit: GatewayUnit,
  { org_id, participants }: StoredCustodyCeremony,
  enrolled: Awaited<ReturnType<typeof requireActiveCustodians>>,
): Promise<readonly Custodian[]> {
  const seats = participants.filter(({ seat }) => seat > 0);
  const named = seats.map(({ seat, enrollment_id }) => {
    const { identity_id, identity_type, name } = enrolled.get(enrollment_id) ?? {};
    if (identity_id === undefined || identity_type === undefined || name === undefined) throw new Error("a seat of nobody");
    return { index: seat, identity_id, identity_type, name, emails: [] };
  });
  return asKnownNow(unit, org_id, named);
}
