import type { CustodyServices } from "../custody/index.ts";
import type { PolicyGate } from "./policy-gate.ts";
import type { WorkspaceReplication } from "./replication.ts";
import type { DekRing } from "./workspaces/dek-ring.ts";
import type { DekUses } from "./workspaces/dek-uses.ts";

export interface WorkspaceServices extends CustodyServices {
  readonly deks: DekRing;
  readonly dekUses: DekUses;
  readonly policies: PolicyGate;
  readonly replication: WorkspaceReplication<WorkspaceServices>;
}
