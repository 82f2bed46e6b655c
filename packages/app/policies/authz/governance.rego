# METADATA
# title: Who may do what on the data-governance service
# description: |
#   Decides every request after authentication. Denied by default; `reason` says why. Copy it, change it, and give the copy as
#   `authorization_policy` to replace it.
#
#   input: {subject: {id, type, org, roles, scopes, permissions}, action, resource: {type, id, org, workspace},
#   context: {method, path}}. `subject.type` is `apikey`, or `anonymous` without a key.
#   data.settings.anonymous: the actions that the configuration opens to callers without a key.
package governance.authz

default allow := false

allow if {
	input.subject.type == "anonymous"
	input.action in data.settings.anonymous
}

# A key opens what its scopes name; `admin` names everything.
allow if {
	input.subject.type == "apikey"
	input.action in actions
	some scope in input.subject.scopes
	scope in {"admin", input.action}
}

# Who asks and who approves both see what was asked for.
allow if {
	input.subject.type == "apikey"
	input.action == "approvals:read"
	some scope in input.subject.scopes
	scope in {"admin", "evaluate", "approve"}
}

reason := "an API key is needed" if input.subject.type == "anonymous"

else := sprintf("the API key lacks the scope %s", [input.action])

actions := {"classify", "redact", "restore", "evaluate", "approve", "models", "lineage:read", "lineage:write", "resources:write", "audit:read", "admin"}
