import type { CustodyServices } from "../custody/index.ts";
import type { PolicyGate } from "./policy-gate.ts";
import type { WorkspaceReplication } from "./replication.ts";
import type { DekRing, DekUses } from "./workspaces/dek-ring.ts";

export interface WorkspaceServices extends CustodyServices {
  readonly deks: DekRing;
  readonly dekUses: DekUses;
  readonly policies: PolicyGate;
  readonly replication: WorkspaceReplication<WorkspaceServices>;
}
