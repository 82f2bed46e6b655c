import {
  type CeremonyParticipant,
  type Custodian,
  type CustodyCeremony,
  invalidField,
  refusal,
  rotatesShares,
  stepCrk,
} from "@seneschal/core/keys";
import { canonicalJson } from "@seneschal/crypto";
import { type StartAct, shareAfter, shareBefore, type TranscriptStanding, thresholdOf } from "@seneschal/crypto/custody";
import { crks, type GatewayUnit, requireCrk, type StoredCrk } from "../../ground/index.ts";
import { asKnownNow } from "../../people/index.ts";
import { storeCrk } from "../crk/deal.ts";
import { activeCustodians } from "../custodians/handlers.ts";
import type { CustodyServices } from "../services.ts";
import type { StoredCustodyCeremony } from "./collections.ts";

/** The key that a start makes, as a ceremony has it. */
export function keyOf(start: StartAct): Pick<CustodyCeremony, "threshold" | "total_shares"> {
  const { kind, seats } = start;
  const total_shares = kind === "reshare" ? start.total_shares : kind === "repair" ? start.crk.total_shares : seats.length;
  return { threshold: thresholdOf(start), total_shares };
}

/** Who deals with a share of the key is who holds the share of that index, and a share is given back to who held it. */
export function requireHeld(
  crk: StoredCrk,
  start: Exclude<StartAct, { readonly kind: "generate" }>,
  participants: readonly CeremonyParticipant[],
): void {
  if (canonicalJson(start.crk) !== canonicalJson(crk.material))
    throw invalidField("entry.act.crk", "is not the organisation's key");
  for (const { seat, identity_id } of participants) {
    const index = start.kind === "repair" ? shareAfter(start, seat) : shareBefore(start, seat);
    const holder = crk.custodians?.find((custodian) => custodian.index === index);
    if (seat > 0 && index > 0 && holder?.identity_id !== identity_id) {
      throw invalidField(`entry.act.seats[${seat - 1}]`, `does not hold the share of index ${index}`);
    }
  }
}

/**
 * All who are given a share have confirmed one transcript and the witness has signed it: the key is the organisation's, or has new
 * shares, or one share is there again. Throws `CRK_EXISTS` and `STATE_CONFLICT` when another key or other shares came first.
 */
export async function activate(
  services: CustodyServices,
  unit: GatewayUnit,
  ceremony: StoredCustodyCeremony,
  { crk: material, transcript }: TranscriptStanding,
): Promise<{ readonly crk_id: string; readonly crk_version: number }> {
  if (material === undefined || transcript === undefined) throw new Error("an active ceremony has a key");
  const { id: ceremony_id, kind, threshold, total_shares } = ceremony;
  const witness = ceremony.participants.find(({ role }) => role === "witness")?.identity_id ?? null;
  const metadata = { ceremony_id, kind, transcript, witness, witness_confirmed: true, threshold, total_shares };
  if (kind === "generate") {
    const crk = await storeCrk(services, unit, ceremony.org_id, material, await holders(unit, ceremony));
    unit.record({ type: "crk.generate", metadata: { crk_id: crk.id, ...metadata } });
    return { crk_id: crk.id, crk_version: crk.version };
  }
  const crk = await requireCrk(unit, ceremony.org_id);
  if (crk.id !== ceremony.crk_id) throw refusal("STATE_CONFLICT", "the organisation has another root key now");
  if (!rotatesShares(kind)) {
    if (canonicalJson(crk.material) !== canonicalJson(material))
      throw refusal("STATE_CONFLICT", "the key has other shares now: what was repaired is no share of it any more");
    unit.record({ type: "crk.repair", metadata: { crk_id: crk.id, ...metadata } });
    return { crk_id: crk.id, crk_version: crk.version };
  }
  const custodians = await holders(unit, ceremony);
  const next: StoredCrk = {
    ...crk,
    ...stepCrk(crk, { kind: "finish_rotation", threshold, total_shares, custodians }, unit.call.now),
    material,
  };
  unit.put(crks, crk.id, next);
  unit.record({ type: "crk.rotate", metadata: { crk_id: crk.id, ...metadata } });
  return { crk_id: next.id, crk_version: next.version };
}

/** Those on the seats that are given a share, the first ones of all, as the records know them now. */
async function holders(
  unit: GatewayUnit,
  { org_id, participants, total_shares }: StoredCustodyCeremony,
): Promise<readonly Custodian[]> {
  const seats = participants.filter(({ seat }) => seat > 0 && seat <= total_shares);
  const { found } = await activeCustodians(
    unit,
    org_id,
    seats.map(({ enrollment_id }) => enrollment_id),
  );
  const named = seats.map(({ seat, enrollment_id }) => {
    const { identity_id, identity_type, name } = found.get(enrollment_id) ?? {};
    if (identity_id === undefined || identity_type === undefined || name === undefined) throw new Error("a seat of nobody");
    return { index: seat, identity_id, identity_type, name, emails: [] };
  });
  return asKnownNow(unit, org_id, named);
}
