import type { Step, Workspace, WorkspaceEffect } from "@seneschal/core/keys";
import type { GatewayUnit } from "../../ground/index.ts";
import { workspaces } from "../collections.ts";
import type { WorkspaceServices } from "../services.ts";
import { carryOut } from "./carry-out.ts";

/** Writes the step of a workspace, carries out its effects, and tells the instances of partners. */
export async function saveWorkspace(
  services: WorkspaceServices,
  unit: GatewayUnit,
  { state, effects }: Step<Workspace, WorkspaceEffect>,
): Promise<void> {
  unit.put(workspaces, state.id, state);
  await carryOut(services, unit, state, effects);
  await services.replication.announce(services, unit, state);
}
