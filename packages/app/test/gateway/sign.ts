import type { Caller } from "./rig.ts";

export interface HeldCrk {
  readonly id: string;
  readonly public_key: string;
  readonly shares: readonly { readonly index: number; readonly data: string }[];
}

/** Holds an organisation's key generation and answers what the custodians would keep. */
export async function makeCrk(
  caller: Caller,
  total = 3,
  threshold = 2,
  custodians?: readonly { readonly index: number; readonly identity_id: string; readonly identity_type: string }[],
): Promise<HeldCrk> {
  const { body } = await caller("POST", "/api/v1/crk/generate", { total_shares: total, threshold, custodians });
  return { id: body.id, public_key: body.public_key, shares: shareList(body.shares) };
}

export function shareList(shares: readonly { index: number; data: string }[]): { index: number; data: string }[] {
  return shares.map(({ index, data }) => ({ index, data }));
}

/** Signs bytes (base64) with the key's shares. */
export async function signData(caller: Caller, crk: HeldCrk, data: string): Promise<string> {
  const { body } = await caller("POST", "/api/v1/crk/sign", { shares: crk.shares, public_key: crk.public_key, data });
  return body.signature;
}

/** Prepares and signs one operation. */
export async function signOperation(
  caller: Caller,
  crk: HeldCrk,
  operation: string,
  resource_id = "",
  body: object = {},
): Promise<string> {
  const request = await caller("POST", "/api/v1/crk/signing-requests", { operation, resource_id, body });
  return signData(caller, crk, request.body.message);
}
