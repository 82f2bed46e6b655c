import type { Recovery } from "@seneschal/core/keys";
import type { SubmittedShare } from "@seneschal/crypto/threshold";
import { base64, bytes, type GatewayUnit, kekName, utf8 } from "../../ground/index.ts";

import type { CustodyServices } from "../services.ts";
import { recoveryShareId, recoveryShares } from "./collections.ts";

const aad = (recovery: Recovery, index: number): Uint8Array => utf8(`seneschal/recovery-share/v1\0${recovery.id}\0${index}`);

/** Keeps a verified share, sealed under the organisation's key-encryption key and bound to its recovery and index. */
export async function holdShare(
  services: CustodyServices,
  unit: GatewayUnit,
  recovery: Recovery,
  share: SubmittedShare,
): Promise<void> {
  const kek = await services.organizationKeys.ensureKek(recovery.org_id);
  const plain = bytes(share.data);
  const sealed = await services.vault.encrypt(kek, plain, aad(recovery, share.index));
  plain.fill(0);
  unit.insert(recoveryShares, recoveryShareId(recovery.id, share.index), {
    recovery_id: recovery.id,
    index: share.index,
    submitted_by: unit.call.principal.id,
    sealed,
  });
}

/** Takes the shares out of their seals, for the one moment in which they are used. */
export async function openHeldShares(
  services: CustodyServices,
  unit: GatewayUnit,
  recovery: Recovery,
): Promise<readonly SubmittedShare[]> {
  const shares: SubmittedShare[] = [];
  for (const index of recovery.submitted_indexes) {
    const held = await unit.get(recoveryShares, recoveryShareId(recovery.id, index));
    if (held === undefined) throw new Error(`recovery ${recovery.id} lost share ${index}`);
    const plain = await services.vault.decrypt(kekName(recovery.org_id), held.sealed, aad(recovery, index));
    shares.push({ index, data: base64(plain) });
    plain.fill(0);
  }
  return shares;
}

/** Carries out `erase_shares`. */
export function eraseHeldShares(unit: GatewayUnit, recovery: Recovery): void {
  for (const index of recovery.submitted_indexes) unit.delete(recoveryShares, recoveryShareId(recovery.id, index));
}
