import type { ReplicatedPolicy, ReplicatedWorkspace } from "@seneschal/contract/gateway";

/** What the checksum covers. */
export interface BundleContent {
  readonly format_version: 1;
  readonly workspace: ReplicatedWorkspace;
  readonly policies: readonly ReplicatedPolicy[];
  readonly export_dek: Readonly<Record<string, string>>;
  readonly recipient_orgs: readonly string[];
  readonly exported_at: string;
  readonly exported_by: string;
  readonly exporter_org: string;
}
