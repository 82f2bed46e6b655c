import type { SubmittedShare } from "@seneschal/crypto/threshold";
import { base64, bytes, type Collection, type GatewayUnit, kekName, utf8 } from "../ground/index.ts";
import type { CustodyServices } from "./services.ts";

/** A share as it is kept: sealed by the vault, for the life of what it was submitted to and no longer. */
export interface SealedShare {
  readonly index: number;
  readonly submitted_by: string;
  readonly sealed: string;
}

/** What shares are submitted to. */
export interface Submission {
  readonly id: string;
  readonly org_id: string;
  readonly submitted_indexes: readonly number[];
}

const submittedShareId = (to: string, index: number): string => `${to}/${index}`;

/** The shares that are submitted to ceremonies, or to recoveries, in their collection; `owner` is what names it in their documents. */
export function submittedShares<Doc extends SealedShare>(
  kind: "ceremony" | "recovery",
  shares: Collection<Doc>,
  owner: (id: string) => Omit<Doc, keyof SealedShare>,
) {
  const aad = ({ id }: Submission, index: number): Uint8Array => utf8(`seneschal/${kind}-share/v1\0${id}\0${index}`);
  return {
    /** Keeps a share, sealed under the organisation's key-encryption key and bound to what it was submitted to and its index. */
    async hold(services: CustodyServices, unit: GatewayUnit, to: Submission, { index, data }: SubmittedShare): Promise<void> {
      const kek = await services.organizationKeys.ensureKek(to.org_id);
      const plain = bytes(data);
      const sealed = await services.vault.encrypt(kek, plain, aad(to, index));
      plain.fill(0);
      const doc = { ...owner(to.id), index, submitted_by: unit.call.principal.id, sealed } as Doc;
      unit.insert(shares, submittedShareId(to.id, index), doc);
    },

    /** Takes the shares out of their seals, for the one moment in which they are used. */
    open(services: CustodyServices, unit: GatewayUnit, to: Submission): Promise<readonly SubmittedShare[]> {
      return Promise.all(
        to.submitted_indexes.map(async (index) => {
          const held = await unit.get(shares, submittedShareId(to.id, index));
          if (held === undefined) throw new Error(`${kind} ${to.id} lost share ${index}`);
          const plain = await services.vault.decrypt(kekName(to.org_id), held.sealed, aad(to, index));
          const data = base64(plain);
          plain.fill(0);
          return { index, data };
        }),
      );
    },

    /** Carries out `erase_shares`. */
    erase(unit: GatewayUnit, to: Submission): void {
      for (const index of to.submitted_indexes) unit.delete(shares, submittedShareId(to.id, index));
    },
  };
}
