import { base64, nobleCrypto } from "@seneschal/crypto";
import { seeded } from "@seneschal/crypto/arbitraries";
import {
  admitDealtEntry,
  type CustodianKeys,
  type DealtAct,
  type DealtEntry,
  type DealtRefusal,
  type DealtStanding,
  type DealtStart,
  dealtEntry,
} from "@seneschal/crypto/custody";
import { crkToJson, dealCrk } from "@seneschal/crypto/threshold";
import { CEREMONY, custodians, NOW, person } from "./rig.ts";

const seed = seeded("gateway")(32);
/** The gateway that deals. */
export const gateway = {
  key: base64(nobleCrypto.ed25519PublicKey(seed)),
  sign: (bytes: Uint8Array) => nobleCrypto.ed25519Sign(seed, bytes),
};

export interface Said {
  readonly author: string;
  readonly act: DealtAct;
  /** Whose key signs in place of the gateway's. */
  readonly keys?: Pick<CustodianKeys, "sign">;
  readonly change?: Partial<DealtEntry>;
}

/** A relay of such a transcript: every entry is admitted, or `refused` says why not. */
export class DealtRig {
  readonly entries: DealtEntry[] = [];
  standing: DealtStanding | undefined;

  say({ author, act, keys = gateway, change = {} }: Said): DealtRefusal | undefined {
    const by = { ceremony: CEREMONY, author, at: NOW + this.entries.length };
    const { entry, bytes } = dealtEntry(this.standing, by, act);
    const signed = { ...entry, signature: base64(keys.sign(bytes)), ...change };
    const after = admitDealtEntry(nobleCrypto, this.standing, signed);
    if (typeof after === "string") return after;
    this.standing = after;
    this.entries.push(signed);
    return undefined;
  }
}

const { crk } = dealCrk({ threshold: 2, total: 3, random: seeded("dealt") });
export const material = crkToJson(crk);

/** To each of three, of whom the last has enrolled no keys. */
export const seats = custodians(3).map(({ id, card }, at) => ({ index: at + 1, identity_id: id, card: at === 2 ? null : card }));

export const startOf = (kind: DealtStart["kind"], change: Partial<DealtStart> = {}): DealtStart => ({
  type: "start",
  kind,
  org_id: "acme",
  threshold: 2,
  total_shares: 3,
  required_shares: kind === "rotated" ? 2 : 0,
  seats: kind === "password" ? [{ index: 1, identity_id: "ada" }] : [],
  gateway_key: gateway.key,
  ...change,
});

export const dealt: DealtAct = { type: "dealt", crk_id: "0190a5e0-crk", crk: material, seats };

/** A ceremony of a kind as far as the entry that deals. */
export function dealtBy(kind: DealtStart["kind"]): DealtRig {
  const rig = new DealtRig();
  const says = (author: string, act: DealtAct) => {
    const refused = rig.say({ author, act });
    if (refused !== undefined) throw new Error(refused);
  };
  says("sue", startOf(kind));
  if (kind === "password") for (const { index, identity_id } of seats) says(identity_id, { type: "seed", index });
  if (kind === "rotated") for (const index of [1, 3]) says(`holder-${index}`, { type: "share", index });
  if (kind === "witnessed" || kind === "rotated") says("sue", { type: "witness_named", identity_id: "wim" });
  says("sue", dealt);
  return rig;
}

/** The confirmation of a custodian, of what was dealt or of something else. */
export const confirmation = ({ standing }: DealtRig, transcript = standing?.transcript ?? ""): DealtAct => ({
  type: "confirmation",
  transcript,
  public_key: material.public_key,
});

/** A ceremony to its end: both custodians with keys have confirmed. */
export function confirmedBy(kind: DealtStart["kind"]): DealtRig {
  const rig = dealtBy(kind);
  for (const name of ["bob", "ada"]) rig.say({ author: name, keys: person(name).keys, act: confirmation(rig) });
  return rig;
}
