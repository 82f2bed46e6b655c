import type { OperationPayload } from "@seneschal/crypto/signing";
import { keyText } from "../../../platform/index.ts";
import { collection } from "../../ground/index.ts";

/** A participant's signature for the deletion of a workspace, at one revision of it. Kept on both sides. */
export interface DeletionConsent {
  readonly workspace_id: string;
  /** Who signed. */
  readonly org_id: string;
  readonly revision: number;
  /** Of the workspace as it stood, hex; absent in consents of before, which count no more. */
  readonly state_sha256?: string;
  readonly payload: OperationPayload;
  /** Base64. */
  readonly signature: string;
  readonly created_at: string;
}

export const deletionConsents = collection<DeletionConsent>("deletion_consents", {
  by_workspace: { key: (consent) => [consent.workspace_id] },
});

export const consentId = (workspace: string, org: string): string => `${workspace}/${keyText(org)}`;
