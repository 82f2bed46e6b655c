import { type PolicyVerdict, refusal, type Workspace } from "@seneschal/core/keys";
import type { Call, GatewayUnit } from "../../ground/index.ts";
import type { WorkspaceServices } from "../services.ts";

/** Asks the workspace's policies about an operation of the caller. Throws `POLICY_VIOLATION` with the reason. */
export async function requireAllowedByPolicy(
  services: WorkspaceServices,
  unit: GatewayUnit,
  workspace: Workspace,
  operation: "rotate" | "export",
): Promise<void> {
  obey(await ask(services, unit, unit.call, workspace, operation));
}

/** Asks whether an identity may be admitted: the policies see it as the actor. Throws `POLICY_VIOLATION`. */
export async function requireAdmittedByPolicy(
  services: WorkspaceServices,
  unit: GatewayUnit,
  workspace: Workspace,
  identity: string,
  type: string,
): Promise<void> {
  const call: Call = { ...unit.call, principal: { ...unit.call.principal, id: identity, type, roles: [] } };
  obey(await ask(services, unit, call, workspace, "admit"));
}

function ask(services: WorkspaceServices, unit: GatewayUnit, call: Call, workspace: Workspace, operation: string) {
  const { id, purpose } = workspace;
  return services.policies.verdicts(unit, { call, operation, workspace: id, purpose, metadata: {} });
}

function obey(verdicts: readonly PolicyVerdict[]): void {
  const denial = verdicts.find((verdict) => !verdict.allowed);
  if (denial !== undefined) {
    throw refusal("POLICY_VIOLATION", `denied by policy: ${denial.reason}`, { deny_reason: denial.reason });
  }
}
