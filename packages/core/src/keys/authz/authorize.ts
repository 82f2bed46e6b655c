import { authorizationMatrix, type Rule } from "./matrix.ts";

/** The caller, as the matrix sees it. */
export interface Subject {
  readonly type: string;
  readonly roles: readonly string[];
  /** `resource:action`, `resource:*` or `*:*` narrow; other scopes (openid, profile) say nothing here. */
  readonly scopes: readonly string[];
  /** From the caller's custom roles. `*` matches any. */
  readonly permissions: readonly { readonly resource: string; readonly action: string }[];
}

export type Authorization = { readonly allowed: true } | { readonly allowed: false; readonly reason: string };

const denied = (reason: string): Authorization => ({ allowed: false, reason });

/**
 * Whether the matrix lets a caller use an action; deny by default.
 *
 * @example
 * ```ts
 * import { authorize } from "@seneschal/core/keys";
 * const auditor = { type: "admin", roles: ["auditor"], scopes: [], permissions: [] };
 * console.log(authorize(auditor, "audit:read").allowed, authorize(auditor, "crk:sign").allowed); // true false
 * ```
 */
export function authorize(subject: Subject, action: string): Authorization {
  const rule: Rule | undefined = Object.hasOwn(authorizationMatrix, action)
    ? authorizationMatrix[action as keyof typeof authorizationMatrix]
    : undefined;
  if (rule === undefined) return denied("unknown action");
  if (!inScope(subject.scopes, action)) return denied("outside the granted scopes");
  if (subject.type === "partner" || rule.partner) {
    return subject.type === "partner" && rule.partner ? { allowed: true } : denied("for federated partners only");
  }
  if (subject.type === "emergency") {
    if (!rule.emergency) return denied("not with an emergency token");
    return rule.roles.includes("super_admin") || rule.identities.length > 0 ? { allowed: true } : denied("role");
  }
  if (rule.identities.some((type) => type === subject.type)) return { allowed: true };
  if (subject.type !== "service" && rule.roles.some((role) => subject.roles.includes(role))) return { allowed: true };
  if (rule.custom && subject.permissions.some((permission) => matches(permission, action))) return { allowed: true };
  return denied("the caller's role does not allow this");
}

/** Without any `resource:action` scope nothing is narrowed. */
function inScope(scopes: readonly string[], action: string): boolean {
  const narrowing = scopes.filter((scope) => scope.includes(":"));
  if (narrowing.length === 0) return true;
  return narrowing.some((scope) => {
    const [resource = "", verb = ""] = scope.split(":");
    return matches({ resource, action: verb }, action);
  });
}

function matches(permission: { readonly resource: string; readonly action: string }, action: string): boolean {
  const [resource, verb] = action.split(":");
  return (
    (permission.resource === "*" || permission.resource === resource) && (permission.action === "*" || permission.action === verb)
  );
}
