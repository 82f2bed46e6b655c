import type { AuthoriseInput, Hooks } from "@seneschal/contract";
import type { JsonObject } from "@seneschal/core";
import { authorize, isUuid, refusal, type Subject } from "@seneschal/core/keys";
import type { CompiledPolicy } from "@seneschal/core/ports";
import { permissionsOf } from "../roles/collections.ts";
import type { GatewayServices } from "../services.ts";
import { recordRefusal } from "./record-refusal.ts";

const PATH = ["data", "gateway", "authz", "allow"];

/**
 * The authorisation step between authentication and handler: the matrix of `@seneschal/core/keys`, or the Rego policy that
 * replaces it. Denied by default; an engine that fails denies. Every denial is audited.
 */
export function authoriseCall(services: GatewayServices, policy: CompiledPolicy | undefined): NonNullable<Hooks["authorise"]> {
  return async (input) => {
    const { principal, route, now, requestId } = input;
    if (principal === undefined) throw refusal("MTLS_REQUIRED", "certificate required");
    const action = route.action ?? "";
    const bare: Subject = { ...principal, permissions: [] };
    // Custom roles only add: they are looked up when the matrix alone says no.
    if (policy === undefined && authorize(bare, action).allowed) return;
    const subject: Subject = { ...bare, permissions: await permissionsOf(services.read, principal.org, principal.id) };
    const decision =
      policy === undefined ? authorize(subject, action) : await ask(policy, policyInput(input, subject, action), now);
    if (decision.allowed) return;
    const error = refusal("FORBIDDEN", decision.reason, { action });
    await recordRefusal(services, { principal, now, requestId }, input.id, error);
    throw error;
  };
}

function policyInput({ principal, params, wire, route }: AuthoriseInput, subject: Subject, action: string): JsonObject {
  const id = params["id"] ?? "";
  const workspace = wire.path.startsWith("/api/v1/workspaces/") && isUuid(id) ? id : "";
  return {
    subject: {
      id: principal?.id ?? "",
      type: subject.type,
      org: principal?.org ?? "",
      roles: subject.roles,
      scopes: subject.scopes,
      permissions: subject.permissions.map(({ resource, action: verb }) => ({ resource, action: verb })),
    },
    action,
    resource: { type: action.split(":")[0] ?? "", id, org: principal?.org ?? "", workspace },
    context: { method: route.method, path: route.path },
  };
}

async function ask(policy: CompiledPolicy, input: JsonObject, now: number) {
  const answer = await policy.evaluate(PATH, input, { now });
  return answer.kind === "defined" && answer.value === true
    ? ({ allowed: true } as const)
    : ({ allowed: false, reason: "the authorisation policy does not allow this" } as const);
}
