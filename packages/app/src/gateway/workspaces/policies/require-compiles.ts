import { refusal } from "@seneschal/core/keys";
import type { WorkspaceServices } from "../services.ts";

/** Throws `POLICY_INVALID` with every problem and its place, and for packages that are the gateway's own or another workspace's. */
export async function requireCompiles(
  { policyEngine }: WorkspaceServices,
  { name, rego, workspace }: { readonly name: string; readonly rego: string; readonly workspace: string | null },
  owner: string,
): Promise<void> {
  const result = await policyEngine.compile([{ name, source: rego }], { owner });
  if (!result.ok) {
    throw refusal("POLICY_INVALID", `the policy does not compile: ${result.problems[0]?.message ?? ""}`, {
      field: "rego",
      errors: result.problems.map(({ code, message, row, col }) => ({ code, message, row, col })),
    });
  }
  const [path = []] = result.policy.packages;
  if (path[0] === "system" || (path[0] === "gateway" && path[1] === "authz")) {
    throw refusal("POLICY_INVALID", `package ${path.join(".")} is reserved`, { field: "rego", errors: [] });
  }
  if (path[0] === "gateway" && path[1] === "workspace" && (path[2] !== workspace || path.length > 3)) {
    throw refusal("POLICY_INVALID", `package ${path.join(".")} is not that of the policy's workspace`, {
      field: "rego",
      errors: [],
    });
  }
}
