# METADATA
# title: Who may do what on the gateway
# description: |
#   Decides every request after authentication. Denied by default; `reason` says why. Copy it, change it, and give the copy as
#   `authorization_policy` to replace it.
#
#   input: {subject: {id, type, org, roles, scopes, permissions: [{resource, action}]}, action: "resource:verb",
#   resource: {type, id, org, workspace}, context: {method, path}}. `permissions` come from custom roles, which only add: the policy
#   is asked without them first, and again with them when it denied.
package gateway.authz

default allow := false

allow if {
	own
	in_scope
	opens
}

reason := "the action is unknown" if not rule

else := "callers act for their own organisation only" if not own

else := "outside the granted scopes" if not in_scope

else := "for federated partners only" if rule.partner

else := "not with an emergency token" if {
	input.subject.type == "emergency"
	not object.get(rule, "emergency", true)
}

else := "the caller's role does not allow this"

rule := matrix[input.action]

own if input.resource.org == input.subject.org

opens if {
	input.subject.type == "partner"
	rule.partner
}

# A break-glass token acts as super admin.
opens if {
	input.subject.type == "emergency"
	object.get(rule, "emergency", true)
	"super_admin" in rule.roles
}

opens if {
	input.subject.type == "emergency"
	object.get(rule, "emergency", true)
	count(rule.identities) > 0
}

opens if input.subject.type in rule.identities

opens if {
	ordinary
	input.subject.type != "service"
	some role in input.subject.roles
	role in rule.roles
}

opens if {
	ordinary
	rule.custom
	some permission in input.subject.permissions
	covers(permission.resource, permission.action)
}

ordinary if not input.subject.type in {"partner", "emergency"}

# Scopes of the form `resource:action` only narrow; without any of them nothing is narrowed.
in_scope if count(narrowing) == 0

in_scope if {
	some scope in narrowing
	[resource, verb] := array.slice(split(scope, ":"), 0, 2)
	covers(resource, verb)
}

narrowing := {scope | some scope in input.subject.scopes; contains(scope, ":")}

covers(resource, verb) if {
	[its_resource, its_verb] := split(input.action, ":")
	resource in {"*", its_resource}
	verb in {"*", its_verb}
}

