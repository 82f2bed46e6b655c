import type { Step, Workspace, WorkspaceEffect } from "@seneschal/core/keys";
import type { GatewayUnit } from "../../ground/call.ts";
import { announce } from "../../partners/replication/announce.ts";
import type { GatewayServices } from "../../services.ts";
import { carryOut } from "./carry-out.ts";
import { workspaces } from "./collections.ts";

/** Writes the step of a workspace, carries out its effects, and tells the instances of partners. */
export async function saveWorkspace(
  services: GatewayServices,
  unit: GatewayUnit,
  { state, effects }: Step<Workspace, WorkspaceEffect>,
): Promise<void> {
  unit.put(workspaces, state.id, state);
  await carryOut(services, unit, state, effects);
  await announce(services, unit, state);
}
