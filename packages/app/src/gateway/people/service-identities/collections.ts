import { collection } from "../../ground/index.ts";

/** What a service proves itself with. Secrets are kept by their hash only. */
export type ServiceCredential =
  | { readonly kind: "secret"; readonly hash: string; readonly valid_until: string | null }
  | { readonly kind: "certificate"; readonly serial_number: string; readonly valid_until: string | null }
  /** Tokens of the orchestrator that were issued from `issued_from` on, or before the next one's. */
  | { readonly kind: "service_account"; readonly issued_from: string; readonly valid_until: string | null };

type ServiceAuthMethod = "role_credential" | "orchestrator" | "cert";

/** A machine's own identity. `valid_until` null: in force; what was rotated out is valid until then. */
export interface StoredService {
  readonly id: string;
  readonly org_id: string;
  readonly name: string;
  readonly description: string;
  readonly auth_method: ServiceAuthMethod;
  readonly active: boolean;
  readonly last_auth_at: string | null;
  /** Newest first. */
  readonly credentials: readonly ServiceCredential[];
  readonly created_at: string;
  readonly updated_at: string;
}

export const serviceIdentities = collection<StoredService>("services", {
  by_org: { key: (service) => [service.org_id, service.created_at] },
  by_name: { key: (service) => [service.org_id, service.name], unique: "a service of that name exists" },
  /** For the sweep that retires what was rotated out. */
  retire_at: {
    key: (service) => {
      const ends = service.credentials.flatMap(({ valid_until }) => (valid_until === null ? [] : [valid_until]));
      return ends.length === 0 ? undefined : [ends.sort()[0] ?? ""];
    },
  },
});
