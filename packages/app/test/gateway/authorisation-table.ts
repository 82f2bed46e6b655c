import type { AdminRole, IdentityType } from "@seneschal/core/keys";
import type { AuthorisationQuestion } from "../../src/platform/index.ts";

/** Who may call an action. Handlers narrow further to what is the caller's own or what it is admitted to. */
interface Rule {
  readonly roles: readonly AdminRole[];
  /** Active identities of these types may call, whatever their role. */
  readonly identities: readonly IdentityType[];
  /** Custom roles may add this action. */
  readonly custom: boolean;
  /** Federated partners, over mTLS, and nobody else. */
  readonly partner: boolean;
  /** A break-glass token acts as super_admin here. */
  readonly emergency: boolean;
}

const S = "super_admin";
const C = "security_admin";
const O = "operations_admin";
const A = "auditor";
/** "Any active identity": services have nothing but admissions and custom roles. */
const people = ["admin", "user", "device"] as const;
const everyone = ["admin", "user", "device", "service"] as const;

const only = (...roles: readonly AdminRole[]): Rule => ({
  roles,
  identities: [],
  custom: false,
  partner: false,
  emergency: true,
});
const plus = (rule: Rule): Rule => ({ ...rule, custom: true });
const open = (identities: readonly IdentityType[], ...roles: readonly AdminRole[]): Rule => ({ ...only(...roles), identities });
const guarded = (rule: Rule): Rule => ({ ...rule, emergency: false });

/** Action to rule, row by row as the interface document and its notes have it. What is not here is denied. */
const table = {
  "workspace:read": plus(open(everyone, S, C, O, A)),
  "workspace:create": plus(only(S, C, O)),
  "workspace:update": plus(only(S, C, O)),
  "workspace:extend": plus(only(S, C, O)),
  "workspace:archive": plus(only(S, C, O)),
  "workspace:delete": plus(only(S, C)),
  "workspace:rotate-dek": plus(only(S, C)),
  "workspace:invite": plus(only(S, C)),
  "workspace:accept": plus(only(S, C)),
  "workspace:decline": plus(only(S, C)),
  "workspace:export": plus(only(S, C)),
  "workspace:import": plus(only(S, C)),
  "workspace:encrypt": plus(open(everyone)),
  "workspace:decrypt": plus(open(everyone)),
  "workspace:request-access": open(people),
  "admission:read": plus(only(S, C, O, A)),
  "admission:write": plus(only(S, C)),
  "rotation-policy:read": plus(only(S, C, O, A)),
  "rotation-policy:write": plus(only(S, C)),
  "federation:read": plus(only(S, C, O, A)),
  "federation:write": only(S, C),
  "policy:read": plus(only(S, C, O, A)),
  "policy:write": plus(only(S, C)),
  "policy:evaluate": open(people),
  "policy:validate": open(people),
  "audit:read": only(S, C, A),
  "activity:read": open(everyone, S, C, A),
  "compliance:report": only(S, C, A),
  "edge:read": plus(only(S, C, O, A)),
  "edge:write": plus(only(S, O)),
  "edge:sync-policies": plus(only(S, O)),
  "edge:sync-keys": only(S, C),
  "crk:generate": guarded(only(S, C)),
  "crk:sign": guarded(only(S, C)),
  "crk:rotate": guarded(only(S, C)),
  "crk:ceremony": guarded(only(S, C)),
  "crk:assign": guarded(only(S)),
  "crk:submit": guarded(open(["admin", "user"], S, C, O, A)),
  "crk:read": plus(only(S, C, O, A)),
  "crk:read-share": guarded(open(["admin", "user"], S, C)),
  "crk:verify": open(people),
  "custody:enroll": guarded(open(["admin", "user"], S, C, O, A)),
  "custody:confirm": guarded(only(S, C, O)),
  "custody:revoke": guarded(open(["admin", "user"], S, C)),
  "custody:ceremony": guarded(only(S, C)),
  "custody:submit": guarded(open(["admin", "user"], S, C, O, A)),
  "custody:read": guarded(open(["admin", "user"], S, C, O, A)),
  "signing-request:create": only(S, C, O),
  "admin:read": plus(only(S, C, O, A)),
  "admin:write": guarded(only(S)),
  "admin:self": guarded(open(["admin"], S)),
  "user:read": plus(only(S, C, O, A)),
  "user:write": plus(only(S, C, O)),
  "service:read": plus(only(S, C, O, A)),
  "service:write": plus(only(S, C, O)),
  "device:read": plus(only(S, C, O, A)),
  "device:write": plus(only(S, C, O)),
  "group:read": plus(only(S, C, O, A)),
  "group:write": only(S, C),
  "join-request:create": open(people),
  "join-request:read": plus(only(S, C, O, A)),
  "join-request:decide": only(S, C),
  "role:read": plus(only(S, C, O, A)),
  "role:write": only(S, C),
  "role:assign": only(S, C),
  "certificate:read": plus(only(S, C, O, A)),
  "certificate:write": plus(only(S, C, O)),
  "certificate:ca-chain": open(everyone),
  "certificate:tidy": only(S, O),
  "emergency:request": open(people),
  "emergency:read": open(people, S, C, A),
  "emergency:decide": guarded(only(S, C)),
  "emergency:revoke": guarded(only(S, C)),
  "emergency:complete": open(people, S),
  "recovery:manage": guarded(only(S, C)),
  "recovery:submit": guarded(open(["admin", "user"], S, C, O, A)),
  "backup:read": plus(only(S, C, O, A)),
  "backup:create": only(S, O),
  "backup:restore": guarded(only(S)),
  "message:own": open(everyone),
  "federation:peer": { roles: [], identities: [], custom: false, partner: true, emergency: false },
  "message:deliver": { roles: [], identities: [], custom: false, partner: true, emergency: false },
  "organization:read": open(everyone),
} as const satisfies Readonly<Record<string, Rule>>;

/** Every action of the table. */
export const actions: readonly string[] = Object.keys(table);

type Subject = Pick<AuthorisationQuestion["subject"], "type" | "roles" | "scopes" | "permissions">;

/** Whether the table lets a caller use an action: what the shipped policy is held against. `foreign`: about another organisation. */
export function tableAllows(subject: Subject, action: string, foreign = false): boolean {
  if (foreign || !Object.hasOwn(table, action) || !inScope(subject.scopes, action)) return false;
  const rule: Rule = table[action as keyof typeof table];
  if (subject.type === "partner" || rule.partner) return subject.type === "partner" && rule.partner;
  if (subject.type === "emergency") return rule.emergency && (rule.roles.includes("super_admin") || rule.identities.length > 0);
  if (rule.identities.some((type) => type === subject.type)) return true;
  if (subject.type !== "service" && rule.roles.some((role) => subject.roles.includes(role))) return true;
  return rule.custom && subject.permissions.some((permission) => matches(permission, action));
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
