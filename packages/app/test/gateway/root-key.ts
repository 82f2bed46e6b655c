import type { Caller } from "./rig.ts";

/** An organisation's root key in the hands of a test: all shares at once. */
export interface RootKey {
  readonly publicKey: string;
  readonly shares: readonly { readonly index: number; readonly data: string }[];
  /** Prepares a signing request for the operation and signs it with a threshold of shares. */
  sign(operation: string, resourceId: string, body: object): Promise<string>;
}

/** Generates the caller's root key, 2 of 3. */
export async function rootKey(caller: Caller): Promise<RootKey> {
  const generated = await caller("POST", "/api/v1/crk/generate", { total_shares: 3, threshold: 2 });
  if (generated.status !== 200) throw new Error(generated.text);
  const shares: RootKey["shares"] = generated.body.shares.map(({ index, data }: { index: number; data: string }) => ({
    index,
    data,
  }));
  const publicKey: string = generated.body.public_key;
  return {
    publicKey,
    shares,
    async sign(operation, resourceId, body) {
      const prepared = await caller("POST", "/api/v1/crk/signing-requests", { operation, resource_id: resourceId, body });
      if (prepared.status !== 201) throw new Error(prepared.text);
      const made = await caller("POST", "/api/v1/crk/sign", {
        shares: shares.slice(0, 2),
        public_key: publicKey,
        data: prepared.body.message,
      });
      if (made.status !== 200) throw new Error(made.text);
      return made.body.signature;
    },
  };
}