# What every action asks for. `roles`: admin roles; `identities`: active identities of these types, whatever their role;
# `custom`: custom roles may add it; `partner`: federated partners and nobody else; `emergency: false`: not with a
# break-glass token.
matrix := {
	"workspace:read": {"roles": {"super_admin", "security_admin", "operations_admin", "auditor"}, "identities": {"admin", "user", "device", "service"}, "custom": true},
	"workspace:create": {"roles": {"super_admin", "security_admin", "operations_admin"}, "custom": true},
	"workspace:update": {"roles": {"super_admin", "security_admin", "operations_admin"}, "custom": true},
	"workspace:extend": {"roles": {"super_admin", "security_admin", "operations_admin"}, "custom": true},
	"workspace:archive": {"roles": {"super_admin", "security_admin", "operations_admin"}, "custom": true},
	"workspace:delete": {"roles": {"super_admin", "security_admin"}, "custom": true},
	"workspace:rotate-dek": {"roles": {"super_admin", "security_admin"}, "custom": true},
	"workspace:invite": {"roles": {"super_admin", "security_admin"}, "custom": true},
	"workspace:accept": {"roles": {"super_admin", "security_admin"}, "custom": true},
	"workspace:decline": {"roles": {"super_admin", "security_admin"}, "custom": true},
	"workspace:export": {"roles": {"super_admin", "security_admin"}, "custom": true},
	"workspace:import": {"roles": {"super_admin", "security_admin"}, "custom": true},
	"workspace:encrypt": {"identities": {"admin", "user", "device", "service"}, "custom": true},
	"workspace:decrypt": {"identities": {"admin", "user", "device", "service"}, "custom": true},
	"workspace:request-access": {"identities": {"admin", "user", "device"}},
	"admission:read": {"roles": {"super_admin", "security_admin", "operations_admin", "auditor"}, "custom": true},
	"admission:write": {"roles": {"super_admin", "security_admin"}, "custom": true},
	"rotation-policy:read": {"roles": {"super_admin", "security_admin", "operations_admin", "auditor"}, "custom": true},
	"rotation-policy:write": {"roles": {"super_admin", "security_admin"}, "custom": true},
	"federation:read": {"roles": {"super_admin", "security_admin", "operations_admin", "auditor"}, "custom": true},
	"federation:write": {"roles": {"super_admin", "security_admin"}},
	"policy:read": {"roles": {"super_admin", "security_admin", "operations_admin", "auditor"}, "custom": true},
	"policy:write": {"roles": {"super_admin", "security_admin"}, "custom": true},
	"policy:evaluate": {"identities": {"admin", "user", "device"}},
	"policy:validate": {"identities": {"admin", "user", "device"}},
	"audit:read": {"roles": {"super_admin", "security_admin", "auditor"}},
	"activity:read": {"roles": {"super_admin", "security_admin", "auditor"}, "identities": {"admin", "user", "device", "service"}},
	"compliance:report": {"roles": {"super_admin", "security_admin", "auditor"}},
	"edge:read": {"roles": {"super_admin", "security_admin", "operations_admin", "auditor"}, "custom": true},
	"edge:write": {"roles": {"super_admin", "operations_admin"}, "custom": true},
	"edge:sync-policies": {"roles": {"super_admin", "operations_admin"}, "custom": true},
	"edge:sync-keys": {"roles": {"super_admin", "security_admin"}},
	"crk:generate": {"roles": {"super_admin", "security_admin"}, "emergency": false},
	"crk:sign": {"roles": {"super_admin", "security_admin"}, "emergency": false},
	"crk:rotate": {"roles": {"super_admin", "security_admin"}, "emergency": false},
	"crk:ceremony": {"roles": {"super_admin", "security_admin"}, "emergency": false},
	"crk:assign": {"roles": {"super_admin"}, "emergency": false},
	"crk:submit": {"roles": {"super_admin", "security_admin", "operations_admin", "auditor"}, "identities": {"admin", "user"}, "emergency": false},
	"crk:read": {"roles": {"super_admin", "security_admin", "operations_admin", "auditor"}, "custom": true},
	"crk:read-share": {"roles": {"super_admin", "security_admin"}, "identities": {"admin", "user"}, "emergency": false},
	"custody:enroll": {"roles": {"super_admin", "security_admin", "operations_admin", "auditor"}, "identities": {"admin", "user"}, "emergency": false},
	"custody:confirm": {"roles": {"super_admin", "security_admin", "operations_admin"}, "emergency": false},
	"custody:revoke": {"roles": {"super_admin", "security_admin"}, "identities": {"admin", "user"}, "emergency": false},
	"custody:ceremony": {"roles": {"super_admin", "security_admin"}, "emergency": false},
	"custody:submit": {"roles": {"super_admin", "security_admin", "operations_admin", "auditor"}, "identities": {"admin", "user"}, "emergency": false},
	"custody:read": {"roles": {"super_admin", "security_admin", "operations_admin", "auditor"}, "identities": {"admin", "user"}, "emergency": false},
	"crk:verify": {"identities": {"admin", "user", "device"}},
	"signing-request:create": {"roles": {"super_admin", "security_admin", "operations_admin"}},
	"admin:read": {"roles": {"super_admin", "security_admin", "operations_admin", "auditor"}, "custom": true},
	"admin:write": {"roles": {"super_admin"}, "emergency": false},
	"admin:self": {"roles": {"super_admin"}, "identities": {"admin"}, "emergency": false},
	"user:read": {"roles": {"super_admin", "security_admin", "operations_admin", "auditor"}, "custom": true},
	"user:write": {"roles": {"super_admin", "security_admin", "operations_admin"}, "custom": true},
	"service:read": {"roles": {"super_admin", "security_admin", "operations_admin", "auditor"}, "custom": true},
	"service:write": {"roles": {"super_admin", "security_admin", "operations_admin"}, "custom": true},
	"device:read": {"roles": {"super_admin", "security_admin", "operations_admin", "auditor"}, "custom": true},
	"device:write": {"roles": {"super_admin", "security_admin", "operations_admin"}, "custom": true},
	"group:read": {"roles": {"super_admin", "security_admin", "operations_admin", "auditor"}, "custom": true},
	"group:write": {"roles": {"super_admin", "security_admin"}},
	"join-request:create": {"identities": {"admin", "user", "device"}},
	"join-request:read": {"roles": {"super_admin", "security_admin", "operations_admin", "auditor"}, "custom": true},
	"join-request:decide": {"roles": {"super_admin", "security_admin"}},
	"role:read": {"roles": {"super_admin", "security_admin", "operations_admin", "auditor"}, "custom": true},
	"role:write": {"roles": {"super_admin", "security_admin"}},
	"role:assign": {"roles": {"super_admin", "security_admin"}},
	"certificate:read": {"roles": {"super_admin", "security_admin", "operations_admin", "auditor"}, "custom": true},
	"certificate:write": {"roles": {"super_admin", "security_admin", "operations_admin"}, "custom": true},
	"certificate:ca-chain": {"identities": {"admin", "user", "device", "service"}},
	"certificate:tidy": {"roles": {"super_admin", "operations_admin"}},
	"emergency:request": {"identities": {"admin", "user", "device"}},
	"emergency:read": {"roles": {"super_admin", "security_admin", "auditor"}, "identities": {"admin", "user", "device"}},
	"emergency:decide": {"roles": {"super_admin", "security_admin"}, "emergency": false},
	"emergency:complete": {"roles": {"super_admin"}, "identities": {"admin", "user", "device"}},
	"emergency:revoke": {"roles": {"super_admin", "security_admin"}, "emergency": false},
	"recovery:manage": {"roles": {"super_admin", "security_admin"}, "emergency": false},
	"recovery:submit": {"roles": {"super_admin", "security_admin", "operations_admin", "auditor"}, "identities": {"admin", "user"}, "emergency": false},
	"backup:read": {"roles": {"super_admin", "security_admin", "operations_admin", "auditor"}, "custom": true},
	"backup:create": {"roles": {"super_admin", "operations_admin"}},
	"backup:restore": {"roles": {"super_admin"}, "emergency": false},
	"message:own": {"identities": {"admin", "user", "device", "service"}},
	"federation:peer": {"partner": true, "emergency": false},
	"message:deliver": {"partner": true, "emergency": false},
	"organization:read": {"identities": {"admin", "user", "device", "service"}},
}
