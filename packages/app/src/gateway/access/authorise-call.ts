import type { AuthoriseInput, Hooks } from "@seneschal/contract";
import { isUuid, refusal } from "@seneschal/core/keys";
import { type AuthorisationQuestion, questionOf } from "../../platform/authz/authorisation.ts";
import { recordRefusal, requireBegun } from "../ground/index.ts";
import { permissionsOf } from "../people/index.ts";
import type { GatewayServices } from "../services.ts";
import { requireRouteAllowed } from "../workspaces/index.ts";

/**
 * The authorisation step between authentication and handler. Custom roles only add, so they are looked up when the policy denies
 * without them. What it allows changes nothing of an organisation that has not begun here, and of a workspace its own policies may still deny it. Every denial is audited.
 */
export function authoriseCall(services: GatewayServices): NonNullable<Hooks["authorise"]> {
  const { authorisation, decisions, read } = services;
  return async (input) => {
    const { principal, route, now, requestId } = input;
    if (principal === undefined) throw refusal("MTLS_REQUIRED", "certificate required");
    const bare = questionAbout(input);
    let decision = await authorisation.decide(bare, now);
    if (!decision.allowed) {
      const permissions = await permissionsOf(read, principal.org, principal.id);
      decision = await authorisation.decide({ ...bare, subject: { ...bare.subject, permissions } }, now);
    }
    const { heard, revision } = decision;
    await decisions.note({ principal, now }, [{ heard, bundles: { "gateway.authz": { revision } } }]);
    if (!decision.allowed) {
      const error = refusal("FORBIDDEN", decision.reason, { action: route.action ?? "" });
      await recordRefusal(services, { principal, now, requestId }, input.id, error);
      throw error;
    }
    await requireBegun(services, input, principal);
    await requireRouteAllowed(services, input, principal);
  };
}

function questionAbout(input: AuthoriseInput): AuthorisationQuestion {
  const { params, wire } = input;
  const id = params["id"] ?? "";
  const workspace = wire.path.startsWith("/api/v1/workspaces/") && isUuid(id) ? id : "";
  const named = wire.query["org_id"];
  return questionOf(input, { workspace, ...(typeof named === "string" ? { org: named } : {}) });
}
