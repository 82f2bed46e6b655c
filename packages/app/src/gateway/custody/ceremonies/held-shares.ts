import type { Ceremony } from "@seneschal/core/keys";
import type { SubmittedShare } from "@seneschal/crypto/threshold";
import { base64, bytes, type GatewayUnit, kekName, utf8 } from "../../ground/index.ts";

import type { CustodyServices } from "../services.ts";
import { heldShareId, heldShares } from "./collections.ts";

const aad = (ceremony: Ceremony, index: number): Uint8Array => utf8(`seneschal/ceremony-share/v1\0${ceremony.id}\0${index}`);

/** Keeps a submitted share, sealed under the organisation's key-encryption key and bound to its ceremony and index. */
export async function holdShare(
  services: CustodyServices,
  unit: GatewayUnit,
  ceremony: Ceremony,
  share: SubmittedShare,
): Promise<void> {
  const kek = await services.organizationKeys.ensureKek(ceremony.org_id);
  const plain = bytes(share.data);
  const sealed = await services.vault.encrypt(kek, plain, aad(ceremony, share.index));
  plain.fill(0);
  unit.insert(heldShares, heldShareId(ceremony.id, share.index), {
    ceremony_id: ceremony.id,
    index: share.index,
    submitted_by: unit.call.principal.id,
    sealed,
  });
}

/** Takes the shares out of their seals, for the one moment in which they are used. */
export async function openHeldShares(
  services: CustodyServices,
  unit: GatewayUnit,
  ceremony: Ceremony,
): Promise<readonly SubmittedShare[]> {
  return Promise.all(
    ceremony.submitted_indexes.map(async (index) => {
      const held = await unit.get(heldShares, heldShareId(ceremony.id, index));
      if (held === undefined) throw new Error(`ceremony ${ceremony.id} lost share ${index}`);
      const plain = await services.vault.decrypt(kekName(ceremony.org_id), held.sealed, aad(ceremony, index));
      const data = base64(plain);
      plain.fill(0);
      return { index, data };
    }),
  );
}

/** Carries out `erase_shares`. */
export function eraseHeldShares(unit: GatewayUnit, ceremony: Ceremony): void {
  for (const index of ceremony.submitted_indexes) unit.delete(heldShares, heldShareId(ceremony.id, index));
}
