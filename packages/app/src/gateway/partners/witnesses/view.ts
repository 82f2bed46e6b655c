import type { LogWitness } from "@seneschal/core/keys";
import { witnessVerifierKey } from "@seneschal/crypto/merkle";
import { bytes, organizationKeyRecords, type Reader } from "../../ground/index.ts";
import { keysOfPartner } from "../federation/certified-keys.ts";
import { federations, type StoredFederation } from "../federation/collections.ts";
import { logWitnesses, witnessedLogs } from "./collections.ts";
import { witnessKeyOf } from "./witness-key.ts";

const shown = ({ size, note, cosigned_at, trouble }: LogWitness) => ({ size, note, cosigned_at, trouble });

/** What either side of a federation has witnessed of the other's audit log. */
export async function witnessesOf(read: Reader, federation: StoredFederation) {
  const { id, org_id, partner_org_id } = federation;
  const [by, of] = await Promise.all([read.get(logWitnesses, id), read.get(witnessedLogs, id)]);
  const theirs = keysOfPartner(federation)?.signing;
  const ours = of && (await read.get(organizationKeyRecords, org_id))?.signing_public;
  const keyText = (org: string, key: Uint8Array): string => witnessVerifierKey(witnessKeyOf(org, key));
  return {
    witnessed_by:
      by === undefined || theirs === undefined ? null : { ...shown(by), verifier_key: keyText(partner_org_id, theirs) },
    witness_of:
      of === undefined || ours === undefined
        ? null
        : { ...shown(of), log_key: of.log_key, verifier_key: keyText(org_id, bytes(ours)) },
  };
}

/** The cosigned checkpoints of an organisation's audit log, with the keys of those who cosigned them. */
export async function cosignedCheckpoints(read: Reader, org: string) {
  const known = await read.list(logWitnesses, "by_org", [org]);
  const all = await Promise.all(
    known.map(async ({ federation_id, partner_org_id, size, note, cosigned_at }) => {
      const federation = await read.get(federations, federation_id);
      const signing = federation && keysOfPartner(federation)?.signing;
      if (note === null || cosigned_at === null || signing === undefined) return [];
      return [
        {
          org_id: partner_org_id,
          size,
          cosigned_at,
          note,
          verifier_key: witnessVerifierKey(witnessKeyOf(partner_org_id, signing)),
        },
      ];
    }),
  );
  return all.flat();
}
