import type { TargetGuard } from "@seneschal/adapters/http";
import type { WorkspaceServices } from "../workspaces/index.ts";
import type { Channels } from "./federation/channel.ts";
import type { PartnerStates } from "./federation/partner-states.ts";
import type { PartnerRefusals } from "./federation/refusals.ts";

export interface PartnerServices extends WorkspaceServices {
  /** To federated partners. */
  readonly channels: Channels;
  readonly partners: PartnerStates;
  readonly refusals: PartnerRefusals;
  /** Which addresses partners and edge nodes may have. */
  readonly targets: { readonly federation: TargetGuard; readonly edges: TargetGuard };
}
