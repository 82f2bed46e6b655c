import type { Organization } from "@seneschal/core/keys";
import { collection } from "../../../platform/collection.ts";

/** `crk_id` names the organisation's root key; a change of it is a change of this document, which guards it. */
export type StoredOrganization = Organization & { readonly crk_id: string | null };

export const organizations = collection<StoredOrganization>("organizations", { by_time: { key: (org) => [org.created_at] } });
