import type { AdminRole, IdentityType } from "../enums.ts";

/** Who may call an action. Handlers narrow further to what is the caller's own or what it is admitted to. */
export interface Rule {
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

/**
 * The authorisation matrix of the gateway: action to rule. What is not here is denied. `packages/app/policies/authz.rego` says the
 * same in Rego; a test compares the two cell by cell.
 */
export const authorizationMatrix = {
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
  "crk:submit": guarded(open(["admin", "user"], S, C, O, A)),
  "crk:read": plus(only(S, C, O, A)),
  "crk:read-share": guarded(open(["admin", "user"], S, C)),
  "crk:verify": open(people),
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

/** An action that the matrix knows. */
export type GatewayAction = keyof typeof authorizationMatrix;
